use super::*;

/// Works for so long, and what it took: a machine that is taken away amid of it counts as work.
fn works_for(length: Duration) -> Duration {
    let began = thread_cpu_time();
    loop {
        let took = thread_cpu_time() - began;
        if took >= length {
            return took;
        }
        std::hint::spin_loop();
    }
}

#[test]
fn parts_are_told_apart_and_are_the_whole() {
    let spent: Arc<Spent> = Arc::default();
    let (began, cpu_before) = (Instant::now(), thread_cpu_time());
    let mut worked = Duration::ZERO;
    // What both threads used in all, and this one while it handed work on.
    let (mut used, mut handing) = (Duration::ZERO, Duration::ZERO);
    {
        let _at_work = spent.enter();
        worked += works_for(Duration::from_millis(20));
        // Within the same account nothing is counted twice.
        let _within = spent.enter();
        worked += works_for(Duration::from_millis(10));
        let so_far = spent.so_far();
        assert!(so_far.cpu >= worked, "{so_far:?}, {worked:?}");
        std::thread::sleep(Duration::from_millis(30));
        let before = thread_cpu_time();
        let waiting = Waiting::begin();
        std::thread::scope(|scope| {
            let other = || {
                std::thread::sleep(Duration::from_millis(25));
                let at_work = waiting.end();
                let worked = works_for(Duration::from_millis(10));
                drop(at_work);
                (worked, thread_cpu_time())
            };
            let (more, of_other) = scope.spawn(other).join().unwrap();
            worked += more;
            used += of_other;
        });
        handing += thread_cpu_time() - before;
    }
    used += thread_cpu_time() - cpu_before;
    let took = began.elapsed();
    let times = spent.times(took);
    assert!(
        times.cpu >= worked && times.cpu <= used,
        "{times:?}, {worked:?}, {used:?}"
    );
    assert!(times.queue >= Duration::from_millis(25), "{times:?}");
    // What this thread uses while the other one waits counts as both.
    assert!(
        times.blocked + times.run_queue + handing >= Duration::from_millis(30),
        "{times:?}, {handing:?}"
    );
    assert_eq!(
        times.cpu + times.run_queue + times.queue + times.blocked,
        took
    );
    assert!(Spent::current().is_none());
}

#[test]
fn whoever_has_handed_work_on_is_not_counted_until_it_comes_back() {
    let spent: Arc<Spent> = Arc::default();
    let (began, cpu_before) = (Instant::now(), thread_cpu_time());
    let (mut worked, mut beside) = (Duration::ZERO, Duration::ZERO);
    let mut used = Duration::ZERO;
    {
        let _at_work = spent.enter();
        worked += works_for(Duration::from_millis(5));
        let handed_on = HandedOn::begin();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let at_work = spent.enter();
                let worked = works_for(Duration::from_millis(10));
                drop(at_work);
                (worked, thread_cpu_time())
            });
            beside += works_for(Duration::from_millis(50));
            let (more, of_other) = other.join().unwrap();
            worked += more;
            used += of_other;
        });
        drop(handed_on);
        worked += works_for(Duration::from_millis(5));
    }
    used += thread_cpu_time() - cpu_before;
    let times = spent.times(began.elapsed());
    assert!(
        times.cpu >= worked && times.cpu <= used - beside,
        "{times:?}, {worked:?}, {used:?}, {beside:?}"
    );
    assert!(HandedOn::begin().0.is_none());
}

#[test]
fn parts_are_never_more_than_the_whole() {
    let spent = Spent::default();
    spent.cpu.store(3_000, Ordering::Relaxed);
    spent.queue.store(500, Ordering::Relaxed);
    spent.run_queue.store(10_000, Ordering::Relaxed);
    for took in [0, 1_000, 3_200, 5_000, 20_000].map(Duration::from_nanos) {
        let times = spent.times(took);
        assert_eq!(times.wall(), took, "{times:?}");
        assert_eq!(times.cpu, took.min(Duration::from_nanos(3_000)));
    }
}

#[test]
fn a_future_spends_while_it_is_polled_and_hands_its_account_on() {
    let spent: Arc<Spent> = Arc::default();
    let future = async {
        works_for(Duration::from_millis(5));
        Spent::current().is_some()
    };
    let mut future = Box::pin(spent.clone().scope(future));
    let waker = std::task::Waker::noop();
    assert_eq!(
        future.as_mut().poll(&mut Context::from_waker(waker)),
        Poll::Ready(true)
    );
    assert!(spent.times(Duration::from_secs(1)).cpu >= Duration::from_millis(5));
    assert!(Spent::current().is_none() && Waiting::begin().end().is_none());
}
