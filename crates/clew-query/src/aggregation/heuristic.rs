//! How significant the difference between a bucket and a background is, and how that is measured.

use serde::{Deserialize, Serialize};

use crate::query::Script;

/// How significant a difference is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Heuristic {
    /// Absolute times relative change.
    Jlh,
    /// The chi-square test.
    ChiSquare(Comparison),
    /// Mutual information.
    MutualInformation(Comparison),
    /// The normalized distance of the sets (Cilibrasi and Vitányi).
    Gnd {
        /// Whether the background contains the bucket.
        superset: bool,
    },
    /// The share of the term's documents that are in the bucket.
    Percentage,
    /// What a script makes of the counts, which are `_subset_freq`, `_subset_size`, `_superset_freq` and `_superset_size` of
    /// its parameters.
    Script(Box<Script>),
}

/// What the background is, and which differences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Whether the background contains the bucket.
    pub superset: bool,
    /// Whether terms count that are rarer in the bucket than elsewhere.
    pub negatives: bool,
}
