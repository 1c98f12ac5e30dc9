//! What becomes of hits that are structs in a hybrid search: where all of its searches are of one field of structs they are joined
//! struct by struct, and stand for their rows otherwise.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::{Map, Value};

use super::asked::Asked;
use super::search::Found;
use crate::collection::{Collection, Metric, StructField};
use crate::error::{MilvusError, Result};

/// The parameter of a search that says how.
const SCOPE: &str = "element_scope";
/// What it consists of.
const COLLAPSE: &str = "collapse";

/// How the score of a row follows from those of its structs that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collapse {
    /// So many of them count: the nearest.
    nearest: usize,
    /// Whether what they score together is divided by their number.
    is_mean: bool,
}

/// How the structs that each of several searches finds become rows; none where hits are rows already, and where all searches
/// are of one field of structs, whose hits are joined as they are.
///
/// # Errors
/// For what is wrong with how it is said, and for groups of rows that only some searches find structs of.
pub(super) fn collapses(
    collection: &Collection,
    all: &[Asked],
    is_grouped: bool,
) -> Result<Vec<Option<Collapse>>> {
    let said: Vec<Option<Collapse>> = all.iter().map(Collapse::said).collect::<Result<_>>()?;
    let mut places = all.iter().map(|asked| place_of(collection, asked));
    let first = places.next().flatten();
    if first.is_some() && places.all(|place| place == first) {
        return match said.iter().all(Option::is_none) {
            true => Ok(said),
            false => Err(MilvusError::invalid(format!(
                "{SCOPE} is not allowed for same-struct element-level hybrid search"
            ))),
        };
    }
    let of_one = |(asked, said): (&Asked, Option<Collapse>)| match asked.finds_structs() {
        false => Ok(None),
        true if is_grouped => Err(MilvusError::invalid(format!(
            "group by search is only supported for same-struct element-level vector array fields in hybrid search, fieldName:{}",
            asked.field.name
        ))),
        true => Ok(Some(said.unwrap_or(Collapse::NEAREST))),
    };
    all.iter().zip(said).map(of_one).collect()
}

/// The field of structs that a search finds structs of.
fn place_of<'c>(collection: &'c Collection, asked: &Asked) -> Option<&'c str> {
    let around: Option<&StructField> = collection.struct_of(&asked.field);
    around
        .filter(|_| asked.finds_structs())
        .map(|around| around.name.as_str())
}

impl Collapse {
    /// The nearest struct stands for its row.
    const NEAREST: Collapse = Collapse {
        nearest: 1,
        is_mean: false,
    };

    /// What a search says of it, where it does.
    fn said(asked: &Asked) -> Result<Option<Collapse>> {
        let Some(scope) = asked.inner.get(SCOPE) else {
            return Ok(None);
        };
        let (strategy, collapse) = Collapse::read(scope)?;
        if !asked.finds_structs() {
            return Err(MilvusError::invalid(format!(
                "{SCOPE} is only supported for element-level search on struct array vector sub-fields"
            )));
        }
        match strategy {
            // The more structs, the farther the row: a sum of distances says nothing.
            "sum" | "topk_sum" if !asked.metric.is_similarity() => {
                Err(MilvusError::invalid(format!(
                    "{SCOPE}.{COLLAPSE}.strategy {strategy} is only supported for positively related metrics"
                )))
            }
            _ => Ok(Some(collapse)),
        }
    }

    /// Reads it, and the name of its strategy.
    fn read(scope: &Value) -> Result<(&str, Collapse)> {
        let outer = members(SCOPE, scope, &[COLLAPSE])?;
        let inside = format!("{SCOPE}.{COLLAPSE}");
        let given = outer.get(COLLAPSE);
        let given = given.ok_or_else(|| missing(&inside, "is required"))?;
        let inner = members(&inside, given, &["strategy", "topk"])?;
        let strategy = match inner.get("strategy") {
            None => "",
            Some(Value::String(text)) => text.trim(),
            Some(_) => return Err(wrong(&format!("{inside}.strategy"), "must be a string")),
        };
        let (takes_count, is_mean) = match strategy {
            "" => return Err(missing(&format!("{inside}.strategy"), "is required")),
            "max" | "sum" => (false, false),
            "avg" => (false, true),
            "topk_sum" => (true, false),
            "topk_avg" => (true, true),
            other => {
                return Err(MilvusError::invalid(format!(
                    "unsupported {inside}.strategy: {other}"
                )));
            }
        };
        let count = format!("{inside}.topk");
        let given = match inner.get("topk").map(Value::as_i64) {
            None => None,
            Some(None) => return Err(wrong(&count, "must be an integer")),
            Some(Some(..1)) => return Err(wrong(&count, "must be positive")),
            Some(Some(number)) => Some(usize::try_from(number).unwrap_or(usize::MAX)),
        };
        let nearest = match (takes_count, given) {
            (true, Some(number)) => number,
            (true, None) => {
                let why = format!("is required for strategy {strategy}");
                return Err(missing(&count, &why));
            }
            (false, Some(_)) => {
                return Err(wrong(&count, "is only valid for topk strategies"));
            }
            (false, None) if strategy == "max" => 1,
            (false, None) => usize::MAX,
        };
        Ok((strategy, Collapse { nearest, is_mean }))
    }

