//! Dynamic mapping: which fields a value makes where the mapping has none.

use std::collections::BTreeMap;

use super::convert::Scalar;
use crate::mapping::{FieldKind, FloatKind, IntegerKind, Mapping, NewField};

/// Longest text that the keyword beside a dynamic text field takes.
const IGNORE_ABOVE: u32 = 256;

/// The fields that a document needs; the first value of a path decides.
#[derive(Default)]
pub(super) struct NewFields {
    fields: Vec<NewField>,
    seen: BTreeMap<String, ()>,
}

impl NewFields {
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(super) fn into_fields(self) -> Vec<NewField> {
        self.fields
    }

    /// Notes the field that a value at this path makes.
    pub(super) fn infer(&mut self, mapping: &Mapping, path: &str, scalar: &Scalar<'_>) {
        if self.seen.insert(path.to_string(), ()).is_some() {
            return;
        }
        let kind = kind_of(mapping, scalar);
        let is_text = matches!(kind, FieldKind::Text { .. });
        self.push(path.to_string(), kind, false);
        if is_text {
            let kind = FieldKind::keyword(Some(IGNORE_ABOVE));
            self.push(format!("{path}.keyword"), kind, true);
        }
    }

    fn push(&mut self, path: String, kind: FieldKind, multi_field: bool) {
        self.fields.push(NewField {
            path,
            kind,
            indexed: true,
            multi_field,
        });
    }
}

fn kind_of(mapping: &Mapping, scalar: &Scalar<'_>) -> FieldKind {
    match scalar {
        Scalar::Bool(_) => FieldKind::Boolean,
        Scalar::Number(text) if text.parse::<i64>().is_ok() => {
            FieldKind::Integer(IntegerKind::Long)
        }
        Scalar::Number(_) => FieldKind::Float(FloatKind::Float),
        Scalar::Text(text) => kind_of_text(mapping, text),
    }
}

fn kind_of_text(mapping: &Mapping, text: &str) -> FieldKind {
    let is_number = text.parse::<f64>().is_ok();
    if is_number && mapping.root.numeric_detection {
        return match text.parse::<i64>() {
            Ok(_) => FieldKind::Integer(IntegerKind::Long),
            Err(_) => FieldKind::Float(FloatKind::Float),
        };
    }
    // A number alone would be taken for a date too easily.
    if !is_number && mapping.root.date_detection {
        let mut formats = mapping.root.date_formats.iter();
        if let Some(format) = formats.find(|format| format.parse_value(text).is_ok()) {
            return FieldKind::Date {
                format: format.as_str().to_string(),
            };
        }
    }
    FieldKind::text("standard")
}
