//! How hard a search tries, and within what distances: read from the parameters of the index's structure.

use std::collections::BTreeMap;

use clew_engine::{DistanceRange, Effort};
use serde_json::Value;

use super::NODE;
use super::asked::Asked;
use crate::collection::Metric;
use crate::error::{MilvusError, Result};

/// The greatest number of a parameter that has no other bound.
const COUNT_MAX: usize = 2_147_483_647;
/// Where a range of distances ends, away from what is searched for.
const RADIUS: &str = "radius";
/// Where it begins.
const RANGE_FILTER: &str = "range_filter";
/// Candidates of a walk beyond which it finds no more.
const EF_MAX: usize = 32_768;

/// The parameters of the index's structure, which are an object among the others.
///
/// # Errors
/// When they are no object, and for a range that does not say where it ends.
pub(super) fn inner_params(params: &BTreeMap<String, String>) -> Result<BTreeMap<String, Value>> {
    let inner: BTreeMap<String, Value> = match params.get("params").map(String::as_str) {
        None | Some("") => BTreeMap::new(),
        Some(json) => serde_json::from_str(json).map_err(|error| {
            MilvusError::invalid(format!("the search params are no JSON object: {error}"))
        })?,
    };
    match inner.contains_key(RANGE_FILTER) && !inner.contains_key(RADIUS) {
        false => Ok(inner),
        true => Err(MilvusError::invalid(
            "range_filter requires radius to be set; range_filter alone is not a valid range search parameter",
        )),
    }
}

impl Asked {
    /// A parameter that is a whole number within bounds, where it was given. Texts are read; other kinds of JSON are refused.
    fn inner_count(&self, name: &str, (min, max): (usize, usize)) -> Result<Option<usize>> {
        let beside = || {
            self.params
                .get(name)
                .map(|given| Value::String(given.clone()))
        };
        let Some(given) = self.inner.get(name).cloned().or_else(beside) else {
            return Ok(None);
        };
        let number = match &given {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => Some(text.trim().parse::<i64>().map_err(|_| {
                MilvusError::invalid(format!(
                    "invalid integer value, key: '{name}', value: '{text}': invalid parameter"
                ))
            })?),
            _ => None,
        };
        let number: i64 = number.ok_or_else(|| {
            MilvusError::invalid(format!(
                "Type conflict in json: param '{name}' ({given}) should be integer"
            ))
        })?;
        let count = usize::try_from(number).ok();
        match count.filter(|count| (min..=max).contains(count)) {
            Some(count) => Ok(Some(count)),
            None => Err(MilvusError::invalid(format!(
                "Out of range in json: param '{name}' ({number}) should be in range [{min}, {max}]"
            ))),
        }
    }

    /// A parameter that is a number, where it was given.
    fn inner_real(&self, name: &str) -> Result<Option<f64>> {
        let Some(given) = self.inner.get(name) else {
            return Ok(None);
        };
        let number = match given {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => Some(text.trim().parse::<f64>().map_err(|_| {
                MilvusError::invalid(format!(
                    "invalid float value, key: '{name}', value: '{text}': invalid parameter"
                ))
            })?),
            _ => None,
        };
        number.map(Some).ok_or_else(|| {
            MilvusError::invalid(format!(
                "Type conflict in json: param '{name}' ({given}) should be a number"
            ))
        })
    }

    /// Parameters that mean nothing to the structures of Clew, checked as if they did.
    fn check_others(&self) -> Result<()> {
        self.inner_count("rbq_bits_query", (0, 8))?;
        for (name, (min, max)) in [
            ("refine_k", (1.0, f64::from(f32::MAX))),
            ("dim_max_score_ratio", (0.5, 1.3)),
        ] {
            let given = self.inner_real(name)?;
            if let Some(given) = given.filter(|given| !(min..=max).contains(given)) {
                return Err(MilvusError::invalid(format!(
                    "Out of range in json: param '{name}' ({given:?}) should be in range [{min:.6}, {max:.6}]"
                )));
            }
        }
        Ok(())
    }

