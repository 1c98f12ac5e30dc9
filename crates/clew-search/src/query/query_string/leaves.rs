//! What one clause of a query string asks of one field.

use std::borrow::Cow;

use clew_analysis::{is_analyzer, tokens};
use clew_query::{
    FieldBoost, Fuzziness, Match, MatchPhrase, MultiMatch, MultiMatchKind, Pattern, Query,
    QueryError, Range,
};
use clew_schema::{FieldKind, KeywordStyle, MappedField};
use serde_json::Value;

use super::build::Build;
use super::{Clause, Word};

impl Build<'_> {
    pub(super) fn leaf(
        &self,
        clause: &Clause,
        field: &str,
        boost: f32,
    ) -> Result<Query, QueryError> {
        match clause {
            Clause::Word(word) => self.word(word, field, boost),
            Clause::Phrase {
                text,
                slop,
                boost: inner,
            } => {
                let quoted = self.quoted(field);
                let field = &*quoted;
                let phrase = MatchPhrase {
                    slop: slop.unwrap_or(self.options.phrase_slop),
                    boost: boost * inner,
                    analyzer: self
                        .options
                        .quote_analyzer
                        .clone()
                        .or_else(|| self.options.analyzer.clone()),
                    ..MatchPhrase::new(field, text)
                };
                Ok(self.guarded(field, Query::MatchPhrase(phrase)))
            }
            Clause::Range {
                low,
                high,
                boost: inner,
            } => {
                let mut range = Range {
                    boost: boost * inner,
                    time_zone: self.options.time_zone.clone(),
                    ..Range::new(field)
                };
                if let Some((text, inclusive)) = low {
                    let end = if *inclusive {
                        &mut range.gte
                    } else {
                        &mut range.gt
                    };
                    *end = Some(Value::String(text.clone()));
                }
                if let Some((text, inclusive)) = high {
                    let end = if *inclusive {
                        &mut range.lte
                    } else {
                        &mut range.lt
                    };
                    *end = Some(Value::String(text.clone()));
                }
                Ok(self.guarded(field, Query::Range(range)))
            }
            Clause::Regexp {
                pattern,
                boost: inner,
            } => Ok(self.expression(pattern, field, boost * inner)),
            Clause::Words(words) => self.word(&Word::plain(&words.join(" ")), field, boost),
            Clause::Group { .. } | Clause::Field { .. } | Clause::All => Ok(Query::MatchNone),
        }
    }

    /// The field that phrases are looked for in, instead of a field.
    fn quoted<'f>(&self, field: &'f str) -> Cow<'f, str> {
        let suffix = self.options.quote_suffix.as_deref();
        let other = suffix.map(|suffix| format!("{field}{suffix}"));
        match other.filter(|other| self.mapping.field(other).is_some()) {
            Some(other) => Cow::Owned(other),
            None => Cow::Borrowed(field),
        }
    }

    /// Plain words in all fields at once, where these are not just asked one by one.
    pub(super) fn together(
        &self,
        clause: &Clause,
        fields: &[FieldBoost],
        boost: f32,
    ) -> Option<Query> {
        let kind = self.options.kind;
        if matches!(
            kind,
            MultiMatchKind::BestFields | MultiMatchKind::MostFields
        ) || fields.is_empty()
        {
            return None;
        }
        let (text, own) = match clause {
            Clause::Word(Word {
                text,
                pattern: None,
                fuzzy: None,
                boost,
            }) => (text.clone(), *boost),
            Clause::Words(words) => (words.join(" "), 1.0),
            _ => return None,
        };
        Some(Query::MultiMatch(MultiMatch {
            fields: fields.to_vec(),
            clause: Match {
                operator: self.options.default_operator,
                analyzer: self.options.analyzer.clone(),
                lenient: self.lenient,
                synonym_phrases: self.options.synonym_phrases,
                boost: boost * own,
                ..Match::new("", &text)
            },
            kind,
            slop: self.options.phrase_slop,
            tie_breaker: Some(self.options.tie_breaker),
        }))
    }

    fn word(&self, word: &Word, field: &str, boost: f32) -> Result<Query, QueryError> {
        let boost = boost * word.boost;
        if let Some(pattern) = &word.pattern {
            return self.pattern(pattern, field, boost);
        }
        let fuzziness = match &word.fuzzy {
            None => None,
            Some(None) => Some(self.options.fuzziness),
            Some(Some(text)) => match (Fuzziness::parse(text), text.parse::<f32>()) {
                (Ok(own), _) => Some(Fuzziness {
                    distance: own.distance,
                    ..self.options.fuzziness
                }),
                // There are no such words, which is forgiven.
                (Err(_), Ok(_)) if self.lenient => return Ok(Query::MatchNone),
                (Err(_), Ok(edits)) => {
                    let reason = format!("Valid edit distances are [0, 1, 2] but was [{edits}]");
                    return Err(QueryError::create(reason));
                }
                (Err(_), Err(_)) => {
                    let text = text.to_uppercase();
                    return Err(QueryError::create(format!("For input string: \"{text}\"")));
                }
            },
        };
        if let Some(fuzziness) = fuzziness {
            // What is only about right is not analyzed, but for its case.
            let value = if self.is_lower_case(field) {
                word.text.to_lowercase()
            } else {
                word.text.clone()
            };
            let query = Query::Fuzzy {
                field: field.to_string(),
                value,
                fuzziness,
                boost,
            };
            return Ok(self.on_words(field, query));
        }
        let clause = Match {
            analyzer: self.options.analyzer.clone(),
            lenient: self.lenient,
            synonym_phrases: self.options.synonym_phrases,
            boost,
            ..Match::new(field, &word.text)
        };
        // A word that the analyzer cuts into several is one clause, all of whose parts are wanted
        // only under AND.
        Ok(Query::Match(Match {
            operator: self.options.default_operator,
            ..clause
        }))
    }

    fn expression(&self, expression: &str, field: &str, boost: f32) -> Query {
        let expression = if self.is_lower_case(field) {
            lower_expression(expression)
        } else {
            expression.to_string()
        };
        let pattern = Pattern {
            boost,
            states_max: self.options.regexp_states_max,
            rewrite: self.options.rewrite,
            ..Pattern::new(field, expression)
        };
        match self.on_words(field, Query::Regexp(pattern)) {
            // What is no expression is forgiven, too.
            query @ Query::Regexp(_) if self.lenient => Query::Lenient(Box::new(query)),
            query => query,
        }
    }

    fn pattern(&self, pattern: &str, field: &str, boost: f32) -> Result<Query, QueryError> {
        if pattern == "*" {
            return Ok(Query::Exists {
                field: field.to_string(),
                boost,
            });
        }
        if !self.options.allow_leading_wildcard && pattern.starts_with(['*', '?']) {
            return Err(QueryError::Syntax {
                query: self.options.query.clone(),
                reason: "'*' or '?' not allowed as first character in WildcardQuery".to_string(),
            });
        }
        // Words of a text field were lower-cased when they were indexed.
        let value = if self.is_lower_case(field) {
            pattern.to_lowercase()
        } else {
            pattern.to_string()
        };
        let plain_prefix = value
            .strip_suffix('*')
            .filter(|prefix| !prefix.contains(['*', '?', '\\']));
        let query = match plain_prefix {
            Some(prefix) => Query::Prefix(Pattern {
                boost,
                rewrite: self.options.rewrite,
                ..Pattern::new(field, prefix)
            }),
            None => Query::Wildcard(Pattern {
                boost,
                rewrite: self.options.rewrite,
                ..Pattern::new(field, value)
            }),
        };
        Ok(self.on_words(field, query))
    }

    /// Whether the words of a field are in small letters, whatever their text has.
    fn is_lower_case(&self, field: &str) -> bool {
        // Not every analyzer says so; what it makes of a capital does.
        self.analyzer(field).is_some_and(|analyzer| {
            is_analyzer(analyzer) && tokens(analyzer, "Q").first().is_some_and(|q| q.text == "q")
        })
    }

    /// A query on words, where the field has words; else nothing if that is to be forgiven.
    fn on_words(&self, field: &str, query: Query) -> Query {
        let mapped = self.mapping.field(field).filter(|_| self.lenient);
        let Some(mapped) = mapped else {
            return query;
        };
        match mapped.kind {
            FieldKind::Constant { .. } => query,
            FieldKind::Text { .. } | FieldKind::Keyword { .. } if mapped.indexed => query,
            // Some of these it answers, and says itself which it does not.
            FieldKind::Text { .. } | FieldKind::Keyword { .. } | FieldKind::Flat => {
                Query::Lenient(Box::new(query))
            }
            _ => Query::MatchNone,
        }
    }

    /// A query with values; values that do not fit are forgiven by a lenient match, so what is
    /// left are those that cannot say so themselves, as phrases do not on texts without places,
    /// and ranges not on wildcard fields, which have none.
    fn guarded(&self, field: &str, query: Query) -> Query {
        if !self.lenient {
            return query;
        }
        let fits = |mapped: &MappedField| {
            let has_words = matches!(
                mapped.kind,
                FieldKind::Text { .. } | FieldKind::Keyword { .. }
            );
            let is_wildcard = matches!(
                mapped.kind,
                FieldKind::Keyword {
                    style: KeywordStyle::Wildcard,
                    ..
                }
            );
            has_words && !is_wildcard && mapped.indexed && mapped.keeps_positions()
        };
        if self.mapping.field(field).is_none_or(fits) {
            query
        } else {
            Query::Lenient(Box::new(query))
        }
    }
}

/// A regular expression in lower case; what follows a backslash has a meaning of its own.
fn lower_expression(pattern: &str) -> String {
    let mut lower = String::with_capacity(pattern.len());
    let mut is_escaped = false;
    for character in pattern.chars() {
        if is_escaped {
            lower.push(character);
        } else {
            lower.extend(character.to_lowercase());
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    lower
}
