//! Chooses how to search one column, by estimated cost in nanoseconds.
//!
//! The prices were measured on one core of an EPYC (Zen 4, AVX-512) on 150,000 × 384 vectors of a
//! sentence model, out of cache. What counts are their ratios, which move little between machines.

use serde::{Deserialize, Serialize};

use crate::graph::DISTANCES_PER_EF;

/// How a search went through the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Strategy {
    /// Every vector that passes was measured; the hits are exact.
    Exact,
    /// The graph was walked, without a filter.
    Graph,
    /// The graph was walked under a filter.
    FilteredGraph,
    /// A walk came back with too few hits, then every vector that passes was measured; the hits are
    /// exact.
    ExactAfterGraph,
    /// The code of every vector that passes was measured, then the best vectors themselves.
    Codes,
    /// A walk under a filter was given up, as what passes lies far from the query; then the search
    /// went on as [`Strategy::Codes`].
    CodesAfterGraph,
    /// The codes of the rows in the nearest inverted lists were measured, then the best vectors
    /// themselves. When too few rows passed, the next lists followed, in the end all of them.
    Lists,
}

impl Strategy {
    /// The name by which people are told of it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Exact => "exact",
            Strategy::Graph => "graph",
            Strategy::FilteredGraph => "filtered_graph",
            Strategy::ExactAfterGraph => "exact_after_graph",
            Strategy::Codes => "codes",
            Strategy::CodesAfterGraph => "codes_after_graph",
            Strategy::Lists => "lists",
        }
    }
}

/// How a search goes through a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Measure every row that passes.
    Scan,
    /// Measure the code of every row that passes, then the best rows themselves.
    ScanCodes,
    /// Scan the nearest lists by codes, then measure the best rows.
    ScanLists,
    /// Walk the graph; all rows pass.
    Walk,
    /// Walk the graph through all rows, keep those that pass.
    Sweep,
}

impl Plan {
    /// The name of a plan that was carried through.
    pub(crate) fn strategy(self) -> Strategy {
        match self {
            Plan::Scan => Strategy::Exact,
            Plan::ScanCodes => Strategy::Codes,
            Plan::ScanLists => Strategy::Lists,
            Plan::Walk => Strategy::Graph,
            Plan::Sweep => Strategy::FilteredGraph,
        }
    }
}

/// What a planner expected each way through a column to take, in nanoseconds on one thread out of
/// cache. `None` is a way that the column, or the request, does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prices {
    /// Measuring every vector that passes.
    pub scan_ns: f64,
    /// Measuring the code of every vector that passes, then the best vectors.
    pub codes_ns: Option<f64>,
    /// Walking the graph, under the filter if there is one.
    pub walk_ns: Option<f64>,
    /// Scanning the nearest inverted lists by codes, then measuring the best vectors.
    pub lists_ns: Option<f64>,
}

/// What the choice depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    pub(crate) row_count: usize,
    pub(crate) dimension: usize,
    /// Bytes of a stored vector.
    pub(crate) row_bytes: usize,
    /// Rows that pass the filter, by estimate; `None` without a filter.
    pub(crate) survivors: Option<usize>,
    /// Candidates that a walk would keep.
    pub(crate) ef: usize,
    pub(crate) access: Access,
}

/// What there is beside the vectors, and may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Vectors only.
    Rows,
    /// A graph that is walked by vectors, because they are short.
    Graph,
    /// A graph and codes.
    Codes,
    /// Inverted lists.
    Lists(Probing),
}

/// How many lists there are, and how many a search goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probing {
    pub(crate) lists: usize,
    /// Asked for, or known to stand for `ef`; `None` leaves it to a rule.
    pub(crate) probes: Option<usize>,
}

/// Recall@10 of 150,000 × 384 in 547 lists: .92 at `ef` 40, .94 at 64, .96 at 100, .99 at 200.
const EF_PER_PROBE: f64 = 24.0;

/// The effort that makes so many of all lists, rounded up.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
pub(crate) fn lists_effort(probes: usize, lists: usize) -> u32 {
    let effort = probes as f64 * EF_PER_PROBE / (lists.max(1) as f64).sqrt();
    effort.ceil() as u32
}

/// With at least this share of rows passing, a scan reads all rows in order instead of picking.
pub(crate) const SCAN_ALL_RATIO_MIN: f64 = 0.5;

