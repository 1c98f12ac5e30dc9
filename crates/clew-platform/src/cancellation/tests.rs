use super::*;
use crate::{FixedClock, MemoryAccount, MemoryLimits, MemoryPurpose};

#[test]
fn work_asks_the_token_that_its_thread_has_entered() {
    let (outer, inner) = (CancellationToken::new(), CancellationToken::new());
    outer.cancel("by user request");
    assert!(!stopped());
    let entered = outer.enter();
    assert!(stopped());
    {
        let _entered = inner.enter();
        assert!(!stopped());
        let taken_along = CancellationToken::current();
        inner.cancel("too late");
        assert_eq!(taken_along.stopped(), Some(Stop::Cancelled));
    }
    assert!(stopped());
    drop(entered);
    assert!(!stopped() && CancellationToken::default().stopped().is_none());
}

#[test]
fn the_first_reason_to_stop_is_the_one_that_stays() {
    let clock = Arc::new(FixedClock::default());
    let request = CancellationToken::new();
    let search = request.until(clock.clone(), Duration::from_secs(1));
    assert_eq!(search.stopped(), None);
    clock.advance(Duration::from_secs(1));
    assert_eq!(search.stopped(), Some(Stop::TimedOut));
    request.cancel("by user request");
    assert_eq!(search.stopped(), Some(Stop::TimedOut));
    assert_eq!(request.stopped(), Some(Stop::Cancelled));
    request.cancel("again");
    assert_eq!(search.reason(), Some("by user request"));
}

#[test]
fn what_was_found_in_time_has_a_grace_unless_it_is_cancelled() {
    let clock = Arc::new(FixedClock::default());
    let request = CancellationToken::new();
    let search = request.until(clock.clone(), Duration::from_secs(1));
    let grace = Duration::from_secs(1);
    clock.advance(Duration::from_secs(1));
    assert_eq!(search.stopped(), Some(Stop::TimedOut));
    assert!(!search.overdue(grace) && !CancellationToken::default().overdue(grace));
    clock.advance(grace);
    assert!(search.overdue(grace) && !request.overdue(grace));
    request.cancel("by user request");
    assert!(request.overdue(grace));
    let later = request.until(clock, Duration::MAX);
    assert!(later.overdue(grace));
    let _entered = later.enter();
    assert!(super::overdue(grace));
}

#[test]
fn a_token_stops_with_the_one_it_was_made_from() {
    let request = CancellationToken::new();
    let search = request.until(Arc::new(FixedClock::default()), Duration::MAX);
    request.cancel("by user request");
    assert_eq!(search.stopped(), Some(Stop::Cancelled));
}

#[test]
fn short_steps_ask_seldom() {
    let token = CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    let mut pace = Pace::default();
    let steps = (0..).take_while(|_| !pace.is_over()).count();
    assert_eq!(steps, Pace::STEPS as usize - 1);
    assert!(pace.is_over());
}

#[test]
fn steps_over_many_lists_ask_each_time() {
    let token = CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    for (lists, asked_at) in [(0, 32), (1, 32), (2, 16), (32, 1), (1_000_000, 1)] {
        let mut pace = Pace::of_lists(lists);
        let steps = (1..).find(|_| pace.is_over());
        assert_eq!(steps, Some(asked_at), "{lists}");
    }
}

#[test]
fn a_future_is_under_its_token_only_while_it_is_polled() {
    let token = CancellationToken::new();
    token.cancel("by user request");
    let mut future = std::pin::pin!(token.scope(Box::pin(async { stopped() })));
    let waker = std::task::Waker::noop();
    let polled = future.as_mut().poll(&mut Context::from_waker(waker));
    assert_eq!(polled, Poll::Ready(true));
    assert!(!stopped());
}

#[test]
fn what_work_books_is_there_until_it_is_over_and_what_does_not_fit_stops_it() {
    let account = MemoryAccount::new(MemoryLimits {
        searches: 1_000,
        ..MemoryLimits::none()
    });
    assert_eq!(book(usize::MAX), Ok(()));
    let request = CancellationToken::new();
    let work = request.part_with(account.open(MemoryPurpose::Searches));
    {
        let _entered = work.part().enter();
        book(300).unwrap();
        let held = book_for_a_while(600).unwrap();
        assert_eq!(account.total().used, 900);
        drop(held);
        assert_eq!(account.total().used, 300);
        assert!(!stopped());
        book(800).unwrap_err();
        assert!(stopped());
    }
    assert_eq!(request.stopped(), None);
    let failure = work.failure().unwrap().downcast_ref::<MemoryExceeded>();
    assert_eq!(failure.unwrap().would_be, 1_100);
    drop(work);
    assert_eq!(account.total().used, 0);
}
