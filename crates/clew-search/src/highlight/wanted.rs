//! What a query looks for, field by field, and where it is in a text's words.

use std::collections::{HashMap, HashSet};

use clew_analysis::{Token, tokens};
use clew_platform::Pace;
use clew_query::{
    DerivedScope, FieldBoost, FieldQuery, Fuzziness, Match, MatchPhrase, MultiMatch,
    MultiMatchKind, Query, QueryError,
};
use clew_schema::{FieldKind, KeywordStyle, MappedField, Mapping, text_of};
use serde_json::Value;

use super::between::Between;
use super::in_a_row::phrase;
use super::spans::Spans;
use crate::query::{Regexp, Wildcard, is_graph};

/// Queries are this deep at most; a deeper one is not looked into.
pub(super) const DEPTH_MAX: usize = 30;

/// Something that a query looks for in a field.
#[derive(Clone, Debug)]
pub(super) struct FieldWanted {
    field: String,
    what: Wanted,
    /// Whether it is a word of a rule, that counts wherever it stands.
    of_rule: bool,
    /// The factor on its score.
    boost: f32,
}

/// What it looks for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Term(String),
    Prefix(String),
    Wildcard(Wildcard),
    Expression(Regexp),
    Fuzzy {
        term: String,
        edits: usize,
        prefix: usize,
    },
    /// Words of a range.
    Between(Between),
    /// Terms one behind the other, with so many positions between them; the last one may be only a
    /// beginning.
    Phrase {
        terms: Vec<String>,
        slop: usize,
        open: bool,
    },
    /// Words in spans.
    Spans(Spans),
}

impl FieldWanted {
    /// Whether it is looked for in this field.
    pub(super) fn is_for(&self, path: &str) -> bool {
        self.field == path
    }

    /// Whether it is a word, or a pattern, of `intervals`.
    pub(super) fn is_of_rule(&self) -> bool {
        self.of_rule
    }

    /// What is looked for.
    pub(super) fn what(&self) -> &Wanted {
        &self.what
    }

    /// The factor on its score.
    pub(super) fn boost(&self) -> f32 {
        self.boost
    }
}

/// A word that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) word: usize,
    /// What stands for many words found it, and these count as one word; none where it is looked for as it is.
    pub(super) group: Option<usize>,
}

/// Takes a query apart.
pub(super) fn wanted(query: &Query, mapping: &Mapping) -> Vec<FieldWanted> {
    let mut reader = Reader {
        mapping,
        found: Vec::new(),
        boost: 1.0,
    };
    reader.read(query, 0);
    reader.found
}

/// Reads queries.
pub(super) struct Reader<'a> {
    mapping: &'a Mapping,
    found: Vec<FieldWanted>,
    /// The factor of all that is around.
    boost: f32,
}

