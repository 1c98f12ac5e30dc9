//! The `.vec` file of a segment as it lies on the disk: the images of its columns, dense ones and sparse ones, and a
//! directory of them. Which is which an image says itself. Layout: `docs/formats/segment.md`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use clew_platform::advise_random;
use clew_schema::{CheckedBytes, FieldId};
use clew_vector::{Column, SparseColumn, VectorError, is_sparse_image};
use tantivy::SegmentReader;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{OwnedBytes, TerminatingWrite, WritePtr};
use tantivy::index::{Segment, SegmentComponent};

use super::row_plugin::plugin_error;

pub(super) const EXTENSION: &str = "vec";
const MAGIC: [u8; 8] = *b"CLEWVEC1";
/// Columns begin at multiples of this, so that mapped rows fill whole cache lines.
const ALIGNMENT: u64 = 64;
const TRAILER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 24;

pub(super) fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.into())
}

/// Whether a file is one of vectors, whose parts are held against sums of their own whenever they are read.
pub(super) fn has_own_sums(name: &str) -> bool {
    name.strip_suffix(EXTENSION)
        .is_some_and(|name| name.ends_with('.'))
}

/// Writes column images one after the other, then the directory and the trailer.
pub(super) struct FileWriter {
    out: Counted<WritePtr>,
    entries: Vec<(FieldId, u64, u64)>,
}

struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.written += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl FileWriter {
    pub(super) fn create(segment: &Segment) -> tantivy::Result<Self> {
        let out = Counted {
            out: segment.open_write(component())?,
            written: 0,
        };
        Ok(FileWriter {
            out,
            entries: Vec::new(),
        })
    }

    /// Adds the image that `write` makes of a field's column.
    pub(super) fn add(
        &mut self,
        field: FieldId,
        write: impl FnOnce(&mut dyn Write) -> Result<(), VectorError>,
    ) -> tantivy::Result<()> {
        let padding = self.out.written.next_multiple_of(ALIGNMENT) - self.out.written;
        self.out
            .write_all(&[0; 64][..usize::try_from(padding).expect("padding is below 64")])?;
        let start = self.out.written;
        write(&mut self.out).map_err(plugin_error)?;
        self.entries.push((field, start, self.out.written - start));
        Ok(())
    }

    pub(super) fn finish(mut self) -> tantivy::Result<()> {
        for (field, start, len) in &self.entries {
            self.out.write_all(&u64::from(field.get()).to_le_bytes())?;
            self.out.write_all(&start.to_le_bytes())?;
            self.out.write_all(&len.to_le_bytes())?;
        }
        self.out
            .write_all(&(self.entries.len() as u64).to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        self.out.out.terminate()?;
        Ok(())
    }
}

/// The open columns of a segment.
#[derive(Clone, Default)]
pub(crate) struct VectorFile {
    /// `None` when there is no file.
    bytes: Option<CheckedBytes>,
    columns: BTreeMap<FieldId, Arc<Column<OwnedBytes>>>,
    sparse: BTreeMap<FieldId, Arc<SparseColumn<OwnedBytes>>>,
}

impl VectorFile {
    /// Opens a segment's columns; O(1) in the number of vectors.
    pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = match reader.open_read(component()) {
            Ok(file) => CheckedBytes::open(file)?,
            Err(OpenReadError::FileDoesNotExist(_)) => return Ok(VectorFile::default()),
            Err(error) => return Err(error.into()),
        };
        let damaged = || plugin_error("vector file is damaged");
        let trailer = bytes.len().checked_sub(TRAILER_BYTES).ok_or_else(damaged)?;
        let number = |at: usize| -> tantivy::Result<usize> {
            let word = bytes.get(at..at + 8)?.try_into().map_err(|_| damaged())?;
            usize::try_from(u64::from_le_bytes(word)).map_err(|_| damaged())
        };
        if *bytes.get(trailer + 8..bytes.len())? != MAGIC {
            return Err(damaged());
        }
        let directory = number(trailer)?
            .checked_mul(ENTRY_BYTES)
            .and_then(|entries| trailer.checked_sub(entries))
            .ok_or_else(damaged)?;
        let mut file = VectorFile {
            bytes: Some(bytes.clone()),
            ..VectorFile::default()
        };
        for entry in (directory..trailer).step_by(ENTRY_BYTES) {
            let field = FieldId::new(u32::try_from(number(entry)?).map_err(|_| damaged())?);
            let (start, len) = (number(entry + 8)?, number(entry + 16)?);
            let end = start.checked_add(len).filter(|&end| end <= directory);
            if start > end.ok_or_else(damaged)? {
                return Err(damaged());
            }
            // The blocks of a column have sums of their own, which are held against when they are read.
            let image = bytes.unchecked().slice(start..start + len);
            if is_sparse_image(&image) {
                let column = SparseColumn::open_mapped(image, advise_random);
                let column = Arc::new(column.map_err(|error| file.told(error))?);
                file.sparse.insert(field, column);
            } else {
                let column = Column::open_mapped(image, advise_random);
                let column = Arc::new(column.map_err(|error| file.told(error))?);
                file.columns.insert(field, column);
            }
        }
        Ok(file)
    }

    /// What an error of a column comes to: when it is damage, all of the file is held against its own sums, which tell
    /// the shard, and where it is.
    pub(crate) fn told(&self, error: VectorError) -> io::Error {
        if matches!(error, VectorError::Corrupt { .. })
            && let Some(bytes) = &self.bytes
            && let Err(damage) = bytes.check(0..bytes.len())
        {
            return damage;
        }
        io::Error::new(io::ErrorKind::InvalidData, error)
    }

    /// A field's column; `None` when no document of the segment has a vector there.
    pub(crate) fn column(&self, field: FieldId) -> Option<&Column<OwnedBytes>> {
        self.columns.get(&field).map(Arc::as_ref)
    }

    /// A field's column of sparse vectors; `None` when no document of the segment has one there.
    pub(crate) fn sparse_column(&self, field: FieldId) -> Option<&SparseColumn<OwnedBytes>> {
        self.sparse.get(&field).map(Arc::as_ref)
    }

    /// Whether no document of the segment has a vector.
    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.sparse.is_empty()
    }

    /// Fields whose graph has been found damaged since this was asked last.
    pub(crate) fn take_graph_damage(&self) -> impl Iterator<Item = (FieldId, VectorError)> {
        self.columns()
            .filter_map(|(field, column)| Some((field, column.take_graph_damage()?)))
    }

    /// All columns of dense vectors, by field.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (FieldId, &Column<OwnedBytes>)> {
        self.columns
            .iter()
            .map(|(field, column)| (*field, column.as_ref()))
    }
    /// All columns of sparse vectors, by field.
    pub(crate) fn sparse_columns(
        &self,
    ) -> impl Iterator<Item = (FieldId, &SparseColumn<OwnedBytes>)> {
        self.sparse
            .iter()
            .map(|(field, column)| (*field, column.as_ref()))
    }
}
