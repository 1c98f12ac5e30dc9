//! `significant_terms` and `significant_text`: which heuristic, and what is compared with.

use clew_aggregation::{BucketExtra, TermsKind, TermsResult, ValueFormat};
use clew_query::ScriptPurpose;
use clew_query::aggregation::{AggSpec, Comparison, Heuristic, SignificantSpec, WordsSpec};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::settings::{
    TERMS_HINTS, check_hint, min_doc_count, shard_min_doc_count, shard_size, size, term_filter,
};
use crate::aggs::shown::{insert_buckets, term_key, while_wanted};
use crate::aggs::table::{ANY_VALUES, NO_VALUES, Row};
use crate::dsl::{self, WrittenScript};
use crate::http::error::ApiError;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("significant_terms", ANY_VALUES, |body| {
        terms(body).map(AggSpec::SignificantTerms)
    }),
    Row::new("significant_text", NO_VALUES, |body| {
        text(body).map(AggSpec::SignificantTerms)
    }),
];

fn terms(body: &mut Body<'_>) -> Result<SignificantSpec, AggDslError> {
    check_hint(body, TERMS_HINTS)?;
    let shard_min_doc_count = shard_min_doc_count(body)?;
    let heuristic = heuristic(body)?;
    let background = match body.take("background_filter") {
        None => None,
        Some(query) => {
            let query = dsl::parse_query(query);
            Some(query.map_err(|error| body.in_field("background_filter", error))?)
        }
    };
    let size = size(body, 10)?;
    Ok(SignificantSpec {
        size,
        shard_size: shard_size(body)?,
        min_doc_count: min_doc_count(body, 3)?,
        shard_min_doc_count,
        filter: term_filter(body)?,
        heuristic,
        background,
        words: None,
        source: body.source()?,
    })
}

/// `significant_text`, which takes its words from the documents' sources.
fn text(body: &mut Body<'_>) -> Result<SignificantSpec, AggDslError> {
    body.lack(&["missing", "script", "format", "execution_hint"])?;
    let drops_copies = body.flag("filter_duplicate_text")?;
    let paths = match body.take("source_fields") {
        None => Vec::new(),
        Some(Value::String(name)) => vec![name.clone()],
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
        ..terms(body)?
    })
}

fn heuristic(body: &mut Body<'_>) -> Result<Heuristic, AggDslError> {
    let mut found = match body.take("script_heuristic") {
        None => Heuristic::Jlh,
        Some(Value::Object(settings)) => {
            let mut part = Body::new("script_heuristic", body.name, settings);
            let scripted = scripted(&mut part)?;
            part.end()?;
            scripted
        }
        Some(other) => return Err(body.wrong("script_heuristic", other)),
    };
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
        if name == "gnd" {
            part.lack(&["include_negatives"])?;
        }
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

/// A script of the counts, which win over parameters of the same names.
fn scripted(part: &mut Body<'_>) -> Result<Heuristic, AggDslError> {
    let Some(script) = part.take("script") else {
        return Err(AggDslError::illegal("Required [script]"));
    };
    let counts = [
        "_subset_freq",
        "_subset_size",
        "_superset_freq",
        "_superset_size",
    ];
    let written = WrittenScript::of("script_heuristic", script)?;
    let written = written.without_params(counts.into_iter());
    let read = written.read(ScriptPurpose::Bucket);
    let script = read.map_err(AggDslError::of_shards)?;
    Ok(Heuristic::Script(Box::new(script)))
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    terms: &TermsResult,
    (doc_count, background): (u64, u64),
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    // Of a field that no index has OpenSearch shows neither.
    if terms.kind != TermsKind::Unmapped {
        body.insert("doc_count".to_string(), json!(doc_count));
        body.insert("bg_count".to_string(), json!(background));
    }
    let buckets = while_wanted(&terms.buckets).map(|bucket| {
        let mut object = term_key(terms, bucket);
        // A truth is no text here, as it is among other terms.
        if let (ValueFormat::Boolean, Some(text)) = (&terms.format, object.get_mut("key_as_string"))
        {
            *text = json!(text.as_str() == Some("true"));
        }
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        if let BucketExtra::Score { score, background } = bucket.extra {
            object.insert("score".to_string(), json!(score));
            object.insert("bg_count".to_string(), json!(background));
        }
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)?;
    Ok(match terms.kind {
        TermsKind::Text | TermsKind::Unmapped => "sigsterms",
        TermsKind::Integer | TermsKind::Unsigned | TermsKind::Float => "siglterms",
    })
}
