//! Files of NumPy's format, one for each field: a head that says what the numbers are, and the numbers.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use half::f16;
use serde_json::{Map, Number, Value};

use super::folder::Input;
use super::{ROW_BYTES_MAX, folder, prefixed, unread, wrong};
use crate::collection::{Collection, DYNAMIC, DataType, Field};
use crate::error::Result;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// What a value takes beside what it holds, with the name of its field.
const CELL_BYTES: usize = 256;
/// What a number of a list takes.
const NUMBER_BYTES: usize = 64;

/// How the values of a column become JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Characters of four bytes each.
    Wide,
    /// Bytes that are a text.
    Text,
    /// Numbers of a vector as they stay.
    Packed,
    /// Floats of so many bytes that a vector's numbers are made of.
    List(usize),
}

/// What the head of a file says.
#[derive(Clone, Debug, PartialEq)]
struct Head {
    /// The letter of a number's kind, and its length in bytes.
    letter: char,
    size: usize,
    rows: u64,
    /// Numbers of a row.
    numbers: usize,
}

/// The file of a field.
struct Column {
    name: String,
    file: BufReader<File>,
    kind: Kind,
    /// Bytes of a row.
    width: usize,
}

/// The files of all fields.
pub(super) struct Columns {
    columns: Vec<Column>,
    rows_left: u64,
    given: u64,
}

impl Columns {
    /// Opens the files of an input.
    ///
    /// # Errors
    /// When one is of no field, holds what its field does not take, or has another number of rows than the others.
    pub(super) fn open(input: &Input, collection: &Collection) -> Result<Self> {
        let mut columns: Vec<Column> = Vec::new();
        let mut rows = None;
        for (path, name) in input.paths.iter().zip(&input.names) {
            let (column, head) = open(path, collection)
                .map_err(|error| prefixed(&format!("the file {name}: "), error))?;
            if rows.is_some_and(|rows| rows != head.rows) {
                return Err(wrong(format!(
                    "the row count {} of the file {name} is not equal to that of the others",
                    head.rows
                )));
            }
            if columns.iter().any(|other| other.name == column.name) {
                return Err(wrong(format!("there are two files of {}", column.name)));
            }
            rows = Some(head.rows);
            columns.push(column);
        }
        if columns.iter().map(|column| column.width).sum::<usize>() > ROW_BYTES_MAX {
            return Err(wrong(format!("a row has more than {ROW_BYTES_MAX} bytes")));
        }
        Ok(Columns {
            columns,
            rows_left: rows.unwrap_or_default(),
            given: 0,
        })
    }

    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// The bytes of the next row, those of one field behind those of another.
    pub(super) fn cut(&mut self) -> Result<Option<Vec<u8>>> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        let mut row = Vec::with_capacity(self.columns.iter().map(|column| column.width).sum());
        for column in &mut self.columns {
            let start = row.len();
            row.resize(start + column.width, 0);
            let place = row.get_mut(start..).unwrap_or_default();
            column
                .file
                .read_exact(place)
                .map_err(|error| unread(&error))?;
        }
        self.rows_left -= 1;
        self.given += row.len() as u64;
        Ok(Some(row))
    }

    /// What a row takes once it is read.
    pub(super) fn cost(&self) -> usize {
        let of_column = |column: &Column| match column.kind {
            Kind::List(size) => column.width / size.max(1) * NUMBER_BYTES,
            _ => 2 * column.width,
        };
        let columns = self.columns.iter();
        columns.map(|one| CELL_BYTES + of_column(one)).sum()
    }

    /// A row as an object.
    pub(super) fn read(&self, row: &[u8]) -> Result<Map<String, Value>> {
        let mut object = Map::new();
        let mut rest = row;
        for column in &self.columns {
            let (bytes, more) = rest.split_at_checked(column.width).unwrap_or_default();
            rest = more;
            let value = value(column.kind, bytes)
                .ok_or_else(|| wrong(format!("a value of {} is none", column.name)))?;
            object.insert(column.name.clone(), value);
        }
        Ok(object)
    }
}