    /// The score of a row, of those of its structs, the nearest first.
    #[allow(
        clippy::cast_precision_loss,
        reason = "a search finds far fewer structs than a float has whole numbers"
    )]
    fn score(self, nearest_first: &[f32]) -> f32 {
        let counted = &nearest_first[..nearest_first.len().min(self.nearest)];
        let sum: f32 = counted.iter().sum();
        match self.is_mean {
            true => sum / counted.len().max(1) as f32,
            false => sum,
        }
    }

    /// Rows in place of their structs, of which the nearest come first; rows that score alike stay in the order of their
    /// nearest structs.
    pub(super) fn rows(self, metric: Metric, structs: Vec<Found>) -> Vec<Found> {
        let mut rows: Vec<(Found, Vec<f32>)> = Vec::new();
        let mut place_of: HashMap<String, usize> = HashMap::new();
        for found in structs {
            match place_of.entry(found.id.clone()) {
                Entry::Occupied(known) => rows[*known.get()].1.push(found.score),
                Entry::Vacant(new) => {
                    new.insert(rows.len());
                    let scores = vec![found.score];
                    rows.push((found, scores));
                }
            }
        }
        let row = |(nearest, scores): (Found, Vec<f32>)| Found {
            score: self.score(&scores),
            element: None,
            ..nearest
        };
        let mut rows: Vec<Found> = rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| match metric.is_similarity() {
            true => b.score.total_cmp(&a.score),
            false => a.score.total_cmp(&b.score),
        });
        rows
    }
}

/// The members of an object, each of which has one of these names.
fn members<'v>(what: &str, value: &'v Value, known: &[&str]) -> Result<&'v Map<String, Value>> {
    let members = value
        .as_object()
        .ok_or_else(|| wrong(what, "must be a JSON object"))?;
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(members),
        Some(key) => Err(MilvusError::invalid(format!(
            "unsupported {what} key: {key}"
        ))),
    }
}

fn wrong(what: &str, why: &str) -> MilvusError {
    MilvusError::invalid(format!("{what} {why}"))
}

fn missing(what: &str, why: &str) -> MilvusError {
    MilvusError::missing(format!("{what} {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(collapse: Value) -> Result<Collapse> {
        Collapse::read(&json!({ "collapse": collapse })).map(|(_, read)| read)
    }

    #[test]
    fn a_row_scores_what_its_structs_score_together() {
        for (collapse, want) in [
            (json!({"strategy": "max"}), 4.0),
            (json!({"strategy": "sum"}), 7.0),
            (json!({"strategy": " avg "}), 1.75),
            (json!({"strategy": "topk_sum", "topk": 2}), 6.0),
            (json!({"strategy": "topk_avg", "topk": 2}), 3.0),
            (json!({"strategy": "topk_sum", "topk": 10}), 7.0),
            (json!({"strategy": "topk_avg", "topk": 10}), 1.75),
        ] {
            let score = read(collapse.clone()).unwrap().score(&[4.0, 2.0, 0.5, 0.5]);
            assert!((score - want).abs() < 1e-6, "{collapse}: {score}");
        }
    }

    #[test]
    fn what_is_no_collapse_is_refused() {
        for (scope, code, said) in [
            (json!(1), 1100, "element_scope must be a JSON object"),
            (json!({"x": 1}), 1100, "unsupported element_scope key: x"),
            (json!({}), 1101, "element_scope.collapse is required"),
            (
                json!({"collapse": {"k": 1}}),
                1100,
                "unsupported element_scope.collapse key: k",
            ),
            (
                json!({"collapse": {"strategy": " "}}),
                1101,
                "element_scope.collapse.strategy is required",
            ),
            (
                json!({"collapse": {"strategy": 7}}),
                1100,
                "element_scope.collapse.strategy must be a string",
            ),
            (
                json!({"collapse": {"strategy": "median"}}),
                1100,
                "unsupported element_scope.collapse.strategy: median",
            ),
            (
                json!({"collapse": {"strategy": "topk_sum"}}),
                1101,
                "element_scope.collapse.topk is required for strategy topk_sum",
            ),
            (
                json!({"collapse": {"strategy": "topk_avg", "topk": 0}}),
                1100,
                "element_scope.collapse.topk must be positive",
            ),
            (
                json!({"collapse": {"strategy": "topk_avg", "topk": 1.5}}),
                1100,
                "element_scope.collapse.topk must be an integer",
            ),
            (
                json!({"collapse": {"strategy": "max", "topk": 1}}),
                1100,
                "element_scope.collapse.topk is only valid for topk strategies",
            ),
        ] {
            let refused = Collapse::read(&scope).unwrap_err();
            assert_eq!(refused.code(), code, "{scope}");
            assert!(refused.to_string().contains(said), "{refused}");
        }
    }
}
