//! Values as the API hands them out one by one: read as the field reads them, then written as its
//! type is written.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value, json};
use tantivy::schema::OwnedValue;

use super::convert::{Scalar, convert};
use crate::date::DateFormat;
use crate::geo::GeoPoint;
use crate::mapping::{FieldKind, FloatKind, KeywordStyle, MappedField, Mapping};
use crate::plain::{short_double, text_of};

impl Mapping {
    /// The values that a field has in a source, in the order of the source; what the field would
    /// leave out is left out.
    pub fn fetch(
        &self,
        field: &MappedField,
        source: &Value,
        format: Option<&DateFormat>,
    ) -> Vec<Value> {
        if let FieldKind::Constant { value } = &field.kind {
            return value.iter().map(|one| Value::from(one.as_str())).collect();
        }
        let mut found = Vec::new();
        for path in self.source_paths(field) {
            if field.kind == FieldKind::GeoPoint {
                gather(source, &path, Lists::Kept, &mut |value| {
                    found.extend(points(value))
                });
                continue;
            }
            gather(source, &path, Lists::Opened, &mut |value| {
                found.extend(fetch_one(field, value, format));
            });
        }
        found
    }

    /// The values that a leaf of a `flat_object` has in a source, as the texts that it is found by.
    pub fn fetch_leaf(&self, path: &str, source: &Value) -> Vec<Value> {
        let mut found = Vec::new();
        gather(source, self.resolve(path), Lists::Opened, &mut |value| {
            if !value.is_null() && !value.is_object() {
                found.push(Value::from(text_of(value)));
            }
        });
        found
    }
}

impl MappedField {
    /// Whether a format can be asked for.
    pub fn takes_format(&self) -> bool {
        matches!(
            self.kind,
            FieldKind::Date { .. } | FieldKind::DateNanos { .. } | FieldKind::Range { .. }
        )
    }

    /// Whether values can be sorted and gathered in buckets.
    pub fn is_aggregatable(&self) -> bool {
        match &self.kind {
            FieldKind::Text { .. } => self.has_fielddata(),
            FieldKind::Vector(_)
            | FieldKind::SparseVector
            | FieldKind::Float(FloatKind::RankFeature)
            | FieldKind::RankFeatures
            | FieldKind::Flat
            | FieldKind::Percolator => false,
            FieldKind::Binary { doc_values } => *doc_values,
            FieldKind::Constant { .. } => true,
            _ => self.settings.doc_values,
        }
    }

    /// Why sorting, aggregations and `docvalue_fields` read no values of it, of a `flat_object` as a whole; `None` of others.
    pub fn refusal_of_root(&self) -> Option<String> {
        (self.kind == FieldKind::Flat).then(|| {
            format!(
                "Field [{}] of type [{}] does not support doc_value in root field",
                self.path,
                self.kind.type_name()
            )
        })
    }

    /// Why sorting and `docvalue_fields` read no values of it, where its mapping has them in no column; `None` of others.
    pub fn refusal_without_column(&self) -> Option<String> {
        let lacks = match &self.kind {
            FieldKind::Binary { doc_values } => !doc_values,
            FieldKind::Keyword { .. }
            | FieldKind::Integer(_)
            | FieldKind::Unsigned
            | FieldKind::Float(_)
            | FieldKind::Boolean
            | FieldKind::Date { .. }
            | FieldKind::DateNanos { .. }
            | FieldKind::Ip
            | FieldKind::Range { .. }
            | FieldKind::GeoPoint
            | FieldKind::GeoShape => !self.settings.doc_values,
            // What these lack has other reasons, or they have it elsewhere.
            FieldKind::Text { .. }
            | FieldKind::Constant { .. }
            | FieldKind::Flat
            | FieldKind::RankFeatures
            | FieldKind::Completion(_)
            | FieldKind::Percolator
            | FieldKind::Vector(_)
            | FieldKind::SparseVector => false,
        };
        lacks.then(|| {
            format!(
                "Can't load fielddata on [{}] because fielddata is unsupported on fields of type \
                 [{}]. Use doc values instead.",
                self.path,
                self.kind.type_name()
            )
        })
    }

    /// Whether queries can find documents by it.
    pub fn is_searchable(&self) -> bool {
        match self.kind {
            FieldKind::Constant { .. } => true,
            _ => self.indexed && !self.kind.is_never_searched(),
        }
    }

    /// Gives a number that was fetched all the digits that the field's column has of it, where that has 32 bits.
    pub fn widen(&self, value: &mut Value) {
        if !matches!(
            self.kind,
            FieldKind::Float(FloatKind::Float | FloatKind::Half)
        ) {
            return;
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the field's numbers were rounded to this precision"
        )]
        let wide = value.as_f64().map(|number| f64::from(number as f32));
        if let Some(number) = wide.and_then(Number::from_f64) {
            *value = Value::Number(number);
        }
    }

    /// What the mapping's `meta` says of it.
    pub fn meta(&self) -> Option<&Value> {
        self.settings.meta.as_ref()
    }
}

