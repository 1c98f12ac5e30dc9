//! How often the endpoints were asked for since the node was started, as `_nodes/usage` tells it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

/// How often one endpoint was asked for. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedCount(Arc<AtomicU64>);

impl AskedCount {
    /// Once more.
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The counts of all endpoints, by what OpenSearch calls them; several may be called the same.
#[derive(Debug, Default)]
pub(crate) struct Usage(RwLock<Vec<(String, AskedCount)>>);

impl Usage {
    /// From now on these are told of.
    pub(crate) fn set(&self, counts: Vec<(String, AskedCount)>) {
        *self.0.write() = counts;
    }

    /// Those that were asked for at all.
    pub(crate) fn asked(&self) -> BTreeMap<String, u64> {
        let mut asked = BTreeMap::new();
        for (name, count) in &*self.0.read() {
            let count = count.0.load(Ordering::Relaxed);
            if count > 0 {
                *asked.entry(name.clone()).or_default() += count;
            }
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_of_one_name_are_told_together_and_those_that_nobody_asked_for_not_at_all() {
        let counts: Vec<_> = ["a", "b", "a"]
            .map(|name| (name.to_string(), AskedCount::default()))
            .into();
        for (_, count) in [&counts[0], &counts[0], &counts[2]] {
            count.add_one();
        }
        let usage = Usage::default();
        usage.set(counts);
        assert_eq!(usage.asked(), BTreeMap::from([("a".to_string(), 3)]));
    }
}
