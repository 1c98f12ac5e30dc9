//! What takes long to make of a definition is made once, for all threads, and kept under its name.

use std::collections::BTreeMap;
use std::fmt;

use parking_lot::Mutex;

/// Values by their names: a bounded number of them, for as long as the program runs. When they are as many as may be, all go
/// before another comes: those that are in use are soon there again, and it need not be known which ones are.
pub struct KeptReady<T> {
    count_max: usize,
    by_name: Mutex<BTreeMap<String, T>>,
}

impl<T> KeptReady<T> {
    /// Room for `count_max` values.
    pub const fn new(count_max: usize) -> Self {
        KeptReady {
            count_max,
            by_name: Mutex::new(BTreeMap::new()),
        }
    }

    /// What `take` takes of the value of a name, if there is one. Others wait meanwhile: it should be no more than a
    /// comparison and a clone.
    pub fn get<R>(&self, name: &str, take: impl FnOnce(&T) -> Option<R>) -> Option<R> {
        take(self.by_name.lock().get(name)?)
    }

    /// Keeps a value, in place of the one of the same name. Whoever makes values holds no lock: two may make the same one.
    pub fn keep(&self, name: &str, value: T) {
        let mut by_name = self.by_name.lock();
        if by_name.len() >= self.count_max {
            by_name.clear();
        }
        by_name.insert(name.to_string(), value);
    }
}

impl<T> fmt::Debug for KeptReady<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.by_name.lock().len();
        f.debug_struct("KeptReady").field("kept", &kept).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_under_their_names_until_there_are_too_many() {
        let kept = KeptReady::new(2);
        let get = |name: &str| kept.get(name, |value: &u32| Some(*value));
        assert_eq!(get("a"), None);
        kept.keep("a", 1);
        kept.keep("b", 2);
        assert_eq!((get("a"), get("b")), (Some(1), Some(2)));
        assert_eq!(kept.get("a", |value| (*value > 1).then_some(())), None);
        kept.keep("c", 3);
        assert_eq!((get("a"), get("b"), get("c")), (None, None, Some(3)));
    }
}
