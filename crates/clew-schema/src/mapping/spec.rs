//! What can be said of a mapping and of each of its fields, typed and belonging to no protocol: what the catalog keeps.
//!
//! Everything is resolved: what a field has because nobody said otherwise is written down too, unless an absent member
//! means it (`docs/formats/catalog.md`); so what is usual may change later without changing what is kept. Analyzers
//! and normalizers are named as the index's settings name them. Refuses to know whether all of this makes sense
//! together, which the mapping that is built from it does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::field::{Dynamic, FieldKind};
use super::join::JoinRelations;
use super::schema::ObjectSettings;
use super::source::SourceShown;
use super::template::TemplateSpec;

/// A mapping as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MappingSpec {
    /// What happens to fields it lacks, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) dynamic: Option<Dynamic>,
    /// Whether text that looks like a date makes a date field.
    pub(super) date_detection: bool,
    /// Whether text that looks like a number makes a number field.
    pub(super) numeric_detection: bool,
    /// The formats that a date must have to be noticed.
    pub(super) date_formats: Vec<String>,
    /// What of a document is handed out as it came.
    pub(super) source: SourceShown,
    /// Whether every document must name its routing.
    pub(super) routing_required: bool,
    /// How new names become fields.
    pub(super) templates: Vec<TemplateSpec>,
    /// What a protocol shows again as it was written; nothing below it reads this.
    pub(super) shown: Map<String, Value>,
    /// Objects that the mapping names, by path.
    pub(super) objects: BTreeMap<String, ObjectSettings>,
    /// Other names of fields, and the paths they stand for.
    pub(super) aliases: BTreeMap<String, String>,
    /// What has a number, in the order of the numbers.
    pub(super) fields: Vec<NumberedSpec>,
    /// The analyzers that the index's settings name.
    pub(super) analysis: Value,
    /// The similarities that the index's settings name.
    pub(super) similarities: BTreeMap<String, String>,
}

/// What has a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NumberedSpec {
    /// A field that somebody asked for.
    Field(Box<FieldSpec>),
    /// The path of one that follows from a field before it, and is made from that again.
    Follower(String),
}

/// One field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldSpec {
    /// Full dotted path.
    pub(super) path: String,
    /// Whether it is filled from the value of the field that its path lies under.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) multi_field: bool,
    /// What it holds.
    pub(super) kind: FieldKind,
    /// Whether it can be searched.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub(super) indexed: bool,
    /// Whether values can be sorted and gathered in buckets.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub(super) doc_values: bool,
    /// Whether the API can hand out its values by themselves.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) store: bool,
    /// Whether text is read as numbers and fractions are cut off where whole numbers are wanted.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub(super) coerce: bool,
    /// Whether a value that does not fit is left out instead of refusing the document.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) ignore_malformed: bool,
    /// What an explicit null stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) null_value: Option<Value>,
    /// Paths of fields that take this field's values too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) copy_to: Vec<String>,
    /// The analyzer of queries, where it is not the field's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) search_analyzer: Option<String>,
    /// The analyzer of phrases in queries, where it is not the one of queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) search_quote_analyzer: Option<String>,
    /// The analyzer whose tokens it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) count_analyzer: Option<String>,
    /// Whether a count of tokens takes the gaps between them along.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub(super) count_gaps: bool,
    /// What makes the terms of a keyword alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) normalizer: Option<String>,
    /// Whether a match on a keyword looks for each word of its text.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) split_queries: bool,
    /// Positions between two values, of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) position_gap: Option<usize>,
    /// The name of what weighs its terms, where it is not what the index usually does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) similarity: Option<String>,
    /// Whether words can be sorted and gathered in buckets.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) fielddata: bool,
    /// Whether term vectors are handed out.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) term_vectors: bool,
    /// Whether more of a feature makes a document worse.
    #[serde(default, skip_serializing_if = "is_no")]
    pub(super) inverse: bool,
    /// What the users of the mapping say of it to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Value>,
    /// What belongs to what, for a join field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) join: Option<JoinRelations>,
    /// What a protocol shows again as it was written. Only whether two vector fields are the same is still told by
    /// this, too.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) shown: Map<String, Value>,
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
