//! Fields whose values scripts make of documents when they are asked for: nothing is indexed of them.
//!
//! Deliberately absent: what the scripts mean, which a crate above this one reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::MappingError;
use super::field::FieldKind;
use super::number::{FloatKind, IntegerKind};
use super::schema::Mapping;
use crate::date::DATE_FORMAT_DEFAULT;

/// What a derived field is called where fields are named by their types.
pub(super) const TYPE_NAME: &str = "derived";

/// A field whose values a script makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedField {
    /// Its name.
    pub path: String,
    /// What its values are taken as.
    pub kind: DerivedKind,
    /// What makes them; without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<DerivedScript>,
    /// The text field that must match what is asked of it, before the script is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefilter_field: Option<String>,
    /// How dates are read and shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether a document of which the script makes no such values has none, instead of failing the request.
    #[serde(default)]
    pub ignore_malformed: bool,
    /// The types of what lies in the objects that it has, by dotted path from there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

/// The script of a derived field, as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedScript {
    /// Its text.
    pub source: String,
    /// What it is written in.
    pub lang: String,
    /// What it is given; null where that is nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
}

/// What the values of a derived field are taken as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DerivedKind {
    /// Truth values.
    Boolean,
    /// Moments, in milliseconds since the epoch.
    Date,
    /// Numbers of 64 bits.
    Double,
    /// Numbers of 32 bits.
    Float,
    /// Places.
    GeoPoint,
    /// Addresses.
    Ip,
    /// Exact texts.
    Keyword,
    /// Whole numbers of 64 bits.
    Long,
    /// Objects, each as a text of JSON.
    Object,
    /// Words.
    Text,
}

impl DerivedKind {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => DerivedKind::Boolean,
            "date" => DerivedKind::Date,
            "double" => DerivedKind::Double,
            "float" => DerivedKind::Float,
            "geo_point" => DerivedKind::GeoPoint,
            "ip" => DerivedKind::Ip,
            "keyword" => DerivedKind::Keyword,
            "long" => DerivedKind::Long,
            "object" => DerivedKind::Object,
            "text" => DerivedKind::Text,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            DerivedKind::Boolean => "boolean",
            DerivedKind::Date => "date",
            DerivedKind::Double => "double",
            DerivedKind::Float => "float",
            DerivedKind::GeoPoint => "geo_point",
            DerivedKind::Ip => "ip",
            DerivedKind::Keyword => "keyword",
            DerivedKind::Long => "long",
            DerivedKind::Object => "object",
            DerivedKind::Text => "text",
        }
    }

    /// What a field with such values would hold; nothing says that of objects as a whole.
    pub fn field_kind(self, format: Option<&str>) -> Option<FieldKind> {
        Some(match self {
            DerivedKind::Boolean => FieldKind::Boolean,
            DerivedKind::Date => FieldKind::Date {
                format: format.unwrap_or(DATE_FORMAT_DEFAULT).to_string(),
            },
            DerivedKind::Double => FieldKind::Float(FloatKind::Double),
            DerivedKind::Float => FieldKind::Float(FloatKind::Float),
            DerivedKind::GeoPoint => FieldKind::GeoPoint,
            DerivedKind::Ip => FieldKind::Ip,
            DerivedKind::Keyword => FieldKind::keyword(None),
            DerivedKind::Long => FieldKind::Integer(IntegerKind::Long),
            DerivedKind::Text => FieldKind::text("standard"),
            DerivedKind::Object => return None,
        })
    }
}

impl DerivedField {
    /// The field that a path names among some: one of that name, or the object that it leads into.
    pub fn named<'f>(fields: &'f [DerivedField], path: &str) -> Option<&'f DerivedField> {
        let is_own = |field: &&DerivedField| field.path == path;
        let leads_into = |field: &&DerivedField| {
            field.kind == DerivedKind::Object && field.inside(path).is_some()
        };
        let own = fields.iter().find(is_own);
        own.or_else(|| fields.iter().find(leads_into))
    }

    /// The way from its objects on, for a path that leads into them.
    pub fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.path.as_str())?.strip_prefix('.')
    }
}

