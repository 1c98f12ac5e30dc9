//! Indexes of parts of texts, which here have no structure of their own: what is said of them is checked all the same.

use super::{Params, refused};
use crate::error::{MilvusError, Result};

/// Lengths of the parts of words that texts are cut into.
pub(super) fn check_grams(params: &Params) -> Result<()> {
    let (Some(min), Some(max)) = (params.get("min_gram"), params.get("max_gram")) else {
        return Err(MilvusError::missing(
            "Ngram index must specify both min_gram and max_gram",
        ));
    };
    let number = |name: &str, given: &str| -> Result<i64> {
        given.parse().map_err(|_| {
            refused(format!(
                "{name} for Ngram index must be an integer, got: {given}"
            ))
        })
    };
    let (min, max) = (number("min_gram", min)?, number("max_gram", max)?);
    match 0 < min && min <= max {
        true => Ok(()),
        false => Err(refused(format!(
            "invalid min_gram or max_gram value for Ngram index, min_gram: {min}, max_gram: {max}"
        ))),
    }
}

/// How densely an index of all suffixes of texts is sampled, and how wide its blocks are; nothing here follows from that.
pub(super) fn check_suffixes(params: &Params) -> Result<()> {
    let whole = |name: &str| -> Result<Option<u64>> {
        let given = params.get(name).map(|given| given.parse::<u64>());
        let read = given.transpose();
        read.map_err(|_| refused(format!("{name} for FM-index must be an integer")))
    };
    let (rate, block) = ("fm_sa_sample_rate", "fm_block_bytes");
    if whole(rate)?.is_some_and(|rate| !(4..=256).contains(&rate)) {
        return Err(refused(format!("{rate} for FM-index must be in [4, 256]")));
    }
    let fits = |bytes: u64| bytes.is_power_of_two() && (8..=128).contains(&bytes);
    match whole(block)?.is_none_or(fits) {
        true => Ok(()),
        false => Err(refused(format!(
            "{block} for FM-index must be a power of two in [8, 128]"
        ))),
    }
}

/// Refuses an index of parts of words of JSON that does not say that a path leads to texts.
pub(super) fn check_json_of_grams(params: &Params) -> Result<()> {
    match params.get("json_cast_type") {
        None => Err(MilvusError::missing(
            "JSON field with ngram index must specify json_cast_type",
        )),
        Some(cast) if !cast.trim().eq_ignore_ascii_case("VARCHAR") => Err(refused(format!(
            "JSON field with ngram index only supports VARCHAR cast type, got: {}",
            cast.trim().to_ascii_uppercase()
        ))),
        Some(_) => Ok(()),
    }
}
