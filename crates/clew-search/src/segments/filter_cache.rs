//! What filters leave of a segment, kept for the next search with the same filter. A segment never changes, so
//! an answer stays true until the segment goes; deleted documents may be among it.
//!
//! A filter's answer is kept from its second use on: most filters never come again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::index::SegmentId;

use super::bits::SegmentBits;
use crate::cache_room::cache_bytes;

/// Memory that the answers of a shard may take, where there is much of it.
const BYTES_MAX: usize = 32 << 20;
/// Filters that are remembered as used once.
const SEEN_MAX: usize = 256;

type Key = (SegmentId, Arc<str>);

/// Answers of filters over one shard.
#[derive(Default)]
pub struct FilterCache(Mutex<State>);

/// How much a cache holds and how much it helped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterCacheFigures {
    /// Memory that the answers take.
    pub bytes: u64,
    /// Answers that are kept.
    pub count: u64,
    /// Answers that were there when asked for.
    pub hits: u64,
    /// Answers that were not.
    pub misses: u64,
    /// Answers that were kept ever.
    pub kept: u64,
    /// Answers that gave way to others or went with their segment.
    pub evictions: u64,
}

impl FilterCacheFigures {
    /// Adds another cache's.
    pub fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.count += other.count;
        self.hits += other.hits;
        self.misses += other.misses;
        self.kept += other.kept;
        self.evictions += other.evictions;
    }
}

#[derive(Default)]
struct State {
    answers: BTreeMap<Key, (u64, Arc<SegmentBits>)>,
    /// Counts uses; the answer with the lowest goes first.
    clock: u64,
    seen: VecDeque<Arc<str>>,
    figures: FilterCacheFigures,
}

impl fmt::Debug for FilterCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "FilterCache({:?})", self.figures())
    }
}

impl FilterCache {
    /// What the cache holds.
    pub fn figures(&self) -> FilterCacheFigures {
        self.0.lock().figures
    }

    /// Whether the filter is in use; it is from its second use on.
    pub(crate) fn is_in_use(&self, name: &Arc<str>) -> bool {
        let mut state = self.0.lock();
        if state.seen.iter().any(|seen| seen == name) {
            return true;
        }
        if state.seen.len() >= SEEN_MAX {
            state.seen.pop_front();
        }
        state.seen.push_back(name.clone());
        state.figures.misses += 1;
        false
    }

    pub(crate) fn get(&self, segment: SegmentId, name: &Arc<str>) -> Option<Arc<SegmentBits>> {
        let mut state = self.0.lock();
        state.clock += 1;
        let now = state.clock;
        let found = state.answers.get_mut(&(segment, name.clone()));
        let found = found.map(|(used, bits)| {
            *used = now;
            bits.clone()
        });
        match found {
            Some(_) => state.figures.hits += 1,
            None => state.figures.misses += 1,
        }
        found
    }

    pub(crate) fn put(&self, segment: SegmentId, name: Arc<str>, bits: Arc<SegmentBits>) {
        let size = bytes_of(&name, &bits);
        let bytes_max = cache_bytes(BYTES_MAX) as u64;
        if size > bytes_max {
            return;
        }
        let mut state = self.0.lock();
        state.clock += 1;
        let now = state.clock;
        state.drop_where(|key, _| *key == (segment, name.clone()));
        while state.figures.bytes + size > bytes_max {
            let Some(oldest) = state.answers.values().map(|(used, _)| *used).min() else {
                break;
            };
            state.drop_where(|_, used| used == oldest);
        }
        state.figures.bytes += size;
        state.figures.count += 1;
        state.figures.kept += 1;
        state.answers.insert((segment, name), (now, bits));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.0.lock().drop_where(|_, _| true);
    }

    /// Forgets what was left of segments that are no more.
    pub(crate) fn keep(&self, living: &BTreeSet<SegmentId>) {
        let mut state = self.0.lock();
        state.drop_where(|(segment, _), _| !living.contains(segment));
    }

    /// An empty cache that goes on counting.
    pub(crate) fn emptied(&self) -> Self {
        let figures = self.0.lock().figures;
        FilterCache(Mutex::new(State {
            figures: FilterCacheFigures {
                bytes: 0,
                count: 0,
                evictions: figures.evictions + figures.count,
                ..figures
            },
            ..State::default()
        }))
    }
}

impl State {
    fn drop_where(&mut self, goes: impl Fn(&Key, u64) -> bool) {
        let State {
            answers, figures, ..
        } = self;
        answers.retain(|key, (used, bits)| {
            let stays = !goes(key, *used);
            if !stays {
                figures.bytes -= bytes_of(&key.1, bits);
                figures.count -= 1;
                figures.evictions += 1;
            }
            stays
        });
    }
}

fn bytes_of(name: &str, bits: &SegmentBits) -> u64 {
    (name.len() + size_of_val(bits.words())) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> SegmentId {
        SegmentId::from_uuid_string(&format!("{number:032x}")).unwrap()
    }

    fn bits(docs: u32) -> Arc<SegmentBits> {
        Arc::new(SegmentBits::empty(docs))
    }

    #[test]
    fn a_filter_is_in_use_from_the_second_time_on() {
        let cache = FilterCache::default();
        assert!(!cache.is_in_use(&"a".into()));
        assert!(cache.is_in_use(&"a".into()));
        for number in 0..SEEN_MAX {
            cache.is_in_use(&number.to_string().into());
        }
        assert!(!cache.is_in_use(&"a".into()));
    }

    #[test]
    fn the_answer_that_was_not_used_longest_gives_way() {
        let cache = FilterCache::default();
        // Three of these fit.
        let docs = u32::try_from(BYTES_MAX * 8 / 10 * 3).unwrap();
        for name in ["a", "b", "c"] {
            cache.put(id(1), name.into(), bits(docs));
        }
        assert!(cache.get(id(1), &"a".into()).is_some());
        cache.put(id(1), "d".into(), bits(docs));
        let kept = ["a", "b", "c", "d"].map(|name| cache.get(id(1), &name.into()).is_some());
        assert_eq!(kept, [true, false, true, true]);
        let figures = cache.figures();
        assert!(figures.bytes <= BYTES_MAX as u64);
        assert_eq!((figures.count, figures.kept, figures.evictions), (3, 4, 1));
        assert_eq!((figures.hits, figures.misses), (4, 1));
    }

    #[test]
    fn answers_go_with_their_segments() {
        let cache = FilterCache::default();
        cache.put(id(1), "a".into(), bits(100));
        cache.put(id(2), "a".into(), bits(100));
        cache.keep(&[id(2)].into());
        assert!(cache.get(id(1), &"a".into()).is_none());
        assert!(cache.get(id(2), &"a".into()).is_some());
        assert_eq!(cache.emptied().figures().bytes, 0);
    }
}
