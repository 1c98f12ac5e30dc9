//! One field of a mapping.

use std::sync::Arc;

use clew_analysis::Analysis;
use clew_vector::ColumnOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tantivy::schema::Field;

use super::choice::AnalyzerChoice;
use super::compression::VectorCompression;
use super::error::MappingError;
use super::grow::NewField;
use super::join::JoinRelations;
use super::number::{FloatKind, IntegerKind};
use crate::completion::CompletionMapping;
use crate::date::DateFormat;

/// A field's number inside its index: dense from 0 in order of creation, never reused, so that
/// files can name a field by it for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub(crate) u32);

impl FieldId {
    /// The field with this number.
    pub fn new(number: u32) -> Self {
        FieldId(number)
    }
    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// What happens to fields a document has and the mapping lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dynamic {
    /// They are added to the mapping.
    #[default]
    True,
    /// They stay in `_source` only.
    False,
    /// The document is refused.
    Strict,
    /// They are added if a dynamic template names them, else they stay in `_source` only.
    FalseAllowTemplates,
    /// They are added if a dynamic template names them, else the document is refused.
    StrictAllowTemplates,
}

/// The field of documents that stand for several, and the name of its type.
pub const DOC_COUNT: &str = "_doc_count";

/// The field that names those whose values a document brought and the index left out.
pub const IGNORED: &str = "_ignored";

/// Whether a field comes of documents that need it, whatever the mapping says of new fields, and is not shown.
pub(super) fn is_asked_for(path: &str, kind: &FieldKind) -> bool {
    path == IGNORED || *kind == FieldKind::Integer(IntegerKind::DocumentCount)
}

/// How the words of a text field are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TextStyle {
    /// With positions and norms.
    #[default]
    Full,
    /// Documents only: phrases are found by reading the source again.
    MatchOnly,
    /// In full, with more fields beside it for words that are still being typed.
    AsYouType {
        /// How many neighbours are looked at together, from 2 to 4.
        neighbours: u8,
    },
}

/// What a field of exact terms is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeywordStyle {
    /// Equality, sorting and buckets.
    #[default]
    Keyword,
    /// Patterns within long values.
    Wildcard,
    /// The kind of a document that has parents or children.
    Join,
}

/// What the two ends of a range are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RangeKind {
    /// 32-bit numbers.
    Integer,
    /// 64-bit numbers.
    Long,
    /// 32-bit floating-point numbers.
    Float,
    /// 64-bit floating-point numbers.
    Double,
    /// Milliseconds since the epoch.
    Date,
    /// Addresses.
    Ip,
}

/// A `knn_vector` field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorMapping {
    /// Dimension, space, and what the column is searched through.
    pub column: ColumnOptions,
    /// Candidates that a walk keeps unless a query says otherwise; absent: what the index says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ef_search: Option<usize>,
    /// Inverted lists that a search reads unless a query says otherwise; absent: what its effort takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<usize>,
    /// Whether documents may bring vectors without a direction though the space compares directions: they are as far
    /// from all others as can be said of nothing, at a cosine of 0.
    #[serde(default, skip_serializing_if = "is_false")]
    pub directionless: bool,
    /// Whether numbers beyond what half precision holds become its largest, instead of refusing the document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clips: bool,
}

