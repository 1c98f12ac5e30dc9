//! Rankings by what rows are: the scores of those that match a filter are made more or less of by a weight, or by chance.

use std::collections::{HashMap, HashSet};

use clew_engine::{Pinned, SearchRequest, WantedField};
use clew_platform::{FNV1A_64, fnv1a_64, mixed_bits};
use clew_query::{Bool, Query};
use clew_search::TrackTotal;
use serde_json::Value;

use super::Service;
use super::cell::{Cell, column};
use super::decay::{param, ranker_of};
use super::fusion::hit_order;
use super::search::Found;
use crate::collection::{Collection, DataType, Field, Metric, pairs};
use crate::error::{MilvusError, Result};
use crate::expr::{self, Templates};
use crate::proto::{FunctionSchema, FunctionScore};

/// What such a ranker is called.
pub(super) const BOOST: &str = "boost";
/// Most of them in one search.
const BOOSTS_MAX: usize = 64;
/// Rows that are looked at together.
const PAGE_ROWS: usize = 8_192;

/// How two numbers become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Multiply,
    Sum,
}

impl Mode {
    /// Reads a mode; to multiply where none is said.
    fn read(given: Option<&String>, what: &str) -> Result<Mode> {
        match given.map(|given| given.to_ascii_lowercase()).as_deref() {
            None | Some("" | "multiply" | "multiple") => Ok(Mode::Multiply),
            Some("sum") => Ok(Mode::Sum),
            Some(other) => Err(MilvusError::invalid(format!("unknown {what}: {other}"))),
        }
    }

    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Mode::Multiply => a * b,
            Mode::Sum => a + b,
        }
    }
}

/// Numbers between 0 and 1 that take the place of a plain weight.
#[derive(Clone, Debug, PartialEq)]
struct Chance {
    seed: u64,
    /// The field of whole numbers that they follow from; rows' keys where there is none.
    field: Option<Field>,
}

/// A ranker.
#[derive(Clone, Debug, PartialEq)]
struct Boost {
    /// What rows have to match; all do where there is none.
    filter: Option<Query>,
    weight: f64,
    chance: Option<Chance>,
}

/// What errors of expressions begin with, whatever they are part of.
const PLAN: &str = "failed to create query plan: ";

/// The rankers of a search, and how they work together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Boosts {
    all: Vec<Boost>,
    /// How the weights of a row become one.
    together: Mode,
    /// How that changes the score.
    with_score: Mode,
}

impl Boosts {
    /// The rankers of this kind that a search has, if any; `chance` is what numbers follow from without a seed.
    ///
    /// # Errors
    /// For filters that are none, weights that are no numbers or missing, and modes that nobody knows.
    pub(super) fn read(
        collection: &Collection,
        score: Option<&FunctionScore>,
        (templates, chance): (&Templates, u64),
    ) -> Result<Option<Boosts>> {
        let Some(score) = score else { return Ok(None) };
        let own = score.functions.iter();
        let own = own.filter(|function| ranker_of(function).eq_ignore_ascii_case(BOOST));
        let own: Vec<&FunctionSchema> = own.collect();
        if own.is_empty() {
            return Ok(None);
        }
        if own.len() > BOOSTS_MAX {
            return Err(MilvusError::expected(
                format!("at most {BOOSTS_MAX} boost rankers"),
                own.len(),
            ));
        }
        let all = own.into_iter();
        let all = all.map(|function| boost(collection, function, (templates, chance)));
        let all: Vec<Boost> = all.collect::<Result<_>>()?;
        let params = pairs(score.params.clone());
        Ok(Some(Boosts {
            all,
            together: Mode::read(params.get("function_mode"), "function mode")?,
            with_score: Mode::read(params.get("boost_mode"), "boost mode")?,
        }))
    }
}

