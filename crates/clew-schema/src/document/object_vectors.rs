//! Vectors of nested objects that come beside a document's text, and go back into it: those of a field one after the
//! other, one for each object of its path, in the order in which the objects stand.
//!
//! Vectors in the text of objects stay in it; those that came beside are in the log and in columns alone.

use std::borrow::Cow;
use std::ops::Range;

use clew_vector::Element;

use super::error::{DocumentError, ValueProblem};
use super::json::{JsonError, JsonKind, JsonReader};
use super::restore::{StoredNumbers, StoredVector, has_member, restore_vectors};
use super::vector::{self, VectorValue};
use crate::mapping::{FieldId, FieldKind, MappedField, Mapping};

/// The vectors of one field that wait for their objects.
struct Waiting<'m> {
    field: &'m MappedField,
    /// The path of the objects.
    around: &'m str,
    numbers: Vec<f32>,
    /// Numbers of one vector, and of those that have found their object.
    each: usize,
    taken: usize,
}

/// Vectors that wait for the objects they belong to, field by field.
#[derive(Default)]
pub(super) struct ObjectVectors<'m>(Vec<Waiting<'m>>);

impl<'m> ObjectVectors<'m> {
    /// Takes the vectors of nested objects out of some, checked; the others stay.
    ///
    /// # Errors
    /// When one does not fit its field, or its objects are themselves in nested objects.
    pub(super) fn take(
        mapping: &'m Mapping,
        vectors: &mut Vec<(FieldId, VectorValue)>,
    ) -> Result<Self, DocumentError> {
        let mut waiting = Vec::new();
        let mut others = Vec::with_capacity(vectors.len());
        for (id, vector) in std::mem::take(vectors) {
            let field = mapping.by_id(id);
            match field.and_then(|field| among_objects(mapping, field)) {
                Some(field) => waiting.push(Waiting::new(mapping, field, vector)?),
                None => others.push((id, vector)),
            }
        }
        *vectors = others;
        Ok(ObjectVectors(waiting))
    }

    /// The vectors of the next object of a path.
    ///
    /// # Errors
    /// When there are none left for it, or it has one of its own.
    pub(super) fn next(
        &mut self,
        path: &str,
        own: &mut Vec<(FieldId, VectorValue)>,
    ) -> Result<(), DocumentError> {
        for waiting in self.0.iter_mut().filter(|waiting| waiting.around == path) {
            let end = waiting.taken + waiting.each;
            let Some(vector) = waiting.numbers.get(waiting.taken..end) else {
                return Err(waiting.refused("there are more objects than vectors"));
            };
            if own.iter().any(|(id, _)| *id == waiting.field.id) {
                return Err(waiting.refused("appears more than once in this document"));
            }
            own.push((waiting.field.id, vector.to_vec().into()));
            waiting.taken = end;
        }
        Ok(())
    }

    /// All of them, by field, once every object was seen.
    ///
    /// # Errors
    /// When some have found no object.
    pub(super) fn finish(self) -> Result<Vec<(FieldId, VectorValue)>, DocumentError> {
        let mut all = Vec::with_capacity(self.0.len());
        for waiting in self.0 {
            if waiting.taken < waiting.numbers.len() {
                return Err(waiting.refused("there are fewer objects than vectors"));
            }
            all.push((waiting.field.id, waiting.numbers.into()));
        }
        Ok(all)
    }
}

impl<'m> Waiting<'m> {
    fn new(
        mapping: &Mapping,
        (field, around): (&'m MappedField, &'m str),
        vector: VectorValue,
    ) -> Result<Self, DocumentError> {
        let (FieldKind::Vector(kind), VectorValue::Dense(numbers)) = (&field.kind, vector) else {
            let reason = "no such vectors can come beside its nested objects";
            return Err(refused(field, reason.into()));
        };
        if mapping.nested_parent(around).is_some() {
            let reason =
                "its objects are in nested objects, and its vectors cannot come beside them";
            return Err(refused(field, reason.into()));
        }
        let column = &kind.column;
        let each = column.element.numbers(column.dimension).max(1);
        for one in numbers.chunks(each) {
            vector::check(one, column).map_err(|cause| refused(field, cause.into()))?;
        }
        Ok(Waiting {
            field,
            around,
            numbers,
            each,
            taken: 0,
        })
    }

    fn refused(&self, reason: &str) -> DocumentError {
        refused(self.field, reason.into())
    }
}

fn refused(field: &MappedField, cause: ValueProblem) -> DocumentError {
    DocumentError::Field {
        field: field.path.clone(),
        type_name: field.kind.type_name(),
        preview: String::new(),
        cause: Box::new(cause),
    }
}

/// A vector field in nested objects, and their path.
fn among_objects<'m>(
    mapping: &'m Mapping,
    field: &'m MappedField,
) -> Option<(&'m MappedField, &'m str)> {
    let around = mapping.nested_scope(&field.path)?;
    field.kind.is_vector().then_some((field, around))
}

/// The vectors of a field of nested objects, to be put back into their document.
#[derive(Debug, Clone)]
pub struct StoredObjectVectors<'a> {
    /// Path of the nested objects.
    pub around: &'a str,
    /// Path of the field below them.
    pub name: &'a str,
    /// What the field stores.
    pub element: Element,
    /// The vector of each object, in order; none where it has none.
    pub vectors: Vec<Option<Cow<'a, [f32]>>>,
}

