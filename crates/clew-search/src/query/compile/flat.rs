//! Queries on leaves of a `flat_object`: each becomes one on the field beside it, whose terms are
//! `path=value`.

use clew_query::{
    Bool, FieldQuery, Fuzziness, FuzzyDistance, Pattern, Query, Range, Term, TermsSet,
};
use clew_schema::{Mapping, PATHS_AND_VALUES};
use serde_json::Value;

use crate::query::literal::text_of;

/// The query on the field that has the leaf's terms; `None` when the query is on no such leaf.
pub(super) fn on_leaf(mapping: &Mapping, query: &Query) -> Option<Query> {
    let query = query.on_field()?;
    let path = query.field();
    let flat = mapping.flat_above(path)?;
    let field = format!("{}.{PATHS_AND_VALUES}", flat.path);
    // An alias of the object may stand in front.
    let path = mapping.resolve(path).to_string();
    let root = flat.path.clone();
    Some(Leaf { path, root, field }.rewritten(query))
}

struct Leaf {
    path: String,
    /// The object's own path.
    root: String,
    field: String,
}

impl Leaf {
    fn term(&self, value: &Value) -> String {
        format!("{}={}", self.path, text_of(value))
    }

    fn equal(&self, value: &Value, case_insensitive: bool, boost: f32) -> Query {
        Query::Term(Term {
            field: self.field.clone(),
            value: Value::String(self.term(value)),
            case_insensitive,
            boost,
        })
    }

    fn pattern(&self, pattern: &Pattern, path: &str) -> Pattern {
        Pattern {
            field: self.field.clone(),
            value: format!("{path}={}", pattern.value),
            ..pattern.clone()
        }
    }

    fn beginning(&self, with: &str, boost: f32) -> Query {
        Query::Prefix(Pattern {
            boost,
            ..Pattern::new(&self.field, format!("{}{with}", self.path))
        })
    }

    /// Leaves and objects that end like the path, at any depth: the last names are enough.
    fn anywhere(&self) -> Query {
        let root = regex::escape(&self.root);
        let rest = self.path.get(self.root.len()..).unwrap_or_default();
        let rest = regex::escape(rest);
        let pattern = format!("{root}(\\.[^=]*)?{rest}(\\.[^=]*)?=(.|\n)*");
        Query::Regexp(Pattern::new(&self.field, pattern))
    }

    /// Values that differ by some edits; the path does not.
    fn nearby(&self, value: &str, mut fuzziness: Fuzziness, boost: f32) -> Query {
        let edits = fuzziness.edits(value.chars().count());
        fuzziness.distance = FuzzyDistance::Fixed(edits);
        fuzziness.prefix_length += self.path.chars().count() + 1;
        Query::Fuzzy {
            field: self.field.clone(),
            value: format!("{}={value}", self.path),
            fuzziness,
            boost,
        }
    }

    fn rewritten(&self, query: FieldQuery<'_>) -> Query {
        match query {
            FieldQuery::Term(term) => self.equal(&term.value, term.case_insensitive, term.boost),
            FieldQuery::Match(clause) | FieldQuery::BoolPrefix(clause) => match &clause.fuzziness {
                Some(fuzziness) => self.nearby(&text_of(&clause.text), *fuzziness, clause.boost),
                None => self.equal(&clause.text, false, clause.boost),
            },
            FieldQuery::Phrase(phrase) | FieldQuery::PhrasePrefix(phrase) => {
                self.equal(&phrase.text, false, phrase.boost)
            }
            FieldQuery::Terms(_, values, boost) => Query::Terms {
                field: self.field.clone(),
                values: values.iter().map(|value| self.term(value).into()).collect(),
                boost,
            },
            FieldQuery::TermsSet(set) => Query::TermsSet(TermsSet {
                field: self.field.clone(),
                terms: set
                    .terms
                    .iter()
                    .map(|value| self.term(value).into())
                    .collect(),
                ..set.clone()
            }),
            FieldQuery::Prefix(pattern) => Query::Prefix(self.pattern(pattern, &self.path)),
            FieldQuery::Wildcard(pattern) => Query::Wildcard(self.pattern(pattern, &self.path)),
            FieldQuery::Regexp(pattern) => Query::Regexp(Pattern {
                value: format!("({}=)({})", escaped(&self.path), pattern.value),
                ..self.pattern(pattern, &self.path)
            }),
            FieldQuery::Fuzzy(_, value, fuzziness, boost) => self.nearby(value, fuzziness, boost),
            FieldQuery::Exists(_, boost) => self.exists(boost),
            FieldQuery::Range(range) => self.range(range),
        }
    }

    /// A value of the leaf, or of one below it.
    fn exists(&self, boost: f32) -> Query {
        let filter = Query::Bool(Bool {
            should: vec![
                self.beginning("=", 1.0),
                self.beginning(".", 1.0),
                self.anywhere(),
            ],
            ..Bool::default()
        });
        Query::ConstantScore {
            filter: Box::new(filter),
            boost,
        }
    }

    /// Between two values of the leaf; an open end is where the leaf's terms end.
    fn range(&self, range: &Range) -> Query {
        let given = |end: &Option<Value>| {
            let end = end.as_ref().filter(|end| !end.is_null());
            end.map(|end| Value::String(self.term(end)))
        };
        let mut leaf = Range {
            field: self.field.clone(),
            gte: given(&range.gte),
            gt: given(&range.gt),
            lte: given(&range.lte),
            lt: given(&range.lt),
            ..range.clone()
        };
        if leaf.gte.is_none() && leaf.gt.is_none() {
            leaf.gte = Some(format!("{}=", self.path).into());
        }
        if leaf.lte.is_none() && leaf.lt.is_none() {
            // The character behind the equals sign.
            leaf.lt = Some(format!("{}>", self.path).into());
        }
        Query::Range(leaf)
    }
}

/// A path as an expression that it alone matches.
fn escaped(path: &str) -> String {
    let mut expression = String::with_capacity(2 * path.len());
    for character in path.chars() {
        if !character.is_alphanumeric() {
            expression.push('\\');
        }
        expression.push(character);
    }
    expression
}
