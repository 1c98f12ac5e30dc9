//! Long lists are sorted in steps, between which the work can be left off.

use std::cmp::Ordering;

use crate::cancellation::stopped;

/// So many items are sorted in one step: a fraction of a millisecond.
const RUN: usize = 4096;

/// The items in order, equal ones as they were; `None` once the work of this thread is to be left off ([`stopped`]), which
/// is asked for each some thousand items. Takes n log n, like the standard library's, and room for as many items again.
pub fn sorted_while_wanted<T>(
    items: Vec<T>,
    compare: impl FnMut(&T, &T) -> Ordering,
) -> Option<Vec<T>> {
    sorted_while(items, compare, || !stopped())
}

/// The same for work that has an end of its own: `goes_on` is asked instead.
pub fn sorted_while<T>(
    mut items: Vec<T>,
    mut compare: impl FnMut(&T, &T) -> Ordering,
    mut goes_on: impl FnMut() -> bool,
) -> Option<Vec<T>> {
    if items.len() <= RUN && goes_on() {
        items.sort_by(&mut compare);
        return Some(items);
    }
    let mut runs = Vec::with_capacity(items.len().div_ceil(RUN));
    let mut items = items.into_iter();
    loop {
        let mut run: Vec<T> = items.by_ref().take(RUN).collect();
        if run.is_empty() {
            break;
        }
        if !goes_on() {
            return None;
        }
        run.sort_by(&mut compare);
        runs.push(run);
    }
    while runs.len() > 1 {
        let mut longer = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(first) = pairs.next() {
            longer.push(match pairs.next() {
                Some(second) => merged((first, second), &mut compare, &mut goes_on)?,
                None => first,
            });
        }
        runs = longer;
    }
    Some(runs.pop().unwrap_or_default())
}

fn merged<T>(
    (first, second): (Vec<T>, Vec<T>),
    compare: &mut impl FnMut(&T, &T) -> Ordering,
    goes_on: &mut impl FnMut() -> bool,
) -> Option<Vec<T>> {
    let mut all = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(a), Some(b)) = (first.peek(), second.peek()) {
        if all.len().is_multiple_of(RUN) && !goes_on() {
            return None;
        }
        let next = match compare(a, b) {
            Ordering::Greater => second.next(),
            Ordering::Less | Ordering::Equal => first.next(),
        };
        all.extend(next);
    }
    all.extend(first);
    all.extend(second);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CancellationToken;

    /// Numbers with few distinct keys, each with its place.
    fn items(count: usize) -> Vec<(u64, usize)> {
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 54
        };
        (0..count).map(|place| (next(), place)).collect()
    }

    #[test]
    fn any_number_of_items_is_sorted_as_by_the_standard_library() {
        for count in [0, 1, 2, RUN - 1, RUN, RUN + 1, 2 * RUN, 5 * RUN + 77] {
            let mut wanted = items(count);
            wanted.sort_by_key(|(key, _)| *key);
            let sorted = sorted_while_wanted(items(count), |a, b| a.0.cmp(&b.0));
            assert_eq!(sorted, Some(wanted), "{count}");
        }
    }

    #[test]
    fn nothing_is_sorted_for_nobody() {
        let token = CancellationToken::new();
        let _entered = token.enter();
        let mut left = 10 * RUN;
        // Cancelled in the middle of a comparison.
        let compare = |a: &(u64, usize), b: &(u64, usize)| {
            left = left.saturating_sub(1);
            if left == 0 {
                token.cancel("by user request");
            }
            a.0.cmp(&b.0)
        };
        assert_eq!(sorted_while_wanted(items(40 * RUN), compare), None);
        assert_eq!(left, 0);
    }
}
