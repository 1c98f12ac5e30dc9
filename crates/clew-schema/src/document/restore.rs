//! Puts vectors back into a source that was stored without them. Names of objects are kept, but a
//! name with dots comes back as an object, and a member as the last of its object.

use std::borrow::Cow;

use clew_vector::{Element, SparseEntry};

use super::json::{JsonError, JsonKind, JsonReader};
use super::sparse;

/// The source with its vectors, each at its dotted path, in the shortest digits that mean the same.
/// A source that is no JSON object comes back as it is.
pub fn restore_vectors(source: &[u8], vectors: &[StoredVector<'_>]) -> Vec<u8> {
    let mut out = source.to_vec();
    for vector in vectors {
        // One after the other: a vector may need the object that the one before has brought.
        if let Ok(Some(place)) = find(&out, vector.path) {
            out = insert(&out, &place, vector);
        }
    }
    out
}

/// A vector that is put back into its document.
#[derive(Debug, Clone)]
pub struct StoredVector<'a> {
    /// Path of its field.
    pub path: &'a str,
    /// The vector as it comes out of its column.
    pub numbers: StoredNumbers<'a>,
}

/// What a column holds of one document.
#[derive(Debug, Clone)]
pub enum StoredNumbers<'a> {
    /// Numbers, and of what type the column has them.
    Dense(Element, Cow<'a, [f32]>),
    /// Weights by ascending dimension.
    Sparse(&'a [SparseEntry]),
}

/// Whether an object has a member at a path.
pub(super) fn has_member(object: &[u8], path: &str) -> bool {
    matches!(find(object, path), Ok(Some(Place::Over { .. })))
}

/// Where a vector goes.
enum Place<'p> {
    /// Instead of a value that is there.
    Over { start: usize, end: usize },
    /// At the end of an object, before the brace at `end`.
    Last {
        end: usize,
        is_empty: bool,
        /// Names of objects to be made, and of the vector.
        names: Vec<&'p str>,
    },
}

fn find<'p>(source: &[u8], path: &'p str) -> Result<Option<Place<'p>>, JsonError> {
    let mut reader = JsonReader::new(source)?;
    if reader.kind()? != JsonKind::Object {
        return Ok(None);
    }
    find_in_object(&mut reader, path).map(Some)
}

fn find_in_object<'p>(reader: &mut JsonReader<'_>, path: &'p str) -> Result<Place<'p>, JsonError> {
    let (mut path, mut is_first) = (path, true);
    let mut is_first_taken = false;
    reader.open();
    loop {
        let Some(member) = reader.member(is_first)? else {
            // A second member of the same name would hide the first: the whole path is one name.
            let names = if is_first_taken {
                vec![path]
            } else {
                path.split('.').collect()
            };
            let end = reader.at - 1;
            return Ok(Place::Last {
                end,
                is_empty: is_first,
                names,
            });
        };
        is_first = false;
        let kind = reader.kind()?;
        let start = reader.at;
        if member.name == path {
            reader.skip_value()?;
            let end = reader.at;
            return Ok(Place::Over { start, end });
        }
        let rest = path
            .strip_prefix(&*member.name)
            .and_then(|rest| rest.strip_prefix('.'));
        if let Some(rest) = rest {
            if enter_object(reader, kind)? {
                path = rest;
                is_first = true;
                is_first_taken = false;
                reader.open();
                continue;
            }
            is_first_taken = true;
        }
        reader.at = start;
        reader.skip_value()?;
    }
}

/// Goes to the object that a value is, or to the first one in an array.
fn enter_object(reader: &mut JsonReader<'_>, kind: JsonKind) -> Result<bool, JsonError> {
    match kind {
        JsonKind::Object => Ok(true),
        JsonKind::Array => {
            reader.open();
            Ok(reader.element(true)? && reader.kind()? == JsonKind::Object)
        }
        _ => Ok(false),
    }
}

fn insert(source: &[u8], place: &Place<'_>, vector: &StoredVector<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(source.len() + vector.numbers.len() * DIGITS + 32);
    match place {
        Place::Over { start, end } => {
            out.extend_from_slice(&source[..*start]);
            write_vector(&mut out, vector);
            out.extend_from_slice(&source[*end..]);
        }
        Place::Last {
            end,
            is_empty,
            names,
        } => {
            out.extend_from_slice(&source[..*end]);
            if !is_empty {
                out.push(b',');
            }
            for (depth, name) in names.iter().enumerate() {
                if depth > 0 {
                    out.push(b'{');
                }
                let quoted = serde_json::Value::from(*name).to_string();
                out.extend_from_slice(quoted.as_bytes());
                out.push(b':');
            }
            write_vector(&mut out, vector);
            out.extend(std::iter::repeat_n(b'}', names.len() - 1));
            out.extend_from_slice(&source[*end..]);
        }
    }
    out
}

/// A number and what is around it.
const DIGITS: usize = 12;

impl StoredNumbers<'_> {
    /// How many there are; dimensions count as numbers.
    fn len(&self) -> usize {
        match self {
            StoredNumbers::Dense(_, numbers) => numbers.len(),
            StoredNumbers::Sparse(entries) => 2 * entries.len(),
        }
    }
}

fn write_vector(out: &mut Vec<u8>, vector: &StoredVector<'_>) {
    let (element, numbers) = match &vector.numbers {
        StoredNumbers::Dense(element, numbers) => (element, numbers),
        StoredNumbers::Sparse(entries) => return sparse::write(out, entries),
    };
    // Bytes came as whole numbers and go as such.
    let whole = matches!(element, Element::I8 | Element::Bit);
    out.push(b'[');
    for (index, value) in numbers.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if whole {
            out.extend_from_slice(value.to_string().as_bytes());
            continue;
        }
        serde_json::to_writer(&mut *out, value).expect("a vector takes every byte");
    }
    out.push(b']');
}
