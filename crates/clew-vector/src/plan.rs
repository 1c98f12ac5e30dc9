//! Chooses how to search one column, by estimated cost. The unit of cost is one row of a scan in
//! order.
//!
//! The constants were measured on one core of an EPYC (Zen 4, AVX-512), on 20,000 × 128 and
//! 150,000 × 384 clustered vectors with m 16. They are ratios, and move little between machines.

/// How a search goes through a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Measure every row that passes.
    Scan,
    /// Walk the graph; all rows pass.
    Walk,
    /// Walk the graph through all rows, keep those that pass.
    Sweep,
    /// Walk only rows that pass, reaching over those that do not.
    TwoHop,
}

/// What the choice depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    pub(crate) row_count: usize,
    /// Rows that pass the filter, by estimate; `None` without a filter.
    pub(crate) survivors: Option<usize>,
    /// Candidates that a walk would keep.
    pub(crate) ef: usize,
    pub(crate) has_graph: bool,
}

/// With at least this share of rows passing, a scan reads all rows in order instead of picking.
pub(crate) const SCAN_ALL_RATIO_MIN: f64 = 0.5;
/// Price of a row that a scan picks: 17 ns, where one in order takes 11 ns.
const PICKED_ROW_COST: f64 = 1.6;
/// Price of a walk per candidate kept: at ef 64, 37 µs in 128 dimensions (53 rows of 11 ns) and
/// 170 µs in 384 (37 rows of 71 ns, out of cache).
const WALK_COST_PER_EF: f64 = 45.0;
/// Price of a two-hop walk per candidate kept: 172 µs at ef 64, whether 10, 20 or 30 % pass.
const TWO_HOP_COST_PER_EF: f64 = 200.0;
/// Below this share of passing rows a two-hop walk is cheaper than a sweep (20 %: 172 against
/// 191 µs and more; 30 %: 173 against 112 µs).
const TWO_HOP_RATIO_MAX: f64 = 0.25;
/// Below this share of passing rows the graph of those that pass falls apart, and a two-hop walk keeps
/// more candidates in proportion (150,000 × 384, 10 % pass: recall@10 0.970 with 64, 0.986 with 128;
/// 5 % pass: 0.81 with 64, 0.89 with 128).
const FULL_EF_RATIO: f64 = 0.2;
/// A walk that needs more than this many times the candidates is not worth it.
const EF_FACTOR_MAX: f64 = 16.0;
/// Price of one distance of a walk, in picked rows (50 against 20 ns); decides when a walk has cost a
/// scan.
const WALK_DISTANCE_ROWS: usize = 2;

impl Situation {
    /// The cheapest way that the column allows.
    pub(crate) fn plan(&self) -> Plan {
        if !self.has_graph || self.scan_cost() <= self.walk_cost() {
            return Plan::Scan;
        }
        match self.survivors {
            None => Plan::Walk,
            Some(_) if self.pass_ratio() < TWO_HOP_RATIO_MAX => Plan::TwoHop,
            Some(_) => Plan::Sweep,
        }
    }

    /// Distances after which a filtered walk is given up, as the scan would have been cheaper: the
    /// rows that pass may all be far from the query, and then a walk has no end.
    pub(crate) fn measured_max(&self) -> u64 {
        self.survivors.map_or(u64::MAX, |survivors| {
            (survivors / WALK_DISTANCE_ROWS) as u64
        })
    }

    /// Candidates that a walk by `plan` keeps.
    pub(crate) fn ef(&self, plan: Plan) -> usize {
        match plan {
            Plan::Scan | Plan::Walk | Plan::Sweep => self.ef,
            Plan::TwoHop => self.ef_two_hop(),
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive factor of at most sixteen; the cast saturates"
    )]
    fn ef_two_hop(&self) -> usize {
        let ratio = self.pass_ratio().max(f64::MIN_POSITIVE);
        let factor = (FULL_EF_RATIO / ratio).clamp(1.0, EF_FACTOR_MAX);
        ((self.ef as f64 * factor) as usize).min(self.row_count)
    }

    fn pass_ratio(&self) -> f64 {
        self.survivors
            .map_or(1.0, |some| some as f64 / self.row_count.max(1) as f64)
    }

    fn scan_cost(&self) -> f64 {
        match self.survivors {
            Some(some) if self.pass_ratio() < SCAN_ALL_RATIO_MIN => some as f64 * PICKED_ROW_COST,
            _ => self.row_count as f64,
        }
    }

    fn walk_cost(&self) -> f64 {
        let ratio = self.pass_ratio();
        if ratio < TWO_HOP_RATIO_MAX {
            self.ef_two_hop() as f64 * TWO_HOP_COST_PER_EF
        } else {
            self.ef as f64 * WALK_COST_PER_EF / ratio
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row_count: usize, survivors: Option<usize>, ef: usize, plan: Plan) {
        let situation = Situation {
            row_count,
            survivors,
            ef,
            has_graph: true,
        };
        assert_eq!(situation.plan(), plan, "{situation:?}");
        assert_eq!(
            Situation {
                has_graph: false,
                ..situation
            }
            .plan(),
            Plan::Scan
        );
    }

    #[test]
    fn fewer_passing_rows_make_a_walk_keep_more_candidates() {
        let ef = |survivors, plan| {
            let survivors = Some(survivors);
            Situation {
                row_count: 1_000_000,
                survivors,
                ef: 64,
                has_graph: true,
            }
            .ef(plan)
        };
        assert_eq!(ef(240_000, Plan::TwoHop), 64);
        assert_eq!(ef(100_000, Plan::TwoHop), 128);
        assert_eq!(ef(0, Plan::TwoHop), 1_024);
        assert_eq!(ef(100_000, Plan::Sweep), 64);
    }

    #[test]
    fn the_plan_follows_size_selectivity_and_effort() {
        check(1_000, None, 64, Plan::Scan);
        check(20_000, None, 64, Plan::Walk);
        check(20_000, None, 1_000, Plan::Scan);
        check(20_000, Some(19_000), 64, Plan::Sweep);
        check(20_000, Some(2_000), 64, Plan::Scan);
        check(1_000_000, Some(400_000), 64, Plan::Sweep);
        check(1_000_000, Some(100_000), 64, Plan::TwoHop);
        check(1_000_000, Some(1_000), 64, Plan::Scan);
        check(1_000_000, Some(0), 64, Plan::Scan);
        check(0, None, 1, Plan::Scan);
    }
}
