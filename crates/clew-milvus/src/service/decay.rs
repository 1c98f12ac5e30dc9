//! Rankings by how far a number of each row is from where it should be: what is as near by its vector counts less, the
//! farther off it is.

use std::collections::HashMap;

use clew_engine::{Pinned, WantedField};
use clew_query::unless_stopped;

use super::Service;
use super::cell::{Cell, column};
use super::fusion::{Ranking, hit_order, of_query, scaled};
use super::search::{Found, are_many};
use crate::collection::{Collection, Field, Metric, truth};
use crate::error::{MilvusError, Result};
use crate::proto::FunctionSchema;

/// What such a ranker is called.
pub(super) const DECAY: &str = "decay";

/// What says whether scores are brought to one scale before they are put together.
pub(super) const NORMALIZED: &str = "norm_score";

/// How a score fades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    Gauss,
    Linear,
    Exp,
}

/// What the score of a row is that several searches have found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merge {
    Max,
    Avg,
    Sum,
}

/// A ranker.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decay {
    field: Field,
    curve: Curve,
    /// Where a number should be.
    origin: f64,
    /// How far beyond the offset a score is left `rest` of itself.
    scale: f64,
    /// How far off a number may be without a loss.
    offset: f64,
    rest: f64,
    /// Whether scores are brought to one scale before.
    normalized: bool,
    merge: Merge,
}

impl Decay {
    /// Reads a ranker.
    ///
    /// # Errors
    /// When it is not of one field of numbers, or one of its numbers is out of bounds.
    pub(super) fn read(collection: &Collection, function: &FunctionSchema) -> Result<Decay> {
        let number = |name: &str| -> Result<Option<f64>> {
            let Some(given) = param(function, name) else {
                return Ok(None);
            };
            let number = given.parse::<f64>().map(Some);
            number.map_err(|_| wrong(format!("param {name}:{given} is not a number")))
        };
        let needed = |name: &str| -> Result<f64> {
            number(name)?.ok_or_else(|| wrong(format!("decay function lost param: {name}")))
        };
        let field = input(collection, function)?.clone();
        let (origin, scale) = (needed("origin")?, needed("scale")?);
        let offset = number("offset")?.unwrap_or(0.0);
        let rest = number("decay")?.unwrap_or(0.5);
        let out_of_bounds = |said: &str, given: f64| {
            Err(wrong(format!(
                "decay function param: {said}, but got {given:.6}"
            )))
        };
        if scale <= 0.0 {
            return out_of_bounds("scale must > 0", scale);
        }
        if offset < 0.0 {
            return out_of_bounds("offset must >= 0", offset);
        }
        if !(rest > 0.0 && rest < 1.0) {
            return out_of_bounds("decay must 0 < decay < 1", rest);
        }
        let curve = match param(function, "function") {
            Some("gauss") => Curve::Gauss,
            Some("linear") => Curve::Linear,
            Some("exp") => Curve::Exp,
            _ => {
                return Err(wrong(format!(
                    "invalid decay function: {DECAY}, only support [gauss,linear,exp]"
                )));
            }
        };
        let merge = match param(function, "score_mode").unwrap_or("max") {
            mode if mode.eq_ignore_ascii_case("max") => Merge::Max,
            mode if mode.eq_ignore_ascii_case("avg") => Merge::Avg,
            mode if mode.eq_ignore_ascii_case("sum") => Merge::Sum,
            other => {
                return Err(wrong(format!(
                    "unsupported score mode: [{other}], only supports: [max, avg, sum]"
                )));
            }
        };
        Ok(Decay {
            field,
            curve,
            origin,
            scale,
            offset,
            rest,
            normalized: is_normalized(param(function, NORMALIZED))?,
            merge,
        })
    }

    /// What is left of the score of a row with this number.
    fn left(&self, number: f64) -> f64 {
        let beyond = ((number - self.origin).abs() - self.offset).max(0.0) / self.scale;
        match self.curve {
            Curve::Gauss => (self.rest.ln() * beyond * beyond).exp(),
            Curve::Exp => (self.rest.ln() * beyond).exp(),
            Curve::Linear => (1.0 - (1.0 - self.rest) * beyond).max(self.rest),
        }
    }

    /// The ranking of one query, best first; of a row without a number nothing is left.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "scores are told in single precision"
    )]
    fn ranked(&self, lists: &[(Metric, &[Found])], numbers: &HashMap<&str, f64>) -> Vec<Found> {
        let mut all: HashMap<(&str, Option<usize>), (f64, f64, &Found)> = HashMap::new();
        for (metric, list) in lists {
            for found in *list {
                let score = f64::from(found.score);
                let score = match self.normalized || !metric.is_similarity() {
                    true => scaled(*metric, score),
                    false => score,
                };
                let known = all.entry((found.id.as_str(), found.element));
                known
                    .and_modify(|(merged, times, _)| {
                        *times += 1.0;
                        match self.merge {
                            Merge::Max => *merged = f64::max(*merged, score),
                            Merge::Avg | Merge::Sum => *merged += score,
                        }
                    })
                    .or_insert((score, 1.0, found));
            }
        }
        let ranked = all.into_iter().map(|((id, _), (merged, times, found))| {
            let left = numbers.get(id).map_or(0.0, |number| self.left(*number));
            let score = match self.merge {
                Merge::Avg => merged / times,
                Merge::Max | Merge::Sum => merged,
            };
            Found {
                score: (score * left) as f32,
                group: None,
                ..found.clone()
            }
        });
        let mut ranked: Vec<Found> = ranked.collect();
        // Scores may be less than nothing; rows without a number are last all the same.
        let is_rated = |found: &Found| numbers.contains_key(found.id.as_str());
        ranked.sort_by(|a, b| {
            let best_first = is_rated(b).cmp(&is_rated(a));
            let best_first = best_first.then_with(|| b.score.total_cmp(&a.score));
            best_first.then_with(|| hit_order(a, b))
        });
        ranked
    }
}

