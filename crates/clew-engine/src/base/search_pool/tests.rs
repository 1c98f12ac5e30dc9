use std::sync::OnceLock;

use clew_platform::{FixedClock, RealClock, stopped};

use super::*;

fn pool(threads: usize) -> SearchPool {
    SearchPool::new(threads, 1, Arc::new(RealClock::default()))
}

/// One thread, and the clock that it goes by, which stands still.
fn pool_with_clock() -> (SearchPool, Arc<FixedClock>) {
    let clock = Arc::new(FixedClock::at(Duration::from_secs(1)));
    (SearchPool::new(1, 1, clock.clone()), clock)
}

/// Which of what is at work takes long already.
fn are_long(pool: &SearchPool) -> Vec<bool> {
    let turns = pool.turns.all.lock();
    turns.iter().map(|turn| turn.state.lock().is_long).collect()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

#[test]
fn all_threads_work_under_the_token_of_the_one_who_asked() {
    let pool = pool(3);
    let runtime = runtime();
    let token = CancellationToken::new();
    token.cancel("by user request");
    let asked = token.clone().scope(Box::pin(pool.run(stopped)));
    assert!(runtime.block_on(asked).unwrap());
    assert!(!runtime.block_on(pool.run(stopped)).unwrap());
    let begun = std::sync::Barrier::new(3);
    let waiting = |_| {
        begun.wait();
        stopped()
    };
    {
        let _entered = token.enter();
        assert_eq!(pool.each(3, waiting), [true; 3]);
    }
    assert_eq!(pool.each(3, waiting), [false; 3]);
}

#[test]
fn a_search_that_panics_is_an_error_and_the_next_one_runs() {
    let pool = pool(1);
    let runtime = runtime();
    let panics = || -> u32 { panic!("as it must") };
    let answer = runtime.block_on(pool.run(panics));
    assert!(matches!(answer, Err(EngineError::Panicked)));
    assert_eq!(runtime.block_on(pool.run(|| 7)).unwrap(), 7);
    assert!(matches!(pool.run_here(panics), Err(EngineError::Panicked)));
    assert_eq!(pool.stats().active, 0);
    assert_eq!(pool.stats().searches_total, 3);
}

#[test]
fn a_long_search_keeps_no_short_one_waiting() {
    let pool = pool(1);
    let runtime = runtime();
    let (sender, receiver) = std::sync::mpsc::channel();
    let long = pool.run(move || receiver.recv().unwrap());
    // Only once it has run does the other one end.
    let short = async {
        let found = pool.run(|| 7).await.unwrap();
        sender.send(found).unwrap();
    };
    let (found, ()) = runtime.block_on(async { tokio::join!(long, short) });
    assert_eq!(found.unwrap(), 7);
    let free = (
        pool.running.available_permits(),
        pool.long.available_permits(),
    );
    assert_eq!(free, (1, LONG_PER_THREAD));
}

#[test]
fn what_takes_long_yields_to_a_search_that_comes() {
    let (pool, clock) = pool_with_clock();
    let runtime = runtime();
    let is_long = || are_long(&pool);
    let (sender, receiver) = std::sync::mpsc::channel();
    let beside = pool.run_beside(move || receiver.recv().unwrap());
    let searches = async {
        pool.run(|| ()).await.unwrap();
        assert_eq!(is_long(), [false]);
        clock.advance(LONG_AFTER_MIN);
        pool.run(|| ()).await.unwrap();
        assert_eq!(is_long(), [true]);
        sender.send(7).unwrap();
    };
    let (found, ()) = runtime.block_on(async { tokio::join!(beside, searches) });
    assert_eq!(found.unwrap(), 7);
    assert!(is_long().is_empty());
    let free = (
        pool.beside.available_permits(),
        pool.long.available_permits(),
    );
    assert_eq!(free, (BESIDE_MAX, LONG_PER_THREAD));
}

#[test]
fn what_takes_long_yields_to_whatever_comes_while_searches_come() {
    let (pool, clock) = pool_with_clock();
    let runtime = runtime();
    let is_long = || are_long(&pool);
    let search_comes = || {
        let now = whole_ns(clock.monotonic());
        pool.turns.searched_ns.store(now, Ordering::Relaxed);
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    let long = pool.run_beside(move || receiver.recv().unwrap());
    let others = async {
        // Without searches all that runs beside them is as good as the other.
        clock.advance(LONG_AFTER_MAX);
        pool.run_beside(|| ()).await.unwrap();
        assert_eq!(is_long(), [false]);
        search_comes();
        clock.advance(SEARCHED_WITHIN * 2);
        pool.run_beside(|| ()).await.unwrap();
        assert_eq!(is_long(), [false]);
        search_comes();
        pool.run_beside(|| ()).await.unwrap();
        assert_eq!(is_long(), [true]);
        sender.send(7).unwrap();
    };
    let (found, ()) = runtime.block_on(async { tokio::join!(long, others) });
    assert_eq!(found.unwrap(), 7);
}

#[test]
fn what_is_asked_for_on_a_thread_of_its_own_runs_there() {
    let pool = Arc::new(pool(1));
    let runtime = runtime();
    let (inner, handle) = (pool.clone(), runtime.handle().clone());
    let both = pool.run_beside(move || {
        let outer = thread::current().id();
        let again = inner.run_beside(|| thread::current().id());
        handle.block_on(again).unwrap() == outer
    });
    assert!(runtime.block_on(both).unwrap());
    let panics = runtime.block_on(pool.run_beside(|| panic!("as it must")));
    assert!(matches!(panics, Err(EngineError::Panicked)));
}

#[test]
fn free_threads_help_and_busy_ones_do_not() {
    let pool = pool(3);
    let tasks = |more| {
        let threads = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let begun = std::sync::Barrier::new(more);
        let work = |_| {
            begun.wait();
            let name = format!("{:?}", std::thread::current().id());
            threads.lock().unwrap().insert(name);
        };
        assert_eq!(pool.each(more, work).len(), more);
        threads.into_inner().unwrap().len()
    };
    // Three tasks that wait for each other need three threads.
    assert_eq!(tasks(3), 3);
    let busy = pool.running.clone().try_acquire_many_owned(3).unwrap();
    assert_eq!(tasks(1), 1);
    let alone = pool.each(5, |at| (at, std::thread::current().id()));
    assert!(
        alone
            .iter()
            .all(|(_, id)| *id == std::thread::current().id())
    );
    drop(busy);
    assert_eq!(pool.helping.available_permits(), 2);
}

#[test]
fn what_takes_as_long_as_others_is_not_long() {
    let usual = Usual::default();
    assert_eq!(usual.long_after(), LONG_AFTER_MIN);
    // A few long ones among short ones, in any order.
    for at in 0..300_u64 {
        let took = if at % 4 == 0 { 90_000 } else { 200 + at % 7 };
        usual.count(Duration::from_micros(took));
    }
    assert_eq!(usual.long_after(), LONG_AFTER_MIN);
    for at in 0..300 {
        usual.count(Duration::from_micros(950 + at % 100));
    }
    let after = usual.long_after().as_micros();
    assert!((2_700..3_300).contains(&after), "{after}");
    for _ in 0..300 {
        usual.count(Duration::from_secs(1));
    }
    assert_eq!(usual.long_after(), LONG_AFTER_MAX);
}

#[test]
fn merges_that_wait_for_each_other_leave_room_for_what_else_runs_beside() {
    let pool = Arc::new(pool(1));
    let runtime = runtime();
    let gate = Arc::new(OnceLock::<usize>::new());
    let merge = |n: usize| {
        let (pool, gate) = (pool.clone(), gate.clone());
        runtime.spawn(async move { pool.run_merge(move || n + *gate.wait()).await })
    };
    let merges: Vec<_> = (0..=BESIDE_MAX).map(merge).collect();
    runtime.block_on(async {
        // All of them have come by then.
        for _ in 0..=BESIDE_MAX {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run_beside(|| 7).await.unwrap(), 7);
        gate.set(1).unwrap();
        for (n, merge) in merges.into_iter().enumerate() {
            assert_eq!(merge.await.unwrap().unwrap(), n + 1);
        }
    });
}
