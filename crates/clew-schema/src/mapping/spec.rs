//! What can be said of a mapping and of each of its fields, typed and belonging to no protocol: what a protocol's reader
//! makes of what was written, and what a mapping is made of or merged with.
//!
//! A field is said as a whole: what somebody leaves out of it is as usual, and so a change where it was otherwise. Of
//! the mapping itself and of its objects, what is not said stays as it is. Analyzers and normalizers are named as the
//! index's settings name them. Refuses to know whether all of this makes sense together, which the mapping does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::choice::AnalyzerChoice;
use super::compression::VectorCompression;
use super::derived::DerivedField;
use super::field::{Dynamic, FieldKind, TextStyle, VectorMapping};
use super::join::JoinRelations;
use super::names::{PATHS_AND_VALUES, parent_path, words_path};
use super::nested::NestedSettings;
use super::source::SourceShown;
use super::template::TemplateSpec;
use super::typing;

/// What is said of a mapping: of a new one all there is, of one that exists what is to be merged into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MappingSpec {
    /// What happens to fields it lacks.
    pub dynamic: Option<Dynamic>,
    /// Whether text that looks like a date makes a date field.
    pub date_detection: Option<bool>,
    /// Whether text that looks like a number makes a number field.
    pub numeric_detection: Option<bool>,
    /// The formats that a date must have to be noticed.
    pub date_formats: Option<Vec<String>>,
    /// What of a document is handed out as it came.
    pub source: Option<SourceShown>,
    /// Whether every document must name its routing.
    pub routing_required: Option<bool>,
    /// How new names become fields.
    pub templates: Option<Vec<TemplateSpec>>,
    /// Fields whose values scripts make; those with names that are there already take their places.
    pub derived: Vec<DerivedField>,
    /// What a protocol shows again as it was written, by parameter.
    pub shown: Map<String, Value>,
    /// Objects, fields and aliases in the order in which they are said: fields are numbered in it.
    pub parts: Vec<MappingPart>,
    /// Vector fields that are there and get another space, method or codes; dimension and element stay. What lies in
    /// columns already is written anew by and by.
    pub columns: Vec<(String, VectorMapping)>,
}

impl MappingSpec {
    /// The same with one more field.
    #[must_use]
    pub fn with(mut self, field: FieldSpec) -> Self {
        self.parts.push(MappingPart::Field(Box::new(field)));
        self
    }
}

/// What has a path in a mapping.
#[derive(Clone, Debug, PartialEq)]
pub enum MappingPart {
    /// An object; what lies in it follows.
    Object(ObjectSpec),
    /// A field, or a multi-field of one before it.
    Field(Box<FieldSpec>),
    /// Another name of a field.
    Alias {
        /// The name.
        alias: String,
        /// The path of the field.
        path: String,
    },
}

/// What is said of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectSpec {
    /// Full dotted path.
    pub path: String,
    /// What happens to fields it lacks.
    pub dynamic: Option<Dynamic>,
    /// Whether its content is looked at; if not it stays in `_source` only.
    pub enabled: Option<bool>,
    /// Whether each of its objects is a document of its own.
    pub nesting: NestingSpec,
}

/// Whether it is said that the objects at a path are documents of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NestingSpec {
    /// Nothing is said.
    #[default]
    Unsaid,
    /// They are not.
    Plain,
    /// They are.
    Nested(NestedSettings),
}

/// What a mapping says of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectSettings {
    /// What happens to fields it lacks, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<Dynamic>,
    /// Whether its content is looked at; if not it stays in `_source` only.
    pub enabled: bool,
    /// Set when each of its objects is a document of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested: Option<NestedSettings>,
}

impl Default for ObjectSettings {
    fn default() -> Self {
        ObjectSettings {
            dynamic: None,
            enabled: true,
            nested: None,
        }
    }
}

/// A mapping as a whole, resolved: what the catalog keeps (`docs/formats/catalog.md`).
///
/// What a field has because nobody said otherwise is written down too, unless an absent member means it; so what is
/// usual may change later without changing what is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptMapping {
    /// What happens to fields it lacks, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<Dynamic>,
    /// Whether text that looks like a date makes a date field.
    pub date_detection: bool,
    /// Whether text that looks like a number makes a number field.
    pub numeric_detection: bool,
    /// The formats that a date must have to be noticed.
    pub date_formats: Vec<String>,
    /// What of a document is handed out as it came.
    pub source: SourceShown,
    /// Whether every document must name its routing.
    pub routing_required: bool,
    /// How new names become fields.
    pub templates: Vec<TemplateSpec>,
    /// Fields whose values scripts make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<DerivedField>,
    /// What a protocol shows again as it was written; nothing below it reads this.
    pub shown: Map<String, Value>,
    /// Objects that the mapping names, by path.
    pub objects: BTreeMap<String, ObjectSettings>,
    /// Other names of fields, and the paths they stand for.
    pub aliases: BTreeMap<String, String>,
    /// What has a number, in the order of the numbers.
    pub fields: Vec<NumberedSpec>,
    /// The analyzers that the index's settings name.
    pub analysis: Value,
    /// The similarities that the index's settings name.
    pub similarities: BTreeMap<String, String>,
}