impl Situation {
    /// What each way is expected to cost.
    pub(crate) fn prices(&self) -> Prices {
        let codes_ns = (self.access == Access::Codes).then(|| self.scan_codes_ns());
        let walk = || self.ef as f64 * DISTANCES_PER_EF as f64 * self.distance_ns();
        Prices {
            scan_ns: self.scan_ns(),
            codes_ns,
            walk_ns: matches!(self.access, Access::Graph | Access::Codes)
                .then(|| walk() / self.pass_ratio() + self.coding_ns()),
            lists_ns: match self.access {
                Access::Lists(probing) => Some(self.lists_ns(probing)),
                Access::Rows | Access::Graph | Access::Codes => None,
            },
        }
    }

    /// The cheapest way that the column allows.
    pub(crate) fn plan(&self) -> Plan {
        let prices = self.prices();
        let walk = match self.survivors {
            None => Plan::Walk,
            Some(_) => Plan::Sweep,
        };
        let (mut plan, mut least_ns) = (Plan::Scan, prices.scan_ns);
        let others = [
            (Plan::ScanCodes, prices.codes_ns),
            (walk, prices.walk_ns),
            (Plan::ScanLists, prices.lists_ns),
        ];
        for (other, ns) in others {
            if let Some(ns) = ns.filter(|&ns| ns < least_ns) {
                (plan, least_ns) = (other, ns);
            }
        }
        plan
    }

    /// What to do when a filtered walk has given up, or found too little.
    pub(crate) fn fallback(&self) -> Plan {
        if self.access == Access::Codes && self.scan_codes_ns() < self.scan_ns() {
            Plan::ScanCodes
        } else {
            Plan::Scan
        }
    }

