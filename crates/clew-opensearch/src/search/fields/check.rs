//! What is asked of fields that an index cannot answer, and how that is refused.

use clew_engine::Index;
use clew_query::refusal_of_text;
use clew_schema::{FieldKind, FloatKind, MappedField, Mapping, RangeKind, glob::matches as glob};

use super::{FieldList, FieldsForm, Wanted, is_metadata, while_wanted};
use crate::http::error::ApiError;
use crate::search::guard::limit;

/// Columns whose values one search may want, unless its index says otherwise.
pub(in crate::search) const COLUMNS_MAX: usize = 100;
pub(in crate::search) const COLUMNS_SETTING: &str = "index.max_docvalue_fields_search";

impl FieldList {
    /// Refuses what an index cannot answer.
    pub(crate) fn check(&self, index: &Index) -> Result<(), ApiError> {
        let mapping = index.mapping();
        let asks_source =
            |wanted: &&Wanted| wanted.asked == FieldsForm::Fields && !is_metadata(&wanted.pattern);
        if self.wanted.iter().find(asks_source).is_some() && !mapping.is_source_enabled() {
            return Err(ApiError::illegal_argument(format!(
                "Unable to retrieve the requested [fields] since _source is disabled in the \
                 mappings for index [{}]",
                index.name()
            )));
        }
        for wanted in while_wanted(&self.wanted) {
            if let Some(reason) = refusal(&mapping, wanted) {
                return Err(ApiError::illegal_argument(reason));
            }
        }
        Ok(())
    }

    /// Refuses more columns than an index allows; a pattern counts as the fields that it means.
    pub(in crate::search) fn check_columns(&self, index: &Index) -> Result<(), ApiError> {
        if self.is_empty() {
            return Ok(());
        }
        let mapping = index.mapping();
        let of_columns = |wanted: &&Wanted| wanted.asked == FieldsForm::DocValues;
        let columns = while_wanted(&self.wanted).filter(of_columns);
        let count: usize = columns
            .map(|wanted| {
                if wanted.pattern.contains('*') {
                    wanted.fields(&mapping).len()
                } else {
                    1
                }
            })
            .sum();
        let max = limit(index, COLUMNS_SETTING, COLUMNS_MAX);
        if count <= max {
            return Ok(());
        }
        Err(ApiError::illegal_argument(format!(
            "Trying to retrieve too many docvalue_fields. Must be less than or equal to: [{max}] \
             but was [{count}]. This limit can be set by changing the [{COLUMNS_SETTING}] index \
             level setting."
        )))
    }
}

/// Why what is wanted is not shown so; a pattern wants each field that it means alike. `None` where it is.
fn refusal(mapping: &Mapping, wanted: &Wanted) -> Option<String> {
    let pattern = wanted.pattern.as_str();
    if pattern.contains('*') {
        let meant = mapping.fields().iter();
        let mut meant = meant.filter(|field| !field.settings.hidden && glob(pattern, &field.path));
        return meant.find_map(|field| refusal_of((field.path.as_str(), field), wanted));
    }
    match mapping.field(pattern) {
        Some(field) => refusal_of((pattern, field), wanted),
        None => refusal_of_unmapped(mapping.flat_above(pattern).is_some(), wanted),
    }
}

/// Why a field is not shown as it is wanted; `None` where it is.
fn refusal_of((name, field): (&str, &MappedField), wanted: &Wanted) -> Option<String> {
    let by_fields = wanted.asked == FieldsForm::Fields;
    // Ranges of whatever read it as one of dates.
    let is_range = by_fields && matches!(field.kind, FieldKind::Range { .. });
    if let Some(format) = &wanted.format
        && (is_range || field.date_format().is_some())
        && let Err(reason) = &format.date
    {
        return Some(reason.clone());
    }
    if wanted.asked == FieldsForm::DocValues {
        return refusal_of_column((name, field), wanted);
    }
    let is_place = matches!(field.kind, FieldKind::GeoPoint);
    let places = wanted.format.as_ref()?.place;
    if !by_fields || field.takes_format() || is_place && places.is_some() {
        return None;
    }
    Some(match field.kind {
        FieldKind::Text { .. } | FieldKind::Binary { .. } | FieldKind::RankFeatures => {
            format!("Field [{name}] doesn't support formats.")
        }
        _ => format!(
            "Field [{name}] of type [{}] doesn't support formats.",
            field.kind.type_name()
        ),
    })
}

