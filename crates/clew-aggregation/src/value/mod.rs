//! What a value is, whatever it is of: keys, formats, time zones, roundings, cells, and those of shapes.

pub(crate) mod decimal;
pub(crate) mod format;
pub(crate) mod grid;
pub(crate) mod key;
pub(crate) mod partition;
pub(crate) mod rounding;
pub(crate) mod shape_cells;
pub(crate) mod zone;
