//! How many documents match, and how exactly that is counted.

use serde::{Deserialize, Serialize};

/// How exactly matching documents are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackTotal {
    /// All of them.
    Exact,
    /// Up to so many.
    UpTo(u64),
    /// Not at all.
    No,
}

/// What a total's value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// Exactly so many.
    Eq,
    /// At least so many.
    Gte,
}

/// How many documents match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// The number.
    pub value: u64,
    /// What it means.
    pub relation: Relation,
}

impl Total {
    /// What may be said about `seen` matches when counting stops as `track` says.
    pub(crate) fn of(seen: u64, complete: bool, track: TrackTotal) -> Self {
        match track {
            TrackTotal::UpTo(limit) if seen > limit => Total {
                value: limit,
                relation: Relation::Gte,
            },
            _ => Total {
                value: seen,
                relation: if complete {
                    Relation::Eq
                } else {
                    Relation::Gte
                },
            },
        }
    }

    /// The total over several shards.
    pub fn merge(totals: impl IntoIterator<Item = Total>, track: TrackTotal) -> Self {
        let mut seen = 0;
        let mut complete = true;
        for total in totals {
            seen += total.value;
            complete &= total.relation == Relation::Eq;
        }
        Total::of(seen, complete, track)
    }
}