fn open(path: &Path, collection: &Collection) -> Result<(Column, Head)> {
    let name = path.file_stem().and_then(|name| name.to_str());
    let name = name.unwrap_or_default().to_string();
    let file = folder::open(path)?;
    let bytes = file.metadata().map_err(|error| unread(&error))?.len();
    let mut file = BufReader::new(file);
    let head = read_head(&mut file)?;
    let begun = file.stream_position().map_err(|error| unread(&error))?;
    let width = head.size.saturating_mul(head.numbers);
    check_length(&head, width, bytes.saturating_sub(begun))?;
    let column = Column {
        kind: kind(collection, &name, &head)?,
        name,
        file,
        width,
    };
    Ok((column, head))
}

/// Refuses a head that tells of more than there is.
fn check_length(head: &Head, width: usize, bytes: u64) -> Result<()> {
    // Rows of no bytes could be any number.
    let is_none = head.rows > 0 && width == 0;
    let told = head.rows.saturating_mul(width as u64);
    if is_none || told > bytes {
        return Err(wrong(format!(
            "the head of the file tells of {} rows of {width} bytes, but it has {bytes} bytes",
            head.rows
        )));
    }
    Ok(())
}

/// Reads what stands before the numbers.
fn read_head(file: &mut impl Read) -> Result<Head> {
    let mut start = [0; 8];
    file.read_exact(&mut start)
        .map_err(|error| unread(&error))?;
    let (magic, version) = start.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(wrong("the file does not begin as NumPy's do"));
    }
    let mut length = [0; 4];
    let digits = match version {
        [1, _] => 2,
        _ => 4,
    };
    file.read_exact(length.get_mut(..digits).unwrap_or_default())
        .map_err(|error| unread(&error))?;
    let length = u32::from_le_bytes(length) as usize;
    if length > HEAD_BYTES_MAX {
        return Err(wrong(format!("the head of the file has {length} bytes")));
    }
    let mut text = vec![0; length];
    file.read_exact(&mut text).map_err(|error| unread(&error))?;
    let text = String::from_utf8_lossy(&text);
    parse_head(&text).ok_or_else(|| {
        wrong(format!(
            "the file holds no numbers or texts in the usual order, but {}",
            text.trim()
        ))
    })
}

/// What a head says, if it is of numbers or texts that are read.
fn parse_head(text: &str) -> Option<Head> {
    let member = |name: &str| {
        let (_, rest) = text.split_once(&format!("'{name}':"))?;
        Some(rest.trim_start())
    };
    let quoted = member("descr")?.strip_prefix('\'')?;
    let (descr, _) = quoted.split_once('\'')?;
    let descr = descr.strip_prefix(['<', '|', '=']).unwrap_or(descr);
    let mut letters = descr.chars();
    let letter = letters.next()?;
    let size: usize = letters.as_str().parse().ok()?;
    let (shape, _) = member("shape")?.strip_prefix('(')?.split_once(')')?;
    let shape = shape.split(',').map(str::trim);
    let shape: Option<Vec<u64>> = shape
        .filter(|one| !one.is_empty())
        .map(|one| one.parse().ok())
        .collect();
    let (rows, numbers) = match shape?.as_slice() {
        [rows] => (*rows, 1),
        [rows, numbers] => (*rows, usize::try_from(*numbers).ok()?),
        _ => return None,
    };
    if numbers > 1 && member("fortran_order")?.starts_with("True") {
        return None;
    }
    let size = match letter {
        // Each character has four bytes.
        'U' => size.checked_mul(4)?,
        'b' | 'i' | 'u' | 'f' | 'S' | 'V' => size,
        _ => return None,
    };
    (size.checked_mul(numbers)? <= ROW_BYTES_MAX).then_some(Head {
        letter,
        size,
        rows,
        numbers,
    })
}

