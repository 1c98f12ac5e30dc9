//! Tests that are made on documents themselves, or on nested objects, and only on those that a query let through.

mod inputs;

use std::sync::Arc;

use clew_query::{Operand, PlanarCheck, QueryError, Test, TextPattern, unless_stopped_in_set};
use clew_schema::Mapping;
use regex::Regex;
use serde_json::Value;
use tantivy::SegmentReader;
use tantivy::index::SegmentId;
use tantivy_common::BitSet;

use super::constant::{DocumentSet, FoundDocs};
use crate::segments::SegmentBits;
use inputs::Inputs;

/// Memory of a compiled regular expression.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// Documents of some segments.
pub(crate) type OfSegments = Vec<(SegmentId, SegmentBits)>;

/// The documents that pass a test.
#[derive(Debug)]
pub(crate) struct Tested {
    test: Compiled,
    inputs: Inputs,
    /// Only these are tested; all where nothing is said.
    within: Option<OfSegments>,
}

impl Tested {
    /// A test of documents, or of the nested objects in a scope.
    ///
    /// # Errors
    /// When a pattern in the test is none, or nested objects are asked for what has no column.
    pub(crate) fn new(
        test: &Test,
        mapping: &Mapping,
        (scope, within): (Option<&str>, Option<OfSegments>),
    ) -> Result<Self, QueryError> {
        Ok(Tested {
            test: Compiled::of(test)?,
            inputs: Inputs::of(test, mapping, scope)?,
            within,
        })
    }
}

impl DocumentSet for Tested {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        let alive;
        let candidates = match &self.within {
            Some(all) => match all.iter().find(|(id, _)| *id == reader.segment_id()) {
                Some((_, bits)) => bits,
                None => return Ok(FoundDocs::Nothing),
            },
            None => {
                alive = SegmentBits::alive(reader);
                &alive
            }
        };
        if candidates.count() == 0 {
            return Ok(FoundDocs::Nothing);
        }
        let mut documents = self.inputs.open(reader)?;
        let mut bits = BitSet::with_max_value(reader.max_doc());
        for doc in candidates.iter() {
            unless_stopped_in_set()?;
            if self.test.holds(documents.get(doc)?) == Some(true) {
                bits.insert(doc);
            }
        }
        Ok(FoundDocs::Bits(bits))
    }
}

/// A test whose patterns are ready.
#[derive(Clone, Debug)]
enum Compiled {
    Plain(Arc<Test>),
    Text(Operand, Regex),
    Shape(Operand, PlanarCheck),
    And(Vec<Compiled>),
    Or(Vec<Compiled>),
    Not(Box<Compiled>),
}

impl Compiled {
    fn of(test: &Test) -> Result<Compiled, QueryError> {
        let all = |tests: &[Test]| {
            tests
                .iter()
                .map(Compiled::of)
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(match test {
            Test::And(tests) => Compiled::And(all(tests)?),
            Test::Or(tests) => Compiled::Or(all(tests)?),
            Test::Not(test) => Compiled::Not(Box::new(Compiled::of(test)?)),
            Test::Text(operand, pattern) => Compiled::Text(operand.clone(), regex_of(pattern)?),
            Test::Shape(operand, shape) => {
                let check = PlanarCheck::of(shape).map_err(QueryError::illegal)?;
                Compiled::Shape(operand.clone(), check)
            }
            plain => Compiled::Plain(Arc::new(plain.clone())),
        })
    }

    /// Whether it holds; none where that is unknown.
    fn holds(&self, document: &Value) -> Option<bool> {
        match self {
            Compiled::Plain(test) => plain(test, document),
            Compiled::Text(operand, regex) => {
                let value = operand.value(document)?;
                Some(regex.is_match(value.as_str()?))
            }
            Compiled::Shape(operand, check) => {
                let value = operand.value(document)?;
                check.holds(value.as_str()?)
            }
            Compiled::Not(test) => test.holds(document).map(|holds| !holds),
            Compiled::And(tests) => joined(tests, document, false),
            Compiled::Or(tests) => joined(tests, document, true),
        }
    }
}

/// One test with this outcome decides; without it one that is unknown leaves all unknown.
fn joined(tests: &[Compiled], document: &Value, decides: bool) -> Option<bool> {
    let mut all = Some(!decides);
    for test in tests {
        match test.holds(document) {
            Some(holds) if holds == decides => return Some(decides),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

fn plain(test: &Test, document: &Value) -> Option<bool> {
    match test {
        Test::Constant(holds) => Some(*holds),
        Test::Compare(how, left, right) => {
            let (left, right) = (left.value(document)?, right.value(document)?);
            how.holds(&left, &right)
        }
        Test::OneOf(operand, values) => {
            let value = operand.value(document)?;
            let same = |one: &Value| clew_query::Comparison::Equal.holds(&value, one);
            if values.is_empty() {
                return Some(false);
            }
            // Of another kind than all of them it cannot be compared.
            values.iter().filter_map(same).reduce(|any, one| any || one)
        }
        Test::Contains { list, values, all } => {
            let list = list.value(document)?;
            let items = list.as_array()?;
            let has = |value: &Value| items.iter().any(|item| is_same(item, value));
            Some(match all {
                true => values.iter().all(has),
                false => values.iter().any(has),
            })
        }
        Test::Exists(operand) => Some(operand.value(document).is_some()),
        Test::IsTrue(operand) => operand.value(document)?.as_bool(),
        Test::Text(..) | Test::Shape(..) | Test::And(_) | Test::Or(_) | Test::Not(_) => None,
    }
}

fn is_same(left: &Value, right: &Value) -> bool {
    clew_query::Comparison::Equal.holds(left, right) == Some(true)
}

fn regex_of(pattern: &TextPattern) -> Result<Regex, QueryError> {
    let text = match pattern {
        TextPattern::Like(like) => like_regex(like),
        TextPattern::Regex(regex) => regex.clone(),
    };
    regex::RegexBuilder::new(&text)
        .size_limit(REGEX_BYTES_MAX)
        .dot_matches_new_line(true)
        .build()
        .map_err(|error| QueryError::illegal(format!("invalid regex pattern: {error}")))
}

/// A pattern of `%` and `_` as a regular expression for all of a text.
fn like_regex(like: &str) -> String {
    let mut regex = String::from("^");
    let mut letters = like.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            '\\' => regex.push_str(&regex::escape(&letters.next().unwrap_or('\\').to_string())),
            other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    regex
}

#[cfg(test)]
mod tests;
