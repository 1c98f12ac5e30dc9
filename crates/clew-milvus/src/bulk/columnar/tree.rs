//! How the columns of values of a Parquet file make the value of a field: lists, structs and what may be missing, told by
//! levels as S. Melnik et al., "Dremel: Interactive Analysis of Web-Scale Datasets" (VLDB 2010), have them.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::Type;
use serde_json::value::RawValue;

use super::leaf::{Cell, Leaf, check, put};
use crate::bulk::{ROW_BYTES_MAX, wrong};
use crate::collection::{Collection, DYNAMIC, DataType, Field, StructField};
use crate::error::Result;

/// Lists and structs in each other.
const DEPTH_MAX: usize = 8;

/// What a column is read for.
#[derive(Clone, Copy)]
enum Purpose<'c> {
    Field(&'c Field),
    Structs(&'c StructField),
    Other,
}

impl Purpose<'_> {
    fn data_type(self) -> Option<DataType> {
        match self {
            Purpose::Field(field) => Some(field.data_type),
            Purpose::Structs(_) | Purpose::Other => None,
        }
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// As JSON of its kind.
    Plain,
    /// A text that is JSON itself.
    Raw,
    /// The bytes of a vector, in base64.
    Packed,
}

/// A part of the schema of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Node {
    /// From which level on it is there.
    whole: i16,
    /// The columns of values below it.
    leaves: Range<usize>,
    shape: Shape,
}

#[derive(Debug, PartialEq)]
enum Shape {
    Leaf(Style),
    Members(Vec<(String, Node)>),
    List {
        /// From which level on it has an element, and the level of one that goes on.
        some: i16,
        again: i16,
        element: Box<Node>,
        is_packed: bool,
    },
}

/// What is known on the way down a schema.
#[derive(Clone, Copy)]
struct Levels {
    defined: i16,
    repeated: i16,
    depth: usize,
}

/// A field, and how it is made of the columns of a file.
pub(super) type Column = (String, Node);

/// The fields that the columns of a file are of, and which of its columns of values are read for them; what is of no field
/// is passed over, as in Milvus.
///
/// # Errors
/// When values are of a type that is not read, a schema is deeper than any field, or two columns are of one name.
pub(super) fn columns(schema: &Type, collection: &Collection) -> Result<(Vec<Column>, Vec<usize>)> {
    let mut columns: Vec<Column> = Vec::new();
    let mut kept = Vec::new();
    let mut passed = 0;
    for column in schema.get_fields() {
        let name = column.name();
        let here = passed;
        passed += count(column, 0)?;
        let purpose = match (collection.field(name), collection.struct_field(name)) {
            (Ok(field), _) => Purpose::Field(field),
            (_, Some(field)) => Purpose::Structs(field),
            _ if name == DYNAMIC => Purpose::Other,
            _ => continue,
        };
        if columns.iter().any(|(other, _)| other == name) {
            return Err(wrong(format!("there are two columns {name}")));
        }
        let levels = Levels {
            defined: 0,
            repeated: 0,
            depth: 0,
        };
        let mut next = kept.len();
        let node = node(column, levels, purpose, &mut next)?;
        kept.extend(here..passed);
        columns.push((name.to_string(), node));
    }
    Ok((columns, kept))
}

/// The columns of values of a part of a schema.
fn count(part: &Type, depth: usize) -> Result<usize> {
    if depth > 2 * DEPTH_MAX {
        return Err(too_deep());
    }
    match part.is_primitive() {
        true => Ok(1),
        false => {
            let fields = part.get_fields().iter();
            fields.map(|field| count(field, depth + 1)).sum()
        }
    }
}

fn too_deep() -> crate::error::MilvusError {
    wrong("the file has lists and structs in each other that no field has")
}

/// How often a part of a schema is there.
fn repetition(part: &Type) -> Repetition {
    let info = part.get_basic_info();
    match info.has_repetition() {
        true => info.repetition(),
        false => Repetition::REQUIRED,
    }
}

