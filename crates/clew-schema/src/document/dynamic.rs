//! Dynamic mapping: which fields a value makes where the mapping has none.

use std::collections::BTreeMap;

use super::convert::Scalar;
use super::error::DocumentError;
use super::failure::Result;
use super::walk::Walk;
use crate::mapping::template;
use crate::mapping::{
    DOC_COUNT, Dynamic, FieldKind, FloatKind, IGNORED, IntegerKind, MappedField, Mapping, NewField,
    NewFields,
};

/// Longest text that the keyword beside a dynamic text field takes.
const IGNORE_ABOVE: u32 = 256;

/// Gathers the fields that a document needs; the first value of a path decides.
#[derive(Default)]
pub(super) struct Inference {
    new: NewFields,
    seen: BTreeMap<String, ()>,
}

impl Inference {
    pub(super) fn is_empty(&self) -> bool {
        let new = &self.new;
        new.fields.is_empty()
            && new.from_templates.is_empty()
            && new.objects.is_empty()
            && new.constants.is_empty()
    }

    pub(super) fn into_fields(mut self) -> NewFields {
        // What lies in an object makes it, too.
        let new = &mut self.new;
        let fields = new.fields.iter().map(|field| &field.path);
        let made = new.from_templates.iter().map(|field| &field.path);
        let inner: Vec<String> = fields.chain(made).chain(&new.objects).cloned().collect();
        for path in inner {
            for (end, _) in path.match_indices('.') {
                new.objects.remove(&path[..end]);
            }
        }
        self.new
    }

    /// Notes the field that a value at this path makes; whether there is one, which may be left to
    /// templates alone.
    pub(super) fn infer(
        &mut self,
        mapping: &Mapping,
        path: &str,
        scalar: &Scalar<'_>,
        by: Maker,
    ) -> bool {
        if self.seen.contains_key(path) {
            return true;
        }
        let kind = kind_of(mapping, scalar);
        let (dynamic_type, fallback) = match &kind {
            FieldKind::Text { .. } => ("string", "text"),
            FieldKind::Integer(_) => ("long", "long"),
            FieldKind::Float(_) => ("double", "float"),
            FieldKind::Boolean => ("boolean", "boolean"),
            _ => ("date", "date"),
        };
        if self.by_template(mapping, path, dynamic_type, fallback) {
            return true;
        }
        if by == Maker::Templates {
            return false;
        }
        self.seen.insert(path.to_string(), ());
        let is_text = matches!(kind, FieldKind::Text { .. });
        self.push(path.to_string(), kind, false);
        if is_text {
            let kind = FieldKind::keyword(Some(IGNORE_ABOVE));
            self.push(format!("{path}.keyword"), kind, true);
        }
        true
    }

    /// Notes the field that says how many documents each one stands for.
    pub(super) fn make_doc_count(&mut self) {
        if self.seen.insert(DOC_COUNT.to_string(), ()).is_none() {
            self.new.fields.push(NewField {
                path: DOC_COUNT.to_string(),
                kind: FieldKind::Integer(IntegerKind::DocumentCount),
                indexed: false,
                multi_field: false,
            });
        }
    }

    /// Notes the field that names what is left out of documents.
    pub(super) fn make_ignored(&mut self) {
        self.push(IGNORED.to_string(), FieldKind::keyword(None), false);
    }

    /// Notes what a field has in every document from now on.
    pub(super) fn settle(&mut self, field: &MappedField, scalar: &Scalar<'_>) {
        let settled = (field.path.clone(), scalar.as_str().to_string());
        self.new.constants.push(settled);
    }

    /// Notes an object at a path of which nothing is known.
    pub(super) fn make_object(&mut self, path: &str) {
        if !self.new.objects.contains(path) {
            self.new.objects.insert(path.to_string());
        }
    }

    /// Notes the object or field that a template makes of an object; whether there is one.
    pub(super) fn infer_object(&mut self, mapping: &Mapping, path: &str) -> bool {
        self.seen.contains_key(path) || self.by_template(mapping, path, "object", "object")
    }

    fn by_template(
        &mut self,
        mapping: &Mapping,
        path: &str,
        dynamic_type: &str,
        fallback: &'static str,
    ) -> bool {
        let templates = &mapping.root.templates;
        let Some(made) = template::apply(templates, path, dynamic_type, fallback) else {
            return false;
        };
        self.seen.insert(path.to_string(), ());
        self.new.from_templates.push(made);
        true
    }

    fn push(&mut self, path: String, kind: FieldKind, multi_field: bool) {
        self.new.fields.push(NewField {
            path,
            kind,
            indexed: true,
            multi_field,
        });
    }
}

impl Walk<'_, '_> {
    /// A copy of a value makes the field that it is for, where fields may be made there.
    pub(super) fn copy_to_new(&mut self, path: &str, scalar: &Scalar<'_>) -> Result<()> {
        let mapping = self.mapping;
        let dynamic = mapping.tree.dynamic_at(path);
        let maker = match dynamic {
            Dynamic::False => return Ok(()),
            Dynamic::Strict => None,
            Dynamic::True => Some(Maker::Values),
            Dynamic::FalseAllowTemplates | Dynamic::StrictAllowTemplates => Some(Maker::Templates),
        };
        let is_made =
            maker.is_some_and(|maker| self.new_fields.infer(mapping, path, scalar, maker));
        let dynamic = match dynamic {
            Dynamic::Strict => "strict",
            Dynamic::StrictAllowTemplates if !is_made => "strict_allow_templates",
            _ => return Ok(()),
        };
        let (within, field) = path.rsplit_once('.').unwrap_or(("_doc", path));
        Err(DocumentError::Strict {
            dynamic,
            field: field.to_string(),
            within: within.to_string(),
        }
        .into())
    }
}

/// What makes fields of new names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// Their values, unless a template does.
    Values,
    /// Dynamic templates alone.
    Templates,
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
    FieldKind::text(mapping.analysis.default_analyzer())
}
