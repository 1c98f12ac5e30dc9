//! A column of values of a Parquet file, read by batches, and where in a batch the next value stands.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{ConvertedType, Encoding, LogicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::schema::types::{ColumnDescPtr, Type};
use serde::Serialize;

use crate::bulk::{prefixed, wrong};
use crate::error::{MilvusError, Result};

/// Most values that one batch begins pages of, beside the largest page: one row may have as many as it says.
const BATCH_VALUES_MAX: u64 = 1 << 20;

/// What is said of a file that is no Parquet.
pub(super) fn no_parquet(error: &ParquetError) -> MilvusError {
    wrong(format!("the file is no Parquet that can be read: {error}"))
}

/// Whether values of a type are numbers, texts or truths as they stand: moments, decimals and the like are not.
///
/// # Errors
/// When they are not.
pub(super) fn check(column: &Type) -> Result<()> {
    use ConvertedType as Old;
    let info = column.get_basic_info();
    let is_plain = match info.logical_type_ref() {
        None => matches!(
            info.converted_type(),
            Old::NONE
                | Old::UTF8
                | Old::ENUM
                | Old::JSON
                | Old::INT_8
                | Old::INT_16
                | Old::INT_32
                | Old::INT_64
                | Old::UINT_8
                | Old::UINT_16
                | Old::UINT_32
                | Old::UINT_64
        ),
        Some(
            LogicalType::String
            | LogicalType::Json
            | LogicalType::Enum
            | LogicalType::Integer(_)
            | LogicalType::Unknown,
        ) => true,
        Some(_) => false,
    };
    let physical = column.get_physical_type();
    let is_read = !matches!(
        physical,
        parquet::basic::Type::INT96 | parquet::basic::Type::FIXED_LEN_BYTE_ARRAY
    );
    match is_plain && is_read {
        true => Ok(()),
        false => Err(wrong(format!(
            "the column {} has values of a type that is not read: {physical:?} {:?}",
            column.name(),
            info.logical_type_ref()
        ))),
    }
}