/// A part of a schema with what says whether it is there.
fn node(part: &Type, mut levels: Levels, purpose: Purpose, next: &mut usize) -> Result<Node> {
    match repetition(part) {
        Repetition::REQUIRED => present(part, levels, purpose, next),
        Repetition::OPTIONAL => {
            levels.defined += 1;
            present(part, levels, purpose, next)
        }
        // A list without a group around it is always there.
        Repetition::REPEATED => list(part, part, levels, (purpose, next)),
    }
}

/// A part of a schema that is there.
fn present(part: &Type, mut levels: Levels, purpose: Purpose, next: &mut usize) -> Result<Node> {
    levels.depth += 1;
    if levels.depth > DEPTH_MAX {
        return Err(too_deep());
    }
    let from = *next;
    if part.is_primitive() {
        check(part)?;
        *next += 1;
        return Ok(Node {
            whole: levels.defined,
            leaves: from..*next,
            shape: Shape::Leaf(leaf_style(part.get_physical_type(), purpose)),
        });
    }
    let info = part.get_basic_info();
    let is_list = info.converted_type() == ConvertedType::LIST
        || info.logical_type_ref() == Some(&LogicalType::List);
    if let ([inner], true) = (part.get_fields(), is_list)
        && repetition(inner) == Repetition::REPEATED
    {
        // Files of older kinds have the element itself in the place of the group around it.
        let element = match inner.is_group() && inner.get_fields().len() == 1 {
            true => inner.get_fields().first().unwrap_or(inner),
            false => inner,
        };
        return list(inner, element, levels, (purpose, next));
    }
    let mut members = Vec::with_capacity(part.get_fields().len());
    for member in part.get_fields() {
        let purpose = match purpose {
            Purpose::Structs(field) => {
                let mut parts = field.parts.iter();
                let part = parts.find(|part| field.part_name(part) == member.name());
                part.map_or(Purpose::Other, Purpose::Field)
            }
            Purpose::Field(_) | Purpose::Other => Purpose::Other,
        };
        let node = node(member, levels, purpose, next)?;
        members.push((member.name().to_string(), node));
    }
    if members.is_empty() {
        return Err(wrong(format!("the struct {} has no members", part.name())));
    }
    Ok(Node {
        whole: levels.defined,
        leaves: from..*next,
        shape: Shape::Members(members),
    })
}

/// A list, by the part of the schema that is repeated, and the one that is its element.
fn list(
    repeated: &Type,
    element: &Type,
    mut levels: Levels,
    (purpose, next): (Purpose, &mut usize),
) -> Result<Node> {
    let (whole, from) = (levels.defined, *next);
    levels.defined += 1;
    levels.repeated += 1;
    let again = levels.repeated;
    let some = levels.defined;
    let inside = match std::ptr::eq(repeated, element) {
        true => present(element, levels, purpose, next)?,
        false => node(element, levels, purpose, next)?,
    };
    let physical = element.is_primitive().then(|| element.get_physical_type());
    let is_packed = match (purpose.data_type(), physical) {
        (Some(DataType::FloatVector), Some(Physical::FLOAT)) => true,
        // Of vectors of floats, whole numbers are the numbers; of others their bytes.
        (Some(kind), Some(Physical::INT32)) => {
            kind.is_dense_vector() && kind != DataType::FloatVector
        }
        _ => false,
    };
    Ok(Node {
        whole,
        leaves: from..*next,
        shape: Shape::List {
            some,
            again,
            element: Box::new(inside),
            is_packed,
        },
    })
}

fn leaf_style(physical: Physical, purpose: Purpose) -> Style {
    match (purpose.data_type(), physical) {
        (Some(DataType::SparseFloatVector), Physical::BYTE_ARRAY) => Style::Raw,
        (Some(kind), Physical::BYTE_ARRAY) if kind.is_dense_vector() => Style::Packed,
        _ => Style::Plain,
    }
}

