//! Shapes in a column of bytes: a document has one, in pieces where it is long.
//!
//! Deliberately absent: where shapes lie to each other; only their bounds are read.

use std::io;

use clew_schema::geo::shape_corners;
use tantivy::columnar::BytesColumn;

use crate::field::rows::Rows;

/// What is read of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShapePart {
    /// That there is one: the number of its first bytes.
    Whole,
    /// The corners of its bounds, as numbers of points.
    Corners,
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
}
