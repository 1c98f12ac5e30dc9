use std::thread::ThreadId;

use clew_platform::MemoryLimits;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn keeper(kept_for: Duration) -> &'static Keeper {
    Box::leak(Box::new(Keeper::new(kept_for)))
}

/// An account of searches with so many times the room that symbols take.
fn account(times: usize) -> Arc<MemoryAccount> {
    MemoryAccount::new(MemoryLimits {
        searches: symbol_bytes() * times,
        ..MemoryLimits::none()
    })
}

fn booked(account: &MemoryAccount) -> usize {
    account.figures(MemoryPurpose::Searches).used
}

fn reader(keeper: &Keeper) -> Option<ThreadId> {
    let state = keeper.state.lock();
    let reading = state.reading.as_ref()?;
    Some(reading.thread.thread().id())
}

#[test]
fn symbols_are_read_once_for_captures_that_follow_each_other() {
    let (keeper, account) = (keeper(HOUR), account(2 * KEPT_SHARE));
    let capture = || {
        let _use = SymbolUse::booked(keeper, &account, true).unwrap();
        let found = keeper.find(vec![0, 1]).unwrap();
        assert_eq!(found.places.len(), 2);
    };
    capture();
    let (first, taken) = (reader(keeper), booked(&account));
    assert!(first.is_some());
    assert_eq!(taken, symbol_bytes());
    capture();
    // One that would let go of them leaves them to those who keep them.
    drop(SymbolUse::booked(keeper, &account, false).unwrap());
    assert_eq!((reader(keeper), booked(&account)), (first, taken));
}

#[test]
fn symbols_that_nobody_asks_for_go_with_what_they_take() {
    let (keeper, account) = (keeper(Duration::from_millis(1)), account(2 * KEPT_SHARE));
    let in_use = SymbolUse::booked(keeper, &account, true).unwrap();
    keeper.find(vec![0]).unwrap();
    drop(in_use);
    // There is room for so much when nothing else is there.
    let all = account.largest(MemoryPurpose::Searches);
    let room = account.wait(MemoryPurpose::Searches, all, || true);
    assert!(room.unwrap().is_some());
    assert_eq!(reader(keeper), None);
}

#[test]
fn symbols_go_with_the_capture_where_there_is_little_room_or_only_one() {
    for (times, is_kept) in [(2, true), (2 * KEPT_SHARE, false)] {
        let (keeper, account) = (keeper(HOUR), account(times));
        let in_use = SymbolUse::booked(keeper, &account, is_kept).unwrap();
        // Others at the same time book nothing more.
        let other = SymbolUse::booked(keeper, &account, is_kept).unwrap();
        keeper.find(vec![0]).unwrap();
        drop(in_use);
        assert!(reader(keeper).is_some() && booked(&account) == symbol_bytes());
        drop(other);
        assert_eq!((reader(keeper), booked(&account)), (None, 0), "{times}");
    }
}

/// Has a thread do something in the place of the one that reads symbols: once the sender is gone, and until nothing sends to
/// the receiver any more.
fn read_by(keeper: &'static Keeper, done: fn(&'static Keeper)) -> (Sender<()>, Receiver<()>) {
    let (held, holds) = mpsc::channel::<()>();
    let (ends, ended) = mpsc::channel::<()>();
    let (questions, _) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _ends = ends;
        assert!(holds.recv().is_err());
        done(keeper);
    });
    keeper.state.lock().reading = Some(Reading { questions, thread });
    (held, ended)
}

#[test]
fn nothing_stays_booked_of_a_thread_that_breaks_down_when_all_have_left() {
    let (keeper, account) = (keeper(HOUR), account(2 * KEPT_SHARE));
    let in_use = SymbolUse::booked(keeper, &account, true).unwrap();
    let (held, ended) = read_by(keeper, |keeper| {
        let _broken = WhenBroken(keeper);
        panic!("it breaks down");
    });
    drop(in_use);
    assert!(reader(keeper).is_some() && booked(&account) == symbol_bytes());
    drop(held);
    assert!(ended.recv().is_err());
    assert_eq!((reader(keeper), booked(&account)), (None, 0));
}

#[test]
fn a_thread_that_has_no_symbols_does_not_stay_for_those_who_come_beside() {
    let (keeper, account) = (keeper(HOUR), account(2 * KEPT_SHARE));
    let first = SymbolUse::booked(keeper, &account, true).unwrap();
    let (held, ended) = read_by(keeper, |keeper| assert!(keeper.give_up().is_none()));
    drop(held);
    assert!(ended.recv().is_err());
    assert_eq!(reader(keeper), None);
    let beside = SymbolUse::booked(keeper, &account, true).unwrap();
    drop(first);
    // Another one has read them.
    assert!(keeper.find(vec![0]).is_ok() && reader(keeper).is_some());
    drop(beside);
    assert_eq!(booked(&account), symbol_bytes());
}

#[test]
fn nothing_stays_of_a_capture_that_has_no_addresses_or_no_room() {
    let keeper = keeper(HOUR);
    let ample = account(2 * KEPT_SHARE);
    drop(SymbolUse::booked(keeper, &ample, true).unwrap());
    assert_eq!((reader(keeper), booked(&ample)), (None, 0));
    let none = MemoryAccount::new(MemoryLimits {
        searches: 1,
        ..MemoryLimits::none()
    });
    assert!(SymbolUse::booked(keeper, &none, true).is_err());
    assert_eq!(keeper.state.lock().users, 0);
}
