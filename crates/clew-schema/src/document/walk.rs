//! The walk through a document beside its mapping. One pass reads, checks and converts everything;
//! no tree of the JSON is built.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tantivy::schema::{Field, OwnedValue};

use super::collect::{Cuts, Values};
use super::convert::{
    ImmenseTerm, Misfit, Scalar, TERM_BYTES_MAX, check_terms, convert, geo_point,
};
use super::copies::Copies;
use super::dynamic::Inference;
use super::error::{DocumentError, UnfitKind};
use super::failure::{Result, alias_written, misfit, unreadable};
use super::json::{JsonKind, JsonReader, NESTING_MAX, too_deep};
use super::names::Names;
use super::nested::NestedObjects;
use super::unmapped::not_an_object;
use crate::geo::GeoPoint;
use crate::mapping::{
    DOC_COUNT, Dynamic, FieldId, FieldKind, FieldLeaf, FloatKind, MappedField, Mapping,
    MappingNode, NameProblem, ObjectNode, is_metadata,
};

/// A document being walked.
pub(super) struct Walk<'m, 'a> {
    pub(super) mapping: &'m Mapping,
    pub(super) reader: JsonReader<'a>,
    pub(super) values: Values<'m>,
    /// What values become in fields that follow theirs.
    pub(super) copies: Copies<'m>,
    pub(super) new_fields: Inference,
    pub(super) cuts: Cuts,
    /// The dotted path of the place in the document.
    pub(super) path: String,
    /// Arrays and objects that are open.
    pub(super) depth: usize,
    /// The nested objects around the place, and those that are done.
    pub(super) nested: NestedObjects<'m>,
    /// Fields that take the document's id.
    pub(super) id_fields: Vec<Field>,
    /// The field because of which the document needs a routing key.
    pub(super) needs_routing: Option<String>,
    /// The texts of queries that the document stores.
    pub(super) queries: Vec<(FieldId, String)>,
    /// Whether the document has said how many it stands for.
    pub(super) has_doc_count: bool,
    /// The fields that left a value out because it did not fit.
    pub(super) ignored: BTreeSet<&'m str>,
}

/// What the mapping says about a place in the document.
#[derive(Clone, Copy)]
enum Place<'m> {
    Known(&'m MappingNode),
    /// Nothing: values here make new fields.
    New,
    /// Nothing, and only templates make new fields; without one the document is refused, or nobody
    /// looks.
    Templates {
        is_strict: bool,
    },
    /// The number of documents that the document stands for.
    DocCount,
    /// What only the server may set.
    Metadata,
    /// That nobody looks.
    Ignored,
}

impl<'m, 'a> Walk<'m, 'a> {
    pub(super) fn new(
        mapping: &'m Mapping,
        reader: JsonReader<'a>,
        values: Values<'m>,
        copies: Copies<'m>,
    ) -> Self {
        Walk {
            mapping,
            reader,
            values,
            copies,
            new_fields: Inference::default(),
            cuts: Cuts::default(),
            path: String::new(),
            depth: 0,
            nested: NestedObjects::default(),
            id_fields: Vec::new(),
            needs_routing: None,
            queries: Vec::new(),
            has_doc_count: false,
            ignored: BTreeSet::new(),
        }
    }

    /// Walks the whole document.
    pub(super) fn document(&mut self) -> Result<()> {
        if !self.reader.is_at_object() {
            return Err(match self.reader.bytes() {
                [] => DocumentError::Refused {
                    reason: "failed to parse, document is empty".to_string(),
                },
                _ => DocumentError::NotAnObject,
            }
            .into());
        }
        let mapping = self.mapping;
        if mapping.tree.enabled {
            self.object(Some(&mapping.tree))?;
        } else {
            self.reader.skip_value()?;
        }
        self.keep_ignored();
        match self.reader.behind()? {
            None => Ok(()),
            Some(kind) => Err(DocumentError::Unfit {
                kind: UnfitKind::Illegal,
                reason: format!(
                    "Malformed content, found extra data after parsing: {}",
                    kind.token()
                ),
            }
            .into()),
        }
    }

