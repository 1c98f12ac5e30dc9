//! From clauses to the query tree: this is where fields get their meaning.

use std::cell::Cell;

use clew_analysis::{is_analyzer, tokens};
use clew_query::{
    Bool, FieldBoost, MultiMatch, MultiMatchKind, Query, QueryError, QueryString, unless_stopped,
};
use clew_schema::{FieldKind, Mapping};

use super::{Clause, Occurrence, Word};
use crate::query::compile::{CLAUSES_MAX, query_analyzer, search_fields};

/// What a query string is made a tree under.
pub(super) struct Build<'a> {
    pub(super) options: &'a QueryString,
    pub(super) mapping: &'a Mapping,
    pub(super) lenient: bool,
    /// Clauses made so far. More than a query may have are not made: a text of a megabyte would become a tree of
    /// gigabytes, in each shard, only to be refused.
    made: Cell<usize>,
    /// Whether a field was named around what is being made.
    has_name: Cell<bool>,
}

/// `minimum_should_match` is about the outermost clauses, or the words that one text is cut into.
fn with_minimum(mut query: Query, options: &QueryString) -> Query {
    let Some(minimum) = &options.minimum_should_match else {
        return query;
    };
    // In the simple language a clause that is the only one left stands for itself.
    if options.simple
        && let Query::Bool(clauses) = &mut query
        && let Some(only) = only_clause(clauses)
    {
        *only = with_minimum(std::mem::replace(only, Query::MatchNone), options);
        return query;
    }
    if !options.simple
        && let Query::Bool(clauses) = &mut query
        && let Some(text) = only_text(clauses)
    {
        // Of phrases in several fields the best one counts, whatever number is asked for.
        let words = text.clause.text.as_str().unwrap_or_default();
        if text.kind == MultiMatchKind::CrossFields && words.split_whitespace().nth(1).is_some() {
            text.clause.minimum_should_match = Some(minimum.clone());
        }
        return query;
    }
    match &mut query {
        // Where no clause is optional, a number of optional clauses can never be reached.
        // A text to several fields is one clause, of which no number is asked.
        Query::Bool(clauses) if !options.simple && is_one_text(clauses) => {}
        Query::Bool(clauses) if clauses.should.is_empty() && minimum.resolve(0) > 0 => {
            return Query::MatchNone;
        }
        Query::Bool(clauses) => clauses.minimum_should_match = Some(minimum.clone()),
        // A boost around the words hides them in the simple language.
        Query::Match(text) if !options.simple || !is_boosted(&options.fields) => {
            text.minimum_should_match = Some(minimum.clone());
        }
        _ => {}
    }
    query
}

fn only_clause(clauses: &mut Bool) -> Option<&mut Query> {
    match (&mut clauses.must[..], &mut clauses.should[..]) {
        ([only], []) | ([], [only]) if clauses.must_not.is_empty() => Some(only),
        _ => None,
    }
}

/// The text that is looked for in several fields together, where nothing else is asked.
fn only_text(clauses: &mut Bool) -> Option<&mut MultiMatch> {
    if !clauses.must_not.is_empty() {
        return None;
    }
    match (&mut clauses.must[..], &mut clauses.should[..]) {
        ([], [Query::MultiMatch(text)]) => Some(text),
        // All words of a text are wanted: none of them is optional.
        ([Query::MultiMatch(text)], []) if text.kind != MultiMatchKind::CrossFields => Some(text),
        _ => None,
    }
}

fn is_one_text(clauses: &Bool) -> bool {
    let asked = (clauses.must.as_slice(), clauses.should.as_slice());
    clauses.must_not.is_empty()
        && matches!(
            asked,
            ([], [Query::DisMax { .. }]) | ([Query::DisMax { .. }], [])
        )
}

fn is_boosted(fields: &[FieldBoost]) -> bool {
    fields
        .iter()
        .any(|field| field.boost.to_bits() != 1.0_f32.to_bits())
}

