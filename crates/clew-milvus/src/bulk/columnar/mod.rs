//! Files of Parquet: groups of rows, in them the values of each column behind each other.
//!
//! Rows are given as JSON, as those of other files are; vectors in it are base64 of their bytes. Columns are read page by
//! page, in batches of rows. What the pages of a group become is read from their heads and booked before the group is begun.

mod compact;
mod foot;
mod leaf;
mod pages;
mod tree;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryPurpose, Reservation};
use leaf::{Leaf, no_parquet, put};
use parquet::basic::Compression;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use tree::Node;

use super::{folder, prefixed, unread, wrong};
use crate::collection::Collection;
use crate::error::Result;
use crate::incoming::Refused;

const MAGIC: &[u8] = b"PAR1";
/// What stands at the end: the length of what is said of the file, and the magic.
const END_BYTES: usize = 8;
/// Longest description of the groups of a file.
const FOOT_BYTES_MAX: u32 = 16 << 20;
/// What a byte of it becomes, about: places and least and greatest values of every column of every group.
const FOOT_COST: usize = 16;
/// Values that a batch of rows has in its longest column, about, and most rows of one.
const BATCH_VALUES: u64 = 64 << 10;
const BATCH_ROWS_MAX: u64 = 1_024;
/// What a value of a batch takes at most, with its two levels, beside a text's bytes, which stay in their page.
const VALUE_BYTES: u64 = 40;

/// A file that is read.
pub(super) struct Records {
    file: File,
    foot_bytes: u32,
    bytes: u64,
    opened: Option<Box<Opened>>,
}

/// What is known once the description of a file was read.
struct Opened {
    reader: SerializedFileReader<File>,
    columns: Vec<(String, Node)>,
    /// Which columns of values of the file are read.
    kept: Vec<usize>,
    /// Groups that were begun, rows of the last of them that are left, and how many of these are in the batch.
    groups: usize,
    rows_left: u64,
    batch_left: u64,
    batch_rows: u64,
    leaves: Vec<Leaf>,
    /// Rows that were given, and all there are.
    rows_given: u64,
    rows: u64,
    _foot_room: Reservation,
    /// For the pages of the group.
    room: Reservation,
}