impl VectorMapping {
    /// A column of which nothing else is said.
    pub fn new(column: ColumnOptions) -> Self {
        VectorMapping {
            column,
            ef_search: None,
            probes: None,
            directionless: false,
            clips: false,
        }
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What a field holds, and how it lies in tantivy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FieldKind {
    /// Analyzed text: postings with positions and norms, no column.
    Text {
        /// The analyzer's name, `standard` unless said otherwise.
        analyzer: String,
        /// How its words are kept.
        style: TextStyle,
    },
    /// One exact term: postings without positions or norms, and a string column.
    Keyword {
        /// Longer values (in characters) stay out of the index.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ignore_above: Option<u32>,
        /// What the field is for.
        style: KeywordStyle,
    },
    /// Postings and an i64 column.
    Integer(IntegerKind),
    /// Postings and a u64 column.
    Unsigned,
    /// An f64 column.
    Float(FloatKind),
    /// An i64 column of 0 and 1, and postings.
    Boolean,
    /// An i64 column of milliseconds since the epoch, UTC.
    Date {
        /// Formats as in `format`, `strict_date_optional_time||epoch_millis` unless said otherwise.
        format: String,
    },
    /// An i64 column of nanoseconds since the epoch.
    DateNanos {
        /// Formats, as for [`FieldKind::Date`].
        format: String,
    },
    /// Bytes in base64: a column of them if asked for, never searched.
    Binary {
        /// Whether there is a column.
        doc_values: bool,
    },
    /// The same value in every document; kept in the mapping alone.
    Constant {
        /// The value; absent until the first document that has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// Ranges: a column of their ends.
    Range {
        /// What the ends are.
        kind: RangeKind,
        /// Formats of the ends of ranges of dates.
        format: String,
    },
    /// An object whose leaves are keywords: its leaves' values, and beside it their paths with
    /// their values.
    Flat,
    /// An IPv6 (or mapped IPv4) address column and postings.
    Ip,
    /// Names with positive weights: one term for each name, which stands where its weight says.
    RankFeatures,
    /// A u64 column of points, latitude in the upper half of the number.
    GeoPoint,
    /// Points, lines and areas on the earth: a column of their bytes. What is said of how they are written is among the
    /// settings that are shown.
    GeoShape,
    /// One term for each text that may be proposed while somebody types.
    Completion(Box<CompletionMapping>),
    /// A query that waits for documents: a column with its text.
    Percolator,
    /// A vector column; not in tantivy's schema.
    Vector(VectorMapping),
    /// A column of sparse vectors with an inverted index; not in tantivy's schema.
    SparseVector,
}

impl FieldKind {
    /// Whether values are kept, to be counted or handed out, and never looked for.
    pub fn is_never_searched(&self) -> bool {
        matches!(
            self,
            FieldKind::Binary { .. } | FieldKind::Integer(IntegerKind::Murmur3)
        )
    }

    /// Whether values are kept in a vector column, and cut out of the source.
    pub fn is_vector(&self) -> bool {
        matches!(self, FieldKind::Vector(_) | FieldKind::SparseVector)
    }

    /// Analyzed text with positions and norms.
    pub fn text(analyzer: impl Into<String>) -> Self {
        FieldKind::Text {
            analyzer: analyzer.into(),
            style: TextStyle::Full,
        }
    }

    /// Exact terms.
    pub fn keyword(ignore_above: Option<u32>) -> Self {
        FieldKind::Keyword {
            ignore_above,
            style: KeywordStyle::Keyword,
        }
    }

    /// The type's name in a mapping.
    pub fn type_name(&self) -> &'static str {
        match self {
            FieldKind::Text { style, .. } => match style {
                TextStyle::Full => "text",
                TextStyle::MatchOnly => "match_only_text",
                TextStyle::AsYouType { .. } => "search_as_you_type",
            },
            FieldKind::Keyword { style, .. } => match style {
                KeywordStyle::Keyword => "keyword",
                KeywordStyle::Wildcard => "wildcard",
                KeywordStyle::Join => "join",
            },
            FieldKind::Unsigned => "unsigned_long",
            FieldKind::DateNanos { .. } => "date_nanos",
            FieldKind::Binary { .. } => "binary",
            FieldKind::Constant { .. } => "constant_keyword",
            FieldKind::Flat => "flat_object",
            FieldKind::Percolator => "percolator",
            FieldKind::Completion(_) => "completion",
            FieldKind::Range { kind, .. } => match kind {
                RangeKind::Integer => "integer_range",
                RangeKind::Long => "long_range",
                RangeKind::Float => "float_range",
                RangeKind::Double => "double_range",
                RangeKind::Date => "date_range",
                RangeKind::Ip => "ip_range",
            },
            FieldKind::Integer(IntegerKind::TokenCount) => "token_count",
            FieldKind::Integer(IntegerKind::DocumentCount) => DOC_COUNT,
            FieldKind::Integer(IntegerKind::Murmur3) => "murmur3",
            FieldKind::Float(FloatKind::Half) => "half_float",
            FieldKind::Float(FloatKind::Scaled { .. }) => "scaled_float",
            FieldKind::Float(FloatKind::RankFeature) => "rank_feature",
            FieldKind::Integer(IntegerKind::Long) => "long",
            FieldKind::Integer(IntegerKind::Integer) => "integer",
            FieldKind::Integer(IntegerKind::Short) => "short",
            FieldKind::Integer(IntegerKind::Byte) => "byte",
            FieldKind::Float(FloatKind::Double) => "double",
            FieldKind::Float(FloatKind::Float) => "float",
            FieldKind::Boolean => "boolean",
            FieldKind::Date { .. } => "date",
            FieldKind::Ip => "ip",
            FieldKind::RankFeatures => "rank_features",
            FieldKind::GeoPoint => "geo_point",
            FieldKind::GeoShape => "geo_shape",
            FieldKind::Vector(_) => "knn_vector",
            FieldKind::SparseVector => "sparse_vector",
        }
    }
}

/// What a field does with values, apart from how they lie in tantivy. May change later.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSettings {
    /// Whether text is read as numbers and fractions are cut off where whole numbers are wanted.
    pub coerce: bool,
    /// Whether a value that does not fit is left out instead of refusing the document.
    pub ignore_malformed: bool,
    /// What an explicit null stands for.
    pub null_value: Option<Value>,
    /// Paths of fields that take this field's values too.
    pub copy_to: Vec<String>,
    /// The analyzer of queries, where it is not the field's own.
    pub search_analyzer: Option<String>,
    /// The analyzer of phrases in queries, where it is not the one of queries.
    pub search_quote_analyzer: Option<String>,
    /// Which analyzer the texts of a document go through, where they do not all go through the field's own.
    pub choice: Option<Arc<AnalyzerChoice>>,
    /// The analyzer whose tokens a field counts.
    pub count_analyzer: Option<String>,
    /// Whether a count of tokens takes the gaps between them along.
    pub count_gaps: bool,
    /// What makes the terms of a keyword alike.
    pub normalizer: Option<String>,
    /// Whether a match on a keyword looks for each word of its text.
    pub split_queries: bool,
    /// Whether the API can hand out the field's values by itself.
    pub store: bool,
    /// Whether values can be sorted and gathered in buckets.
    pub doc_values: bool,
    /// Whether the field follows from another one and is not shown.
    pub hidden: bool,
    /// Positions between two values of a text field.
    pub position_gap: usize,
    /// The name of what weighs the field's terms, where it is not what the index usually does.
    pub similarity: Option<String>,
    /// Whether words can be sorted and gathered in buckets, which takes a column of them.
    pub fielddata: bool,
    /// Whether term vectors are handed out, which are made from the source when asked for.
    pub term_vectors: bool,
    /// Whether more of a feature makes a document worse: what is kept is one divided by its value.
    pub inverse: bool,
    /// What the users of the mapping say of the field to each other.
    pub meta: Option<Value>,
    /// What belongs to what, for a join field.
    pub join: Option<Arc<JoinRelations>>,
    /// What a vector column was asked to be made for.
    pub compression: VectorCompression,
    /// Parameters as they were written, to be shown again: what they change is said above. `coerce` is among them where
    /// it was said to be true, which stands above what the index says.
    pub shown: Map<String, Value>,
}

impl Default for FieldSettings {
    fn default() -> Self {
        FieldSettings {
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
            store: false,
            doc_values: true,
            hidden: false,
            position_gap: clew_analysis::POSITION_GAP,
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
}

/// A field of the mapping.
#[derive(Clone, Debug)]
pub struct MappedField {
    /// Full dotted path, `title.keyword` for a multi-field.
    pub path: String,
    /// Its number.
    pub id: FieldId,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it can be searched (`index: false` keeps only the column).
    pub indexed: bool,
    /// Whether it is a multi-field (filled from its parent's value; not a JSON path of its own).
    pub multi_field: bool,
    /// The tantivy field, named `f<number>`; `None` for vectors.
    pub field: Option<Field>,
    /// What it does with values.
    pub settings: FieldSettings,
    /// The analyzers that a query on it may name.
    pub analysis: Arc<Analysis>,
    /// The format of a date field, understood.
    pub(crate) date_format: Option<Arc<DateFormat>>,
}

impl MappedField {
    /// The format of a date field.
    pub fn date_format(&self) -> Option<&DateFormat> {
        self.date_format.as_deref()
    }
    /// The analyzer of queries on a text, where it is not the field's own: the one that the field names for them, else the one
    /// that the index has for them, which stands above the field's own.
    pub fn search_analyzer(&self) -> Option<&str> {
        let named = self.settings.search_analyzer.as_deref();
        let is_text = matches!(self.kind, FieldKind::Text { .. });
        named.or_else(|| self.analysis.default_search().filter(|_| is_text))
    }
    /// Whether a text's words can be sorted and gathered in buckets, which takes a column of them.
    pub fn has_fielddata(&self) -> bool {
        let is_full = matches!(
            self.kind,
            FieldKind::Text {
                style: TextStyle::Full,
                ..
            }
        );
        is_full && self.settings.fielddata
    }
    /// Whether documents write it under its own name.
    pub(super) fn is_written(&self) -> bool {
        !self.multi_field && !self.settings.hidden
    }
    /// The name of the field's column in tantivy's fast fields.
    pub fn column(&self) -> String {
        format!("f{}", self.id.0)
    }

    /// Refuses a field of the same path and another type.
    pub(super) fn check_type(&self, new: &NewField) -> Result<(), MappingError> {
        if self.kind.type_name() == new.kind.type_name() && self.multi_field == new.multi_field {
            return Ok(());
        }
        Err(MappingError::Conflict {
            path: self.path.clone(),
            from: self.kind.type_name(),
            to: new.kind.type_name(),
        })
    }

    /// The error of a path at or below this field that wants an object here.
    pub(super) fn is_no_object(&self) -> MappingError {
        MappingError::NotAnObject {
            path: self.path.clone(),
            from: self.kind.type_name(),
        }
    }
}
