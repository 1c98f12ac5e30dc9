//! What is kept for each of a few names, found without a lock: names are never taken away.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use foldhash::quality::FixedState;

/// Names at most; those that come when it is full are told together, under the name that is empty.
const NAMES_MAX: usize = 128;

/// One value for each name, made when it is asked for first.
pub(super) struct ByName<N, T> {
    /// Names are the program's own: nobody chooses them so that they collide.
    hasher: FixedState,
    places: Box<[OnceLock<(N, T)>]>,
    others: OnceLock<T>,
}

impl<N: Copy + Default + Eq + Hash, T> ByName<N, T> {
    pub(super) fn new() -> Self {
        ByName {
            hasher: FixedState::default(),
            places: (0..NAMES_MAX).map(|_| OnceLock::new()).collect(),
            others: OnceLock::new(),
        }
    }

    /// The value of a name.
    pub(super) fn get(&self, name: N, make: impl Fn(N) -> T) -> &T {
        let hash = self.hasher.hash_one(name);
        let first = usize::try_from(hash % NAMES_MAX as u64).unwrap_or_default();
        let (before, from) = self.places.split_at(first);
        for place in from.iter().chain(before) {
            let (found, value) = place.get_or_init(|| (name, make(name)));
            if *found == name {
                return value;
            }
        }
        self.others.get_or_init(|| make(N::default()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_value_is_made_once_for_each_name_and_once_for_all_that_are_too_many() {
        let made = AtomicUsize::new(0);
        let all: ByName<usize, usize> = ByName::new();
        let get = |name| {
            *all.get(name, |name| {
                made.fetch_add(1, Ordering::Relaxed);
                name
            })
        };
        for _ in 0..2 {
            for name in 1..=NAMES_MAX {
                assert_eq!(get(name), name);
            }
            assert_eq!((get(1000), get(1001)), (0, 0));
        }
        assert_eq!(made.load(Ordering::Relaxed), NAMES_MAX + 1);
    }
}