    /// Walks an object; without a node all its names are new.
    pub(super) fn object(&mut self, node: Option<&'m ObjectNode>) -> Result<()> {
        self.enter()?;
        let open = self.reader.at;
        let mut names = Names::default();
        // Where the last member that stays ends: a cut takes the comma before it along. Cuts before
        // the first one that stays take the comma behind them.
        let mut kept_end = None;
        let mut has_leading_cut = false;
        let mut is_first = true;
        while let Some(member) = self.reader.member(is_first)? {
            is_first = false;
            let place = self.find(node, &member.name)?;
            let path_length = self.path.len();
            if path_length > 0 {
                self.path.push('.');
            }
            let name_start = self.path.len();
            self.path.push_str(&member.name);
            if !names.insert(member.name) {
                let name = self.path.get(name_start..).unwrap_or_default();
                let reason = format!("Duplicate field '{name}'");
                self.reader.fail_at::<()>(member.end, reason)?;
            }
            if self.is_cut(place)? {
                self.value(place)?;
                has_leading_cut |= kept_end.is_none();
                self.cuts.cut(kept_end.unwrap_or(open)..self.reader.at);
            } else {
                if std::mem::take(&mut has_leading_cut) {
                    self.cuts.cut(open..member.start);
                }
                self.value(place)?;
                kept_end = Some(self.reader.at);
            }
            self.path.truncate(path_length);
        }
        self.depth -= 1;
        Ok(())
    }

    /// Opens an array or object, if it is not too deep.
    fn enter(&mut self) -> Result<()> {
        if self.depth >= NESTING_MAX {
            self.reader.fail::<()>(too_deep())?;
        }
        self.depth += 1;
        self.reader.open();
        Ok(())
    }

