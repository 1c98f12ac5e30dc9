use super::*;

const LARGE: usize = SMALL_BYTES * 4;

fn account(total: usize, bodies: usize) -> Arc<MemoryAccount> {
    MemoryAccount::new(MemoryLimits {
        total,
        bodies,
        ..MemoryLimits::none()
    })
}

#[test]
fn what_is_taken_never_exceeds_a_limit_and_comes_back() {
    let account = account(100, 60);
    let first = account.reserve(MemoryPurpose::Bodies, 50).unwrap();
    let refused = account.reserve(MemoryPurpose::Bodies, 11).unwrap_err();
    assert_eq!(
        refused,
        MemoryExceeded {
            purpose: MemoryPurpose::Bodies,
            scope: MemoryScope::Purpose,
            wanted: 11,
            used: 50,
            would_be: 61,
            limit: 60,
        }
    );
    let other = account.reserve(MemoryPurpose::Searches, 50).unwrap();
    let refused = account.reserve(MemoryPurpose::Searches, 1).unwrap_err();
    assert_eq!((refused.scope, refused.limit), (MemoryScope::Total, 100));
    assert_eq!(account.total().used, 100);
    drop(first);
    drop(other);
    assert_eq!(account.total().used, 0);
    let bodies = account.figures(MemoryPurpose::Bodies);
    assert_eq!((bodies.used, bodies.refused), (0, 1));
    assert_eq!(account.total().refused, 1);
}

#[test]
fn a_reservation_that_cannot_grow_keeps_what_it_has() {
    let account = account(100, 100);
    let mut growing = account.open(MemoryPurpose::Bodies);
    growing.grow(80).unwrap();
    assert!(growing.grow(30).is_err());
    assert_eq!((growing.bytes(), account.total().used), (80, 80));
    growing.grow_to(40).unwrap();
    growing.shrink_to(10);
    growing.grow_to(90).unwrap();
    assert_eq!(account.total().used, 90);
}

#[test]
fn small_reservations_go_on_where_large_ones_are_refused() {
    let account = account(LARGE * 16, usize::MAX);
    let mut large = account.open(MemoryPurpose::Bodies);
    while large.grow(SMALL_BYTES).is_ok() {}
    assert_eq!(large.bytes(), LARGE * 15);
    assert_eq!(account.largest(MemoryPurpose::Bodies), LARGE * 15);
    account.reserve(MemoryPurpose::Bodies, SMALL_BYTES).unwrap();
    let refused = account.reserve(MemoryPurpose::Bodies, SMALL_BYTES + 1);
    assert!(!refused.unwrap_err().can_never_fit());
}

#[test]
fn what_can_never_fit_is_told_from_what_does_not_fit_now() {
    let account = account(usize::MAX, 100);
    let _most = account.reserve(MemoryPurpose::Bodies, 90).unwrap();
    let later = account.reserve(MemoryPurpose::Bodies, 20).unwrap_err();
    assert!(!later.can_never_fit());
    let never = account.reserve(MemoryPurpose::Bodies, 101).unwrap_err();
    assert!(never.can_never_fit());
    let never = account.wait(MemoryPurpose::Bodies, 101, || true);
    assert!(never.unwrap_err().can_never_fit());
}

#[test]
fn whoever_waits_gets_what_others_give_back_or_gives_up() {
    let account = account(100, 100);
    let first = account.reserve(MemoryPurpose::Merges, 60).unwrap();
    let given_up = account.wait(MemoryPurpose::Merges, 50, || false).unwrap();
    assert!(given_up.is_none());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| account.wait(MemoryPurpose::Merges, 50, || true));
        drop(first);
        let taken = waiting.join().unwrap().unwrap();
        assert_eq!(taken.map(|taken| taken.bytes()), Some(50));
    });
    assert_eq!(account.total().used, 0);
    assert_eq!(account.total().refused, 0);
}

#[test]
fn memory_that_is_there_already_is_booked_above_the_limit() {
    let account = account(100, 100);
    let mut buffer = account.open(MemoryPurpose::Buffers);
    buffer.set(150);
    assert_eq!(account.total().used, 150);
    assert!(account.reserve(MemoryPurpose::Bodies, 1).is_err());
    buffer.set(20);
    assert_eq!(account.total().used, 20);
}

#[test]
fn threads_that_take_and_give_back_leave_nothing() {
    let account = account(1000, 1000);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for bytes in 1..2000 {
                    let taken = account.reserve(MemoryPurpose::Bodies, bytes % 400);
                    assert!(account.total().used <= 1000);
                    drop(taken);
                }
            });
        }
    });
    assert_eq!(account.total().used, 0);
}

#[test]
fn of_little_memory_buffers_have_a_larger_share() {
    let mib = 1 << 20;
    for (memory_mib, buffers_mib) in [
        (400, 40),
        (512, 52),
        (2_048, 384),
        (4_000, 512),
        (8_000, 800),
    ] {
        let limits = MemoryLimits::shares_of(memory_mib * mib);
        // Shares are of whole hundredths.
        let found = limits.buffers.div_ceil(1 << 20);
        assert_eq!(found, buffers_mib, "{memory_mib} MiB");
    }
}

#[test]
fn limits_can_change_while_memory_is_taken() {
    let account = account(100, 100);
    let _taken = account.reserve(MemoryPurpose::Bodies, 80).unwrap();
    account.set_limits(MemoryLimits::shares_of(100));
    assert_eq!(account.total().limit, 70);
    assert!(account.reserve(MemoryPurpose::Bodies, 1).is_err());
    account.set_limits(MemoryLimits::none());
    account.reserve(MemoryPurpose::Bodies, LARGE).unwrap();
}

#[test]
fn what_is_on_no_account_leaves_less_for_large_requests_and_something_for_each() {
    let limits = MemoryLimits {
        total: LARGE * 100,
        real: 1000,
        ..MemoryLimits::none()
    };
    let mut account = MemoryAccount::new(limits);
    let unwrapped = Arc::get_mut(&mut account).unwrap();
    unwrapped.real = RealMemory::read_by(LARGE * 90, || Some(LARGE * 80), || {});
    let searches = |bytes| account.reserve(MemoryPurpose::Searches, bytes);
    // As long as little is taken, the rest is perhaps only what the allocator keeps.
    let _alone = searches(LARGE * 12).unwrap();
    let _fits = searches(LARGE * 10).unwrap();
    let refused = searches(LARGE * 11).unwrap_err();
    assert_eq!(refused.scope, MemoryScope::Total);
    assert_eq!((refused.used, refused.limit), (LARGE * 80, LARGE * 90));
    assert_eq!(account.total().used, LARGE * 22);
    assert!(searches(SMALL_BYTES).is_ok());
}
