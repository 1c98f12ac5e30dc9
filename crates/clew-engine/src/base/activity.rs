//! What has been asked of an index since it was opened: how often, and how long it took.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_platform::whole_ns;
use parking_lot::Mutex;

/// Groups that searches may name; the others are not counted by group.
const GROUPS_MAX: usize = 1_000;

/// How often something was done, and how long it took in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Times.
    pub total: u64,
    /// Time in nanoseconds.
    pub ns: u64,
}

impl Counted {
    /// The time in milliseconds.
    pub fn millis(&self) -> u64 {
        self.ns / 1_000_000
    }

    pub(crate) fn add(&mut self, other: Counted) {
        self.total += other.total;
        self.ns += other.ns;
    }

    fn once(took: Duration) -> Self {
        Counted {
            total: 1,
            ns: whole_ns(took),
        }
    }
}

/// Searches of one kind: of all, or of those that named a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchActivity {
    /// Searches of a shard.
    pub queries: Counted,
    /// Answers whose hits were read from this index.
    pub fetches: Counted,
}

/// Counts that many threads add to at once.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    queries: Timed,
    fetches: Timed,
    groups: Mutex<BTreeMap<String, SearchActivity>>,
    pub(crate) gets_found: Timed,
    pub(crate) gets_missing: Timed,
    pub(crate) writes: Timed,
}

#[derive(Debug, Default)]
pub(crate) struct Timed {
    total: AtomicU64,
    ns: AtomicU64,
}

impl Timed {
    pub(crate) fn add(&self, took: Duration) {
        let once = Counted::once(took);
        self.total.fetch_add(once.total, Ordering::Relaxed);
        self.ns.fetch_add(once.ns, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counted {
        Counted {
            total: self.total.load(Ordering::Relaxed),
            ns: self.ns.load(Ordering::Relaxed),
        }
    }
}

impl Activity {
    /// Counts the search of one shard.
    pub(crate) fn queried(&self, groups: &[String], took: Duration) {
        self.queries.add(took);
        self.in_groups(groups, |group| group.queries.add(Counted::once(took)));
    }

    /// Counts the reading of an answer's hits.
    pub(crate) fn fetched(&self, groups: &[String], took: Duration) {
        self.fetches.add(took);
        self.in_groups(groups, |group| group.fetches.add(Counted::once(took)));
    }

    pub(crate) fn searches(&self) -> SearchActivity {
        SearchActivity {
            queries: self.queries.read(),
            fetches: self.fetches.read(),
        }
    }

    pub(crate) fn groups(&self) -> BTreeMap<String, SearchActivity> {
        self.groups.lock().clone()
    }

    fn in_groups(&self, names: &[String], count: impl Fn(&mut SearchActivity)) {
        if names.is_empty() {
            return;
        }
        let mut groups = self.groups.lock();
        for name in names {
            if let Some(group) = groups.get_mut(name) {
                count(group);
            } else if groups.len() < GROUPS_MAX {
                count(groups.entry(name.clone()).or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_counted_in_all_and_by_a_bounded_number_of_groups() {
        let activity = Activity::default();
        let took = Duration::from_millis(2);
        activity.queried(&[], took);
        activity.queried(&["a".to_string(), "b".to_string()], took);
        activity.fetched(&["a".to_string()], took);
        let searches = activity.searches();
        assert_eq!((searches.queries.total, searches.queries.millis()), (2, 4));
        assert_eq!(searches.fetches.total, 1);
        let groups = activity.groups();
        assert_eq!(
            (groups["a"].fetches.total, groups["b"].fetches.total),
            (1, 0)
        );
        for number in 0..2 * GROUPS_MAX {
            activity.queried(&[number.to_string()], took);
        }
        assert_eq!(activity.groups().len(), GROUPS_MAX);
        assert_eq!(activity.groups()["b"].queries.total, 1);
    }
}