/// What a function says that it ranks by.
pub(super) fn ranker_of(function: &FunctionSchema) -> &str {
    param(function, "reranker").unwrap_or_default()
}

/// A parameter of a function, by its name in any case.
pub(super) fn param<'f>(function: &'f FunctionSchema, name: &str) -> Option<&'f str> {
    let mut params = function.params.iter();
    let found = params.find(|pair| pair.key.eq_ignore_ascii_case(name));
    found.map(|pair| pair.value.as_str())
}

/// Whether scores are brought to one scale, by what a ranker says of it. Clients of Python write `True`.
///
/// # Errors
/// When that is no truth.
pub(super) fn is_normalized(given: Option<&str>) -> Result<bool> {
    let Some(given) = given else { return Ok(false) };
    // The typing error is Milvus' own.
    truth(given).ok_or_else(|| {
        MilvusError::invalid(format!(
            "{NORMALIZED} params must be true/false, bug got {given}"
        ))
    })
}

/// The field of numbers that a ranker reads.
fn input<'c>(collection: &'c Collection, function: &FunctionSchema) -> Result<&'c Field> {
    let [name] = function.input_field_names.as_slice() else {
        return Err(wrong(format!(
            "decay function only supports single input, but gets [[{}]] input",
            function.input_field_names.join(" ")
        )));
    };
    let missing = |_| wrong(format!("function input field not found: {name}"));
    let field = collection.field(name).map_err(missing)?;
    let data_type = field.data_type;
    let is_number = data_type.is_number();
    if !is_number || field.is_part() {
        return Err(wrong(format!(
            "decay rerank: unsupported input field type:{}, only support numeric field",
            data_type.name()
        )));
    }
    Ok(field)
}

fn wrong(said: String) -> MilvusError {
    MilvusError::Invalid(said)
}

impl Service {
    /// Rankings of several searches as one for each query, by what a number of each row leaves of its score.
    pub(super) async fn decayed(
        &self,
        pinned: &Pinned,
        decay: &Decay,
        rankings: Vec<Ranking>,
    ) -> Result<Vec<Vec<Found>>> {
        let lists = rankings.iter().flat_map(|(_, lists)| lists);
        let all: Vec<&Found> = lists.flatten().collect();
        let places: Vec<_> = all.iter().map(|one| one.place).collect();
        let wanted = match decay.field.is_primary {
            true => Vec::new(),
            false => vec![WantedField::Typed(decay.field.path().to_string())],
        };
        let read = self.engine().columns(pinned, &places, &wanted).await?;
        let ids = all.iter().map(|one| one.id.as_str());
        let column = column(&decay.field, ids, &mut read.fields.into_iter())?;
        let are_many = rankings.iter().any(|(_, lists)| are_many(lists));
        let decay = decay.clone();
        let ranked = move || {
            let lists = rankings.iter().flat_map(|(_, lists)| lists);
            let rows = lists.flatten().enumerate();
            let numbers = rows.filter_map(|(row, one)| {
                Some((one.id.as_str(), Cell::of(&column, row)?.number()?))
            });
            let numbers: HashMap<&str, f64> = numbers.collect();
            let queries = rankings.first().map_or(0, |(_, lists)| lists.len());
            let ranked = |at| -> Result<Vec<Found>> {
                unless_stopped()?;
                Ok(decay.ranked(&of_query(&rankings, at), &numbers))
            };
            (0..queries).map(ranked).collect()
        };
        Box::pin(self.with_hits(are_many, ranked)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::DataType;

    #[test]
    fn at_the_scale_a_score_is_left_what_was_said() {
        let decay = |curve| Decay {
            field: crate::collection::Field::read(crate::proto::FieldSchema {
                name: "n".into(),
                data_type: DataType::Int64.number(),
                ..crate::proto::FieldSchema::default()
            })
            .unwrap(),
            curve,
            origin: 10.0,
            scale: 4.0,
            offset: 2.0,
            rest: 0.25,
            normalized: false,
            merge: Merge::Max,
        };
        for (curve, number, want) in [
            (Curve::Gauss, 10.0, 1.0),
            (Curve::Gauss, 12.0, 1.0),
            (Curve::Gauss, 16.0, 0.25),
            (Curve::Gauss, 0.0, 0.25_f64.powi(4)),
            (Curve::Exp, 4.0, 0.25),
            (Curve::Exp, 20.0, 0.0625),
            (Curve::Linear, 14.0, 0.625),
            (Curve::Linear, 16.0, 0.25),
            (Curve::Linear, 100.0, 0.25),
        ] {
            let left = decay(curve).left(number);
            assert!((left - want).abs() < 1e-9, "{curve:?} of {number}: {left}");
        }
    }
}
