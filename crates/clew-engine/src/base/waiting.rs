//! Locks that others may hold for long, such as that of a shard's writer: whoever waits for one on a thread that serves
//! connections lets the others of that thread go on meanwhile.
//!
//! A runtime has few threads, and one of them at a time looks after all its sockets. If that one waits, nobody is answered.

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Takes a lock. Costs what it costs elsewhere where it is free; where it is not, and this is a thread of a runtime, what else
/// that has to do is given to another one first.
pub(crate) fn lock_aside<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.try_lock().unwrap_or_else(|| aside(|| mutex.lock()))
}

/// Waits for something, or does what takes long; what else a thread of a runtime has to do is given to another one first.
pub fn aside<R>(wait: impl FnOnce() -> R) -> R {
    // A runtime of one thread has nobody to give anything to.
    let has_others = Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if has_others {
        block_in_place(wait)
    } else {
        wait()
    }
}

/// Places for so many at once; who comes when all are taken waits for one.
#[derive(Debug)]
pub(crate) struct Seats {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place, until it is dropped.
pub(crate) struct Seat<'s>(&'s Seats);

impl Seats {
    pub(crate) fn new(count: usize) -> Self {
        Seats {
            free: Mutex::new(count),
            freed: Condvar::new(),
        }
    }

    /// Takes a place. Costs what a free lock costs where there is one; where there is none, what else a thread of a runtime has
    /// to do is given to another one first.
    pub(crate) fn take(&self) -> Seat<'_> {
        if !self.try_take() {
            aside(|| {
                let mut free = self.free.lock();
                self.freed.wait_while(&mut free, |free| *free == 0);
                *free -= 1;
            });
        }
        Seat(self)
    }

    fn try_take(&self) -> bool {
        let mut free = self.free.lock();
        let is_free = *free > 0;
        *free -= usize::from(is_free);
        is_free
    }

    /// Whether somebody who comes now would wait.
    pub(crate) fn are_taken(&self) -> bool {
        *self.free.lock() == 0
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_runtime_whose_only_thread_waits_for_a_lock_goes_on() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let mutex = Arc::new(Mutex::new(0));
        let held = mutex.lock();
        let (begun, has_begun) = mpsc::channel();
        let waiting = runtime.spawn({
            let mutex = mutex.clone();
            async move {
                begun.send(()).unwrap();
                *lock_aside(&mutex) += 1;
            }
        });
        has_begun.recv().unwrap();
        let (done, is_done) = mpsc::channel();
        runtime.spawn(async move { done.send(()).unwrap() });
        is_done.recv().unwrap();
        drop(held);
        runtime.block_on(waiting).unwrap();
        assert_eq!(*lock_aside(&mutex), 1);
    }

    #[test]
    fn where_there_is_no_runtime_or_one_of_one_thread_it_is_a_lock() {
        let mutex = Arc::new(Mutex::new(0));
        let held = mutex.lock();
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                runtime.block_on(async { *lock_aside(&mutex) += 1 });
            }
        });
        drop(held);
        other.join().unwrap();
        assert_eq!(*lock_aside(&mutex), 1);
    }

    #[test]
    fn who_finds_no_seat_waits_for_one() {
        let seats = Seats::new(2);
        let first = seats.take();
        let second = seats.take();
        assert!(seats.are_taken());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(seats.take()));
            drop(first);
            waiting.join().unwrap();
        });
        assert!(!seats.are_taken());
        drop(second);
    }
}
