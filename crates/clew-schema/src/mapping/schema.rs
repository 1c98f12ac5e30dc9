//! The mapping and the schema it owns. Fields are only ever added, in the order of their ids, so
//! that a schema built later is an extension of one built earlier and old segments stay readable.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use clew_analysis::{Analysis, analyzers_with, counting_each};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, IpAddrOptions, NumericOptions, STRING, Schema,
    SchemaBuilder, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;

use super::field::{
    DOC_COUNT, Dynamic, FieldId, FieldKind, FieldSettings, IntegerKind, MappedField, TextStyle,
};
use super::nested::Nested;
use super::source::SourceShown;
use super::template::DynamicTemplate;
use super::tree::ObjectNode;
use crate::date::{DATE_FORMAT_DEFAULT, DateFormat};
use crate::similarity::{Similarities, Similarity};

/// Why a mapping was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// The field exists with another kind.
    #[error("mapper [{path}] cannot be changed from type [{from}] to [{to}]")]
    Conflict {
        /// Field path.
        path: String,
        /// Type it has.
        from: &'static str,
        /// Type asked for.
        to: String,
    },
    /// The mapping's JSON is not understood.
    #[error("{reason}")]
    Invalid {
        /// What is wrong, naming the field.
        reason: String,
    },
    /// The mapping is understood, but the one that exists cannot become it.
    #[error("{reason}")]
    Refused {
        /// What is wrong, naming the field.
        reason: String,
    },
    /// Too many fields.
    #[error("Limit of total fields [{max}] has been exceeded")]
    TooManyFields {
        /// The limit.
        max: usize,
    },
    /// Too many objects that are documents of their own.
    #[error("Limit of nested fields [{max}] has been exceeded")]
    TooManyNested {
        /// The limit.
        max: usize,
    },
    /// A name is too long.
    #[error("Field name [{name}] is longer than the limit of [{max}] characters")]
    NameTooLong {
        /// Its beginning.
        name: String,
        /// The limit.
        max: usize,
    },
    /// Objects inside objects too often.
    #[error("Limit of mapping depth [{max}] has been exceeded due to object field [{path}]")]
    TooDeep {
        /// The limit.
        max: usize,
        /// The object that is too deep.
        path: String,
    },
}

impl MappingError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        MappingError::Invalid {
            reason: reason.into(),
        }
    }

    /// OpenSearch's name for this kind of error.
    pub fn error_type(&self) -> &'static str {
        match self {
            MappingError::Invalid { .. } => "mapper_parsing_exception",
            _ => "illegal_argument_exception",
        }
    }
}

/// So much of a name that is too long is told of it.
const NAME_CHARS_SHOWN: usize = 100;

/// How large a mapping may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappingLimits {
    /// Fields, multi-fields and objects together.
    pub fields_max: usize,
    /// Objects inside objects, the document itself included.
    pub depth_max: usize,
    /// Objects of type `nested`.
    pub nested_fields_max: usize,
    /// Nested objects of one document.
    pub nested_objects_max: usize,
    /// Characters of the name of a field or object, those around it left out.
    pub name_chars_max: usize,
}

impl MappingLimits {
    /// What no mapping may exceed, whatever is asked for: each field costs memory in every segment.
    const BOUNDS: MappingLimits = MappingLimits {
        fields_max: 100_000,
        depth_max: 100,
        nested_fields_max: 10_000,
        nested_objects_max: 1_000_000,
        name_chars_max: 1_000_000,
    };

    fn bounded(self) -> MappingLimits {
        let bounds = MappingLimits::BOUNDS;
        MappingLimits {
            fields_max: self.fields_max.min(bounds.fields_max),
            depth_max: self.depth_max.min(bounds.depth_max),
            nested_fields_max: self.nested_fields_max.min(bounds.nested_fields_max),
            nested_objects_max: self.nested_objects_max.min(bounds.nested_objects_max),
            name_chars_max: self.name_chars_max.min(bounds.name_chars_max),
        }
    }
}

