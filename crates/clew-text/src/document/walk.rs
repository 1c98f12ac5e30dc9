//! The walk through a document beside its mapping. One pass reads, checks and converts everything;
//! no tree of the JSON is built.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::collect::{Cuts, Values};
use super::convert::{Misfit, Scalar, TERM_BYTES_MAX, convert};
use super::dynamic::NewFields;
use super::error::DocumentError;
use super::json::{JsonError, JsonReader, Kind, NESTING_MAX, too_deep};
use super::nested::NestedObjects;
use super::vector;
use crate::mapping::{
    Dynamic, FieldId, FieldKind, Leaf, MappedField, Mapping, Node, ObjectNode, is_metadata,
    name_problem,
};

/// Bytes of a value that an error shows.
const PREVIEW_BYTES: usize = 256;

/// Names of an object up to which they are compared one by one.
const FEW_NAMES: usize = 24;

/// A document being walked.
pub(super) struct Walk<'m, 'a> {
    pub(super) mapping: &'m Mapping,
    pub(super) reader: JsonReader<'a>,
    pub(super) values: Values<'m>,
    pub(super) new_fields: NewFields,
    pub(super) cuts: Cuts,
    /// The dotted path of the place in the document.
    pub(super) path: String,
    /// Arrays and objects that are open.
    pub(super) depth: usize,
    /// The nested objects around the place, and those that are done.
    pub(super) nested: NestedObjects<'m>,
}

/// What the mapping says about a place in the document.
#[derive(Clone, Copy)]
enum Place<'m> {
    Known(&'m Node),
    /// Nothing: values here make new fields.
    New,
    /// That nobody looks.
    Ignored,
}

pub(super) type Result<T> = std::result::Result<T, Failure>;

/// Errors on the way; a reader's get their line only at the end.
pub(super) enum Failure {
    Json(JsonError),
    Document(Box<DocumentError>),
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Failure::Json(error)
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Failure::Document(Box::new(error))
    }
}

impl<'m, 'a> Walk<'m, 'a> {
    pub(super) fn new(mapping: &'m Mapping, reader: JsonReader<'a>, values: Values<'m>) -> Self {
        Walk {
            mapping,
            reader,
            values,
            new_fields: NewFields::default(),
            cuts: Cuts::default(),
            path: String::new(),
            depth: 0,
            nested: NestedObjects::default(),
        }
    }

