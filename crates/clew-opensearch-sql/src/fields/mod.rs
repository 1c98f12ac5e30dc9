//! The columns that indexes have, and the types that SQL knows them by.

mod date_kinds;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::SqlError;
use date_kinds::date_kind;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SqlType {
    /// Nothing but null.
    Undefined,
    // From narrow to wide: arithmetic has the wider type of its operands.
    Byte,
    Short,
    Integer,
    Long,
    Float,
    Double,
    Boolean,
    Keyword,
    Text,
    Date,
    Time,
    /// A moment as functions make it.
    Datetime,
    Timestamp,
    Interval,
    Ip,
    GeoPoint,
    Binary,
    Object,
    Nested,
    /// Values of several rows.
    Array,
}

impl SqlType {
    /// The name in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SqlType::Undefined => "undefined",
            SqlType::Byte => "byte",
            SqlType::Short => "short",
            SqlType::Integer => "integer",
            SqlType::Long => "long",
            SqlType::Float => "float",
            SqlType::Double => "double",
            SqlType::Boolean => "boolean",
            SqlType::Keyword => "keyword",
            SqlType::Text => "text",
            SqlType::Date => "date",
            SqlType::Time => "time",
            SqlType::Datetime => "datetime",
            SqlType::Timestamp => "timestamp",
            SqlType::Interval => "interval",
            SqlType::Ip => "ip",
            SqlType::GeoPoint => "geo_point",
            SqlType::Binary => "binary",
            SqlType::Object => "object",
            SqlType::Nested => "nested",
            SqlType::Array => "array",
        }
    }

    /// The type that a mapping's type is known by; `None` where fields of it cannot be columns.
    fn of_mapping(name: &str) -> Option<Self> {
        Some(match name {
            "byte" => SqlType::Byte,
            "short" => SqlType::Short,
            "integer" | "token_count" => SqlType::Integer,
            "long" | "unsigned_long" => SqlType::Long,
            "float" | "half_float" => SqlType::Float,
            "double" | "scaled_float" => SqlType::Double,
            "boolean" => SqlType::Boolean,
            "keyword" | "constant_keyword" | "wildcard" => SqlType::Keyword,
            "text" | "match_only_text" | "search_as_you_type" => SqlType::Text,
            "date" | "date_nanos" => SqlType::Timestamp,
            "ip" => SqlType::Ip,
            "geo_point" => SqlType::GeoPoint,
            "binary" => SqlType::Binary,
            "object" | "flat_object" => SqlType::Object,
            "nested" => SqlType::Nested,
            _ => return None,
        })
    }

    /// The name in answers of PPL, which has names of its own for what SQL calls by the mapping's.
    pub(crate) fn own_name(self) -> &'static str {
        match self {
            SqlType::Keyword | SqlType::Text => "string",
            SqlType::Object => "struct",
            SqlType::Nested | SqlType::Array => "array",
            other => other.name(),
        }
    }

    /// The type of a field, as its mapping says; `None` where it cannot be a column.
    fn of_field(name: &str, mapping: &Value) -> Option<Self> {
        let format = mapping.get("format").and_then(Value::as_str);
        match (name, format) {
            ("date" | "date_nanos", Some(format)) => Some(date_kind(format)),
            _ => SqlType::of_mapping(name),
        }
    }

    /// Whether it is a moment, or a part of one.
    pub(crate) fn is_time(self) -> bool {
        (SqlType::Date..=SqlType::Timestamp).contains(&self)
    }

    /// Whether it is a moment with its day.
    pub(crate) fn is_moment(self) -> bool {
        matches!(self, SqlType::Datetime | SqlType::Timestamp)
    }

    pub(crate) fn is_whole(self) -> bool {
        (SqlType::Byte..=SqlType::Long).contains(&self)
    }

    pub(crate) fn is_number(self) -> bool {
        (SqlType::Byte..=SqlType::Double).contains(&self)
    }
}

/// What a mapping says of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) kind: SqlType,
    /// The path under which whole values can be compared, grouped and sorted.
    pub(crate) exact: Option<String>,
    /// Its own name, where it is the alias of another.
    pub(crate) path: String,
    /// Whether documents have the value at the path; else it is made of another field's.
    pub(crate) in_source: bool,
    /// Whether it is inside of nested objects, which searches see apart from the document.
    pub(crate) in_nested: bool,
}

/// All fields of some indexes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    by_path: BTreeMap<String, Field>,
    /// The columns that a star stands for.
    top: Vec<String>,
}

/// Columns that every document has.
const METADATA: [(&str, SqlType); 6] = [
    ("_id", SqlType::Keyword),
    ("_index", SqlType::Keyword),
    ("_score", SqlType::Float),
    ("_maxscore", SqlType::Float),
    ("_sort", SqlType::Long),
    ("_routing", SqlType::Keyword),
];