impl Default for MappingLimits {
    fn default() -> Self {
        MappingLimits {
            fields_max: 1000,
            depth_max: 20,
            nested_fields_max: 50,
            nested_objects_max: 10_000,
            name_chars_max: 50_000,
        }
    }
}

/// What the mapping says about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObjectSettings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dynamic: Option<Dynamic>,
    /// Whether its content is looked at; if not it stays in `_source` only.
    pub(crate) enabled: bool,
    /// Set when each of its objects is a document of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nested: Option<Nested>,
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

/// What limits of a mapping count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    all: usize,
    pub(super) nested: usize,
}

/// What the mapping says about the whole document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RootSettings {
    pub(crate) dynamic: Option<Dynamic>,
    /// Whether text that looks like a date makes a date field.
    pub(crate) date_detection: bool,
    /// Whether text that looks like a number makes a number field.
    pub(crate) numeric_detection: bool,
    /// The formats that a date must have to be noticed.
    pub(crate) date_formats: Arc<Vec<DateFormat>>,
    pub(crate) source: Arc<SourceShown>,
    pub(crate) routing_required: bool,
    /// How new names become fields.
    pub(crate) templates: Arc<Vec<DynamicTemplate>>,
    /// Parameters as they were written, to be shown again.
    pub(crate) shown: Map<String, Value>,
}

impl Default for RootSettings {
    fn default() -> Self {
        let formats = [
            DATE_FORMAT_DEFAULT,
            "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis",
        ]
        .iter()
        .filter_map(|format| DateFormat::parse(format).ok())
        .collect();
        RootSettings {
            dynamic: None,
            date_detection: true,
            numeric_detection: false,
            date_formats: Arc::new(formats),
            source: Arc::default(),
            routing_required: false,
            templates: Arc::default(),
            shown: Map::new(),
        }
    }
}

/// The fields of an index and the tantivy schema they form.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub(crate) fields: Vec<MappedField>,
    pub(crate) by_path: BTreeMap<String, FieldId>,
    /// Objects that the mapping names; others follow from the paths of fields.
    pub(crate) objects: BTreeMap<String, ObjectSettings>,
    /// Other names of fields, and the paths they stand for.
    pub(super) aliases: BTreeMap<String, String>,
    pub(crate) root: RootSettings,
    pub(crate) limits: MappingLimits,
    /// The analyzers that the index's settings name.
    pub(crate) analysis: Arc<Analysis>,
    pub(super) similarities: Arc<Similarities>,
    /// The fields once more, as documents are walked.
    pub(crate) tree: ObjectNode,
    schema: Schema,
}

impl Default for Mapping {
    fn default() -> Self {
        Self::new()
    }
}

/// A field to be added, with everything that a mapping can say of it.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) new: NewField,
    pub(crate) settings: FieldSettings,
}

impl Mapping {
    /// A mapping without fields.
    pub fn new() -> Self {
        Mapping {
            fields: Vec::new(),
            by_path: BTreeMap::new(),
            objects: BTreeMap::new(),
            aliases: BTreeMap::new(),
            root: RootSettings::default(),
            limits: MappingLimits::default(),
            analysis: Arc::default(),
            similarities: Arc::default(),
            tree: ObjectNode::default(),
            schema: build_schema(&[], &Similarities::default()).0,
        }
    }

    /// The tantivy field of document ids: raw postings. Ids are read back from another file, and so are sources.
    pub const ID: Field = Field::from_field_id(0);

    /// Gives it the analyzers that its fields may name; before it has any.
    pub fn set_analysis(&mut self, analysis: Analysis) {
        self.analysis = Arc::new(analysis);
    }

    /// The analyzers that its fields may name.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// Gives it the similarities that its fields may name; before it has any.
    pub fn set_similarities(&mut self, similarities: Similarities) {
        self.similarities = Arc::new(similarities);
    }

    /// How a field's terms are weighed.
    pub fn similarity(&self, field: &MappedField) -> Similarity {
        let own = field.settings.similarity.as_deref();
        let own = own.and_then(|name| self.similarities.named(name));
        own.unwrap_or_else(|| self.similarities.usual())
    }