    /// Walks the elements of an array, which all stand for the same place.
    pub(super) fn elements(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.enter()?;
        let mut is_first = true;
        while self.reader.element(is_first)? {
            is_first = false;
            each(self)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// What the mapping says of a name, dots in which stand for objects.
    fn find(&self, node: Option<&'m ObjectNode>, name: &str) -> Result<Place<'m>> {
        if let Some(child) = node.and_then(|object| object.children.get(name)) {
            return Ok(Place::Known(child));
        }
        if self.path.is_empty() && name == DOC_COUNT {
            return Ok(Place::DocCount);
        }
        if self.path.is_empty() && is_metadata(name) {
            return Ok(Place::Metadata);
        }
        if let Some(problem) = NameProblem::of(name) {
            let name = name.to_string();
            return Err(DocumentError::Name { name, problem }.into());
        }
        let Some(mut object) = node else {
            return Ok(Place::New);
        };
        let mut behind = 0;
        for part in name.split('.') {
            let end = behind + part.len();
            match object.children.get(part) {
                Some(child) if end == name.len() => return Ok(Place::Known(child)),
                Some(MappingNode::Object(next)) if !next.enabled => return Ok(Place::Ignored),
                Some(MappingNode::Object(next)) if next.nested.is_some() => {
                    return Err(DocumentError::through_nested(name).into());
                }
                Some(MappingNode::Object(next)) => object = next,
                Some(MappingNode::Leaf(leaf)) => {
                    let found = self.field(leaf.id);
                    let type_name = found.kind.type_name();
                    return Err(not_an_object(name, &found.path, type_name).into());
                }
                Some(MappingNode::Alias(_)) => return Err(alias_written(name)),
                None if behind == 0 && self.is_of_server(part) => {
                    return Err(not_an_object(name, part, part).into());
                }
                None => {
                    let before = name[..behind].trim_end_matches('.');
                    return self.find_nothing(object.dynamic, before, part);
                }
            }
            behind = end + 1;
        }
        Ok(Place::Ignored)
    }

    /// Whether the document itself cannot have a name's beginning; what was accepted once stays so.
    fn is_of_server(&self, name: &str) -> bool {
        let is_known = name == DOC_COUNT || is_metadata(name);
        is_known && self.path.is_empty() && !self.mapping.is_frozen()
    }

    /// What becomes of a name that an object lacks.
    fn find_nothing(&self, dynamic: Dynamic, before: &str, name: &str) -> Result<Place<'m>> {
        match dynamic {
            Dynamic::True => Ok(Place::New),
            Dynamic::False => Ok(Place::Ignored),
            Dynamic::FalseAllowTemplates => Ok(Place::Templates { is_strict: false }),
            Dynamic::StrictAllowTemplates => Ok(Place::Templates { is_strict: true }),
            Dynamic::Strict => {
                let within = match (self.path.as_str(), before) {
                    ("", "") => "_doc".to_string(),
                    ("", object) | (object, "") => object.to_string(),
                    (path, before) => format!("{path}.{before}"),
                };
                let field = name.to_string();
                Err(DocumentError::Strict {
                    dynamic: "strict",
                    field,
                    within,
                }
                .into())
            }
        }
    }

    pub(super) fn field(&self, id: FieldId) -> &'m MappedField {
        &self.mapping.fields[id.0 as usize]
    }

    /// Whether the value there is a vector, which the source does without.
    fn is_cut(&mut self, place: Place<'m>) -> Result<bool> {
        let Place::Known(MappingNode::Leaf(leaf)) = place else {
            return Ok(false);
        };
        let is_vector = self.field(leaf.id).kind.is_vector();
        // What is cut is put back by its path, which does not tell nested objects apart.
        Ok(is_vector && self.nested.is_empty() && self.reader.kind()? != JsonKind::Null)
    }

    fn value(&mut self, place: Place<'m>) -> Result<()> {
        match place {
            Place::Known(MappingNode::Object(object)) => self.object_value(object),
            Place::Known(MappingNode::Leaf(leaf)) => self.leaf_value(leaf),
            Place::Known(MappingNode::Alias(_)) => Err(alias_written(&self.path)),
            Place::New => self.new_value(),
            Place::DocCount => self.doc_count(),
            Place::Metadata => self.metadata(),
            Place::Templates { is_strict } => self.templated_value(is_strict),
            Place::Ignored => Ok(self.reader.skip_value()?),
        }
    }

    fn object_value(&mut self, object: &'m ObjectNode) -> Result<()> {
        if !object.enabled {
            return Ok(self.reader.skip_value()?);
        }
        match self.reader.kind()? {
            JsonKind::Object => match object.nested {
                Some(nested) => self.nested_object(object, nested),
                None => self.object(Some(object)),
            },
            JsonKind::Array => self.elements(|walk| walk.object_value(object)),
            JsonKind::Null => Ok(self.reader.null()?),
            _ => {
                let field = self.path.clone();
                Err(DocumentError::NotAnObjectField { field }.into())
            }
        }
    }

    fn leaf_value(&mut self, leaf: &'m FieldLeaf) -> Result<()> {
        let field = self.field(leaf.id);
        let kind = self.reader.kind()?;
        if let FieldKind::Vector(vector) = &field.kind {
            return self.vector_value(field, vector);
        }
        if field.kind == FieldKind::SparseVector {
            return self.sparse_value(field);
        }
        if let (Some(relations), true) = (&field.settings.join, kind != JsonKind::Array) {
            return self.join_value(field, relations);
        }
        if field.kind == FieldKind::Percolator && kind != JsonKind::Array {
            return self.query_value(field);
        }
        if matches!(field.kind, FieldKind::GeoPoint) && kind != JsonKind::Null {
            return self.geo_value(leaf, field);
        }
        if field.kind == FieldKind::GeoShape && kind != JsonKind::Null {
            return self.shape_value(leaf);
        }
        if let (FieldKind::Completion(mapping), true) = (&field.kind, kind != JsonKind::Null) {
            return self.completion_value(leaf, mapping);
        }
        match kind {
            JsonKind::Array => self.elements(|walk| walk.leaf_value(leaf)),
            JsonKind::Object => match &field.kind {
                FieldKind::Range { .. } => self.range_value(leaf),
                FieldKind::Flat => self.flat_value(leaf),
                FieldKind::RankFeatures => self.features_value(field),
                _ => self.object_at_leaf(field),
            },
            _ if field.kind == FieldKind::Flat && kind != JsonKind::Null => self.lone_value(field),
            JsonKind::Null => {
                self.reader.null()?;
                match &field.settings.null_value {
                    Some(value) => self.add_null_value(leaf, value),
                    None => Ok(()),
                }
            }
            _ => {
                let scalar = self.scalar(kind);
                let scalar = scalar.map_err(|failure| match kind {
                    JsonKind::Text => unreadable(failure, field),
                    _ => failure,
                })?;
                self.add(leaf, &scalar)
            }
        }
    }

    pub(super) fn scalar(&mut self, kind: JsonKind) -> Result<Scalar<'a>> {
        Ok(match kind {
            JsonKind::Text => Scalar::Text(self.reader.string()?),
            JsonKind::Bool => Scalar::Bool(self.reader.boolean()?),
            _ => Scalar::Number(self.reader.number()?),
        })
    }