    /// Distances of a walk that cost as much as the cheapest scan. A filtered walk is given up after
    /// so many: the rows that pass may all be far from the query, and then a walk has no end.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; the cast saturates"
    )]
    pub(crate) fn scan_in_distances(&self) -> u64 {
        (self.scan_ns().min(self.scan_codes_ns()) / self.distance_ns()) as u64
    }

    /// Distances that a walk may take. Without a filter its end is near, whatever the query.
    pub(crate) fn measured_max(&self) -> u64 {
        match self.survivors {
            None => u64::MAX,
            Some(_) => self.scan_in_distances(),
        }
    }

    /// Share of rows that pass, never zero.
    fn pass_ratio(&self) -> f64 {
        let rows = self.row_count.max(1) as f64;
        self.survivors.map_or(1.0, |some| some.max(1) as f64 / rows)
    }

    fn passing(&self) -> f64 {
        self.survivors.unwrap_or(self.row_count) as f64
    }

    /// A row in order costs 74 ns in 384 dimensions, a picked one 190 ns.
    fn scan_ns(&self) -> f64 {
        let bytes = self.row_bytes as f64;
        if self.pass_ratio() < SCAN_ALL_RATIO_MIN {
            self.passing() * (30.0 + bytes / 10.0)
        } else {
            self.row_count as f64 * bytes / 20.0
        }
    }

    /// A picked row of codes costs 27 ns in 384 dimensions, one of all in order 14 ns.
    fn scan_codes_ns(&self) -> f64 {
        if self.access != Access::Codes {
            return f64::INFINITY;
        }
        let dimension = self.dimension as f64;
        let picked = self.passing() * (12.0 + dimension / 25.0);
        picked.min(self.row_count as f64 * (6.0 + dimension / 48.0)) + self.coding_ns()
    }

    /// Turning the query into the form of codes, and measuring the best rows exactly: together 8 µs
    /// in 384 dimensions, which counts when few rows pass.
    fn coding_ns(&self) -> f64 {
        match self.access {
            Access::Codes | Access::Lists(_) => self.dimension as f64 * 20.0,
            Access::Rows | Access::Graph => 0.0,
        }
    }

    /// Lists that a search goes through. Without a number asked for, `ef` says how good the hits shall
    /// be: they are `ef` times the square root of all lists by [`EF_PER_PROBE`], as with more and
    /// smaller lists the hits lie in a smaller share of them. A filter that lets few rows of a list pass
    /// makes it more, since the hits lie farther apart.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; the cast saturates"
    )]
    pub(crate) fn probes(&self, probing: Probing) -> usize {
        let lists = probing.lists as f64;
        let unfiltered = match probing.probes {
            Some(probes) => probes as f64,
            None => self.ef as f64 * lists.sqrt() / EF_PER_PROBE,
        };
        let probes = (unfiltered / self.pass_ratio())
            .ceil()
            .clamp(1.0, lists.max(1.0));
        probes as usize
    }

    /// A centre costs 5 ns in 384 dimensions, a row in a list 3 ns.
    fn lists_ns(&self, probing: Probing) -> f64 {
        let dimension = self.dimension as f64;
        let share = self.probes(probing) as f64 / probing.lists.max(1) as f64;
        let rows = share * self.row_count as f64;
        let centres = probing.lists as f64 * (2.0 + dimension / 128.0);
        centres + rows * (1.0 + dimension / 200.0) + self.coding_ns()
    }

    /// A distance of a walk costs 45 ns by codes of 384 dimensions.
    fn distance_ns(&self) -> f64 {
        let bytes = match self.access {
            Access::Codes => self.dimension as f64 / 2.0,
            Access::Rows | Access::Graph | Access::Lists(_) => self.row_bytes as f64,
        };
        20.0 + bytes / 8.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(row_count: usize, survivors: Option<usize>, ef: usize) -> Situation {
        Situation {
            row_count,
            dimension: 384,
            row_bytes: 1_536,
            survivors,
            ef,
            access: Access::Codes,
        }
    }

    fn check(row_count: usize, survivors: Option<usize>, ef: usize, plan: Plan) {
        let situation = situation(row_count, survivors, ef);
        assert_eq!(situation.plan(), plan, "{situation:?}");
        let rows_only = Situation {
            access: Access::Rows,
            ..situation
        };
        assert_eq!(rows_only.plan(), Plan::Scan);
    }

    #[test]
    fn a_filtered_walk_may_cost_as_much_as_the_scan_it_saves() {
        let some = situation(150_000, Some(75_000), 64);
        assert_eq!(some.fallback(), Plan::ScanCodes);
        assert!((30_000..60_000).contains(&some.measured_max()), "{some:?}");
        assert_eq!(situation(150_000, None, 64).measured_max(), u64::MAX);
    }

    #[test]
    fn lists_are_gone_through_by_effort_and_scanned_past_when_few_rows_pass() {
        let probing = Probing {
            lists: 1_000,
            probes: None,
        };
        let lists = |survivors, ef| Situation {
            access: Access::Lists(probing),
            ..situation(500_000, survivors, ef)
        };
        let mut last = 0;
        for ef in [1, 10, 100, 500, 1_000] {
            let probes = lists(None, ef).probes(probing);
            assert!(probes > last && probes <= 1_000, "ef {ef}: {probes}");
            last = probes;
        }
        let half = lists(Some(250_000), 100).probes(probing);
        assert_eq!(half, 264, "twice as many where half of the rows pass");
        assert_eq!(lists(None, 100).plan(), Plan::ScanLists);
        assert_eq!(lists(Some(250_000), 100).plan(), Plan::ScanLists);
        assert_eq!(lists(Some(500), 100).plan(), Plan::Scan);
        let small = Situation {
            row_count: 100,
            ..lists(None, 100)
        };
        assert_eq!(small.plan(), Plan::Scan);
    }

    #[test]
    fn the_plan_follows_size_selectivity_and_effort() {
        check(500, None, 64, Plan::ScanCodes);
        check(20_000, None, 64, Plan::Walk);
        check(20_000, None, 1_000, Plan::ScanCodes);
        check(20_000, Some(19_000), 64, Plan::Sweep);
        check(20_000, Some(2_000), 64, Plan::ScanCodes);
        check(1_000_000, Some(400_000), 64, Plan::Sweep);
        check(1_000_000, Some(100_000), 64, Plan::Sweep);
        check(20_000_000, Some(400_000), 64, Plan::Sweep);
        check(1_000_000, Some(1_000), 64, Plan::ScanCodes);
        check(1_000_000, Some(30), 64, Plan::Scan);
        check(1_000_000, Some(0), 64, Plan::Scan);
        check(0, None, 1, Plan::Scan);
    }
}