    /// The field that says how many documents each one stands for, once some document has said it.
    pub fn doc_count(&self) -> Option<&MappedField> {
        let kind = FieldKind::Integer(IntegerKind::DocumentCount);
        self.field(DOC_COUNT).filter(|field| field.kind == kind)
    }

    /// What tantivy needs to cut the texts of all fields.
    pub fn tokenizers(&self) -> TokenizerManager {
        let names = self.fields.iter().filter_map(|field| match &field.kind {
            FieldKind::Text { analyzer, .. } => {
                let counting = postings_analyzer(field, analyzer, &self.similarities);
                Some([Cow::Borrowed(analyzer.as_str()), counting])
            }
            _ => None,
        });
        let names: Vec<Cow<'_, str>> = names.flatten().collect();
        analyzers_with(names.iter().map(Cow::as_ref))
    }

    /// Sets how large it may grow, within what any mapping may; what is there already stays.
    pub fn set_limits(&mut self, limits: MappingLimits) {
        self.limits = limits.bounded();
    }

    /// What happens to fields it lacks.
    pub fn dynamic(&self) -> Dynamic {
        self.root.dynamic.unwrap_or_default()
    }

    /// The same fields, but what a document has beyond them is ignored everywhere: for documents
    /// that were accepted when the mapping said otherwise.
    pub fn frozen(&self) -> Mapping {
        let mut frozen = self.clone();
        frozen.tree.freeze();
        frozen.limits.nested_objects_max = usize::MAX;
        frozen
    }

    /// Adds fields (path, kind, indexed, multi-field); the schema is built once for all.
    /// Nothing is added if one is refused.
    ///
    /// # Errors
    /// [`MappingError::Conflict`] when a path exists with a different kind; an equal one is kept.
    pub fn add(&mut self, fields: impl IntoIterator<Item = NewField>) -> Result<(), MappingError> {
        let mut next = self.clone();
        for new in fields {
            if let Some(have) = next.field(&new.path) {
                have.check_type(&new)?;
                continue;
            }
            let settings = FieldSettings {
                hidden: new.kind == FieldKind::Integer(IntegerKind::DocumentCount),
                ..FieldSettings::default()
            };
            next.push(Definition { new, settings })?;
        }
        next.finish(self.sizes())?;
        *self = next;
        Ok(())
    }

    /// Adds one field that does not exist; [`Mapping::finish`] must follow.
    pub(crate) fn push(&mut self, definition: Definition) -> Result<(), MappingError> {
        let Definition { new, settings } = definition;
        let object = new.path.rsplit_once('.').map_or("", |(object, _)| object);
        self.check_depth(object, usize::from(!new.multi_field))?;
        self.check_names(&new.path)?;
        self.check_place(&new, settings.hidden)?;
        let date_format = match &new.kind {
            FieldKind::Date { format }
            | FieldKind::DateNanos { format }
            | FieldKind::Range { format, .. } => {
                let understood = DateFormat::parse(format)
                    .map_err(|error| MappingError::invalid(error.to_string()))?;
                Some(Arc::new(understood))
            }
            _ => None,
        };
        let number = u32::try_from(self.fields.len()).expect("fields are limited");
        self.by_path.insert(new.path.clone(), FieldId(number));
        self.fields.push(MappedField {
            path: new.path,
            id: FieldId(number),
            kind: new.kind,
            indexed: new.indexed,
            multi_field: new.multi_field,
            field: None,
            analysis: self.analysis.clone(),
            settings,
            date_format,
        });
        Ok(())
    }

    /// Refuses objects inside too many others, before anything walks down to them; `extra` counts
    /// the document itself.
    pub(super) fn check_depth(&self, object: &str, extra: usize) -> Result<(), MappingError> {
        let names = object.split('.').filter(|name| !name.is_empty()).count();
        if names + extra > self.limits.depth_max {
            return Err(MappingError::TooDeep {
                max: self.limits.depth_max,
                path: object.to_string(),
            });
        }
        Ok(())
    }

