//! Lists of intervals. Every list here is minimal: sorted by start, and so by end too, because no
//! interval contains another one.

use clew_query::IntervalRelation;

/// Positions from `start` to `end`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Positions that none of its parts covers; negative where parts overlap.
    pub(crate) gaps: i64,
}

impl Interval {
    /// The interval of one word.
    pub(crate) fn word(position: u32) -> Self {
        Interval {
            start: position,
            end: position,
            gaps: 0,
        }
    }

    /// How many positions it covers.
    pub(crate) fn width(&self) -> i64 {
        i64::from(self.end) - i64::from(self.start) + 1
    }

    /// From the smallest start to the greatest end of its parts.
    fn around(parts: &[Interval]) -> Option<Self> {
        let start = parts.iter().map(|part| part.start).min()?;
        let end = parts.iter().map(|part| part.end).max()?;
        let covered: i64 = parts.iter().map(Interval::width).sum();
        let whole = Interval {
            start,
            end,
            gaps: 0,
        };
        Some(Interval {
            gaps: whole.width() - covered,
            ..whole
        })
    }

    fn contains(&self, other: &Interval) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The intervals that contain no other one, in order.
pub(crate) fn minimal(mut intervals: Vec<Interval>) -> Vec<Interval> {
    // From the back, an interval is minimal when it ends before all that start later.
    intervals.sort_by_key(|interval| (interval.start, std::cmp::Reverse(interval.end)));
    let mut first_end = None;
    let mut kept: Vec<Interval> = Vec::with_capacity(intervals.len());
    for interval in intervals.into_iter().rev() {
        if first_end.is_none_or(|end| interval.end < end) {
            first_end = Some(interval.end);
            kept.push(interval);
        }
    }
    kept.reverse();
    kept
}

/// One interval of each list, each one beginning after the one before has ended.
pub(crate) fn ordered(lists: &[Vec<Interval>]) -> Vec<Interval> {
    minimal(rows(lists))
}

/// For each interval of the first list the first ones of the others that come after one another.
fn rows(lists: &[Vec<Interval>]) -> Vec<Interval> {
    let Some((first, rest)) = lists.split_first() else {
        return Vec::new();
    };
    let mut places = vec![0; rest.len()];
    let mut found = Vec::new();
    let mut parts = Vec::with_capacity(lists.len());
    'starts: for start in first {
        parts.clear();
        parts.push(*start);
        let mut end = start.end;
        for (list, place) in rest.iter().zip(&mut places) {
            // Starts only grow, so no list is ever read backwards.
            while list.get(*place).is_some_and(|next| next.start <= end) {
                *place += 1;
            }
            let Some(next) = list.get(*place) else {
                break 'starts;
            };
            end = next.end;
            parts.push(*next);
        }
        found.extend(Interval::around(&parts));
    }
    found
}

/// One interval of each list, in any order.
pub(crate) fn unordered(lists: &[Vec<Interval>]) -> Vec<Interval> {
    let mut found = Vec::new();
    each_step(lists, |parts| found.extend(Interval::around(parts)));
    minimal(found)
}

/// Walks all lists together: the one that stands first moves on, until one is at its end.
fn each_step(lists: &[Vec<Interval>], mut put: impl FnMut(&[Interval])) {
    let mut places = vec![0; lists.len()];
    loop {
        let parts: Option<Vec<Interval>> = lists
            .iter()
            .zip(&places)
            .map(|(list, place)| list.get(*place).copied())
            .collect();
        let Some(parts) = parts else {
            return;
        };
        put(&parts);
        let first = parts.iter().enumerate();
        let Some((first, _)) = first.min_by_key(|(_, part)| (part.start, part.end)) else {
            return;
        };
        places[first] += 1;
    }
}

/// One interval of each list, in any order, none over another one or over those joined before.
pub(crate) fn apart(lists: Vec<Vec<Interval>>) -> Vec<Interval> {
    let joined = lists.into_iter().reduce(|all, next| {
        let pair = [all, next];
        let mut either = ordered(&pair);
        let [all, next] = pair;
        either.extend(ordered(&[next, all]));
        minimal(either)
    });
    joined.unwrap_or_default()
}

/// One interval of each list, each one beginning after the one before has ended, with at most so
/// many positions between them; minimal or not.
pub(crate) fn near_in_order(lists: &[Vec<Interval>], slop: i64) -> Vec<Interval> {
    let mut found = rows(lists);
    found.retain(|interval| interval.gaps <= slop);
    found
}

/// One interval of each list, in any order and over one another, with at most so many positions
/// that none covers; minimal or not. How wide they are counts as gaps, as in a score it does.
pub(crate) fn near(lists: &[Vec<Interval>], slop: i64) -> Vec<Interval> {
    let mut found = Vec::new();
    let mut last = 0;
    each_step(lists, |parts| {
        let Some(whole) = Interval::around(parts) else {
            return;
        };
        // The end that was reached stays, even when what reached it has moved on.
        last = whole.end.max(last);
        let moved = i64::from(last - whole.end);
        let wide = Interval {
            end: last,
            gaps: whole.width() + moved,
            ..whole
        };
        if whole.gaps + moved <= slop {
            found.push(wide);
        }
    });
    found
}

/// So many neighbours of one list.
pub(crate) fn repeated(list: &[Interval], times: usize) -> Vec<Interval> {
    minimal(
        list.windows(times.max(1))
            .filter_map(Interval::around)
            .collect(),
    )
}

/// The intervals that lie to the filter's as wanted.
pub(crate) fn related(
    list: Vec<Interval>,
    relation: IntervalRelation,
    filter: &[Interval],
) -> Vec<Interval> {
    let mut list = list;
    list.retain(|interval| lies(interval, relation, filter));
    list
}

fn lies(interval: &Interval, relation: IntervalRelation, filter: &[Interval]) -> bool {
    // Both starts and ends ascend, so one place decides for the whole list.
    let containing = || {
        let at = filter.partition_point(|other| other.start < interval.start);
        filter.get(at).is_some_and(|other| interval.contains(other))
    };
    let contained = || {
        let at = filter.partition_point(|other| other.end < interval.end);
        filter.get(at).is_some_and(|other| other.contains(interval))
    };
    let overlapping = || {
        let at = filter.partition_point(|other| other.end < interval.start);
        filter
            .get(at)
            .is_some_and(|other| other.start <= interval.end)
    };
    match relation {
        IntervalRelation::Containing => containing(),
        IntervalRelation::NotContaining => apart_from(interval, filter),
        IntervalRelation::ContainedBy => contained(),
        IntervalRelation::NotContainedBy => !contained(),
        IntervalRelation::Overlapping => overlapping(),
        IntervalRelation::NotOverlapping => !overlapping(),
        IntervalRelation::Before => filter
            .last()
            .is_some_and(|other| interval.end < other.start),
        IntervalRelation::After => filter
            .first()
            .is_some_and(|other| other.end < interval.start),
    }
}

/// As OpenSearch has "not containing": the first one of the filter's that does not both begin and
/// end earlier must begin behind the interval, so that one that overlaps it counts too.
fn apart_from(interval: &Interval, filter: &[Interval]) -> bool {
    let at =
        filter.partition_point(|other| other.start < interval.start && other.end < interval.end);
    filter
        .get(at)
        .is_none_or(|other| other.start > interval.end)
}

#[cfg(test)]
mod tests;