    /// Gives a value to a field and to those that follow it.
    fn add(&mut self, leaf: &'m FieldLeaf, scalar: &Scalar<'_>) -> Result<()> {
        self.take_copies(leaf, scalar.as_str().len())?;
        let followers = leaf.multi_fields.iter().chain(&leaf.copies);
        for id in std::iter::once(&leaf.id).chain(followers) {
            self.add_one(*id, scalar)?;
        }
        leaf.unmade
            .iter()
            .try_for_each(|path| self.copy_to_new(path, scalar))
    }

    pub(super) fn add_one(&mut self, id: FieldId, scalar: &Scalar<'_>) -> Result<()> {
        let field = self.field(id);
        if field.kind == (FieldKind::Constant { value: None }) {
            self.new_fields.settle(field, scalar);
        }
        let mut converted = convert(field, scalar, self.coerces(field));
        // What was accepted once stays so.
        if !self.mapping.is_frozen() {
            converted = check_terms(field, scalar.as_str()).and(converted);
        }
        self.give(field, converted, scalar.as_str())
    }

    /// Gives a field what its value was converted to.
    pub(super) fn give(
        &mut self,
        field: &'m MappedField,
        converted: std::result::Result<Option<OwnedValue>, Misfit>,
        written: &str,
    ) -> Result<()> {
        match converted {
            // A copy may belong to a document further out.
            Ok(Some(value)) => match self.check_single(field, written) {
                Err(_) if self.leaves_out(field) => self.ignore(field),
                checked => {
                    checked?;
                    self.values_for(&field.path).push(field, value);
                }
            },
            Ok(None) => {}
            Err(Misfit::Value(_)) if self.leaves_out(field) => self.ignore(field),
            Err(Misfit::Value(cause)) => {
                let cause = cause.placed(|| self.reader.place(self.reader.at));
                return Err(misfit(field, written, cause));
            }
            Err(Misfit::ImmenseTerm(ImmenseTerm { length, start })) => {
                return Err(DocumentError::ImmenseTerm {
                    field: field.path.clone(),
                    length,
                    max: TERM_BYTES_MAX,
                    start,
                }
                .into());
            }
        }
        Ok(())
    }

    /// Refuses a second value of a field that has one at most; what was accepted once stays so.
    fn check_single(&mut self, field: &MappedField, written: &str) -> Result<()> {
        let is_single = field.kind == FieldKind::Float(FloatKind::RankFeature);
        if is_single && !self.mapping.is_frozen() && self.values_for(&field.path).has(field) {
            let cause = format!(
                "[rank_feature] fields do not support indexing multiple values for the same field [{}] in the same document",
                field.path
            );
            return Err(misfit(field, written, cause));
        }
        Ok(())
    }

    /// The object here as a tree; the reader has bounded its depth.
    pub(super) fn tree(&mut self) -> Result<(serde_json::Value, &'a str)> {
        let start = self.reader.at;
        self.reader.skip_value()?;
        let written = self.reader.text(start, self.reader.at);
        let tree = serde_json::from_str(written).unwrap_or_default();
        Ok((tree, written))
    }

    fn add_null_value(&mut self, leaf: &'m FieldLeaf, value: &serde_json::Value) -> Result<()> {
        let field = self.field(leaf.id);
        if matches!(field.kind, FieldKind::GeoPoint) {
            if let Ok(code) = geo_point(GeoPoint::from_json(value)) {
                self.values.push(field, OwnedValue::U64(code));
            }
            return Ok(());
        }
        let number;
        let scalar = match value {
            serde_json::Value::String(text) => Scalar::Text(Cow::Borrowed(text)),
            serde_json::Value::Bool(value) => Scalar::Bool(*value),
            other => {
                number = other.to_string();
                Scalar::Number(&number)
            }
        };
        self.add(leaf, &scalar)
    }
}
