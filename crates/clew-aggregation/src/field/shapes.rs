//! Shapes in a column of bytes: a document has one, in pieces where it is long.
//!
//! Deliberately absent: how shapes lie to each other and to cells, of which the schema knows.

use std::io;

use clew_query::AggError;
use clew_schema::geo::{KeptShape, shape_corners};
use tantivy::columnar::BytesColumn;

use crate::field::ValueKind;
use crate::field::column::{Decoder, ValueColumn};
use crate::field::rows::Rows;

/// What is read of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShapePart {
    /// That there is one: the number of its first bytes.
    Whole,
    /// The corners of its bounds, as numbers of points.
    Corners,
    /// All of it: the numbers of its pieces.
    Pieces,
}

impl ShapePart {
    /// Which part of a shape values of a kind are.
    pub(super) fn of(kind: ValueKind) -> Self {
        match kind {
            ValueKind::Corners => ShapePart::Corners,
            ValueKind::Outlines => ShapePart::Pieces,
            _ => ShapePart::Whole,
        }
    }
}

/// The shapes of a segment.
pub(super) struct Shapes {
    column: BytesColumn,
    part: ShapePart,
}

impl Shapes {
    pub(super) fn new(column: BytesColumn, part: ShapePart) -> Self {
        Shapes { column, part }
    }

    /// Their bytes.
    pub(super) fn column(&self) -> &BytesColumn {
        &self.column
    }

    /// Puts what is wanted of each document's shape in the place of the numbers of its pieces, of which the least is that
    /// of the first one. Corners cost a look into the dictionary for each document.
    pub(super) fn read(&self, rows: &mut Rows) -> io::Result<()> {
        if self.part == ShapePart::Pieces {
            return Ok(());
        }
        let entries = std::mem::take(&mut rows.entries);
        let ords = std::mem::take(&mut rows.values);
        let mut bytes = Vec::new();
        let mut before = None;
        for (entry, ord) in entries.into_iter().zip(ords) {
            if before.replace(entry) == Some(entry) {
                continue;
            }
            if self.part == ShapePart::Whole {
                rows.entries.push(entry);
                rows.values.push(ord);
                continue;
            }
            self.column.ord_to_bytes(ord, &mut bytes)?;
            let Some(mut corners) = shape_corners(&bytes) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            corners.sort_unstable();
            rows.entries.extend([entry; 2]);
            rows.values.extend(corners);
        }
        Ok(())
    }

    /// The shape that has these pieces.
    fn shape(&self, ords: &[u64]) -> io::Result<KeptShape> {
        let mut pieces = Vec::with_capacity(ords.len());
        for ord in ords {
            let mut piece = Vec::new();
            self.column.ord_to_bytes(*ord, &mut piece)?;
            pieces.push(piece);
        }
        KeptShape::read(pieces).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl ValueColumn {
    /// The shape whose pieces a document has, of a column of all of shapes; `None` of no pieces, and of other columns.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn shape(&self, ords: &[u64]) -> Result<Option<KeptShape>, AggError> {
        let Decoder::Shapes(Some(shapes)) = &self.decoder else {
            return Ok(None);
        };
        if ords.is_empty() {
            return Ok(None);
        }
        let shape = shapes.shape(ords).map_err(|source| AggError::Column {
            field: String::new(),
            source: source.into(),
        })?;
        Ok(Some(shape))
    }
}
