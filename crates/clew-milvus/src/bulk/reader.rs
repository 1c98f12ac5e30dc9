//! One input, read part by part.

use std::path::Path;
use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryPurpose, Reservation};
use clew_schema::parsed_json_bytes;
use serde_json::{Map, Value};

use super::cell::{settled, with_json};
use super::columnar::Records;
use super::csv::{Style, Table};
use super::folder::{Format, Input};
use super::json::{Lines, List};
use super::npy::Columns;
use super::wrong;
use crate::collection::Collection;
use crate::error::{MilvusError, Result};
use crate::incoming::Refused;

/// What the rows of a part take, and how many there are, at most; but for one row that takes more by itself.
const PART_BYTES: usize = 16 << 20;
const PART_ROWS: usize = 10_000;

enum Source {
    List(List),
    Lines(Lines),
    Table(Table),
    Columns(Columns),
    Records(Records),
}

/// Rows that were read, and the room that they have.
pub(crate) struct Part {
    pub(crate) rows: Vec<Value>,
    /// Rows of the input before these.
    pub(crate) before: u64,
    /// Held for as long as the rows are.
    pub(crate) room: Reservation,
}

/// An input that is read.
pub(crate) struct Reader {
    source: Source,
    /// A row that found no room, to be read first.
    waiting: Option<Vec<u8>>,
    rows: u64,
}

impl Reader {
    /// Opens the files of an input.
    ///
    /// # Errors
    /// When they cannot be read, or are not what their names say.
    pub(crate) fn open(input: &Input, style: &Style, collection: &Collection) -> Result<Self> {
        let path = input
            .paths
            .first()
            .map_or(Path::new(""), |path| path.as_path());
        let source = match input.format {
            Format::Json => Source::List(List::open(path)?),
            Format::JsonLines => Source::Lines(Lines::open(path)?),
            Format::Csv => Source::Table(Table::open(path, style.clone())?),
            Format::Numpy => Source::Columns(Columns::open(input, collection)?),
            Format::Parquet => Source::Records(Records::open(path)?),
        };
        Ok(Reader {
            source,
            waiting: None,
            rows: 0,
        })
    }

    /// Bytes of the files that were read.
    pub(crate) fn given(&self) -> u64 {
        match &self.source {
            Source::List(list) => list.given(),
            Source::Lines(lines) => lines.given(),
            Source::Table(table) => table.given(),
            Source::Columns(columns) => columns.given(),
            Source::Records(records) => records.given(),
        }
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// When what stands there is no row, or one that never finds room, which ends the reading, or when there is no room for it
    /// beside others: then the same call goes on where this one was.
    pub(crate) fn part(
        &mut self,
        collection: &Collection,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Option<Part>> {
        let mut room = memory.open(MemoryPurpose::Bodies);
        let mut rows = Vec::new();
        let before = self.rows;
        while rows.len() < PART_ROWS && room.bytes() < PART_BYTES {
            let raw = match self.next(collection, memory) {
                Ok(Some(raw)) => raw,
                Ok(None) => break,
                // What is behind these rows is for the next part.
                Err(MilvusError::RateLimit(_)) if !rows.is_empty() => break,
                Err(error) => return Err(error),
            };
            match self.read(&raw, collection, &mut room) {
                Ok(row) => rows.push(Value::Object(row)),
                // It is the first of the next part.
                Err(MilvusError::RateLimit(_) | MilvusError::MemoryLimit(_))
                    if !rows.is_empty() =>
                {
                    self.waiting = Some(raw);
                    break;
                }
                Err(error @ MilvusError::RateLimit(_)) => {
                    self.waiting = Some(raw);
                    return Err(error);
                }
                Err(error) => return Err(self.at_row(error)),
            }
            self.rows += 1;
        }
        let part = Part { rows, before, room };
        Ok((!part.rows.is_empty()).then_some(part))
    }

    /// The next row as it stands in the file.
    fn next(
        &mut self,
        collection: &Collection,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Option<Vec<u8>>> {
        if let Some(raw) = self.waiting.take() {
            return Ok(Some(raw));
        }
        let cut = match &mut self.source {
            Source::List(list) => list.cut(),
            Source::Lines(lines) => lines.cut(),
            Source::Table(table) => table.cut(),
            Source::Columns(columns) => columns.cut(),
            Source::Records(records) => records.cut(collection, memory),
        };
        cut.map_err(|error| self.at_row(error))
    }

    /// What a row takes beside its text.
    fn cost(&self, raw: &[u8]) -> usize {
        let read = match &self.source {
            Source::List(_) | Source::Lines(_) | Source::Table(_) | Source::Records(_) => {
                parsed_json_bytes(raw)
            }
            Source::Columns(columns) => columns.cost(),
        };
        raw.len().saturating_add(read)
    }

    /// A row as an object; what it takes is booked before it is there.
    fn read(
        &self,
        raw: &[u8],
        collection: &Collection,
        room: &mut Reservation,
    ) -> Result<Map<String, Value>> {
        room.grow(self.cost(raw)).map_err(Refused::from)?;
        let row = match &self.source {
            Source::List(_) | Source::Lines(_) | Source::Records(_) => {
                let row = serde_json::from_slice(raw);
                let row =
                    row.map_err(|error| wrong(format!("failed to parse row, error: {error}")))?;
                with_json(row, collection, room)?
            }
            // What stands between separators is JSON by itself.
            Source::Table(table) => table.read(raw, collection)?,
            Source::Columns(columns) => with_json(columns.read(raw)?, collection, room)?,
        };
        settled(row, collection, room)
    }

    /// Says with an error which row it is about: the first one is 0.
    fn at_row(&self, error: MilvusError) -> MilvusError {
        match error {
            MilvusError::Import(why) => wrong(format!("row {}: {why}", self.rows)),
            other => other,
        }
    }
}
