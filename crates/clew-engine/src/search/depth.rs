//! How deep each part of what is searched is looked through for the nearest, so that many parts together find what one
//! would, at little more than its cost.

use clew_vector::{Column, Horizon, SearchOutcome};
use tantivy::directory::OwnedBytes;

/// A part has its share of the nearest, give or take so many times the root of that: where they lie by chance, one
/// part in forty has more.
const SPREAD: f64 = 2.0;
/// And so many more candidates: a walk that keeps fewer does not find the way even to the one nearest.
const CANDIDATES_MIN: f64 = 3.0;
/// A part that has so many times the nearest that its candidates stand for was searched too little.
const SHORT_BY: f64 = 2.0;

/// What a search for the nearest keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    /// Hits wanted.
    pub(crate) hits: usize,
    /// Candidates of a walk, no fewer than hits.
    pub(crate) candidates: usize,
}

impl Depth {
    pub(crate) fn new(hits: usize, candidates: usize) -> Self {
        let candidates = candidates.max(hits);
        Depth { hits, candidates }
    }

    /// For columns, each with as many rows as may be hits: of the whole that they share, or each all of it. One that is
    /// scanned finds all that it is asked for, however much that is; and lists go through those nearest to the vector, which
    /// are the same in all columns with the same centres, whatever share of the rows is in them.
    pub(crate) fn of_columns(
        self,
        columns: &[(&Column<OwnedBytes>, usize)],
        is_shared: bool,
    ) -> Vec<PartDepth> {
        let all = columns.iter().map(|(_, rows)| rows).sum();
        let depth = |&(column, rows): &(&Column<OwnedBytes>, usize)| PartDepth {
            depth: match is_shared && column.has_graph() {
                true => self.of_part(rows, all),
                false => self,
            },
            has_graph: column.has_graph(),
            is_bounded: is_shared && column.has_lists(),
        };
        columns.iter().map(depth).collect()
    }

    /// For a part of so many rows of all: its share of the candidates, and a reserve. Hits are no fewer than it is likely
    /// to have of the nearest, and as many as come with the candidates anyway.
    pub(crate) fn of_part(self, rows: usize, all: usize) -> Self {
        if rows >= all {
            return self;
        }
        let share = rows as f64 / all as f64;
        let likely = |count: usize, least: f64| {
            let mean = count as f64 * share;
            rounded_up(mean + SPREAD * mean.sqrt() + least).min(count)
        };
        let candidates = likely(self.candidates, CANDIDATES_MIN);
        let hits = likely(self.hits, 1.0).max(candidates.min(self.hits));
        Depth::new(hits, candidates)
    }

    /// What parts of these depths tell each other while they are searched for some probes; nothing where each is scanned, or
    /// asked for all.
    pub(crate) fn horizons(self, parts: &[PartDepth], probes: usize) -> Vec<Horizon> {
        let is_alone = |part: &PartDepth| part.depth == self && !part.is_bounded;
        if parts.len() < 2 || parts.iter().all(is_alone) {
            return Vec::new();
        }
        self.horizons_for(probes)
    }

    /// What parts of it tell each other while they are searched for some probes.
    pub(crate) fn horizons_for(self, probes: usize) -> Vec<Horizon> {
        let horizon = || Horizon::new(self.hits, self.candidates);
        std::iter::repeat_with(horizon).take(probes).collect()
    }
}

/// How deep a part is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartDepth {
    pub(crate) depth: Depth,
    /// Whether it is walked through, so that it is searched as far as the whole once that is known.
    pub(crate) has_graph: bool,
    /// Whether it measures only what may be among the nearest of all, and takes the vector as others have prepared it.
    pub(crate) is_bounded: bool,
}

impl PartDepth {
    /// How deep the part is found to have been searched, when its search begins.
    pub(crate) fn within(self, whole: Depth, horizon: Option<&Horizon>) -> Depth {
        match horizon {
            Some(horizon) if self.has_graph && horizon.is_known() => whole,
            _ => self.depth,
        }
    }
}

/// What a part is asked for one of the probes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartQuestion<'a> {
    /// Number of the probe.
    pub(crate) probe: usize,
    pub(crate) depth: Depth,
    /// What the parts before have found.
    pub(crate) horizon: Option<&'a Horizon>,
}