/// Writes the next value of a part of the schema as JSON.
///
/// # Errors
/// When columns do not belong together, a value cannot be written, or it is longer than a row may be.
pub(super) fn write(node: &Node, leaves: &mut [Leaf], out: &mut Vec<u8>) -> Result<()> {
    let level = first(node, leaves)?.defined()?;
    if level < node.whole {
        pass(node, leaves)?;
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match &node.shape {
        Shape::Leaf(style) => write_leaf(*style, first(node, leaves)?, out)?,
        Shape::Members(members) => {
            out.push(b'{');
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                put(name, out)?;
                out.push(b':');
                write(member, leaves, out)?;
            }
            out.push(b'}');
        }
        Shape::List { some, .. } if level < *some => {
            pass(node, leaves)?;
            // No element is no byte.
            out.extend_from_slice(b"[]");
        }
        Shape::List {
            is_packed: true,
            again,
            ..
        } => write_packed(*again, first(node, leaves)?, out)?,
        Shape::List { again, element, .. } => {
            out.push(b'[');
            write(element, leaves, out)?;
            while first(node, leaves)?.repeated() == *again {
                out.push(b',');
                write(element, leaves, out)?;
            }
            out.push(b']');
        }
    }
    match out.len() <= ROW_BYTES_MAX {
        true => Ok(()),
        false => Err(wrong(format!("a row has more than {ROW_BYTES_MAX} bytes"))),
    }
}

/// The first column of values of a part, which tells of lists and of what is missing.
fn first<'l>(node: &Node, leaves: &'l mut [Leaf]) -> Result<&'l mut Leaf> {
    leaves.get_mut(node.leaves.start).ok_or_else(too_deep)
}

/// Passes over a part that is missing: each of its columns has a place for it.
fn pass(node: &Node, leaves: &mut [Leaf]) -> Result<()> {
    for leaf in leaves.get_mut(node.leaves.clone()).unwrap_or_default() {
        if leaf.take()?.is_some() {
            return Err(leaf.disagrees());
        }
    }
    Ok(())
}

fn write_leaf(style: Style, leaf: &mut Leaf, out: &mut Vec<u8>) -> Result<()> {
    let written = match (style, leaf.take()?) {
        (_, None) => {
            out.extend_from_slice(b"null");
            Ok(())
        }
        (Style::Packed, Some(Cell::Bytes(bytes))) => put(&STANDARD.encode(bytes), out),
        (Style::Raw, Some(Cell::Bytes(bytes))) => write_raw(bytes, out),
        (_, Some(cell)) => cell.write(out),
    };
    written.map_err(|error| leaf.named(error))
}

/// A text that is JSON itself.
fn write_raw(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let read: serde_json::Result<&RawValue> = serde_json::from_slice(bytes);
    let text = read.map_err(|error| wrong(format!("a value is no JSON: {error}")))?;
    out.extend_from_slice(text.get().as_bytes());
    Ok(())
}

/// The numbers of a vector as its bytes: floats as they are, whole numbers as one byte each.
fn write_packed(again: i16, leaf: &mut Leaf, out: &mut Vec<u8>) -> Result<()> {
    let mut packed = Vec::new();
    loop {
        let byte = match leaf.take()? {
            Some(Cell::Float(number)) => {
                packed.extend_from_slice(&number.to_le_bytes());
                None
            }
            Some(Cell::Whole(number @ 0..=255)) => u8::try_from(number).ok(),
            Some(Cell::Whole(number @ -128..=-1)) => {
                i8::try_from(number).ok().map(i8::cast_unsigned)
            }
            _ => {
                return Err(leaf.named(wrong("a vector has what is no number of it")));
            }
        };
        packed.extend(byte);
        if packed.len() > ROW_BYTES_MAX {
            return Err(wrong(format!("a row has more than {ROW_BYTES_MAX} bytes")));
        }
        if leaf.repeated() != again {
            break;
        }
    }
    put(&STANDARD.encode(&packed), out)
}