/// Whether a list at the end of a path is several values, or left to who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    Opened,
    Kept,
}

/// Points as GeoJSON writes them; what is no point is left out.
fn points(value: &Value) -> Vec<Value> {
    let points = GeoPoint::many_from_json(value).unwrap_or_default();
    let shown = |point: GeoPoint| json!({"type": "Point", "coordinates": [point.lon, point.lat]});
    points.into_iter().map(shown).collect()
}

/// Visits the values at a dotted path, through objects and arrays.
fn gather<'v>(value: &'v Value, path: &str, lists: Lists, visit: &mut dyn FnMut(&'v Value)) {
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| gather(item, path, lists, visit)),
        Value::Object(members) => {
            for (name, member) in members {
                if name == path && lists == Lists::Kept {
                    visit(member);
                } else if name == path {
                    leaves(member, visit);
                } else if let Some(rest) = path.strip_prefix(name.as_str())
                    && let Some(rest) = rest.strip_prefix('.')
                {
                    gather(member, rest, lists, visit);
                }
            }
        }
        _ => {}
    }
}

fn leaves<'v>(value: &'v Value, visit: &mut dyn FnMut(&'v Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, visit)),
        leaf => visit(leaf),
    }
}

fn fetch_one(field: &MappedField, value: &Value, format: Option<&DateFormat>) -> Option<Value> {
    let value = match value {
        Value::Null => field.settings.null_value.as_ref()?,
        value => value,
    };
    match &field.kind {
        FieldKind::Range { .. }
        | FieldKind::Flat
        | FieldKind::Float(FloatKind::RankFeature)
        | FieldKind::RankFeatures
        | FieldKind::Vector(_)
        | FieldKind::SparseVector
        | FieldKind::Percolator
        | FieldKind::GeoShape
        | FieldKind::Completion(_)
        | FieldKind::Keyword {
            style: KeywordStyle::Join,
            ..
        } => {
            return Some(value.clone());
        }
        FieldKind::Binary { .. } => return value.is_string().then(|| value.clone()),
        _ => {}
    }
    let digits;
    let scalar = match value {
        Value::String(text) => Scalar::Text(Cow::Borrowed(text)),
        Value::Bool(flag) => Scalar::Bool(*flag),
        Value::Number(number) => {
            digits = number.to_string();
            Scalar::Number(&digits)
        }
        _ => return None,
    };
    let converted = convert(field, &scalar, field.settings.coerce).ok()??;
    Some(written(field, converted, format))
}

/// Whether a format shows milliseconds, and nothing finer.
fn shows_millis(format: &DateFormat) -> bool {
    let first = format.as_str().split("||").next();
    matches!(
        first,
        Some("strict_date_optional_time" | "date_optional_time")
    )
}

fn written(field: &MappedField, value: OwnedValue, format: Option<&DateFormat>) -> Value {
    let format = format.or(field.date_format());
    match (&field.kind, value) {
        (FieldKind::Boolean, OwnedValue::I64(flag)) => Value::Bool(flag != 0),
        (FieldKind::Date { .. }, OwnedValue::I64(millis)) => match format {
            Some(format) => Value::from(format.format_millis(millis)),
            None => Value::from(millis),
        },
        (FieldKind::DateNanos { .. }, OwnedValue::I64(nanos)) => match format {
            Some(format) if shows_millis(format) => {
                Value::from(format.format_millis(nanos.div_euclid(1_000_000)))
            }
            Some(format) => Value::from(format.format_nanos(nanos)),
            None => Value::from(nanos),
        },
        (
            FieldKind::Float(FloatKind::Double | FloatKind::Scaled { .. }),
            OwnedValue::F64(number),
        ) => Value::from(number),
        (FieldKind::Float(_), OwnedValue::F64(number)) => short(number),
        (_, OwnedValue::I64(number)) => Value::from(number),
        (_, OwnedValue::U64(number)) => Value::from(number),
        (_, OwnedValue::F64(number)) => Value::from(number),
        (_, OwnedValue::Str(text)) => Value::from(text),
        (_, OwnedValue::Bytes(bytes)) => Value::from(STANDARD.encode(bytes)),
        (_, OwnedValue::IpAddr(address)) => Value::from(shown_address(address)),
        _ => Value::Null,
    }
}

fn shown_address(address: Ipv6Addr) -> String {
    address.to_canonical().to_string()
}

/// A number of 32 bits in the fewest digits that mean it.
fn short(number: f64) -> Value {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the field's numbers were rounded to this precision"
    )]
    let single = number as f32;
    short_double(single).into()
}