/// Searches parts for some probes at once: each to its depth, or, once the horizon of a probe is known, as far as that;
/// then those of them again that were searched too little for a probe. What each part found for each probe.
pub(crate) fn search_parts<E>(
    (whole, parts): (Depth, &[PartDepth]),
    (probes, horizons): (usize, &[Horizon]),
    mut search: impl FnMut(usize, &[PartQuestion<'_>]) -> Result<Vec<SearchOutcome>, E>,
) -> Result<Vec<Vec<SearchOutcome>>, E> {
    let mut found = Vec::with_capacity(parts.len());
    let mut depths = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let question = |probe| PartQuestion {
            probe,
            depth: part.depth,
            horizon: horizons.get(probe),
        };
        let questions: Vec<PartQuestion<'_>> = (0..probes).map(question).collect();
        let searched = questions.iter().map(|one| part.within(whole, one.horizon));
        depths.push(searched.collect::<Vec<_>>());
        found.push(search(at, &questions)?);
    }
    if depths.iter().flatten().all(|&depth| depth == whole) {
        return Ok(found);
    }
    for probe in 0..probes {
        let nearness = |of_part: &Vec<SearchOutcome>| {
            let hits = of_part[probe].hits.iter();
            hits.map(|hit| -hit.distance).collect()
        };
        let scores: Vec<Vec<f32>> = found.iter().map(nearness).collect();
        let parts = depths.iter().zip(&scores);
        let parts = parts.map(|(depths, scores)| SearchedPart {
            whole,
            depth: depths[probe],
            scores,
        });
        for (part, depth) in short_parts(&parts.collect::<Vec<_>>(), whole.hits) {
            // The horizon has what this part found before; it would be there twice.
            let question = PartQuestion {
                probe,
                depth,
                horizon: None,
            };
            let again = search(part, &[question])?;
            found[part].splice(probe..=probe, again);
        }
    }
    Ok(found)
}

/// A part of what was searched for the nearest.
pub(crate) struct SearchedPart<'a> {
    /// What the whole is searched for.
    pub(crate) whole: Depth,
    /// How deep the part was.
    pub(crate) depth: Depth,
    /// Scores of its best hits: larger are nearer, in any order.
    pub(crate) scores: &'a [f32],
}

impl SearchedPart<'_> {
    /// How deep it is to be searched again: it has so many of the nearest of all that more of them, or better ones, may
    /// be left in it, as they do not lie by chance.
    fn deeper(&self, of_nearest: usize, nearest: usize) -> Option<Depth> {
        let (whole, depth) = (self.whole, self.depth);
        if depth == whole || self.scores.len() < depth.hits.min(nearest) {
            return None;
        }
        if of_nearest >= depth.hits {
            return Some(whole);
        }
        let due = whole.candidates as f64 * of_nearest as f64 / nearest as f64;
        let is_short = due > SHORT_BY * depth.candidates as f64;
        is_short.then(|| {
            let candidates = rounded_up(due * SHORT_BY).min(whole.candidates);
            Depth::new(whole.hits.min(candidates), candidates)
        })
    }
}

/// The parts that were searched too little for the so many nearest of all of them, and how deep they are to be searched.
pub(crate) fn short_parts(parts: &[SearchedPart<'_>], nearest: usize) -> Vec<(usize, Depth)> {
    let mut scores: Vec<f32> = parts.iter().flat_map(|part| part.scores).copied().collect();
    let least = if scores.len() > nearest {
        let by_score = |a: &f32, b: &f32| b.total_cmp(a);
        let (_, least, _) = scores.select_nth_unstable_by(nearest.max(1) - 1, by_score);
        *least
    } else {
        f32::NEG_INFINITY
    };
    let count = |scores: &[f32]| {
        let above = scores.iter().filter(|&&score| score > least).count();
        let equal = scores.iter().filter(|&&score| score == least).count();
        (above, equal)
    };
    let (above, equal) = count(&scores);
    let deeper = |(at, part): (usize, &SearchedPart<'_>)| {
        let of_part = count(part.scores);
        // Of those that are equally far some are among the nearest.
        let of_equal = of_part.1 * nearest.saturating_sub(above);
        let of_nearest = of_part.0 + of_equal.div_ceil(equal.max(1));
        Some((at, part.deeper(of_nearest, nearest)?))
    };
    parts.iter().enumerate().filter_map(deeper).collect()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
fn rounded_up(count: f64) -> usize {
    count.ceil() as usize
}

#[cfg(test)]
mod tests;
