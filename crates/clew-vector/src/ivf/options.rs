//! Which structure a column is searched through, and the settings of inverted lists.

use serde::{Deserialize, Serialize};

use crate::VectorError;
use crate::options::within;

/// Most lists of a column: a search compares the query with the centre of each.
pub const LISTS_MAX: u32 = 1 << 18;

/// What a column is searched through when it is too large to be scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// An HNSW graph: the fastest searches, above all at high recall.
    #[default]
    Graph,
    /// Inverted lists: several times faster to build, and smaller.
    Lists(IvfOptions),
}

/// Settings of inverted lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IvfOptions {
    /// Number of lists, at most [`LISTS_MAX`]; 0 leaves the choice to the number of vectors.
    pub lists: u32,
    /// What rows are scanned by.
    pub codes: ListCodes,
}

/// Codes of the rows in lists: one bit per dimension either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListCodes {
    /// The signs of the residual. Nothing is trained.
    #[default]
    Bits,
    /// Product quantization of the residual, four dimensions to a code; see
    /// [`ProductQuantizer`](crate::ProductQuantizer). Columns with too few vectors to train it are
    /// scanned.
    Product,
}

impl IvfOptions {
    /// Checks the number of lists.
    pub fn validate(&self) -> Result<(), VectorError> {
        within("lists", self.lists as usize, (0, LISTS_MAX as usize))
    }
}