/// What is inside parentheses around everything, with all boosts on the way there.
fn unwrapped(clause: &Clause, boost: f32) -> (&Clause, f32) {
    let Clause::Group {
        parts,
        boost: outer,
    } = clause
    else {
        return (clause, boost);
    };
    match &parts[..] {
        [(Occurrence::Should, inner)] if !matches!(inner, Clause::Words(_)) => {
            unwrapped(inner, boost * outer)
        }
        _ => (clause, boost),
    }
}

impl<'a> Build<'a> {
    pub(super) fn new(options: &'a QueryString, mapping: &'a Mapping) -> Self {
        Build {
            options,
            mapping,
            // Over all fields some never fit: a word is no number.
            lenient: options.lenient || options.is_over_all(),
            made: Cell::new(0),
            has_name: Cell::new(false),
        }
    }

    pub(super) fn tree(&self, clause: &Clause, fields: &[FieldBoost]) -> Result<Query, QueryError> {
        let (clause, boost) = unwrapped(clause, self.options.boost);
        let query = self.clause(clause, fields, boost)?;
        let query = query.unwrap_or(Query::MatchNone);
        Ok(with_minimum(query, self.options))
    }

    /// `None` where nothing is asked: a text of which the analyzer leaves nothing.
    fn clause(
        &self,
        clause: &Clause,
        fields: &[FieldBoost],
        boost: f32,
    ) -> Result<Option<Query>, QueryError> {
        match clause {
            Clause::Group {
                parts,
                boost: inner,
            } => self.group(parts, fields, boost * inner),
            Clause::Field { name, inner } => self.in_field(name, inner, boost),
            Clause::Word(word)
                if word.pattern.as_deref() == Some("*")
                    && self.options.is_over_all()
                    && !self.has_name.get() =>
            {
                Ok(Some(Query::MatchAll {
                    boost: boost * word.boost,
                }))
            }
            Clause::All => Ok(Some(Query::MatchAll { boost })),
            leaf if self.says_nothing_in(leaf, fields) => Ok(None),
            leaf => {
                if let Some(query) = self.together(leaf, fields, boost) {
                    self.count()?;
                    return Ok(Some(query));
                }
                let mut queries = Vec::with_capacity(fields.len());
                for field in fields {
                    if !self.says_nothing(leaf, &field.field) {
                        self.count()?;
                        queries.push(self.leaf(leaf, &field.field, boost * field.boost)?);
                    }
                }
                Ok(Some(match queries.len() {
                    0 => Query::MatchNone,
                    1 => queries.remove(0),
                    _ => Query::DisMax {
                        queries,
                        // The simple language adds up what fields score, but of phrases.
                        tie_breaker: if matches!(leaf, Clause::Phrase { .. }) && self.options.simple
                        {
                            0.0
                        } else if self.options.simple {
                            1.0
                        } else {
                            self.options.tie_breaker
                        },
                        boost: 1.0,
                    },
                }))
            }
        }
    }

    /// Counts a clause.
    fn count(&self) -> Result<(), QueryError> {
        let made = self.made.get() + 1;
        self.made.set(made);
        if made > CLAUSES_MAX {
            return Err(QueryError::TooManyClauses { max: CLAUSES_MAX });
        }
        if made.is_multiple_of(64) {
            unless_stopped()?;
        }
        Ok(())
    }

    /// Whether the analyzers of all fields leave nothing of a text. A name that the mapping does not have is no field.
    pub(super) fn says_nothing_in(&self, clause: &Clause, fields: &[FieldBoost]) -> bool {
        let names = fields.iter().map(|one| one.field.as_str());
        let mut names = names
            .filter(|name| self.mapping.field(name).is_some())
            .peekable();
        names.peek().is_some() && names.all(|name| self.says_nothing(clause, name))
    }

