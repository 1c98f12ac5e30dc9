//! Retries without duplicates, and appends under a condition.

use std::sync::Barrier;

use clew_log::{
    AppendOptions, Appended, Durability, Glsn, Llsn, Log, LogError, NewEntry, Producer, StreamId,
    Trim,
};
use clew_platform::SimDisk;

use super::{append, contents, open, small_files};

fn produce(log: &Log, stream: StreamId, sequence: u64, count: usize) -> Result<Appended, LogError> {
    let producer = Some(Producer { id: 77, sequence });
    let options = AppendOptions {
        producer,
        ..AppendOptions::default()
    };
    let payload = sequence.to_le_bytes();
    let parts: [&[u8]; 1] = [&payload];
    let appended = log.append(&vec![NewEntry::new(stream, &parts); count], options)?;
    log.wait(appended.last, Durability::Sync)?;
    Ok(appended)
}

#[test]
fn a_retry_gives_the_first_positions_also_after_a_crash_and_over_trimmed_files() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let stream = log.create_stream("s").unwrap().id;
    let firsts: Vec<Appended> = (1..=5)
        .map(|n| produce(&log, stream, n, 3).unwrap())
        .collect();
    let check = |log: &Log| {
        for (first, sequence) in firsts.iter().zip(1..) {
            let again = produce(log, stream, sequence, 3).unwrap();
            assert!(again.replayed);
            assert_eq!(
                (again.first, again.last, &again.llsns),
                (first.first, first.last, &first.llsns)
            );
        }
    };
    let last = log.last();
    check(&log);
    assert_eq!(log.last(), last, "a retry adds nothing");
    let log = open(&disk.crashed(1), small_files());
    check(&log);
    // Other traffic fills files; those with the producer's entries are trimmed away.
    for _ in 0..100 {
        append(&log, 1, &[0; 50], Durability::Os);
    }
    log.trim(Trim::Named(log.last())).unwrap();
    log.trim(Trim::Unnamed(log.last())).unwrap();
    assert!(log.first() > firsts[4].last);
    check(&log);
    drop(log);
}

#[test]
fn the_wrong_sequence_is_refused_and_says_what_is_due() {
    let log = open(&SimDisk::new(), small_files());
    let stream = log.create_stream("s").unwrap().id;
    for sequence in 10..40 {
        produce(&log, stream, sequence, 1).unwrap();
    }
    let gap = produce(&log, stream, 41, 1).unwrap_err();
    assert!(
        matches!(gap, LogError::SequenceGap { expected: 40, .. }),
        "{gap}"
    );
    let old = produce(&log, stream, 20, 1).unwrap_err();
    assert!(
        matches!(old, LogError::SequenceTooOld { oldest: 24, .. }),
        "{old}"
    );
    let reused = produce(&log, stream, 39, 2).unwrap_err();
    assert!(
        matches!(reused, LogError::SequenceReused { sequence: 39, .. }),
        "{reused}"
    );
    assert_eq!(log.last(), Glsn::new(30));
    let mixed = [
        NewEntry::new(stream, &[b"a"]),
        NewEntry::new(StreamId::new(1), &[b"b"]),
    ];
    let producer = Some(Producer { id: 1, sequence: 1 });
    let refused = log.append(
        &mixed,
        AppendOptions {
            producer,
            ..AppendOptions::default()
        },
    );
    assert!(matches!(refused, Err(LogError::MixedStreams)));
}

#[test]
fn a_large_call_of_a_producer_is_one_call() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let stream = log.create_stream("s").unwrap().id;
    // More than a block holds, so the call takes several frames.
    let first = produce(&log, stream, 1, 3000).unwrap();
    let log = open(&disk.crashed(1), small_files());
    let again = produce(&log, stream, 1, 3000).unwrap();
    assert!(again.replayed);
    assert_eq!((again.last, again.llsns), (first.last, first.llsns));
    assert_eq!(contents(&log).len(), 3000);
}

#[test]
fn of_appends_that_expect_the_same_end_exactly_one_wins() {
    const THREADS: usize = 8;
    let log = open(&SimDisk::new(), small_files());
    let stream = log.create_stream("s").unwrap().id;
    let barrier = Barrier::new(THREADS);
    for round in 0..50 {
        let expect_last = Some(Llsn::new(round));
        let options = AppendOptions {
            expect_last,
            ..AppendOptions::default()
        };
        let wins: usize = std::thread::scope(|scope| {
            let race = || {
                barrier.wait();
                match log.append(&[NewEntry::new(stream, &[b"x"])], options) {
                    Ok(_) => 1,
                    Err(LogError::Conflict { last, .. }) => {
                        assert_eq!(last, Llsn::new(round + 1));
                        0
                    }
                    Err(error) => panic!("{error}"),
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(race)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(wins, 1, "round {round}");
    }
}