    /// How hard to try.
    ///
    /// # Errors
    /// For numbers out of bounds, as the node that searches tells it in Milvus.
    pub(super) fn effort(&self) -> Result<Effort> {
        self.asked_effort().map_err(|error| match error {
            MilvusError::Invalid(said) => {
                MilvusError::Invalid(format!("fail to search on QueryNode {NODE}: {said}"))
            }
            other => other,
        })
    }

    fn asked_effort(&self) -> Result<Effort> {
        let wanted = self.limit + self.offset;
        self.check_others()?;
        // Those that are kept until the best of them are told.
        let kept = |name: &str, told_as: &str, max: usize| -> Result<Option<usize>> {
            let count = self.inner_count(name, (1, max))?;
            match count.filter(|count| *count < wanted) {
                None => Ok(count),
                // Groups, and what lies within a range, are looked for until there is enough of them, however few are kept at
                // first, as in Milvus.
                Some(_)
                    if self.keeps_few
                        || self.group.is_some()
                        || self.inner.contains_key(RADIUS) =>
                {
                    Ok(Some(wanted))
                }
                Some(few) => Err(MilvusError::invalid(format!(
                    "{told_as}({few}) should be larger than k({wanted})"
                ))),
            }
        };
        let ef = kept("ef", "ef", COUNT_MAX)?;
        let list = kept("search_list", "search_list_size", 65_535)?;
        // As later clients call it.
        let list = list.or(kept("search_list_size", "search_list_size", COUNT_MAX)?);
        kept("reorder_k", "reorder_k", COUNT_MAX)?;
        Ok(Effort {
            ef_search: ef.or(list).map(|ef| ef.min(EF_MAX)),
            probes: self.inner_count("nprobe", (1, 65_536))?,
            exact: self.is_flat,
            drop_ratio: self.drop_ratio()?,
        })
    }

    /// Share of the smallest weights that hits are not looked for by.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a share of some hundred weights has no more digits"
    )]
    fn drop_ratio(&self) -> Result<f32> {
        let given = self.inner_real("drop_ratio_search")?.unwrap_or_default();
        if (0.0..1.0).contains(&given) {
            return Ok((given as f32).min(1.0_f32.next_down()));
        }
        Err(MilvusError::invalid(format!(
            "param 'drop_ratio_search' ({given}) should be in range [0.0, 1.0)"
        )))
    }

    /// The part of all distances that hits may have.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "distances have no more digits"
    )]
    pub(super) fn range(&self) -> Result<Option<DistanceRange>> {
        let inner = |name: &str| -> Result<Option<f32>> {
            let number = self.inner_real(name).map_err(|error| {
                let kind = match self.inner.get(name) {
                    Some(Value::String(_)) => "string",
                    Some(Value::Array(_)) => "array",
                    Some(Value::Object(_)) => "object",
                    Some(Value::Bool(_)) => "boolean",
                    Some(Value::Null) => "null",
                    Some(Value::Number(_)) | None => return error,
                };
                MilvusError::invalid(format!("{name}: type must be number, but is {kind}"))
            })?;
            Ok(number.map(|number| number as f32))
        };
        let (radius, near) = (inner(RADIUS)?, inner(RANGE_FILTER)?);
        let Some(radius) = radius else {
            // Signatures that have nothing in common are no hits of each other.
            let is_shared = self.metric == Metric::MinHash;
            return Ok(is_shared.then_some(DistanceRange {
                below: 1.0,
                from: None,
            }));
        };
        if let Some(near) = near {
            let is_ordered = match self.metric.is_similarity() {
                true => near > radius,
                false => near < radius,
            };
            if !is_ordered {
                let than = if self.metric.is_similarity() {
                    "greater"
                } else {
                    "less"
                };
                return Err(MilvusError::invalid(format!(
                    "metric type {}, range_filter({near}) must be {than} than radius({radius})",
                    self.metric.name()
                )));
            }
        }
        Ok(Some(DistanceRange {
            below: self.metric.distance(radius),
            from: near.map(|near| self.metric.distance(near)),
        }))
    }
}
