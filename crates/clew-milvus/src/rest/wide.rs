//! Whole numbers of 64 bits as texts, for clients whose numbers have 53 bits, as those of JavaScript.

use axum::http::HeaderMap;

use super::body::Body;
use crate::collection::DataType;
use crate::proto::*;

/// The header that says whether whole numbers of 64 bits may be numbers in answers; they may where nothing is said.
const HEADER: &str = "accept-type-allow-int64";
/// The member of a request that keeps that they may not.
const AS_TEXTS: &str = "$int64AsTexts";

/// Keeps with a request what its headers say of numbers.
pub(super) fn note(headers: &HeaderMap, body: &mut Body) {
    let said = headers.get(HEADER).and_then(|said| said.to_str().ok());
    if matches!(said, Some("0" | "f" | "F" | "false" | "FALSE" | "False")) {
        body.0.insert(AS_TEXTS.to_string(), true.into());
    }
}

/// Whether whole numbers of 64 bits are to be told as texts.
pub(super) fn are_texts(body: &Body) -> bool {
    body.get(AS_TEXTS).is_some()
}

fn texts(numbers: &[i64]) -> StringArray {
    StringArray {
        data: numbers.iter().map(ToString::to_string).collect(),
    }
}

/// Keys of rows, as the request asks for them.
pub(super) fn settle_ids(body: &Body, ids: &mut Option<IDs>) {
    let Some(IDs {
        id_field: Some(keys),
    }) = ids
    else {
        return;
    };
    if let i_ds::IdField::IntId(numbers) = keys
        && are_texts(body)
    {
        let told = texts(&numbers.data);
        *keys = i_ds::IdField::StrId(told);
    }
}

/// Columns, as the request asks for them.
pub(super) fn settle_columns(body: &Body, columns: &mut [FieldData]) {
    if !are_texts(body) {
        return;
    }
    for column in columns {
        if let Some(field_data::Field::Scalars(scalars)) = &mut column.field
            && let Some(scalar_field::Data::LongData(numbers)) = &scalars.data
        {
            let told = texts(&numbers.data);
            scalars.data = Some(scalar_field::Data::StringData(told));
            column.r#type = DataType::VarChar.number();
        }
    }
}

/// Hits, as the request asks for them.
pub(super) fn settle_hits(body: &Body, found: &mut SearchResults) {
    if let Some(results) = &mut found.results {
        settle_ids(body, &mut results.ids);
        settle_columns(body, &mut results.fields_data);
    }
}