/// What has a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberedSpec {
    /// A field that somebody asked for.
    Field(Box<FieldSpec>),
    /// The path of one that follows from a field before it, and is made from that again.
    Follower(String),
}

/// One field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// Full dotted path.
    pub path: String,
    /// Whether it is filled from the value of the field that its path lies under.
    #[serde(default, skip_serializing_if = "is_no")]
    pub multi_field: bool,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it can be searched.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub indexed: bool,
    /// Whether values can be sorted and gathered in buckets.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub doc_values: bool,
    /// Whether the API can hand out its values by themselves.
    #[serde(default, skip_serializing_if = "is_no")]
    pub store: bool,
    /// Whether text is read as numbers and fractions are cut off where whole numbers are wanted.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub coerce: bool,
    /// Whether a value that does not fit is left out instead of refusing the document.
    #[serde(default, skip_serializing_if = "is_no")]
    pub ignore_malformed: bool,
    /// What an explicit null stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_value: Option<Value>,
    /// Paths of fields that take this field's values too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy_to: Vec<String>,
    /// The analyzer of queries, where it is not the field's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_analyzer: Option<String>,
    /// The analyzer of phrases in queries, where it is not the one of queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_quote_analyzer: Option<String>,
    /// Which analyzer the texts of a document go through, where they do not all go through the field's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<AnalyzerChoice>,
    /// The analyzer whose tokens it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_analyzer: Option<String>,
    /// Whether a count of tokens takes the gaps between them along.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub count_gaps: bool,
    /// What makes the terms of a keyword alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalizer: Option<String>,
    /// Whether a match on a keyword looks for each word of its text.
    #[serde(default, skip_serializing_if = "is_no")]
    pub split_queries: bool,
    /// Positions between two values, of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_gap: Option<usize>,
    /// The name of what weighs its terms, where it is not what the index usually does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<String>,
    /// Whether words can be sorted and gathered in buckets.
    #[serde(default, skip_serializing_if = "is_no")]
    pub fielddata: bool,
    /// Whether term vectors are handed out.
    #[serde(default, skip_serializing_if = "is_no")]
    pub term_vectors: bool,
    /// Whether more of a feature makes a document worse.
    #[serde(default, skip_serializing_if = "is_no")]
    pub inverse: bool,
    /// What the users of the mapping say of it to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// What belongs to what, for a join field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinRelations>,
    /// What a vector column was asked to be made for; a record keeps it among what is shown.
    #[serde(skip)]
    pub compression: VectorCompression,
    /// What a protocol shows again as it was written.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub shown: Map<String, Value>,
}

impl FieldSpec {
    /// A field of which nothing else is said.
    pub fn new(path: impl Into<String>, kind: FieldKind) -> Self {
        FieldSpec {
            path: path.into(),
            multi_field: false,
            kind,
            indexed: true,
            doc_values: true,
            store: false,
            coerce: true,
            ignore_malformed: false,
            null_value: None,
            copy_to: Vec::new(),
            search_analyzer: None,
            search_quote_analyzer: None,
            choice: None,
            count_analyzer: None,
            count_gaps: true,
            normalizer: None,
            split_queries: false,
            position_gap: None,
            similarity: None,
            fielddata: false,
            term_vectors: false,
            inverse: false,
            meta: None,
            join: None,
            compression: VectorCompression::default(),
            shown: Map::new(),
        }
    }

    /// The paths of the fields that follow from it.
    pub fn followers(&self) -> Vec<String> {
        let below = |name: &str| format!("{}.{name}", self.path);
        match &self.kind {
            FieldKind::Flat => vec![below(PATHS_AND_VALUES)],
            FieldKind::Percolator => vec![words_path(&self.path)],
            FieldKind::Text {
                style: TextStyle::AsYouType { neighbours },
                ..
            } => typing::names(*neighbours)
                .map(|name| below(&name))
                .collect(),
            _ => {
                let parents = self.join.iter().flat_map(JoinRelations::parents);
                parents
                    .map(|parent| parent_path(&self.path, parent))
                    .collect()
            }
        }
    }
}

fn yes() -> bool {
    true
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_yes(flag: &bool) -> bool {
    *flag
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_no(flag: &bool) -> bool {
    !*flag
}