impl Reader<'_> {
    fn read(&mut self, query: &Query, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        let outer = self.boost;
        self.boost *= match query {
            Query::Bool(clauses) => clauses.boost,
            Query::ConstantScore { boost, .. } | Query::DisMax { boost, .. } => *boost,
            Query::Boosting(boosting) => boosting.boost,
            _ => 1.0,
        };
        self.read_parts(query, depth);
        self.boost = outer;
    }

    fn read_parts(&mut self, query: &Query, depth: usize) {
        match query {
            Query::Bool(clauses) => {
                let parts = clauses.must.iter().chain(&clauses.should);
                for part in parts.chain(&clauses.filter) {
                    self.read(part, depth + 1);
                }
            }
            Query::ConstantScore { filter, .. } => self.read(filter, depth + 1),
            Query::DisMax { queries, .. } => {
                for part in queries {
                    self.read(part, depth + 1);
                }
            }
            Query::Boosting(boosting) => self.read(&boosting.positive, depth + 1),
            Query::Lenient(inner)
            | Query::Named { query: inner, .. }
            | Query::Derived(DerivedScope { query: inner, .. }) => {
                self.read(inner, depth + 1);
            }
            Query::FunctionScore(function) => self.read(&function.query, depth + 1),
            Query::VectorScore(scored) => self.read(&scored.query, depth + 1),
            // The words of nested objects stand in the document's source.
            Query::Nested(nested) => self.read(&nested.query, depth + 1),
            Query::QueryString(query) => {
                let fields = self.fields(&query.fields);
                let tree = crate::query::query_string_tree(query, &fields, self.mapping);
                if let Ok(tree) = tree {
                    self.read(&tree, depth + 1);
                }
            }
            Query::MultiMatch(multi) => self.multi_match(multi),
            Query::Intervals(intervals) => self.intervals(intervals),
            leaf => {
                if let Some(leaf) = leaf.on_field() {
                    let outer = self.boost;
                    self.boost *= leaf.boost();
                    self.leaf(leaf);
                    self.boost = outer;
                }
            }
        }
    }

    /// Of other leaves no word is shown.
    fn leaf(&mut self, query: FieldQuery<'_>) {
        match query {
            FieldQuery::Match(clause) => self.words(clause, false),
            FieldQuery::BoolPrefix(clause) => self.words(clause, true),
            FieldQuery::Phrase(phrase) => self.phrase(phrase, false),
            FieldQuery::PhrasePrefix(phrase) => self.phrase(phrase, true),
            FieldQuery::Term(term) => {
                let text = text_of(&term.value);
                if term.case_insensitive {
                    self.wildcard(&term.field, Wildcard::in_any_case(&text));
                } else {
                    self.push(&term.field, Wanted::Term(text));
                }
            }
            FieldQuery::Terms(field, values, _) => {
                for value in values {
                    self.push(field, Wanted::Term(text_of(value)));
                }
            }
            FieldQuery::Prefix(pattern) if pattern.case_insensitive => {
                let wanted = Wildcard::prefix(&pattern.value, pattern.case_insensitive);
                self.wildcard(&pattern.field, wanted);
            }
            FieldQuery::Prefix(pattern) => {
                self.push(&pattern.field, Wanted::Prefix(pattern.value.clone()));
            }
            FieldQuery::Wildcard(pattern) => {
                let wanted = Wildcard::parse(&pattern.value, pattern.case_insensitive);
                self.wildcard(&pattern.field, wanted);
            }
            FieldQuery::Regexp(pattern) => {
                if let Ok(expression) = Regexp::new(&pattern.value, pattern.regexp_options()) {
                    self.push(&pattern.field, Wanted::Expression(expression));
                }
            }
            FieldQuery::Fuzzy(field, value, fuzziness, _) => {
                self.push(field, fuzzy(value, &fuzziness));
            }
            FieldQuery::TermsSet(set) => {
                for value in &set.terms {
                    self.push(&set.field, Wanted::Term(text_of(value)));
                }
            }
            FieldQuery::Range(range) if self.has_words(&range.field) => {
                self.push(&range.field, Wanted::Between(Between::of(range)));
            }
            FieldQuery::Range(_) | FieldQuery::Exists(..) => {}
        }
    }

    /// Whether the values of a field are words.
    fn has_words(&self, field: &str) -> bool {
        let mapped = self.mapping.field(field);
        mapped.is_some_and(|mapped| {
            matches!(
                mapped.kind,
                FieldKind::Text { .. } | FieldKind::Keyword { .. }
            )
        })
    }

    fn multi_match(&mut self, multi: &MultiMatch) {
        let outer = self.boost;
        for FieldBoost { field, boost } in self.fields(&multi.fields) {
            self.boost = outer * boost * multi.clause.boost;
            let clause = Match {
                field: field.clone(),
                ..multi.clause.clone()
            };
            let phrase = MatchPhrase {
                slop: multi.slop,
                text: clause.text.clone(),
                analyzer: clause.analyzer.clone(),
                ..MatchPhrase::new(field, "")
            };
            match multi.kind {
                MultiMatchKind::Phrase => self.phrase(&phrase, false),
                MultiMatchKind::PhrasePrefix => self.phrase(&phrase, true),
                MultiMatchKind::BoolPrefix => self.words(&clause, true),
                _ => self.words(&clause, false),
            }
        }
        self.boost = outer;
    }

    fn words(&mut self, clause: &Match, open: bool) {
        let found = self.tokens(&clause.field, clause.analyzer.as_deref(), &clause.text);
        if is_graph(&found) && !open && clause.fuzziness.is_none() {
            return self.synonyms(&clause.field, &found, clause.synonym_phrases);
        }
        let mut terms = texts(found);
        let last = if open { terms.pop() } else { None };
        for term in terms {
            let what = match &clause.fuzziness {
                Some(fuzziness) => fuzzy(&term, fuzziness),
                None => Wanted::Term(term),
            };
            self.push(&clause.field, what);
        }
        if let Some(last) = last {
            self.push(&clause.field, Wanted::Prefix(last));
        }
    }

    fn phrase(&mut self, phrase: &MatchPhrase, open: bool) {
        let found = self.tokens(&phrase.field, phrase.analyzer.as_deref(), &phrase.text);
        let slop = usize::try_from(phrase.slop).unwrap_or(usize::MAX);
        if is_graph(&found) && !open {
            return self.synonym_phrases(&phrase.field, &found, slop);
        }
        let terms = texts(found);
        let what = match terms.as_slice() {
            [] => return,
            [only] if open => Wanted::Prefix(only.clone()),
            [only] => Wanted::Term(only.clone()),
            _ => Wanted::Phrase { terms, slop, open },
        };
        self.push(&phrase.field, what);
    }

    /// The terms of a query's text in a field.
    pub(super) fn terms(&self, field: &str, analyzer: Option<&str>, text: &Value) -> Vec<String> {
        texts(self.tokens(field, analyzer, text))
    }

    fn tokens(&self, field: &str, analyzer: Option<&str>, text: &Value) -> Vec<Token> {
        let text = text_of(text);
        let own = self.mapping.field(field);
        let name = match own.map(|mapped| &mapped.kind) {
            Some(FieldKind::Text {
                analyzer: own_name, ..
            }) => analyzer
                .or(own.and_then(MappedField::search_analyzer))
                .unwrap_or(own_name),
            _ => "keyword",
        };
        tokens(name, &text)
    }

    /// The fields of a clause: those that are named, or all with text.
    fn fields(&self, wanted: &[FieldBoost]) -> Vec<FieldBoost> {
        let all = [FieldBoost::parse("*")];
        let wanted = if wanted.is_empty() { &all } else { wanted };
        let mut fields = Vec::new();
        for one in wanted {
            if !one.field.contains('*') {
                fields.push(one.clone());
                continue;
            }
            let named = self.mapping.fields().iter().filter(|field| {
                clew_schema::glob::matches(&one.field, &field.path) && !field.kind.is_vector()
            });
            fields.extend(named.map(|field| FieldBoost {
                field: field.path.clone(),
                boost: one.boost,
            }));
        }
        fields
    }

    /// A pattern that cannot be read is not marked.
    pub(super) fn wildcard(&mut self, field: &str, pattern: Result<Wildcard, QueryError>) {
        if let Ok(pattern) = pattern {
            self.push(field, Wanted::Wildcard(pattern));
        }
    }

    pub(super) fn push(&mut self, field: &str, what: Wanted) {
        let mapped = self.mapping.field(field);
        let is_wildcard = matches!(
            mapped.map(|mapped| &mapped.kind),
            Some(FieldKind::Keyword {
                style: KeywordStyle::Wildcard,
                ..
            })
        );
        if is_wildcard {
            // OpenSearch looks such values through by itself, and shows nothing.
            return;
        }
        // Under its own name, by whichever it was asked for.
        let field = mapped.map_or(field, |mapped| mapped.path.as_str());
        self.found.push(FieldWanted {
            field: field.to_string(),
            what,
            of_rule: false,
            boost: self.boost,
        });
    }

    /// The same for a word of a rule.
    pub(super) fn push_of_rule(&mut self, field: &str, what: Wanted) {
        let before = self.found.len();
        self.push(field, what);
        if let Some(pushed) = self.found.get_mut(before) {
            pushed.of_rule = true;
        }
    }
}

