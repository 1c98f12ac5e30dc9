//! Turns the finds of a walk by codes into hits: the best of them are measured exactly, as many as
//! the codes' error calls for.

use std::ops::Range;

use clew_platform::Pace;

use crate::VectorError;
use crate::column::Integrity;
use crate::rank::Ranked;
use crate::rows::{Probe, RowProbe};

/// Rows measured at most before it is asked again whether more could matter: eight, or a part of those that are wanted, as
/// whoever wants thousands has thousands put in order each time.
fn step_rows(wanted: usize) -> usize {
    const ROWS_MIN: usize = 8;
    const PART: usize = 64;
    ROWS_MIN.max(wanted / PART)
}

/// What hits are measured by.
pub(crate) struct Rerank<'a> {
    pub(crate) probe: &'a RowProbe<'a>,
    pub(crate) integrity: &'a Integrity<'a>,
    /// A row is left out when its estimate lies this far behind the `k`-th exact hit, or the limit.
    pub(crate) margin: f32,
    /// Farther rows are no hits.
    pub(crate) limit: f32,
}

/// Where rows lie that are measured exactly.
pub(crate) trait Placed {
    /// What a row is measured by, and its number there.
    fn place(&self, row: u32) -> (&RowProbe<'_>, &Integrity<'_>, u32);
    /// Is told of rows that were measured.
    fn count(&mut self, measured: &[Ranked]);
}

/// The rows of one column.
pub(crate) struct OwnRows<'a> {
    probe: &'a RowProbe<'a>,
    integrity: &'a Integrity<'a>,
    measured: u64,
}

impl<'a> OwnRows<'a> {
    pub(crate) fn new(probe: &'a RowProbe<'a>, integrity: &'a Integrity<'a>) -> Self {
        OwnRows {
            probe,
            integrity,
            measured: 0,
        }
    }

    /// How many were measured.
    pub(crate) fn measured(&self) -> u64 {
        self.measured
    }
}

impl Placed for OwnRows<'_> {
    #[inline]
    fn place(&self, row: u32) -> (&RowProbe<'_>, &Integrity<'_>, u32) {
        (self.probe, self.integrity, row)
    }

    fn count(&mut self, measured: &[Ranked]) {
        self.measured += measured.len() as u64;
    }
}

/// A row that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Measured {
    /// How far it lies, or how near it said that it may lie if that is farther.
    bound: Ranked,
    exact: Ranked,
}

/// The nearest rows of a stream of which each says how near it may lie at best. A row is never taken to lie nearer than it
/// said, so that which are found does not depend on the order in which they come.
pub(crate) struct Nearest<R> {
    rows: R,
    k: usize,
    distance_max: f32,
    /// The nearest that were measured, at most `k` and in order.
    nearest: Vec<Measured>,
    /// Those that are being measured; in the end all, by distance.
    exact: Vec<Ranked>,
    /// Rows that may still be among them, by how near they may lie.
    waiting: Vec<Ranked>,
    /// Length at which some of those that wait are measured, so that others need not be.
    full: usize,
    damage: Option<VectorError>,
}

impl<R: Placed> Nearest<R> {
    /// The `k` nearest, at least one, of those within a distance. `exact` and `waiting` are memory to be used again.
    pub(crate) fn new(
        rows: R,
        (k, distance_max): (usize, f32),
        (mut exact, mut waiting): (Vec<Ranked>, Vec<Ranked>),
    ) -> Self {
        exact.clear();
        waiting.clear();
        Nearest {
            rows,
            k,
            distance_max,
            nearest: Vec::new(),
            exact,
            waiting,
            full: Self::WAITING_MIN.max(2 * k),
            damage: None,
        }
    }

    const WAITING_MIN: usize = 64;

    /// Has what other columns have found for the same vector among the nearest: at most `k`.
    pub(crate) fn with_others(mut self, others: &[Ranked]) -> Self {
        // Nothing here is expanded: the mark tells them apart.
        let others = others.iter().map(|other| other.mark_expanded());
        self.nearest.extend(others.map(|exact| Measured {
            bound: exact,
            exact,
        }));
        self.nearest.sort_unstable();
        self
    }

    /// Rows that may not lie nearer than this are no hits.
    #[inline]
    pub(crate) fn limit(&self) -> f32 {
        match self.nearest.get(self.k - 1) {
            Some(worst) => worst.bound.distance().min(self.distance_max),
            None => self.distance_max,
        }
    }

    /// Where the rows lie.
    pub(crate) fn rows(&self) -> &R {
        &self.rows
    }

