//! Threads beside a search's own. Whoever runs searches decides how many there are and when they are free; a
//! search only says what can be done at the same time, and gets the same result without any.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Documents from which on it pays to have other threads help: waking one takes as long as looking at some
/// thousands.
const WORTHWHILE_DOCS: u64 = 50_000;

/// Threads that may help a search.
pub trait Threads: Sync {
    /// Runs `work` on this thread, and at the same time on as many others as are free, at most `more`. Returns
    /// when all are done.
    fn run(&self, more: usize, work: &(dyn Fn() + Sync));

    /// How many documents must be looked at to make help worth while.
    fn worthwhile_docs(&self) -> u64 {
        WORTHWHILE_DOCS
    }
}

/// Does so many tasks on the threads that are free. Each thread calls `work` once with the tasks that it is to do, as
/// far as others have not taken them; tasks are begun in their order. What the threads return comes in any order.
pub fn share<R: Send>(
    threads: &dyn Threads,
    tasks: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    threads.run(tasks.saturating_sub(1), &|| {
        // Late helpers find nothing left.
        if next.load(Ordering::Relaxed) >= tasks {
            return;
        }
        let mut left = std::iter::from_fn(|| {
            let task = next.fetch_add(1, Ordering::Relaxed);
            (task < tasks).then_some(task)
        });
        let result = work(&mut left);
        done.lock().push(result);
    });
    done.into_inner()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Three;
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for tasks in [0, 1, 2, 50] {
            let results = share(&Three, tasks, |left| left.collect::<Vec<_>>());
            let mut all: Vec<usize> = results.concat();
            all.sort_unstable();
            assert_eq!(all, (0..tasks).collect::<Vec<_>>());
        }
    }
}
