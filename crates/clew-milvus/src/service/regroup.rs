//! One ranking of several searches in groups: the best of each, and the groups by what these score together.

use std::collections::{BTreeMap, HashMap};

use clew_engine::GroupKey;

use super::search::Found;
use crate::error::{MilvusError, Result};

/// What the score of a group is, of those of its hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupScorer {
    Max,
    Sum,
    Avg,
}

impl GroupScorer {
    /// Reads it from the parameters of a ranking; the best score where nothing is said.
    ///
    /// # Errors
    /// For one that nobody knows.
    pub(super) fn read(params: &BTreeMap<String, String>) -> Result<GroupScorer> {
        match params.get("rank_group_scorer").map(String::as_str) {
            None | Some("" | "max") => Ok(GroupScorer::Max),
            Some("sum") => Ok(GroupScorer::Sum),
            Some("avg") => Ok(GroupScorer::Avg),
            Some(other) => Err(MilvusError::invalid(format!(
                "input group scorer type: {other} is not supported!"
            ))),
        }
    }

    /// The score of a group whose best hit comes first.
    #[allow(
        clippy::cast_precision_loss,
        reason = "groups have no more than a thousand hits"
    )]
    fn of(self, group: &[Found]) -> f64 {
        let sum: f64 = group.iter().map(|one| f64::from(one.score)).sum();
        match self {
            GroupScorer::Max => group.first().map_or(0.0, |one| f64::from(one.score)),
            GroupScorer::Sum => sum,
            GroupScorer::Avg => sum / group.len().max(1) as f64,
        }
    }
}

/// A ranking, best first, as groups of at most so many hits, best first.
pub(super) fn regrouped(list: Vec<Found>, size: usize, scorer: GroupScorer) -> Vec<Vec<Found>> {
    let is_greatest_first = match (list.first(), list.last()) {
        (Some(first), Some(last)) => first.score >= last.score,
        _ => true,
    };
    let mut place_of: HashMap<Option<GroupKey>, usize> = HashMap::new();
    let mut groups: Vec<Vec<Found>> = Vec::new();
    for one in list {
        let next = groups.len();
        let place = *place_of.entry(one.group.clone()).or_insert(next);
        if place == next {
            groups.push(Vec::new());
        }
        if groups[place].len() < size {
            groups[place].push(one);
        }
    }
    groups.sort_by(|a, b| {
        let greatest_first = scorer.of(b).total_cmp(&scorer.of(a));
        match is_greatest_first {
            true => greatest_first,
            false => greatest_first.reverse(),
        }
    });
    groups
}
