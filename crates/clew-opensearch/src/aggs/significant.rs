//! `significant_terms`: which heuristic, and what is compared with.

use clew_query::aggregation::{Comparison, Heuristic, SignificantSpec, WordsSpec};
use serde_json::Value;

use super::body::Body;
use super::error::AggDslError;
use super::parse::{small, term_filter};
use crate::dsl;

pub(super) fn parse(body: &mut Body<'_>) -> Result<SignificantSpec, AggDslError> {
    for hint in ["execution_hint", "shard_min_doc_count"] {
        body.take(hint);
    }
    let heuristic = heuristic(body)?;
    let background = match body.take("background_filter") {
        None => None,
        Some(query) => Some(dsl::parse_query(query)?),
    };
    let size = body.count("size")?.unwrap_or(10);
    if size == 0 {
        return Err(AggDslError::illegal(format!(
            "[size] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    Ok(SignificantSpec {
        size: small(size),
        shard_size: body.count("shard_size")?.map(small),
        min_doc_count: body.count("min_doc_count")?.unwrap_or(3),
        filter: term_filter(body)?,
        heuristic,
        background,
        words: None,
        source: body.source()?,
    })
}

/// `significant_text`, which takes its words from the documents' sources.
pub(super) fn parse_text(body: &mut Body<'_>) -> Result<SignificantSpec, AggDslError> {
    let drops_copies = body.flag("filter_duplicate_text")?;
    let paths = match body.take("source_fields") {
        None => Vec::new(),
        Some(Value::Array(names)) => {
            let name = |name: &Value| name.as_str().map(String::from);
            let names: Option<Vec<String>> = names.iter().map(name).collect();
            names.ok_or_else(|| AggDslError::illegal("[source_fields] must be names of fields"))?
        }
        Some(other) => return Err(body.wrong("source_fields", other)),
    };
    Ok(SignificantSpec {
        words: Some(WordsSpec {
            drops_copies,
            paths,
        }),
        ..parse(body)?
    })
}

fn heuristic(body: &mut Body<'_>) -> Result<Heuristic, AggDslError> {
    let mut found = Heuristic::Jlh;
    for name in [
        "jlh",
        "chi_square",
        "mutual_information",
        "gnd",
        "percentage",
    ] {
        let Some(value) = body.take(name) else {
            continue;
        };
        let Value::Object(settings) = value else {
            return Err(body.wrong(name, value));
        };
        let mut part = Body::new(name, body.name, settings);
        let superset = part.flag_or("background_is_superset", true)?;
        let comparison = Comparison {
            superset,
            negatives: part.flag("include_negatives")?,
        };
        part.end()?;
        found = match name {
            "chi_square" => Heuristic::ChiSquare(comparison),
            "mutual_information" => Heuristic::MutualInformation(comparison),
            "gnd" => Heuristic::Gnd { superset },
            "percentage" => Heuristic::Percentage,
            _ => Heuristic::Jlh,
        };
    }
    Ok(found)
}