    /// Walks the whole document.
    pub(super) fn document(&mut self) -> Result<()> {
        if self.reader.kind()? != Kind::Object {
            return Err(DocumentError::NotAnObject.into());
        }
        let mapping = self.mapping;
        self.object(Some(&mapping.tree))?;
        Ok(self.reader.finish()?)
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
            self.path.push_str(&member.name);
            if !names.insert(member.name) {
                self.reader
                    .fail::<()>(format!("Duplicate field '{}'", self.path))?;
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
    fn elements(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
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
        if self.path.is_empty() && is_metadata(name) {
            let field = name.to_string();
            return Err(DocumentError::Metadata { field }.into());
        }
        if let Some(reason) = name_problem(name) {
            return Err(DocumentError::Refused { reason }.into());
        }
        let Some(mut object) = node else {
            return Ok(Place::New);
        };
        let mut behind = 0;
        for part in name.split('.') {
            let end = behind + part.len();
            match object.children.get(part) {
                Some(child) if end == name.len() => return Ok(Place::Known(child)),
                Some(Node::Object(next)) if !next.enabled => return Ok(Place::Ignored),
                Some(Node::Object(next)) if next.nested.is_some() => {
                    return Err(DocumentError::through_nested(name).into());
                }
                Some(Node::Object(next)) => object = next,
                Some(Node::Leaf(leaf)) => {
                    let found = self.field(leaf.id);
                    let reason = format!(
                        "Could not dynamically add mapping for field [{name}]. Existing mapping for [{}] must be of type object but found [{}].",
                        found.path,
                        found.kind.type_name()
                    );
                    return Err(DocumentError::Refused { reason }.into());
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

    /// What becomes of a name that an object lacks.
    fn find_nothing(&self, dynamic: Dynamic, before: &str, name: &str) -> Result<Place<'m>> {
        match dynamic {
            Dynamic::True => Ok(Place::New),
            Dynamic::False => Ok(Place::Ignored),
            Dynamic::Strict => {
                let within = match (self.path.as_str(), before) {
                    ("", "") => "_doc".to_string(),
                    ("", object) | (object, "") => object.to_string(),
                    (path, before) => format!("{path}.{before}"),
                };
                let field = name.to_string();
                Err(DocumentError::Strict { field, within }.into())
            }
        }
    }

    fn field(&self, id: FieldId) -> &'m MappedField {
        &self.mapping.fields[id.0 as usize]
    }

    /// Whether the value there is a vector, which the source does without.
    fn is_cut(&mut self, place: Place<'m>) -> Result<bool> {
        let Place::Known(Node::Leaf(leaf)) = place else {
            return Ok(false);
        };
        let is_vector = matches!(self.field(leaf.id).kind, FieldKind::Vector(_));
        // What is cut is put back by its path, which does not tell nested objects apart.
        Ok(is_vector && self.nested.is_empty() && self.reader.kind()? != Kind::Null)
    }

    fn value(&mut self, place: Place<'m>) -> Result<()> {
        match place {
            Place::Known(Node::Object(object)) => self.object_value(object),
            Place::Known(Node::Leaf(leaf)) => self.leaf_value(leaf),
            Place::New => self.new_value(),
            Place::Ignored => Ok(self.reader.skip_value()?),
        }
    }

    fn object_value(&mut self, object: &'m ObjectNode) -> Result<()> {
        if !object.enabled {
            return Ok(self.reader.skip_value()?);
        }
        match self.reader.kind()? {
            Kind::Object => match object.nested {
                Some(nested) => self.nested_object(object, nested),
                None => self.object(Some(object)),
            },
            Kind::Array => self.elements(|walk| walk.object_value(object)),
            Kind::Null => Ok(self.reader.null()?),
            _ => {
                let field = self.path.clone();
                Err(DocumentError::NotAnObjectField { field }.into())
            }
        }
    }

    fn leaf_value(&mut self, leaf: &'m Leaf) -> Result<()> {
        let field = self.field(leaf.id);
        let kind = self.reader.kind()?;
        if let FieldKind::Vector(vector) = &field.kind {
            return self.vector_value(field, &vector.column);
        }
        match kind {
            Kind::Array => self.elements(|walk| walk.leaf_value(leaf)),
            Kind::Object => self.object_at_leaf(field),
            Kind::Null => {
                self.reader.null()?;
                match &field.settings.null_value {
                    Some(value) => self.add_null_value(leaf, value),
                    None => Ok(()),
                }
            }
            _ => {
                let scalar = self.scalar(kind)?;
                self.add(leaf, &scalar)
            }
        }
    }

    fn new_value(&mut self) -> Result<()> {
        let kind = self.reader.kind()?;
        match kind {
            Kind::Object => self.object(None),
            Kind::Array => self.elements(Self::new_value),
            Kind::Null => Ok(self.reader.null()?),
            _ => {
                let scalar = self.scalar(kind)?;
                self.new_fields.infer(self.mapping, &self.path, &scalar);
                Ok(())
            }
        }
    }

    fn scalar(&mut self, kind: Kind) -> Result<Scalar<'a>> {
        Ok(match kind {
            Kind::Text => Scalar::Text(self.reader.string()?),
            Kind::Bool => Scalar::Bool(self.reader.boolean()?),
            _ => Scalar::Number(self.reader.number()?),
        })
    }

    /// Gives a value to a field and to those that follow it.
    fn add(&mut self, leaf: &'m Leaf, scalar: &Scalar<'_>) -> Result<()> {
        let own = std::iter::once(&leaf.id).chain(&leaf.multi_fields);
        let own = own.map(|id| (id, false));
        for (id, is_copy) in own.chain(leaf.copies.iter().map(|id| (id, true))) {
            let field = self.field(*id);
            match convert(field, scalar) {
                // A copy may belong to a document further out.
                Ok(Some(value)) if is_copy => self.values_for(&field.path).push(field, value),
                Ok(Some(value)) => self.values.push(field, value),
                Ok(None) => {}
                Err(Misfit::Value(_)) if field.settings.ignore_malformed => {}
                Err(Misfit::Value(cause)) => {
                    return Err(misfit(field, scalar.as_str(), cause));
                }
                Err(Misfit::ImmenseTerm(length)) => {
                    return Err(DocumentError::ImmenseTerm {
                        field: field.path.clone(),
                        length,
                        max: TERM_BYTES_MAX,
                    }
                    .into());
                }
            }
        }
        Ok(())
    }

    fn add_null_value(&mut self, leaf: &'m Leaf, value: &serde_json::Value) -> Result<()> {
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

    /// An object where a field wants a value.
    fn object_at_leaf(&mut self, field: &'m MappedField) -> Result<()> {
        let start = self.reader.at;
        self.reader.skip_value()?;
        if field.settings.ignore_malformed {
            return Ok(());
        }
        let cause = match field.kind {
            FieldKind::Integer(_) | FieldKind::Float(_) => {
                "Current token (START_OBJECT) not numeric, can not use numeric value accessors"
                    .to_string()
            }
            _ => "Can't get text on a START_OBJECT".to_string(),
        };
        Err(misfit(
            field,
            self.reader.text(start, self.reader.at),
            cause,
        ))
    }

    fn vector_value(
        &mut self,
        field: &'m MappedField,
        column: &clew_vector::ColumnOptions,
    ) -> Result<()> {
        if self.reader.kind()? == Kind::Null {
            return Ok(self.reader.null()?);
        }
        let start = self.reader.at;
        let vector = match vector::read(&mut self.reader, column.dimension)? {
            Ok(vector) => vector,
            Err(cause) => {
                let rest = self.reader.text(start, self.reader.bytes().len());
                return Err(misfit(field, rest, cause));
            }
        };
        let refuse = |walk: &Self, cause: String| {
            let written = walk.reader.text(start, walk.reader.at);
            Err(misfit(field, written, cause))
        };
        if let Err(cause) = vector::check(&vector, column) {
            return refuse(self, cause);
        }
        if self.values.vectors.iter().any(|(id, _)| *id == field.id) {
            let cause = format!(
                "VectorValuesField \"{}\" appears more than once in this document (only one value is allowed per field)",
                field.path
            );
            return refuse(self, cause);
        }
        self.values.vectors.push((field.id, vector));
        Ok(())
    }
}

fn misfit(field: &MappedField, value: &str, cause: String) -> Failure {
    let mut end = value.len().min(PREVIEW_BYTES);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    let preview = if end < value.len() {
        format!("{}...", &value[..end])
    } else {
        value.to_string()
    };
    DocumentError::Field {
        field: field.path.clone(),
        type_name: field.kind.type_name(),
        preview,
        cause,
    }
    .into()
}

/// The names that an object has had.
#[derive(Default)]
struct Names<'a> {
    few: Vec<Cow<'a, str>>,
    many: BTreeSet<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Notes a name; whether it is a new one.
    fn insert(&mut self, name: Cow<'a, str>) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        self.few.push(name);
        if self.few.len() > FEW_NAMES {
            self.many.extend(self.few.drain(..));
        }
        true
    }
}
