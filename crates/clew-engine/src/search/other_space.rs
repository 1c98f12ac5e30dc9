//! Columns that were written before their field got another space: until they are written anew, they are searched by
//! their vectors alone.

use std::ops::Deref;

use clew_platform::Pace;
use clew_vector::{Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, VectorError};

/// The vectors of a column in a column of other options, in memory and without a graph.
///
/// Takes about twice what the vectors do while it is made, see [`in_space_bytes`].
///
/// # Errors
/// [`VectorError::Cancelled`] once the request is over; when vectors cannot be read.
pub(crate) fn in_space<B>(
    column: &Column<B>,
    options: ColumnOptions,
) -> Result<Column<Vec<u8>>, VectorError>
where
    B: Deref<Target = [u8]> + Clone + Send + Sync,
{
    let mut builder = ColumnBuilder::with_room(options, column.len())?;
    let mut pace = Pace::of_blocks();
    for doc in column.docs() {
        if pace.is_over() {
            return Err(VectorError::Cancelled);
        }
        if let Some(vector) = column.vector(doc)? {
            builder.push(doc, &vector)?;
        }
    }
    let how = ImageOptions {
        graph: GraphChoice::Never,
        seed: 0,
        threads: 1,
    };
    let mut image = Vec::new();
    builder.write(how, &mut image)?;
    Column::open(image)
}

/// The memory that this takes.
pub(crate) fn in_space_bytes<B>(column: &Column<B>, options: &ColumnOptions) -> usize
where
    B: Deref<Target = [u8]> + Clone + Send + Sync,
{
    let row = options.element.row_bytes(options.dimension);
    column.len().saturating_mul(2 * row)
}