fn boost(
    collection: &Collection,
    function: &FunctionSchema,
    (templates, chance): (&Templates, u64),
) -> Result<Boost> {
    let filter = match param(function, "filter") {
        None | Some("") => None,
        Some(text) => {
            let parsed = expr::parse(text);
            let lowered = parsed.and_then(|parsed| expr::lower(&parsed, collection, templates));
            Some(lowered.map_err(|error| match error {
                MilvusError::Invalid(said) => MilvusError::Invalid(format!(
                    "{PLAN}parse expr failed: {}",
                    said.strip_prefix(PLAN).unwrap_or(&said)
                )),
                other => other,
            })?)
        }
    };
    let given = param(function, "weight").ok_or_else(|| {
        MilvusError::Invalid(format!("{PLAN}must set weight params for weight scorer"))
    })?;
    let weight: Option<f64> = given.parse().ok().filter(|weight: &f64| weight.is_finite());
    let weight = weight.ok_or_else(|| {
        MilvusError::invalid(format!(
            "{PLAN}parse function scorer weight params failed: {given} is no number"
        ))
    })?;
    let drawn = param(function, "random_score").map(|json| drawn(collection, json, chance));
    Ok(Boost {
        filter,
        weight,
        chance: drawn.transpose()?,
    })
}

/// Reads what numbers by chance follow from.
fn drawn(collection: &Collection, json: &str, chance: u64) -> Result<Chance> {
    let given: Value = serde_json::from_str(json)
        .map_err(|error| MilvusError::invalid(format!("random_score is no JSON: {error}")))?;
    let seed = match given.get("seed") {
        None => chance,
        Some(Value::Number(number)) => match number.as_i64() {
            Some(whole) => whole.cast_unsigned(),
            None => number.as_f64().unwrap_or_default().to_bits(),
        },
        Some(_) => return Err(MilvusError::invalid("random seed must be number")),
    };
    let field = match given.get("field") {
        None => None,
        Some(Value::String(name)) => {
            let field = collection.field(name).map_err(|_| {
                MilvusError::invalid(format!(
                    "random seed field not found: field not found[field={name}]"
                ))
            })?;
            if field.data_type != DataType::Int64 || field.is_part() {
                return Err(MilvusError::invalid(format!(
                    "only support int64 field as random seed, but got {}",
                    field.data_type.name()
                )));
            }
            (!field.is_primary).then(|| field.clone())
        }
        Some(_) => {
            return Err(MilvusError::invalid(
                "random seed field name must be string",
            ));
        }
    };
    Ok(Chance { seed, field })
}

/// A number from 0 to below 1 that follows from a text and a seed.
#[allow(
    clippy::cast_precision_loss,
    reason = "52 bits are what such a number has"
)]
fn number_by(seed: u64, text: &str) -> f64 {
    let bits = mixed_bits(fnv1a_64(FNV1A_64, text.as_bytes()) ^ mixed_bits(seed));
    (bits >> 12) as f64 / (1_u64 << 52) as f64
}