/// The source with the vectors of its nested objects that came beside it. An object that has the member keeps its own;
/// a source whose objects are others comes back as it is.
fn restore_object_vectors(source: &[u8], vectors: &[StoredObjectVectors<'_>]) -> Vec<u8> {
    let mut out = source.to_vec();
    for field in vectors {
        if let Ok(objects) = objects_at(&out, field.around)
            && objects.len() == field.vectors.len()
        {
            out = insert(&out, &objects, field);
        }
    }
    out
}

/// Whether some object at a path lacks a member: its vector came beside the source, if it has one.
pub fn lacks_object_vectors(source: &[u8], around: &str, name: &str) -> bool {
    let objects = objects_at(source, around).unwrap_or_default();
    objects.into_iter().any(|object| {
        source
            .get(object)
            .is_some_and(|object| !has_member(object, name))
    })
}

impl Mapping {
    /// The whole text of a document whose vectors came beside it: what [`Mapping::parse_within`] takes apart.
    pub fn with_vectors(&self, source: &[u8], vectors: &[(FieldId, VectorValue)]) -> Vec<u8> {
        let (mut own, mut of_objects) = (Vec::new(), Vec::new());
        for (field, vector) in vectors {
            let Some(field) = self.by_id(*field) else {
                continue;
            };
            let path = field.path.as_str();
            let (kind, numbers) = match (&field.kind, vector) {
                (FieldKind::Vector(kind), VectorValue::Dense(numbers)) => (kind, numbers),
                (FieldKind::SparseVector, VectorValue::Sparse(entries)) => {
                    let numbers = StoredNumbers::Sparse(entries);
                    own.push(StoredVector { path, numbers });
                    continue;
                }
                _ => continue,
            };
            let element = kind.column.element;
            match self.nested_scope(path) {
                None => own.push(StoredVector {
                    path,
                    numbers: StoredNumbers::Dense(element, numbers.into()),
                }),
                Some(around) => of_objects.push(StoredObjectVectors {
                    around,
                    name: path.get(around.len() + 1..).unwrap_or_default(),
                    element,
                    vectors: numbers
                        .chunks(element.numbers(kind.column.dimension).max(1))
                        .map(|vector| Some(vector.into()))
                        .collect(),
                }),
            }
        }
        restored(source, &own, &of_objects)
    }
}

/// A source with vectors put back into it: its own, and those of its nested objects.
pub fn restored(
    source: &[u8],
    vectors: &[StoredVector<'_>],
    of_objects: &[StoredObjectVectors<'_>],
) -> Vec<u8> {
    let mut source = Cow::Borrowed(source);
    if !vectors.is_empty() {
        source = Cow::Owned(restore_vectors(&source, vectors));
    }
    if !of_objects.is_empty() {
        source = Cow::Owned(restore_object_vectors(&source, of_objects));
    }
    source.into_owned()
}

fn insert(source: &[u8], objects: &[Range<usize>], field: &StoredObjectVectors<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(source.len() * 2);
    let mut at = 0;
    for (object, vector) in objects.iter().zip(&field.vectors) {
        out.extend_from_slice(&source[at..object.start]);
        at = object.end;
        let object = &source[object.clone()];
        match vector {
            Some(numbers) if !has_member(object, field.name) => {
                let stored = StoredVector {
                    path: field.name,
                    numbers: StoredNumbers::Dense(field.element, Cow::Borrowed(numbers)),
                };
                out.extend_from_slice(&restore_vectors(object, &[stored]));
            }
            _ => out.extend_from_slice(object),
        }
    }
    out.extend_from_slice(&source[at..]);
    out
}

/// Where the objects at a path stand, in order.
fn objects_at(source: &[u8], path: &str) -> Result<Vec<Range<usize>>, JsonError> {
    let mut reader = JsonReader::new(source)?;
    let mut found = Vec::new();
    if reader.kind()? == JsonKind::Object {
        members(&mut reader, path, &mut found)?;
    }
    Ok(found)
}

fn members(
    reader: &mut JsonReader<'_>,
    path: &str,
    found: &mut Vec<Range<usize>>,
) -> Result<(), JsonError> {
    reader.open();
    let mut is_first = true;
    while let Some(member) = reader.member(is_first)? {
        is_first = false;
        let rest = path.strip_prefix(&*member.name);
        match rest.map(|rest| (rest, rest.strip_prefix('.'))) {
            Some(("", _)) => values(reader, "", found)?,
            Some((_, Some(below))) => values(reader, below, found)?,
            _ => {
                reader.kind()?;
                reader.skip_value()?;
            }
        }
    }
    Ok(())
}

/// The objects of a value, which may be an array of them: those that are meant, or those on the way.
fn values(
    reader: &mut JsonReader<'_>,
    below: &str,
    found: &mut Vec<Range<usize>>,
) -> Result<(), JsonError> {
    match reader.kind()? {
        JsonKind::Object if below.is_empty() => {
            let start = reader.at;
            reader.skip_value()?;
            found.push(start..reader.at);
        }
        JsonKind::Object => members(reader, below, found)?,
        JsonKind::Array => {
            reader.open();
            let mut is_first = true;
            while reader.element(is_first)? {
                is_first = false;
                values(reader, below, found)?;
            }
        }
        _ => reader.skip_value()?,
    }
    Ok(())
}