fn texts(tokens: Vec<Token>) -> Vec<String> {
    tokens.into_iter().map(|token| token.text).collect()
}

/// A word, or one that is much like it.
pub(super) fn fuzzy(term: &str, fuzziness: &Fuzziness) -> Wanted {
    Wanted::Fuzzy {
        term: term.to_string(),
        edits: fuzziness.edits(term.chars().count()).into(),
        prefix: fuzziness.prefix_length.min(term.chars().count()),
    }
}

/// The words that are looked for, in their order, each once. What stands for many words is held against each word
/// once, however often that is in the text.
pub(super) fn marks(words: &[Token], wanted: &[FieldWanted]) -> Vec<Mark> {
    let mut terms = HashSet::new();
    let mut patterns = Vec::new();
    let mut marks = Vec::new();
    let mut pace = Pace::default();
    for (number, FieldWanted { what, .. }) in wanted.iter().enumerate() {
        match what {
            Wanted::Term(term) => {
                terms.insert(term.as_str());
            }
            Wanted::Phrase {
                terms,
                slop,
                open: is_open,
            } => {
                let places = phrase(words, terms, (*slop, *is_open), &mut pace);
                marks.extend(places.into_iter().map(|word| Mark { word, group: None }));
            }
            Wanted::Spans(spans) => {
                let places = spans.marked(words, &mut pace);
                marks.extend(places.into_iter().map(|word| Mark { word, group: None }));
            }
            pattern => patterns.push((number, pattern)),
        }
    }
    let mut known: HashMap<&str, Option<usize>> = HashMap::new();
    for (word, Token { text, .. }) in words.iter().enumerate() {
        if terms.contains(text.as_str()) {
            marks.push(Mark { word, group: None });
            continue;
        }
        let fitting = known.entry(text.as_str()).or_insert_with(|| {
            let mut patterns = patterns.iter();
            let first = patterns.find(|(_, what)| pace.is_over() || fits(what, text));
            first.map(|(number, _)| *number)
        });
        marks.extend(fitting.map(|number| Mark {
            word,
            group: Some(number),
        }));
        if pace.is_over() {
            break;
        }
    }
    marks.sort_unstable();
    marks.dedup_by_key(|mark| mark.word);
    marks
}

/// Whether a word is one of those that a pattern stands for.
pub(super) fn fits(what: &Wanted, word: &str) -> bool {
    match what {
        Wanted::Prefix(prefix) => word.starts_with(prefix.as_str()),
        Wanted::Wildcard(pattern) => pattern.matches(word),
        Wanted::Expression(expression) => expression.matches(word),
        Wanted::Between(range) => range.has(word),
        Wanted::Fuzzy {
            term,
            edits,
            prefix,
        } => {
            let beginning = |text: &str| text.chars().take(*prefix).collect::<String>();
            let lengths = [term.as_str(), word].map(|text| text.chars().count());
            lengths[0].abs_diff(lengths[1]) <= *edits
                && beginning(term) == beginning(word)
                && strsim::osa_distance(term, word) <= *edits
        }
        Wanted::Term(_) | Wanted::Phrase { .. } | Wanted::Spans(_) => false,
    }
}