    /// Refuses a path that has a name which is too long.
    pub(super) fn check_names(&self, path: &str) -> Result<(), MappingError> {
        let max = self.limits.name_chars_max;
        // As OpenSearch counts them; no text has more of these than bytes.
        let is_long = |name: &&str| name.len() > max && name.encode_utf16().count() > max;
        match path.split('.').find(is_long) {
            None => Ok(()),
            Some(name) => Err(MappingError::NameTooLong {
                name: name
                    .chars()
                    .take(NAME_CHARS_SHOWN)
                    .chain("...".chars())
                    .collect(),
                max,
            }),
        }
    }

    /// Whether the path is free: no field may be an object as well.
    fn check_place(&self, new: &NewField, hidden: bool) -> Result<(), MappingError> {
        let path = new.path.as_str();
        let mut above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        if new.multi_field {
            let parent = above.next().and_then(|parent| self.field(parent));
            return match parent {
                Some(field) if !field.multi_field || hidden => Ok(()),
                _ => Err(MappingError::invalid(format!(
                    "multi-field [{path}] has no field that it belongs to"
                ))),
            };
        }
        let below = format!("{path}.");
        let has_children = self
            .by_path
            .range(below.clone()..)
            .next()
            .is_some_and(|(next, _)| next.starts_with(&below));
        if has_children || self.objects.contains_key(path) {
            return Err(MappingError::Refused {
                reason: format!("can't merge a non object mapping [{path}] with an object mapping"),
            });
        }
        match above.find_map(|object| self.field(object)) {
            Some(field) => Err(MappingError::Conflict {
                path: field.path.clone(),
                from: field.kind.type_name(),
                to: "ObjectMapper".to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Builds what follows from the fields, after some were added; `before` is what the
    /// mapping's [`sizes`](Mapping::sizes) were, which limits cannot take back.
    pub(crate) fn finish(&mut self, before: Sizes) -> Result<(), MappingError> {
        let Sizes {
            all: size_before,
            nested: nested_before,
        } = before;
        self.tree = ObjectNode::build(self);
        let size = self.size();
        if size > self.limits.fields_max && size > size_before {
            return Err(MappingError::TooManyFields {
                max: self.limits.fields_max,
            });
        }
        self.check_nested(nested_before)?;
        let (schema, tantivy_fields) = build_schema(&self.fields, &self.similarities);
        for (field, tantivy_field) in self.fields.iter_mut().zip(tantivy_fields) {
            field.field = tantivy_field;
        }
        self.schema = schema;
        Ok(())
    }

    /// Fields, multi-fields and objects together. It only ever grows.
    pub fn size(&self) -> usize {
        let fields = self.fields.iter().filter(|field| !field.settings.hidden);
        fields.count() + self.aliases.len() + self.tree.object_count()
    }

    /// What limits count.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            all: self.size(),
            nested: self.nested_count(),
        }
    }

    /// The field at a dotted path, or the one that it is an alias of.
    pub fn field(&self, path: &str) -> Option<&MappedField> {
        let id = self.by_path.get(self.resolve(path))?;
        self.fields.get(id.0 as usize)
    }
    /// The field with a number.
    pub fn by_id(&self, id: FieldId) -> Option<&MappedField> {
        self.fields.get(id.0 as usize)
    }
    /// All fields in order of creation.
    pub fn fields(&self) -> &[MappedField] {
        &self.fields
    }
    /// The vector fields.
    pub fn vectors(&self) -> impl Iterator<Item = &MappedField> {
        self.fields
            .iter()
            .filter(|f| matches!(f.kind, FieldKind::Vector(_)))
    }
    /// tantivy's schema: `_id`, `_source`, then one field per mapped field that is not a vector.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// The fields that a document brings.
#[derive(Clone, Debug, Default)]
pub struct NewFields {
    /// Those whose type follows from their value.
    pub fields: Vec<NewField>,
    /// Paths and parameters of those that dynamic templates make.
    pub from_templates: Vec<(String, Map<String, Value>)>,
    /// Paths and values of those that have the same in every document, and none so far.
    pub constants: Vec<(String, String)>,
}

/// A field to be added.
#[derive(Clone, Debug)]
pub struct NewField {
    /// Full dotted path.
    pub path: String,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it can be searched.
    pub indexed: bool,
    /// Whether it is filled from its parent's value.
    pub multi_field: bool,
}

/// The schema, and the tantivy field of each mapped field. Names are generated (`f0`, `f1`, ...)
/// because tantivy gives meaning to dots and refuses some names that users may choose.
fn build_schema(
    fields: &[MappedField],
    similarities: &Similarities,
) -> (Schema, Vec<Option<Field>>) {
    let mut builder = Schema::builder();
    builder.add_text_field("_id", STRING);
    let added = fields
        .iter()
        .map(|field| add_to(&mut builder, field, similarities))
        .collect();
    (builder.build(), added)
}

/// Terms as they are, without positions or norms.
fn whole_terms() -> TextFieldIndexing {
    TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic)
}

/// Terms that stand where their weights say, without norms.
fn weighted_terms() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    )
}