impl Records {
    /// Opens a file, and reads how it ends, and its schema.
    ///
    /// # Errors
    /// When the file cannot be read, does not end as Parquet does, or has a schema that is larger than those of collections.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = folder::open(path)?;
        let bytes = file.metadata().map_err(|error| unread(&error))?.len();
        let mut end = [0; END_BYTES];
        let start = bytes.checked_sub(END_BYTES as u64);
        let start = start.ok_or_else(|| wrong("the file does not end as Parquet does"))?;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(&mut end))
            .map_err(|error| unread(&error))?;
        let [a, b, c, d, magic @ ..] = end;
        if magic != MAGIC {
            return Err(wrong("the file does not end as Parquet does"));
        }
        let foot_bytes = u32::from_le_bytes([a, b, c, d]);
        if foot_bytes > FOOT_BYTES_MAX {
            return Err(wrong(format!(
                "the file describes itself in {foot_bytes} bytes, more than {FOOT_BYTES_MAX}"
            )));
        }
        let foot = start.checked_sub(foot_bytes.into());
        let foot = foot.ok_or_else(|| wrong("the file does not end as Parquet does"))?;
        file.seek(SeekFrom::Start(foot))
            .map_err(|error| unread(&error))?;
        foot::check(BufReader::new((&file).take(foot_bytes.into())))?;
        Ok(Records {
            file,
            foot_bytes,
            bytes,
            opened: None,
        })
    }

    /// Bytes of the file that were read, about: as many as its rows are of all.
    pub(super) fn given(&self) -> u64 {
        let Some(opened) = &self.opened else { return 0 };
        let share = u128::from(self.bytes) * u128::from(opened.rows_given);
        let share = share / u128::from(opened.rows.max(1));
        u64::try_from(share).unwrap_or(self.bytes).min(self.bytes)
    }

    /// The next row as JSON.
    ///
    /// # Errors
    /// When the file is no Parquet, has values that cannot be read, or a group of rows that finds no room; if that is one
    /// beside others, the same call goes on where this one was.
    pub(super) fn cut(
        &mut self,
        collection: &Collection,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Option<Vec<u8>>> {
        // Pages that are damaged make their reader stumble, at values without their dictionary and at texts behind the end
        // of a page among others.
        let cut = catch_unwind(AssertUnwindSafe(|| self.next(collection, memory)));
        cut.unwrap_or_else(|_| Err(wrong("the file is no Parquet that can be read")))
    }

    fn next(
        &mut self,
        collection: &Collection,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Option<Vec<u8>>> {
        let opened = match &mut self.opened {
            Some(opened) => opened,
            none => {
                let read = Opened::read(&self.file, self.foot_bytes, (collection, memory))?;
                none.insert(Box::new(read))
            }
        };
        while opened.rows_left == 0 {
            if !opened.begin(&self.file)? {
                return Ok(None);
            }
        }
        opened.row().map(Some)
    }
}

impl Opened {
    fn read(
        file: &File,
        foot_bytes: u32,
        (collection, memory): (&Collection, &Arc<MemoryAccount>),
    ) -> Result<Opened> {
        let mut foot_room = memory.open(MemoryPurpose::Bodies);
        let cost = (foot_bytes as usize).saturating_mul(FOOT_COST);
        foot_room.grow(cost).map_err(Refused::from)?;
        let file = file.try_clone().map_err(|error| unread(&error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| no_parquet(&error))?;
        let schema = reader.metadata().file_metadata().schema();
        let (columns, kept) = tree::columns(schema, collection)?;
        if kept.is_empty() {
            return Err(wrong("the file has no column of a field"));
        }
        let mut rows: u64 = 0;
        for group in reader.metadata().row_groups() {
            rows = rows.saturating_add(rows_of(group.num_rows())?);
        }
        Ok(Opened {
            reader,
            columns,
            kept,
            groups: 0,
            rows_left: 0,
            batch_left: 0,
            batch_rows: 0,
            leaves: Vec::new(),
            rows_given: 0,
            rows,
            _foot_room: foot_room,
            room: memory.open(MemoryPurpose::Bodies),
        })
    }

    /// Begins the next group of rows, if there is one.
    fn begin(&mut self, file: &File) -> Result<bool> {
        self.leaves = Vec::new();
        self.room.shrink_to(0);
        if self.groups >= self.reader.num_row_groups() {
            return Ok(false);
        }
        let group = self.reader.metadata().row_group(self.groups);
        let rows = rows_of(group.num_rows())?;
        let mut pages = Vec::with_capacity(self.kept.len());
        let mut longest = rows;
        for column in self.kept.iter().map(|leaf| group.column(*leaf)) {
            let name = column.column_path().string();
            let named = |error| prefixed(&format!("the column {name}: "), error);
            match column.compression() {
                Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => {}
                other => {
                    return Err(named(wrong(format!(
                        "it is compressed by {other:?}, and only SNAPPY and ZSTD are read"
                    ))));
                }
            }
            pages.push(pages::measure(file, column).map_err(named)?);
            longest = longest.max(rows_of(column.num_values())?);
        }
        let batch = BATCH_VALUES.saturating_mul(rows) / longest.max(1);
        let batch = batch.clamp(1, BATCH_ROWS_MAX);
        // A batch lies in two pages or more, and begins another.
        let cost = pages.iter().map(|one| {
            let ([bytes, values], [largest, most]) = (one.dictionary, one.largest);
            let kept = values.saturating_add(most).min(longest);
            let batch = BATCH_VALUES.min(longest).saturating_add(kept);
            let pages = bytes.saturating_add(largest.saturating_mul(3));
            pages.saturating_add(batch.saturating_mul(VALUE_BYTES))
        });
        let cost = cost.fold(0, u64::saturating_add);
        let cost = usize::try_from(cost).unwrap_or(usize::MAX);
        self.room.grow(cost).map_err(Refused::from)?;
        let reader = self.reader.get_row_group(self.groups);
        let reader = reader.map_err(|error| no_parquet(&error))?;
        for (leaf, pages) in self.kept.iter().zip(pages) {
            let column = reader.get_column_page_reader(*leaf);
            let column = column.map_err(|error| no_parquet(&error))?;
            let descriptor = group.schema_descr().column(*leaf);
            let [_, most] = pages.largest;
            self.leaves.push(Leaf::new(descriptor, column, most)?);
        }
        self.groups += 1;
        (self.rows_left, self.batch_left, self.batch_rows) = (rows, 0, batch);
        Ok(true)
    }

    /// The next row of the group.
    fn row(&mut self) -> Result<Vec<u8>> {
        if self.batch_left == 0 {
            self.batch_left = self.rows_left.min(self.batch_rows);
            let rows = usize::try_from(self.batch_left).unwrap_or(1);
            for leaf in &mut self.leaves {
                leaf.fill(rows)?;
            }
        }
        let mut row = vec![b'{'];
        for (at, (name, node)) in self.columns.iter().enumerate() {
            if at > 0 {
                row.push(b',');
            }
            put(name, &mut row)?;
            row.push(b':');
            tree::write(node, &mut self.leaves, &mut row)?;
        }
        row.push(b'}');
        if let Some(leaf) = self.leaves.iter().find(|leaf| leaf.repeated() != 0) {
            return Err(leaf.disagrees());
        }
        self.batch_left -= 1;
        self.rows_left -= 1;
        self.rows_given += 1;
        Ok(row)
    }
}

/// A number of rows or values as a file says it.
fn rows_of(told: i64) -> Result<u64> {
    u64::try_from(told).map_err(|_| wrong("the file tells of fewer rows than none"))
}

#[cfg(test)]
mod tests;