pub(crate) fn is_metadata(name: &str) -> bool {
    METADATA.iter().any(|(have, _)| *have == name)
}

/// Whether a search gives it to a hit, and no document has it.
pub(crate) fn is_of_search(name: &str) -> bool {
    matches!(name, "_score" | "_maxscore" | "_sort")
}

impl Fields {
    /// Adds what one index's mapping, as `GET _mapping` shows it, has more than those before.
    pub(crate) fn add_mapping(&mut self, mapping: &Value) {
        let mut aliases = Vec::new();
        self.add_children("", mapping, false, &mut aliases);
        for (alias, path) in aliases {
            if let Some(field) = self.by_path.get(&path) {
                let field = Field {
                    in_source: false,
                    ..field.clone()
                };
                self.by_path.entry(alias).or_insert(field);
            }
        }
        for (name, kind) in METADATA {
            let field = Field {
                kind,
                exact: Some(name.to_string()).filter(|_| !is_of_search(name)),
                path: name.to_string(),
                in_source: false,
                in_nested: false,
            };
            self.by_path.entry(name.to_string()).or_insert(field);
        }
    }

    fn add_children(
        &mut self,
        prefix: &str,
        mapping: &Value,
        nested: bool,
        aliases: &mut Vec<(String, String)>,
    ) {
        let properties = mapping.get("properties").and_then(Value::as_object);
        for (name, child) in properties.into_iter().flatten() {
            let path = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}.{name}")
            };
            let type_name = child
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("object");
            if let ("alias", Some(target)) = (type_name, child.get("path").and_then(Value::as_str))
            {
                aliases.push((path, target.to_string()));
                continue;
            }
            let Some(kind) = SqlType::of_field(type_name, child) else {
                continue;
            };
            if prefix.is_empty() && !self.top.contains(&path) {
                self.top.push(path.clone());
            }
            self.add_field(&path, kind, child, nested);
            self.add_children(&path, child, nested || kind == SqlType::Nested, aliases);
        }
    }

    fn add_field(&mut self, path: &str, kind: SqlType, mapping: &Value, in_nested: bool) {
        let has_column = mapping.get("doc_values") != Some(&Value::Bool(false));
        let own = match kind {
            SqlType::Object
            | SqlType::Nested
            | SqlType::GeoPoint
            | SqlType::Binary
            | SqlType::Text => None,
            _ => Some(path.to_string()).filter(|_| has_column),
        };
        let mut exact = own;
        let multi = mapping.get("fields").and_then(Value::as_object);
        for (name, child) in multi.into_iter().flatten() {
            let type_name = child
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let Some(kind) = SqlType::of_field(type_name, child) else {
                continue;
            };
            let path = format!("{path}.{name}");
            if kind == SqlType::Keyword && exact.is_none() {
                exact = Some(path.clone());
            }
            let field = Field {
                kind,
                exact: Some(path.clone()).filter(|_| kind != SqlType::Text),
                path: path.clone(),
                in_source: false,
                in_nested,
            };
            self.by_path.entry(path).or_insert(field);
        }
        let field = Field {
            kind,
            exact,
            path: path.to_string(),
            in_source: true,
            in_nested,
        };
        self.by_path.entry(path.to_string()).or_insert(field);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Field> {
        self.by_path.get(name)
    }

    pub(crate) fn require(&self, name: &str) -> Result<&Field, SqlError> {
        self.get(name).ok_or_else(|| SqlError::unknown_column(name))
    }

    /// The fields as one of the nested objects at a path has them.
    pub(crate) fn inside(&self, path: &str) -> Fields {
        let mut inside = self.clone();
        let prefix = format!("{path}.");
        for (name, field) in inside.by_path.range_mut(prefix.clone()..) {
            if !name.starts_with(&prefix) {
                break;
            }
            field.in_nested = false;
        }
        inside
    }

    /// The names of the fields that lie right below a path.
    pub(crate) fn below<'f>(&'f self, path: &str) -> impl Iterator<Item = &'f str> + use<'f> {
        let prefix = format!("{path}.");
        let fields = self.by_path.iter().filter(|(_, field)| field.in_source);
        fields.filter_map(move |(name, _)| {
            let below = name.strip_prefix(prefix.as_str())?;
            (!below.contains('.')).then_some(below)
        })
    }

    /// The columns that a star stands for.
    pub(crate) fn top(&self) -> &[String] {
        &self.top
    }

    /// All paths but those that every document has, with their types.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, SqlType)> {
        let shown = self.by_path.iter().filter(|(path, field)| {
            !is_metadata(path) && (field.in_source || field.path != **path)
        });
        shown.map(|(path, field)| (path.as_str(), field.kind))
    }
}