/// How the values of a file become those of the field that it is named like.
fn kind(collection: &Collection, name: &str, head: &Head) -> Result<Kind> {
    let refused = |field: &str| {
        wrong(format!(
            "{} numbers of kind '{}{}' a row are no values of the field {name} of type {field}",
            head.numbers, head.letter, head.size
        ))
    };
    if name == DYNAMIC && collection.dynamic {
        return scalar(head).ok_or_else(|| refused("JSON"));
    }
    let field = collection.field(name);
    let field = field.map_err(|_| wrong(format!("there is no field {name}")))?;
    let kind = match field.data_type.is_vector() {
        true => vector(field, head),
        false if field.data_type == DataType::Array => None,
        false => scalar(head),
    };
    kind.ok_or_else(|| refused(field.data_type.name()))
}

fn scalar(head: &Head) -> Option<Kind> {
    if head.numbers != 1 {
        return None;
    }
    match (head.letter, head.size) {
        ('b', 1) => Some(Kind::Bool),
        ('i', 1 | 2 | 4 | 8) => Some(Kind::Signed),
        ('u', 1 | 2 | 4 | 8) => Some(Kind::Unsigned),
        ('f', 2 | 4 | 8) => Some(Kind::Float),
        ('U', _) => Some(Kind::Wide),
        ('S', _) => Some(Kind::Text),
        _ => None,
    }
}

fn vector(field: &Field, head: &Head) -> Option<Kind> {
    use DataType::{BFloat16Vector, BinaryVector, Float16Vector, FloatVector, Int8Vector};
    let dimension = field.dimension().ok()?;
    let (kind, numbers) = match (field.data_type, head.letter, head.size) {
        (FloatVector, 'f', 4)
        | (Float16Vector, 'f', 2)
        | (BFloat16Vector, 'V', 2)
        | (Int8Vector, 'i', 1) => (Kind::Packed, dimension),
        (BinaryVector, 'u', 1) => (Kind::Packed, dimension / 8),
        (Float16Vector | BFloat16Vector, 'u', 1) => (Kind::Packed, 2 * dimension),
        (FloatVector, 'f', 8) | (Float16Vector | BFloat16Vector, 'f', 4 | 8) => {
            (Kind::List(head.size), dimension)
        }
        _ => return None,
    };
    (numbers == head.numbers).then_some(kind)
}

fn value(kind: Kind, bytes: &[u8]) -> Option<Value> {
    Some(match kind {
        Kind::Bool => Value::Bool(bytes != [0]),
        Kind::Signed => {
            let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            let fill = if is_negative { 0xff } else { 0 };
            Value::from(i64::from_le_bytes(widened(bytes, fill)?))
        }
        Kind::Unsigned => Value::from(u64::from_le_bytes(widened(bytes, 0)?)),
        Kind::Float => Value::Number(Number::from_f64(float(bytes)?)?),
        Kind::Wide => {
            let letters = bytes.as_chunks::<4>().0.iter();
            let letters = letters.map(|letter| char::from_u32(u32::from_le_bytes(*letter)));
            let text = letters.collect::<Option<String>>()?;
            Value::from(text.trim_end_matches('\0'))
        }
        Kind::Text => Value::from(std::str::from_utf8(bytes).ok()?.trim_end_matches('\0')),
        Kind::Packed => Value::String(STANDARD.encode(bytes)),
        Kind::List(size) => {
            let numbers = bytes.chunks(size.max(1));
            let numbers = numbers.map(|one| Some(Value::Number(Number::from_f64(float(one)?)?)));
            Value::Array(numbers.collect::<Option<Vec<_>>>()?)
        }
    })
}

/// A whole number in eight bytes.
fn widened(bytes: &[u8], fill: u8) -> Option<[u8; 8]> {
    let mut wide = [fill; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(wide)
}

fn float(bytes: &[u8]) -> Option<f64> {
    match bytes.len() {
        2 => Some(f16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
        4 => Some(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        _ => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
    }
}

#[cfg(test)]
mod tests;