impl Service {
    /// Rankings after the boosts, best first.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "scores are told in single precision"
    )]
    pub(super) async fn boosted(
        &self,
        pinned: &Pinned,
        (boosts, metric): (&Boosts, Metric),
        found: Vec<Vec<Found>>,
    ) -> Result<Vec<Vec<Found>>> {
        let mut factors: HashMap<String, f64> = HashMap::new();
        for boost in &boosts.all {
            for (id, factor) in self.factors(pinned, boost, &found).await? {
                factors
                    .entry(id)
                    .and_modify(|known| *known = boosts.together.of(*known, factor))
                    .or_insert(factor);
            }
        }
        let with_score = boosts.with_score;
        let boosted = move |mut list: Vec<Found>| {
            for one in &mut list {
                if let Some(factor) = factors.get(&one.id) {
                    // Of distances more is worse: what is added brings a row nearer.
                    let sign = if metric.is_similarity() { 1.0 } else { -1.0 };
                    let score = sign * f64::from(one.score);
                    one.score = (sign * with_score.of(score, *factor)) as f32;
                }
            }
            list.sort_by(|a, b| {
                let best_first = match metric.is_similarity() {
                    true => b.score.total_cmp(&a.score),
                    false => a.score.total_cmp(&b.score),
                };
                best_first.then_with(|| hit_order(a, b))
            });
            list
        };
        self.each_ranking(found, boosted).await
    }

    /// What a ranker says of those rows that match its filter, by their keys.
    async fn factors(
        &self,
        pinned: &Pinned,
        boost: &Boost,
        found: &[Vec<Found>],
    ) -> Result<HashMap<String, f64>> {
        let mut rows: HashMap<&str, &Found> = HashMap::new();
        for one in found.iter().flatten() {
            rows.insert(&one.id, one);
        }
        if let Some(filter) = &boost.filter {
            let ids: Vec<String> = rows.keys().map(|id| String::from(*id)).collect();
            let matching = self.matching(pinned, filter, &ids).await?;
            rows.retain(|id, _| matching.contains(*id));
        }
        let Some(chance) = &boost.chance else {
            let all = rows.into_keys();
            return Ok(all.map(|id| (id.to_string(), boost.weight)).collect());
        };
        let rows: Vec<&Found> = rows.into_values().collect();
        let texts: Vec<Option<String>> = match &chance.field {
            None => rows.iter().map(|one| Some(one.id.clone())).collect(),
            Some(field) => self.numbers_of(pinned, field, &rows).await?,
        };
        let all = rows.iter().zip(texts).filter_map(|(one, text)| {
            let factor = boost.weight * number_by(chance.seed, &text?);
            Some((one.id.clone(), factor))
        });
        Ok(all.collect())
    }

    /// Which of these rows match.
    pub(super) async fn matching(
        &self,
        pinned: &Pinned,
        filter: &Query,
        ids: &[String],
    ) -> Result<HashSet<String>> {
        let mut matching = HashSet::new();
        for ids in ids.chunks(PAGE_ROWS) {
            let these = Query::Ids {
                values: ids.to_vec(),
                boost: 1.0,
            };
            let query = Query::Bool(Bool {
                filter: vec![these, filter.clone()],
                ..Bool::default()
            });
            let request = SearchRequest {
                size: ids.len(),
                track_total: TrackTotal::No,
                ..SearchRequest::new(pinned.clone(), query)
            };
            let found = self.found(request).await?;
            matching.extend(found.hits.into_iter().map(|hit| hit.id));
        }
        Ok(matching)
    }

    /// The whole numbers that rows have in a field, as texts.
    async fn numbers_of(
        &self,
        pinned: &Pinned,
        field: &Field,
        rows: &[&Found],
    ) -> Result<Vec<Option<String>>> {
        let places: Vec<_> = rows.iter().map(|one| one.place).collect();
        let wanted = [WantedField::Typed(field.path().to_string())];
        let read = self.engine().columns(pinned, &places, &wanted).await?;
        let ids = rows.iter().map(|one| one.id.as_str());
        let column = column(field, ids, &mut read.fields.into_iter())?;
        let number = |row| match Cell::of(&column, row) {
            Some(Cell::Integer(number)) => Some(number.to_string()),
            _ => None,
        };
        Ok((0..rows.len()).map(number).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_chance_follow_from_seed_and_row() {
        let numbers: Vec<f64> = (0..1_000)
            .map(|id| number_by(7, &format!("{id}")))
            .collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 1_000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        assert!((number_by(7, "3") - number_by(7, "3")).abs() < f64::EPSILON);
        assert!((number_by(7, "3") - number_by(8, "3")).abs() > f64::EPSILON);
    }

    #[test]
    fn modes_are_read_in_any_case() {
        let read = |given: &str| Mode::read(Some(&given.to_string()), "boost mode");
        assert_eq!(read("Multiply"), Ok(Mode::Multiply));
        assert_eq!(read("SUM"), Ok(Mode::Sum));
        assert_eq!(Mode::read(None, "boost mode"), Ok(Mode::Multiply));
        assert!(read("max").is_err());
    }
}
