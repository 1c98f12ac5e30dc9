//! Which structure a column is searched through, and the settings of inverted lists.

use serde::{Deserialize, Serialize};

use crate::error::{VectorError, within};
use crate::ivf::product::TRAIN_ROWS_MIN;

/// Most lists of a column: a search compares the query with the centre of each.
pub const LISTS_MAX: u32 = 1 << 18;

/// Dimensions of a code of [`ListCodes::Chosen`] that is not of signs, and of [`ListCodes::Product`].
const PAIR: usize = 2;
const FOUR: usize = 4;

/// What a column is searched through when it is too large to be scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// An HNSW graph, unless [`exact_structure`](crate::ColumnOptions::exact_structure) is not set and lists are faster.
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

/// Codes of the rows in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListCodes {
    /// Chosen by the number of dimensions: up to 512 product codes of two each, which are two bits per dimension; else,
    /// or where vectors are too few to train them, the signs of the residual. The error of an estimate falls with
    /// the root of the number of dimensions, so that short vectors need more bits.
    #[default]
    #[serde(rename = "bits")]
    Chosen,
    /// Product quantization of the residual, four dimensions to a code; see
    /// [`ProductQuantizer`](crate::ProductQuantizer). Columns with too few vectors to train it are
    /// scanned.
    Product,
}

/// Up to so many dimensions codes of two are faster than signs at every recall: 3.6 times at 100 (GloVe) and as fast at
/// 512; at 768 they take a third longer.
const PAIRS_DIMENSION_MAX: usize = 512;

impl ListCodes {
    /// Dimensions of a product code of so many vectors of so many dimensions; `None` for signs.
    pub(crate) fn product_part(self, rows: usize, dimension: usize) -> Option<usize> {
        let is_trained = rows >= TRAIN_ROWS_MIN && dimension <= PAIRS_DIMENSION_MAX;
        match self {
            ListCodes::Chosen => is_trained.then_some(PAIR),
            ListCodes::Product => Some(FOUR),
        }
    }
}

impl IvfOptions {
    /// Checks the number of lists.
    pub fn validate(&self) -> Result<(), VectorError> {
        within("lists", self.lists as usize, (0, LISTS_MAX as usize))
    }
}