    /// Rows taken in that may be hits.
    pub(crate) fn len(&self) -> usize {
        self.nearest.len() + self.waiting.len()
    }

    /// Takes in a row within the limit.
    #[inline]
    pub(crate) fn push(&mut self, one: Ranked) {
        self.waiting.push(one);
        if self.waiting.len() >= self.full {
            self.tighten();
            self.full = Self::WAITING_MIN.max(2 * self.waiting.len());
        }
    }

    /// Measures the most promising, so that the limit comes nearer.
    pub(crate) fn tighten(&mut self) {
        let count = self.k.min(self.waiting.len());
        if count == 0 {
            return;
        }
        self.waiting.select_nth_unstable(count - 1);
        self.measure(0..count);
        self.waiting.drain(..count);
        let limit = self.limit();
        self.waiting.retain(|one| one.distance() <= limit);
    }

    fn measure(&mut self, range: Range<usize>) {
        let rows = &self.waiting[range];
        self.exact.clear();
        match measure(&self.rows, rows.iter().copied(), &mut self.exact) {
            Ok(_) => self.rows.count(&self.exact),
            Err(damage) => self.damage = Some(damage),
        }
        let bounds = rows.iter().zip(&self.exact);
        self.nearest.extend(bounds.map(|(&said, &exact)| Measured {
            bound: said.max(exact),
            exact,
        }));
        // Most are in order already, which this sort makes use of.
        self.nearest.sort();
        self.nearest.truncate(self.k);
    }

    /// The nearest of these rows in order, the memory of those that waited, and where they lie. Where the request that the
    /// thread works for is over, some may be missing.
    pub(crate) fn finish(mut self) -> Result<(Vec<Ranked>, Vec<Ranked>, R), VectorError> {
        self.waiting.sort_unstable();
        let (mut at, step) = (0, step_rows(self.k));
        let mut pace = Pace::of_blocks();
        while let Some(next) = self.waiting.get(at)
            && next.distance() <= self.limit()
            && !pace.is_over()
        {
            let end = self.waiting.len().min(at + step);
            self.measure(at..end);
            at = end;
        }
        if let Some(damage) = self.damage {
            return Err(damage);
        }
        self.exact.clear();
        let nearest = self.nearest.iter().map(|one| one.exact);
        self.exact.extend(nearest.filter(|one| !one.is_expanded()));
        self.exact.sort_unstable();
        Ok((self.exact, self.waiting, self.rows))
    }
}

impl Rerank<'_> {
    /// Fills `exact` with the `k` nearest of the ordered `found`, by exact distance, and answers how
    /// many were measured. Where the request that the thread works for is over, some may be missing.
    pub(crate) fn run(
        &self,
        found: impl Iterator<Item = Ranked>,
        k: usize,
        exact: &mut Vec<Ranked>,
    ) -> Result<u64, VectorError> {
        exact.clear();
        let mut found = found.peekable();
        let (mut measured, mut pace) = (0, Pace::of_blocks());
        while let Some(next) = found.peek().filter(|_| !pace.is_over()) {
            // Sorted so far, cut to the best k.
            let worst = exact.get(k - 1).map(|worst| worst.distance());
            let limit = worst.map_or(self.limit, |worst| worst.min(self.limit));
            let is_beyond = |one: &Ranked| one.distance() > limit + self.margin;
            if is_beyond(next) {
                break;
            }
            let wanted = match measured {
                0 if self.limit == f32::INFINITY => k,
                _ => step_rows(k),
            };
            let step = std::iter::from_fn(|| found.next_if(|one| !is_beyond(one)));
            let rows = OwnRows::new(self.probe, self.integrity);
            measured += measure(&rows, step.take(wanted), exact)?;
            // Most are in order already, which this sort makes use of.
            exact.sort();
            exact.truncate(k);
        }
        Ok(measured as u64)
    }
}

/// Measures rows exactly, behind those that were measured before; answers how many.
fn measure(
    rows: &impl Placed,
    found: impl Iterator<Item = Ranked>,
    exact: &mut Vec<Ranked>,
) -> Result<usize, VectorError> {
    let start = exact.len();
    for one in found {
        let (probe, integrity, row) = rows.place(one.row());
        integrity.touch_vector(row)?;
        probe.prefetch(row);
        exact.push(one);
    }
    for one in &mut exact[start..] {
        let (probe, _, row) = rows.place(one.row());
        let mut distance = [0.0];
        probe.measure(&[row], &mut distance);
        *one = Ranked::new(distance[0], one.row());
    }
    Ok(exact.len() - start)
}
