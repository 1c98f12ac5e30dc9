//! `terms` and `rare_terms`: a bucket per distinct value.

use clew_aggregation::{TermsKind, TermsResult};
use clew_query::aggregation::{AggSpec, RareTermsSpec, TermsSpec};
use serde_json::{Map, Value};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::settings::{
    TERMS_HINTS, check_collect_mode, check_hint, min_doc_count, positive, shard_min_doc_count,
    shard_size, size, term_filter,
};
use crate::aggs::shown::{insert_buckets, term_count, term_key, terms_counts, while_wanted};
use crate::aggs::table::{ANY_VALUES, Row};
use crate::http::error::ApiError;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("terms", ANY_VALUES, |body| terms(body).map(AggSpec::Terms)),
    Row::new("rare_terms", ANY_VALUES, |body| {
        rare_terms(body).map(AggSpec::RareTerms)
    }),
];

fn terms(body: &mut Body<'_>) -> Result<TermsSpec, AggDslError> {
    check_hint(body, TERMS_HINTS)?;
    let shard_min_doc_count = shard_min_doc_count(body)?;
    check_collect_mode(body)?;
    let size = size(body, 10)?;
    Ok(TermsSpec {
        source: body.source()?,
        size,
        shard_size: shard_size(body)?,
        min_doc_count: min_doc_count(body, 1)?,
        shard_min_doc_count,
        order: body.order()?,
        filter: term_filter(body)?,
        show_error: body.flag("show_term_doc_count_error")?,
    })
}

fn rare_terms(body: &mut Body<'_>) -> Result<RareTermsSpec, AggDslError> {
    // Rare terms are found exactly here, so how exact they should be changes nothing.
    if body
        .number("precision")?
        .is_some_and(|wanted| wanted < 0.000_01)
    {
        let reason = "[precision] must be greater than 0.00001";
        return Err(body.in_field("precision", AggDslError::illegal(reason)));
    }
    let max_doc_count = positive(body, "max_doc_count", "max_doc_count", 1)?;
    if max_doc_count > 100 {
        let reason = format!("[max_doc_count] must be smallerthan 100in [{}]", body.name);
        return Err(body.in_field("max_doc_count", AggDslError::illegal(reason)));
    }
    Ok(RareTermsSpec {
        max_doc_count: u64::from(max_doc_count),
        filter: term_filter(body)?,
        source: body.source()?,
    })
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    terms: &TermsResult,
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    if !terms.rare {
        terms_counts(body, terms);
    }
    let buckets = while_wanted(&terms.buckets).map(|bucket| {
        let mut object = term_key(terms, bucket);
        term_count(&mut object, terms, bucket);
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)?;
    Ok(type_name(terms))
}

fn type_name(terms: &TermsResult) -> &'static str {
    match (terms.rare, terms.kind) {
        // As in OpenSearch, terms of no index are texts, rare ones too.
        (false, TermsKind::Text) | (_, TermsKind::Unmapped) => "sterms",
        (false, TermsKind::Integer) => "lterms",
        (false, TermsKind::Unsigned) => "ulterms",
        (false, TermsKind::Float) => "dterms",
        (true, TermsKind::Text) => "srareterms",
        (true, _) => "lrareterms",
    }
}