/// The same of what is no field of the mapping: of a leaf of a `flat_object`, and of what is kept beside documents.
fn refusal_of_unmapped(is_leaf: bool, wanted: &Wanted) -> Option<String> {
    let (name, has_format) = (&wanted.pattern, wanted.format.is_some());
    let kind = match is_leaf {
        true => "flat_object",
        false if is_metadata(name) && name != "_none_" => name.as_str(),
        false => return None,
    };
    match wanted.asked {
        FieldsForm::Fields if has_format && is_leaf => Some(format!(
            "Field [{name}] of type [{kind}] doesn't support formats."
        )),
        FieldsForm::DocValues if has_format => Some(format!(
            "Field [{name}] of type [{kind}] does not support custom formats"
        )),
        FieldsForm::DocValues if matches!(kind, "_source" | "_version" | "_routing") => Some(
            format!("Fielddata is not supported on field [{name}] of type [{kind}]"),
        ),
        FieldsForm::Fields | FieldsForm::DocValues | FieldsForm::Stored => None,
    }
}

/// Why a field has no column of values, or its values do not take the format.
fn refusal_of_column((name, field): (&str, &MappedField), wanted: &Wanted) -> Option<String> {
    let kind = field.kind.type_name();
    if matches!(field.kind, FieldKind::Text { .. }) && !field.is_aggregatable() {
        return Some(refusal_of_text(name));
    }
    if let Some(reason) = field.refusal_of_root() {
        return Some(reason);
    }
    let of_format = || {
        let reason = || format!("Field [{name}] of type [{kind}] does not support custom formats");
        wanted.format.is_some().then(reason)
    };
    let of_column = || field.refusal_without_column();
    match ColumnForm::of(&field.kind) {
        ColumnForm::Formatted => of_column(),
        ColumnForm::Plain => of_format().or_else(of_column),
        ColumnForm::Bytes => of_column().or_else(of_format),
        ColumnForm::Features => of_format().or_else(of_column).or_else(|| {
            let reason = "fields do not support sorting, scripting or aggregating";
            Some(format!("[{kind}] {reason}"))
        }),
        ColumnForm::Completions => of_format().or_else(of_column).or_else(|| {
            Some(format!(
                "Fielddata is not supported on field [{name}] of type [{kind}]"
            ))
        }),
    }
}

/// What a column of a kind of field makes of a format, and what is told where there is no such column.
enum ColumnForm {
    /// Its values are written as a format says.
    Formatted,
    /// Its values have one form. That is told before the column is looked for.
    Plain,
    /// The same, told after that.
    Bytes,
    /// There is none, whatever the mapping says of the field; as of those below.
    Features,
    /// Completions.
    Completions,
}

impl ColumnForm {
    fn of(kind: &FieldKind) -> Self {
        match kind {
            FieldKind::Float(FloatKind::RankFeature) | FieldKind::RankFeatures => {
                ColumnForm::Features
            }
            FieldKind::Completion(_) => ColumnForm::Completions,
            FieldKind::Binary { .. } => ColumnForm::Bytes,
            FieldKind::Range {
                kind: RangeKind::Date,
                ..
            }
            | FieldKind::Integer(_)
            | FieldKind::Unsigned
            | FieldKind::Float(_)
            | FieldKind::Date { .. }
            | FieldKind::DateNanos { .. }
            | FieldKind::Constant { .. }
            | FieldKind::Percolator
            | FieldKind::Vector(_)
            | FieldKind::SparseVector => ColumnForm::Formatted,
            FieldKind::Text { .. }
            | FieldKind::Keyword { .. }
            | FieldKind::Boolean
            | FieldKind::Range { .. }
            | FieldKind::Flat
            | FieldKind::Ip
            | FieldKind::GeoPoint
            | FieldKind::GeoShape => ColumnForm::Plain,
        }
    }
}