/// Values of a batch.
enum Values {
    Bools(Vec<bool>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Texts(Vec<ByteArray>),
}

/// A value as it stands in a file.
pub(super) enum Cell<'v> {
    Bool(bool),
    Whole(i64),
    /// Above what a signed number can be.
    Unsigned(u64),
    Float(f32),
    Double(f64),
    Bytes(&'v [u8]),
}

/// A column of values.
pub(super) struct Leaf {
    name: String,
    reader: ColumnReader,
    values: Values,
    is_unsigned: bool,
    /// From which level on there is a value, and how often one may come again within a row.
    whole: i16,
    is_repeated: bool,
    defined: Vec<i16>,
    repeated: Vec<i16>,
    /// Places of the batch, and the next of them; the next value.
    places: usize,
    at: usize,
    value: usize,
    begun: Arc<AtomicU64>,
}

impl Leaf {
    /// A column, none of which was read. The largest of its pages has so many values.
    ///
    /// # Errors
    /// When its values are of a type that is not read.
    pub(super) fn new(
        column: ColumnDescPtr,
        pages: Box<dyn PageReader>,
        largest: u64,
    ) -> Result<Leaf> {
        let begun = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            pages,
            begun: begun.clone(),
            most: BATCH_VALUES_MAX.saturating_add(largest),
        };
        let is_unsigned = match column.logical_type_ref() {
            Some(LogicalType::Integer(integer)) => !integer.is_signed,
            _ => matches!(
                column.converted_type(),
                ConvertedType::UINT_8
                    | ConvertedType::UINT_16
                    | ConvertedType::UINT_32
                    | ConvertedType::UINT_64
            ),
        };
        let name = column.path().string();
        let (whole, is_repeated) = (column.max_def_level(), column.max_rep_level() > 0);
        let reader = get_column_reader(column, Box::new(counted));
        let values = match &reader {
            ColumnReader::BoolColumnReader(_) => Values::Bools(Vec::new()),
            ColumnReader::Int32ColumnReader(_) => Values::Ints(Vec::new()),
            ColumnReader::Int64ColumnReader(_) => Values::Longs(Vec::new()),
            ColumnReader::FloatColumnReader(_) => Values::Floats(Vec::new()),
            ColumnReader::DoubleColumnReader(_) => Values::Doubles(Vec::new()),
            ColumnReader::ByteArrayColumnReader(_) => Values::Texts(Vec::new()),
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                return Err(wrong(format!(
                    "the column {name} is of no type that is read"
                )));
            }
        };
        Ok(Leaf {
            name,
            reader,
            values,
            is_unsigned,
            whole,
            is_repeated,
            defined: Vec::new(),
            repeated: Vec::new(),
            places: 0,
            at: 0,
            value: 0,
            begun,
        })
    }

    /// Reads the values of so many rows.
    ///
    /// # Errors
    /// When there are fewer, or too many values in a row.
    pub(super) fn fill(&mut self, rows: usize) -> Result<()> {
        if self.at != self.places {
            return Err(self.disagrees());
        }
        self.begun.store(0, Ordering::Relaxed);
        self.defined.clear();
        self.repeated.clear();
        let (defined, repeated) = (Some(&mut self.defined), Some(&mut self.repeated));
        macro_rules! read {
            ($reader:expr, $values:expr) => {{
                $values.clear();
                $reader.read_records(rows, defined, repeated, $values)
            }};
        }
        let read = match (&mut self.reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(reader), Values::Bools(values)) => {
                read!(reader, values)
            }
            (ColumnReader::Int32ColumnReader(reader), Values::Ints(values)) => {
                read!(reader, values)
            }
            (ColumnReader::Int64ColumnReader(reader), Values::Longs(values)) => {
                read!(reader, values)
            }
            (ColumnReader::FloatColumnReader(reader), Values::Floats(values)) => {
                read!(reader, values)
            }
            (ColumnReader::DoubleColumnReader(reader), Values::Doubles(values)) => {
                read!(reader, values)
            }
            (ColumnReader::ByteArrayColumnReader(reader), Values::Texts(values)) => {
                read!(reader, values)
            }
            _ => Ok((0, 0, 0)),
        };
        let (records, _, places) =
            read.map_err(|error| wrong(format!("the column {}: {error}", self.name)))?;
        (self.places, self.at, self.value) = (places, 0, 0);
        match records == rows {
            true => Ok(()),
            false => Err(wrong(format!(
                "the column {} has fewer values than its row group has rows",
                self.name
            ))),
        }
    }

    /// How much of what may be missing is there at the next place.
    ///
    /// # Errors
    /// When there is none: columns of one list have lists of different lengths.
    pub(super) fn defined(&self) -> Result<i16> {
        match (self.at < self.places, self.whole) {
            (false, _) => Err(self.disagrees()),
            (true, 0) => Ok(0),
            (true, _) => self
                .defined
                .get(self.at)
                .copied()
                .ok_or_else(|| self.disagrees()),
        }
    }

    /// Which list goes on at the next place: 0 where a row begins, or nothing is left.
    pub(super) fn repeated(&self) -> i16 {
        match self.is_repeated && self.at < self.places {
            true => self.repeated.get(self.at).copied().unwrap_or_default(),
            false => 0,
        }
    }

    /// The value at the next place, if there is one; the place behind it is the next.
    ///
    /// # Errors
    /// As [`Leaf::defined`].
    pub(super) fn take(&mut self) -> Result<Option<Cell<'_>>> {
        let is_there = self.defined()? == self.whole;
        self.at += 1;
        if !is_there {
            return Ok(None);
        }
        let at = self.value;
        self.value += 1;
        let cell = match &self.values {
            Values::Bools(values) => values.get(at).map(|value| Cell::Bool(*value)),
            Values::Ints(values) if self.is_unsigned => values
                .get(at)
                .map(|value| Cell::Whole(value.cast_unsigned().into())),
            Values::Ints(values) => values.get(at).map(|value| Cell::Whole((*value).into())),
            Values::Longs(values) if self.is_unsigned => values
                .get(at)
                .map(|value| Cell::Unsigned(value.cast_unsigned())),
            Values::Longs(values) => values.get(at).map(|value| Cell::Whole(*value)),
            Values::Floats(values) => values.get(at).map(|value| Cell::Float(*value)),
            Values::Doubles(values) => values.get(at).map(|value| Cell::Double(*value)),
            Values::Texts(values) => values.get(at).map(|value| Cell::Bytes(value.data())),
        };
        cell.map(Some).ok_or_else(|| {
            wrong(format!(
                "the column {} has fewer values than it says",
                self.name
            ))
        })
    }

    /// An error with the column that it is about.
    pub(super) fn named(&self, error: MilvusError) -> MilvusError {
        prefixed(&format!("the column {}: ", self.name), error)
    }

    /// What is said where a column has other places than those beside it.
    pub(super) fn disagrees(&self) -> MilvusError {
        wrong(format!(
            "the column {} has not as many values as those beside it",
            self.name
        ))
    }
}

impl Cell<'_> {
    /// Writes a value as JSON.
    ///
    /// # Errors
    /// When it is no number, or a text no UTF-8.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let refused = |value: String| {
            Err(wrong(format!(
                "value '{value}' is not a number or infinity"
            )))
        };
        match self {
            Cell::Bool(value) => put(value, out),
            Cell::Whole(value) => put(value, out),
            Cell::Unsigned(value) => put(value, out),
            Cell::Float(value) if !value.is_finite() => refused(value.to_string()),
            Cell::Double(value) if !value.is_finite() => refused(value.to_string()),
            Cell::Float(value) => put(value, out),
            Cell::Double(value) => put(value, out),
            Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => put(&text, out),
                Err(_) => Err(wrong("a text is no UTF-8")),
            },
        }
    }
}

/// Writes a value as JSON.
///
/// # Errors
/// When it cannot be written so.
pub(super) fn put(value: &impl Serialize, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, value).map_err(|error| wrong(error.to_string()))
}

/// Pages whose values are counted as they come, for what one row has of them is told nowhere else, and whose encodings are
/// those that are read.
struct Counted {
    pages: Box<dyn PageReader>,
    begun: Arc<AtomicU64>,
    most: u64,
}

impl Iterator for Counted {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Counted {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            // Pages say themselves how many such texts they have, and each may have the whole of the one before it: what they
            // become is known only when it is there.
            let encoding = page.encoding();
            if matches!(
                encoding,
                Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY
            ) {
                return Err(ParquetError::General(format!(
                    "its texts are encoded by {encoding}, and only plain ones and dictionaries are read"
                )));
            }
            let values = u64::from(page.num_values());
            let before = self.begun.fetch_add(values, Ordering::Relaxed);
            if before.saturating_add(values) > self.most {
                return Err(ParquetError::General(format!(
                    "a row has more than {BATCH_VALUES_MAX} values"
                )));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }
}
