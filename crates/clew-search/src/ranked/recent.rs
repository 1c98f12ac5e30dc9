//! What was asked for lately, in two generations: when the younger one is full it becomes the older one, so what is
//! kept is bounded and what is asked for again and again stays.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::quality::RandomState;

/// Values by key, and how large they are.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    young: HashMap<K, Kept<V>, RandomState>,
    old: HashMap<K, Kept<V>, RandomState>,
    size: usize,
    size_max: usize,
}

#[derive(Debug)]
struct Kept<V> {
    value: V,
    size: usize,
}

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    /// Keeps at most `size_max` in each of the two generations.
    pub(super) fn new(size_max: usize) -> Self {
        Recent {
            young: HashMap::default(),
            old: HashMap::default(),
            size: 0,
            size_max,
        }
    }

    pub(super) fn get<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(known) = self.young.get(key) {
            return Some(known.value.clone());
        }
        let (key, Kept { value, size }) = self.old.remove_entry(key)?;
        self.put(key, value.clone(), size);
        Some(value)
    }

    /// Keeps a value, unless it is too large to be kept.
    pub(super) fn put(&mut self, key: K, value: V, size: usize) {
        if size > self.size_max {
            return;
        }
        if self.size + size > self.size_max {
            self.old = std::mem::take(&mut self.young);
            self.size = 0;
        }
        self.size += size;
        let before = self.young.insert(key, Kept { value, size });
        self.size -= before.map_or(0, |before| before.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_what_is_in_use_stays() {
        let mut recent: Recent<Box<[u8]>, u32> = Recent::new(1_000);
        recent.put(b"often"[..].into(), 7, 3);
        for number in 0..10_000u32 {
            recent.put(number.to_le_bytes().into(), number, 1 + number as usize % 9);
            let sizes = recent.young.values().chain(recent.old.values());
            assert!(sizes.map(|kept| kept.size).sum::<usize>() <= 2_000);
            if number % 100 == 0 {
                assert_eq!(recent.get(&b"often"[..]), Some(7));
            }
        }
        assert_eq!(recent.get(&0u32.to_le_bytes()[..]), None);
        assert_eq!(recent.get(&9_999u32.to_le_bytes()[..]), Some(9_999));
    }

    #[test]
    fn what_is_put_again_counts_once_and_what_is_too_large_is_not_kept() {
        let mut recent: Recent<Box<[u8]>, u32> = Recent::new(10);
        for number in 0..100 {
            recent.put(b"same"[..].into(), number, 5);
            assert!(recent.size <= 10);
        }
        assert_eq!(recent.get(&b"same"[..]), Some(99));
        recent.put(b"large"[..].into(), 1, 11);
        assert_eq!(recent.get(&b"large"[..]), None);
        assert_eq!(recent.get(&b"same"[..]), Some(99));
    }
}