    /// Whether the field's analyzer leaves nothing of a text.
    fn says_nothing(&self, clause: &Clause, field: &str) -> bool {
        let (Clause::Word(Word {
            text,
            pattern: None,
            fuzzy: None,
            ..
        })
        | Clause::Phrase { text, .. }) = clause
        else {
            return false;
        };
        self.analyzer(field)
            .is_some_and(|analyzer| is_analyzer(analyzer) && tokens(analyzer, text).is_empty())
    }

    /// The analyzer of what is looked for in a field of text.
    pub(super) fn analyzer(&self, field: &str) -> Option<&str> {
        let mapped = self.mapping.field(field)?;
        let FieldKind::Text { analyzer, .. } = &mapped.kind else {
            return None;
        };
        let own = mapped.search_analyzer().unwrap_or(analyzer);
        let wanted = self.options.analyzer.as_deref();
        Some(wanted.map_or(own, |name| mapped.analysis.resolved(name)))
    }

    fn group(
        &self,
        parts: &[(Occurrence, Clause)],
        fields: &[FieldBoost],
        boost: f32,
    ) -> Result<Option<Query>, QueryError> {
        let mut joined = Bool {
            boost,
            ..Bool::default()
        };
        let mut add = |occurrence: Occurrence, query: Query| match occurrence {
            Occurrence::Should => joined.should.push(query),
            Occurrence::Must => joined.must.push(query),
            Occurrence::MustNot => joined.must_not.push(query),
        };
        for (occurrence, clause) in parts {
            match clause {
                // In one field each word is a clause; in several they are one text.
                Clause::Words(words) if fields.len() == 1 && !self.is_one_text(fields, words) => {
                    for word in words {
                        let word = Clause::Word(Word::plain(word));
                        if let Some(query) = self.clause(&word, fields, 1.0)? {
                            add(*occurrence, query);
                        }
                    }
                }
                clause => {
                    if let Some(query) = self.clause(clause, fields, 1.0)? {
                        add(*occurrence, query);
                    }
                }
            }
        }
        let is_empty =
            joined.must.is_empty() && joined.should.is_empty() && joined.must_not.is_empty();
        Ok((!is_empty).then_some(Query::Bool(joined)))
    }

    /// Whether words in a row mean something else than each of them by itself, as the words of a
    /// synonym do, or those of a phrase.
    fn is_one_text(&self, fields: &[FieldBoost], words: &[String]) -> bool {
        let in_order = matches!(
            self.options.kind,
            MultiMatchKind::Phrase | MultiMatchKind::PhrasePrefix | MultiMatchKind::BoolPrefix
        );
        if in_order {
            return true;
        }
        let mapped = fields
            .first()
            .and_then(|one| self.mapping.field(&one.field));
        let Some(mapped) = mapped.filter(|mapped| matches!(mapped.kind, FieldKind::Text { .. }))
        else {
            return false;
        };
        let analyzer = query_analyzer(mapped, self.options.analyzer.as_deref());
        let texts = |text: &str| tokens(analyzer, text).into_iter().map(|token| token.text);
        let together: Vec<String> = texts(&words.join(" ")).collect();
        let apart: Vec<String> = words.iter().flat_map(|word| texts(word)).collect();
        together != apart
    }

    fn in_field(
        &self,
        name: &str,
        inner: &Clause,
        boost: f32,
    ) -> Result<Option<Query>, QueryError> {
        if name == "_exists_" {
            let field = match inner {
                Clause::Word(word) => word.text.clone(),
                Clause::Phrase { text, .. } => text.clone(),
                _ => return Ok(Some(Query::MatchNone)),
            };
            return Ok(Some(Query::Exists { field, boost }));
        }
        if name == "*"
            && let Clause::Word(word) = inner
            && word.pattern.as_deref() == Some("*")
        {
            return Ok(Some(Query::MatchAll {
                boost: boost * word.boost,
            }));
        }
        let named = FieldBoost {
            field: name.to_string(),
            boost: 1.0,
        };
        let around = self.has_name.replace(true);
        let query = self.clause(inner, &search_fields(&[named], self.mapping), boost);
        self.has_name.set(around);
        query
    }
}
