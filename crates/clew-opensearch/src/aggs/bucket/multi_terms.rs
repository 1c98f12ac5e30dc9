//! `multi_terms`: the most frequent combinations of values.

use clew_aggregation::{Key, TermsResult, ValueFormat};
use clew_query::aggregation::{AggSpec, MultiTermsSpec, Source};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::settings::{
    check_collect_mode, min_doc_count, shard_min_doc_count, shard_size, size,
};
use crate::aggs::shown::{insert_buckets, part_value, term_count, terms_counts, while_wanted};
use crate::aggs::table::{Row, TOGETHER};
use crate::http::error::ApiError;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("multi_terms", TOGETHER, |body| {
    read(body).map(AggSpec::MultiTerms)
})];

fn read(body: &mut Body<'_>) -> Result<MultiTermsSpec, AggDslError> {
    let shard_min_doc_count = shard_min_doc_count(body)?;
    check_collect_mode(body)?;
    let list = match body.take("terms") {
        Some(Value::Array(list)) => &list[..],
        Some(other) => return Err(body.wrong("terms", other)),
        None => &[],
    };
    let source = |value: &Value| body.part(("terms", "field_config"), value, |part| part.source());
    let sources: Vec<Source> = list.iter().map(source).collect::<Result<_, _>>()?;
    if sources.len() < 2 {
        // OpenSearch gives the advice to those alone who ask for one.
        let advice = match sources.len() {
            0 => "",
            _ => " Use terms aggregation for single term aggregation",
        };
        let reason = format!(
            "multi term aggregation must has at least 2 terms. Found [{}] in [{}]{advice}",
            sources.len(),
            body.name
        );
        let error = body.in_field("terms", AggDslError::illegal(reason));
        body.late(error);
    }
    let size = size(body, 10)?;
    Ok(MultiTermsSpec {
        sources,
        size,
        shard_size: shard_size(body)?,
        min_doc_count: min_doc_count(body, 1)?,
        shard_min_doc_count,
        order: body.order()?,
        show_error: body.flag("show_term_doc_count_error")?,
    })
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    terms: &TermsResult,
    formats: &[ValueFormat],
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    terms_counts(body, terms);
    let buckets = while_wanted(&terms.buckets).map(|bucket| {
        let mut object = Map::new();
        let parts = match &bucket.key {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let values: Vec<Value> = parts
            .iter()
            .zip(formats)
            .map(|(key, format)| part_value(key, format))
            .collect();
        let text = |(key, format): (&Key, &ValueFormat)| {
            format.text_of_key(key).unwrap_or_else(|| key.to_string())
        };
        let texts: Vec<String> = parts.iter().zip(formats).map(text).collect();
        object.insert("key".to_string(), Value::Array(values));
        object.insert("key_as_string".to_string(), json!(texts.join("|")));
        term_count(&mut object, terms, bucket);
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)?;
    Ok("multi_terms")
}
