//! The mapping and the schema it owns. Fields are only ever added, in the order of their ids, so
//! that a schema built later is an extension of one built earlier and old segments stay readable.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use clew_analysis::{Analysis, analyzers_with};
use serde_json::{Map, Value};
use tantivy::schema::{Field, Schema};
use tantivy::tokenizer::TokenizerManager;

use super::columns::{build_schema, postings_analyzer};
use super::definition::Definition;
use super::derived::{DerivedField, TYPE_NAME};
use super::error::MappingError;
use super::field::{DOC_COUNT, Dynamic, FieldId, FieldKind, IGNORED, MappedField};
use super::grow::NewField;
use super::limits::{MappingLimits, Sizes};
use super::number::IntegerKind;
use super::reader::MappingReader;
use super::source::SourceShown;
use super::spec::ObjectSettings;
use super::template::DynamicTemplate;
use super::tree::ObjectNode;
use crate::date::{DATE_FORMAT_DEFAULT, DateFormat};
use crate::similarity::{Similarities, Similarity};

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
    /// Fields whose values scripts make, in the order of their names.
    pub(crate) derived: Arc<Vec<DerivedField>>,
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
            derived: Arc::default(),
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
    /// What reads what only a protocol understands.
    pub(super) reader: Option<MappingReader>,
    /// The analyzers that the index's settings name.
    pub(crate) analysis: Arc<Analysis>,
    pub(super) similarities: Arc<Similarities>,
    /// The fields once more, as documents are walked.
    pub(crate) tree: ObjectNode,
    /// Whether documents cannot make it grow.
    is_frozen: bool,
    /// How often a vector field has got another column, texts other analyzers, or a derived field another script, since
    /// this was read.
    pub(super) column_changes: u64,
    schema: Schema,
}

impl Default for Mapping {
    fn default() -> Self {
        Self::new()
    }
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
            reader: None,
            analysis: Arc::default(),
            similarities: Arc::default(),
            tree: ObjectNode::default(),
            is_frozen: false,
            column_changes: 0,
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

    /// The field that names what the index left out of each document, once that was something.
    pub fn ignored(&self) -> Option<&MappedField> {
        self.field(IGNORED).filter(|field| field.settings.hidden)
    }

    /// Whether documents may still make it get that field.
    pub(crate) fn lacks_ignored(&self) -> bool {
        !self.is_frozen && self.field(IGNORED).is_none()
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

    /// Hands in what reads the parameters that its dynamic templates have.
    pub fn set_reader(&mut self, reader: Option<MappingReader>) {
        self.reader = reader;
    }

    /// Sets how large it may grow, within what any mapping may; what is there already stays.
    pub fn set_limits(&mut self, limits: MappingLimits) {
        self.limits = limits.bounded();
    }

    /// Whether it came of another one that had fewer fields, other columns, or other derived fields.
    pub fn is_later_than(&self, other: &Mapping) -> bool {
        self.fields.len() > other.fields.len()
            || self.size() > other.size()
            || self.column_changes > other.column_changes
    }

    /// The same, read from the catalog in the place of what its index had before: later than that where vector fields have
    /// other columns, texts other analyzers, or derived fields other scripts.
    #[must_use]
    pub fn in_place_of(mut self, before: &Mapping) -> Self {
        let differs = |(now, was): (&MappedField, &MappedField)| match (&now.kind, &was.kind) {
            (FieldKind::Vector(now), FieldKind::Vector(was)) => now.column != was.column,
            (FieldKind::Text { analyzer: now, .. }, FieldKind::Text { analyzer: was, .. }) => {
                now != was
            }
            _ => false,
        };
        let is_other = self.analysis.source() != before.analysis.source()
            || self.root.derived != before.root.derived
            || self.fields.iter().zip(&before.fields).any(differs);
        self.column_changes = before.column_changes + u64::from(is_other);
        self
    }

    /// What happens to fields it lacks.
    pub fn dynamic(&self) -> Dynamic {
        self.dynamic_said().unwrap_or_default()
    }

    /// The same, where that was said.
    pub fn dynamic_said(&self) -> Option<Dynamic> {
        self.root.dynamic
    }

    /// The whole document as the mapping sees it.
    pub fn tree(&self) -> &ObjectNode {
        &self.tree
    }

    /// What is said of the object at a path, where something is.
    pub fn object_settings(&self, path: &str) -> Option<ObjectSettings> {
        self.objects.get(path).copied()
    }

    /// What a protocol shows again of the whole mapping, as it was written.
    pub fn shown(&self) -> &Map<String, Value> {
        &self.root.shown
    }

    /// Whether documents are looked at; if not they stay in `_source` only.
    pub(crate) fn is_enabled(&self) -> bool {
        self.root.shown.get("enabled") != Some(&Value::Bool(false))
    }

    /// Whether this is the mapping of documents that were accepted before.
    pub(crate) fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// The same fields, but what a document has beyond them is ignored everywhere: for documents
    /// that were accepted when the mapping said otherwise.
    pub fn frozen(&self) -> Mapping {
        let mut frozen = self.clone();
        frozen.tree.freeze();
        frozen.is_frozen = true;
        frozen.limits.nested_objects_max = usize::MAX;
        frozen
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
                let understood = DateFormat::parse(format)?;
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

    /// Whether the path is free: no field may be an object as well.
    fn check_place(&self, new: &NewField, hidden: bool) -> Result<(), MappingError> {
        let path = new.path.as_str();
        if self.root.derived.iter().any(|derived| derived.path == path) {
            return Err(MappingError::Conflict {
                path: new.path.clone(),
                from: TYPE_NAME,
                to: new.kind.type_name(),
            });
        }
        let mut above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        if new.multi_field {
            let parent = above.next().and_then(|parent| self.field(parent));
            return match parent {
                Some(field) if !field.multi_field || hidden => Ok(()),
                _ => Err(MappingError::LoneMultiField {
                    path: new.path.clone(),
                }),
            };
        }
        if self.has_object_by_now(path) {
            return Err(MappingError::NotAField {
                path: new.path.clone(),
            });
        }
        match above.find_map(|object| self.field(object)) {
            Some(field) => Err(field.is_no_object()),
            None => Ok(()),
        }
    }

    /// Whether there is an object at a path by now, also one that the tree does not have yet.
    pub(super) fn has_object_by_now(&self, path: &str) -> bool {
        let below = format!("{path}.");
        let has_children = self
            .by_path
            .range(below.clone()..)
            .next()
            .is_some_and(|(next, _)| next.starts_with(&below));
        has_children || self.objects.contains_key(path)
    }

    /// Builds what follows from the fields, after some were added; `before` is what the
    /// mapping's [`sizes`](Mapping::sizes) were, which limits cannot take back.
    pub(crate) fn finish(&mut self, before: Sizes) -> Result<(), MappingError> {
        self.tree = ObjectNode::build(self);
        self.check_sizes(before)?;
        let (schema, tantivy_fields) = build_schema(&self.fields, &self.similarities);
        for (field, tantivy_field) in self.fields.iter_mut().zip(tantivy_fields) {
            field.field = tantivy_field;
        }
        self.schema = schema;
        Ok(())
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
        self.fields.iter().filter(|f| f.kind.is_vector())
    }
    /// tantivy's schema: `_id`, `_source`, then one field per mapped field that is not a vector.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}