impl Mapping {
    /// The fields whose values scripts make, by name.
    pub fn derived(&self) -> &[DerivedField] {
        &self.root.derived
    }

    /// Takes in derived fields: those with names that are there already take their places.
    pub(super) fn merge_derived(&mut self, said: Vec<DerivedField>) -> Result<(), MappingError> {
        if said.is_empty() {
            return Ok(());
        }
        let known = self.root.derived.iter();
        let mut all: BTreeMap<String, DerivedField> = known
            .map(|field| (field.path.clone(), field.clone()))
            .collect();
        all.extend(said.into_iter().map(|field| (field.path.clone(), field)));
        let max = self.limits.fields_max;
        if all.len() > max && all.len() > self.root.derived.len() {
            return Err(MappingError::TooManyFields { max });
        }
        let all: Vec<DerivedField> = all.into_values().collect();
        if all != *self.root.derived {
            self.root.derived = Arc::new(all);
            // Shards show them once they have gone over to this mapping.
            self.column_changes += 1;
        }
        Ok(())
    }

    /// Refuses names that fields have as well.
    pub(super) fn check_derived(&self) -> Result<(), MappingError> {
        let mut fields = self.root.derived.iter();
        match fields.find_map(|field| self.field(&field.path)) {
            None => Ok(()),
            Some(field) => Err(MappingError::Conflict {
                path: field.path.clone(),
                from: field.kind.type_name(),
                to: TYPE_NAME,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::{FieldSpec, MappingSpec};
    use super::*;

    fn derived(path: &str, kind: DerivedKind) -> DerivedField {
        DerivedField {
            path: path.to_string(),
            kind,
            script: None,
            prefilter_field: None,
            format: None,
            ignore_malformed: false,
            properties: BTreeMap::new(),
        }
    }

    fn spec(derived: Vec<DerivedField>) -> MappingSpec {
        MappingSpec {
            derived,
            ..MappingSpec::default()
        }
    }

    #[test]
    fn derived_fields_are_merged_by_name_kept_and_make_a_later_mapping() {
        let first = derived("a", DerivedKind::Long);
        let mut mapping = Mapping::from_spec(spec(vec![first.clone()])).unwrap();
        let before = mapping.clone();
        let more = vec![
            derived("b", DerivedKind::Ip),
            derived("a", DerivedKind::Date),
        ];
        mapping.merge(spec(more)).unwrap();
        let kinds: Vec<_> = mapping.derived().iter().map(|field| field.kind).collect();
        assert_eq!(kinds, [DerivedKind::Date, DerivedKind::Ip]);
        assert!(mapping.is_later_than(&before) && !before.is_later_than(&mapping));
        let again = Mapping::decode(&mapping.encode(), None).unwrap();
        assert_eq!(again.derived(), mapping.derived());
        assert!(again.in_place_of(&before).is_later_than(&before));
    }

    #[test]
    fn no_name_is_a_field_and_derived() {
        let field = FieldSpec::new("a", FieldKind::Boolean);
        let plain = || MappingSpec::default().with(field.clone());
        let own = || spec(vec![derived("a", DerivedKind::Long)]);
        let conflict = |from, to| {
            Err(MappingError::Conflict {
                path: "a".to_string(),
                from,
                to,
            })
        };
        let mut mapping = Mapping::from_spec(plain()).unwrap();
        assert_eq!(mapping.merge(own()), conflict("boolean", "derived"));
        let mut mapping = Mapping::from_spec(own()).unwrap();
        assert_eq!(mapping.merge(plain()), conflict("derived", "boolean"));
    }

    #[test]
    fn a_path_into_objects_names_the_field_that_has_them() {
        let fields = [
            derived("o", DerivedKind::Object),
            derived("k", DerivedKind::Keyword),
        ];
        let named = |path| DerivedField::named(&fields, path).map(|field| field.path.as_str());
        assert_eq!(named("o.a.b"), Some("o"));
        assert_eq!(named("k"), Some("k"));
        assert_eq!(named("k.a"), None);
        assert_eq!(named("ob"), None);
        assert_eq!(fields[0].inside("o.a.b"), Some("a.b"));
    }
}
