//! What rooms keep for as long as the server runs (open scrolls, snapshots being taken, and the like): each has a type
//! of its own, which the rooms below it need not know.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

type Part = Arc<dyn Any + Send + Sync>;

/// One value of each type that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Parts(RwLock<HashMap<TypeId, Part>>);

impl Parts {
    /// The value of a type, made when it is asked for first.
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let known = self.0.read().get(&TypeId::of::<T>()).cloned();
        let part = known.unwrap_or_else(|| {
            let mut parts = self.0.write();
            parts
                .entry(TypeId::of::<T>())
                .or_insert_with(|| Arc::new(T::default()))
                .clone()
        });
        part.downcast()
            .unwrap_or_else(|_| unreachable!("a part is kept under its own type"))
    }

    /// Puts a value in its place.
    #[cfg(any(test, feature = "fixture"))]
    pub(crate) fn set<T: Send + Sync + 'static>(&self, part: T) {
        self.0.write().insert(TypeId::of::<T>(), Arc::new(part));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn there_is_one_of_each_type() {
        let parts = Parts::default();
        parts.get::<AtomicU32>().store(7, Ordering::Relaxed);
        parts.set("text");
        assert_eq!(parts.get::<AtomicU32>().load(Ordering::Relaxed), 7);
        assert_eq!(*parts.get::<&str>(), "text");
    }
}