/// The analyzer of a text's postings, under the name that says how its words count.
fn postings_analyzer<'f>(
    field: &MappedField,
    analyzer: &'f str,
    similarities: &Similarities,
) -> Cow<'f, str> {
    let counting = similarities
        .counts_each(field.settings.similarity.as_deref())
        .then(|| counting_each(analyzer));
    counting
        .flatten()
        .map_or(Cow::Borrowed(analyzer), Cow::Owned)
}

fn add_to(
    builder: &mut SchemaBuilder,
    field: &MappedField,
    similarities: &Similarities,
) -> Option<Field> {
    let name = field.column();
    let numeric = |postings: bool| {
        let options = NumericOptions::default() | FAST;
        if postings && field.indexed {
            options | INDEXED
        } else {
            options
        }
    };
    Some(match &field.kind {
        FieldKind::Text { analyzer, style } => {
            let mut options = TextOptions::default();
            if field.indexed {
                options = options.set_indexing_options(
                    TextFieldIndexing::default()
                        .set_tokenizer(&postings_analyzer(field, analyzer, similarities))
                        .set_fieldnorms(*style != TextStyle::MatchOnly)
                        .set_index_option(match style {
                            TextStyle::MatchOnly => IndexRecordOption::Basic,
                            _ => IndexRecordOption::WithFreqsAndPositions,
                        }),
                );
            }
            if field.has_fielddata() {
                options = options.set_fast(analyzer);
            }
            builder.add_text_field(&name, options)
        }
        FieldKind::Keyword { .. } | FieldKind::Flat => {
            let mut options = TextOptions::default().set_fast("raw");
            if field.indexed {
                options = options.set_indexing_options(whole_terms());
            }
            builder.add_text_field(&name, options)
        }
        FieldKind::RankFeatures => builder.add_text_field(&name, weighted_terms()),
        FieldKind::Completion(_) => builder.add_text_field(
            &name,
            TextOptions::default().set_indexing_options(whole_terms()),
        ),
        FieldKind::Integer(_) | FieldKind::Boolean => builder.add_i64_field(&name, numeric(true)),
        // A timestamp is almost unique: postings for it would cost more than the column's scan.
        FieldKind::Date { .. } | FieldKind::DateNanos { .. } => {
            builder.add_i64_field(&name, numeric(false))
        }
        FieldKind::Unsigned => builder.add_u64_field(&name, numeric(true)),
        FieldKind::Float(_) => builder.add_f64_field(&name, numeric(false)),
        FieldKind::Ip => {
            let options = IpAddrOptions::default().set_fast();
            builder.add_ip_addr_field(
                &name,
                if field.indexed {
                    options.set_indexed()
                } else {
                    options
                },
            )
        }
        FieldKind::GeoPoint => builder.add_u64_field(&name, numeric(false)),
        FieldKind::Range { .. }
        | FieldKind::Binary { doc_values: true }
        | FieldKind::Percolator => builder.add_bytes_field(&name, FAST),
        FieldKind::Vector(_) | FieldKind::Constant { .. } | FieldKind::Binary { .. } => {
            return None;
        }
    })
}
