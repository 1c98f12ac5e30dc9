//! A log whose disk has failed goes on: in a new file, behind what is durable, with the state of there.

use std::collections::BTreeMap;

use clew_log::{
    AppendOptions, Durability, Glsn, Llsn, Log, LogError, LogOptions, NewEntry, Producer, StreamId,
    SubscribeOptions, verify,
};
use clew_platform::{Disk, SimDisk};

use super::{DIR, append, append_synced, contents, open, payloads, small_files};

/// Fails the next sync under an entry, which is refused.
fn lose(disk: &SimDisk, log: &Log, payload: &[u8]) -> Glsn {
    disk.fail_sync(1);
    let lost = append(log, 1, payload, Durability::Sync).last;
    let refused = log.wait(lost, Durability::Sync).unwrap_err();
    assert!(matches!(refused, LogError::Poisoned { .. }));
    lost
}

fn assert_sound(disk: &SimDisk) {
    let report = verify(disk, std::path::Path::new(DIR), &mut |_| {}).unwrap();
    assert!(report.damage.is_empty(), "{:?}", report.damage);
}

#[test]
fn what_was_refused_is_gone_and_its_position_is_given_out_again() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    let lost = lose(&disk, &log, b"lost");
    assert_eq!(log.resume().unwrap(), Glsn::FIRST);
    assert!(log.poisoned().is_none() && !log.stats().poisoned);
    assert_eq!((log.life(), log.stats().resumptions), (1, 1));
    assert_eq!((log.last(), log.durable()), (Glsn::FIRST, Glsn::FIRST));
    assert_eq!(append_synced(&log, 1, b"next"), lost);
    assert_eq!(payloads(&contents(&log)), [&b"durable"[..], b"next"]);
    assert_eq!(
        log.read_at(StreamId::new(1), Llsn::new(2)).unwrap().payload,
        "next"
    );
    for seed in 0..20 {
        let disk = disk.crashed(seed);
        assert_sound(&disk);
        let again = open(&disk, LogOptions::default());
        assert_eq!(
            payloads(&contents(&again)),
            [&b"durable"[..], b"next"],
            "{seed}"
        );
    }
    log.close().unwrap();
}

#[test]
fn a_log_that_is_sound_has_nothing_to_resume() {
    let log = open(&SimDisk::new(), LogOptions::default());
    append_synced(&log, 1, b"a");
    assert_eq!(log.resume().unwrap(), Glsn::FIRST);
    assert_eq!(log.life(), 0);
    log.close().unwrap();
    assert!(matches!(log.resume(), Err(LogError::Closed)));
}

#[test]
fn whoever_waits_for_what_is_lost_is_not_told_that_another_entry_is_durable() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    let life = log.life();
    let lost = lose(&disk, &log, b"lost");
    log.resume().unwrap();
    append_synced(&log, 1, b"another");
    for durability in [Durability::Os, Durability::Sync] {
        let told = log.wait_in(life, lost, durability).unwrap_err();
        assert!(
            matches!(told, LogError::Lost { glsn } if glsn == lost),
            "{told}"
        );
        // What was durable before is so still.
        log.wait_in(life, Glsn::FIRST, durability).unwrap();
        log.wait(lost, durability).unwrap();
    }
}

#[test]
fn nobody_waits_for_ever_for_what_is_lost() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    // Behind the entry that is lost: nothing will reach it for long.
    let far = Glsn::new(1_000);
    let waiter = {
        let log = log.clone();
        std::thread::spawn(move || log.wait(far, Durability::Sync))
    };
    lose(&disk, &log, b"lost");
    assert!(waiter.join().unwrap().is_err());
    log.resume().unwrap();
    assert!(log.wait_in(0, far, Durability::Sync).is_err());
}

#[test]
fn a_full_disk_lets_the_log_go_on_when_there_is_room() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    append_synced(&log, 1, b"durable");
    disk.limit_bytes(disk.bytes_used());
    let lost = append(&log, 1, b"lost", Durability::Sync).last;
    log.wait(lost, Durability::Sync).unwrap_err();
    for _ in 0..3 {
        let refused = log.resume().unwrap_err();
        assert!(matches!(refused, LogError::Io { .. }), "{refused}");
        assert!(log.poisoned().is_some());
    }
    disk.limit_bytes(u64::MAX);
    log.resume().unwrap();
    // Over several files.
    for _ in 0..100 {
        append_synced(&log, 1, &[7; 50]);
    }
    assert_eq!(contents(&log).len(), 101);
    let again = open(&disk.crashed(1), small_files());
    assert_eq!(contents(&again).len(), 101);
}

#[test]
fn a_log_that_fails_again_and_again_without_an_entry_goes_on() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    for round in 1..=5 {
        lose(&disk, &log, b"lost");
        assert_eq!(log.resume().unwrap(), Glsn::ZERO);
        assert_eq!(log.life(), round);
        // Nothing of the log's is left behind.
        let again = open(&disk.crashed(round), LogOptions::default());
        assert_eq!(contents(&again), []);
    }
    append_synced(&log, 1, b"a");
    lose(&disk, &log, b"lost");
    log.resume().unwrap();
    lose(&disk, &log, b"lost");
    log.resume().unwrap();
    append_synced(&log, 1, b"b");
    assert_eq!(payloads(&contents(&log)), [b"a", b"b"]);
    assert_eq!(log.stats().files, 2);
    assert_sound(&disk.crashed(3));
    let again = open(&disk.crashed(3), LogOptions::default());
    assert_eq!(payloads(&contents(&again)), [b"a", b"b"]);
}

#[test]
fn streams_and_producers_are_again_what_they_were_at_the_durable_end() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    let kept = log.create_stream("kept").unwrap().id;
    let call = |stream, sequence, payload: &'static [u8]| {
        let options = AppendOptions {
            durability: Durability::Sync,
            producer: Some(Producer { id: 7, sequence }),
            ..AppendOptions::default()
        };
        let parts = [payload];
        let appended = log.append(&[NewEntry::new(stream, &parts)], options)?;
        log.wait(appended.last, Durability::Sync)?;
        Ok::<_, LogError>(appended)
    };
    call(kept, 1, b"one").unwrap();
    disk.fail_sync(1);
    call(kept, 2, b"two").unwrap_err();
    log.resume().unwrap();
    disk.fail_sync(1);
    log.create_stream("lost").unwrap_err();
    log.resume().unwrap();
    assert!(log.stream("lost").is_err());
    // The same calls again: the first was taken, the second was not.
    assert!(call(kept, 1, b"one").unwrap().replayed);
    assert!(!call(kept, 2, b"two").unwrap().replayed);
    assert_eq!(log.stream("kept").unwrap().last, Llsn::new(2));
    let lost = log.create_stream("lost").unwrap().id;
    append_synced(&log, lost.get(), b"first");
    let again = open(&disk.crashed(1), LogOptions::default());
    assert_eq!(again.stream("lost").unwrap().last, Llsn::new(1));
    assert_eq!(again.stream("kept").unwrap().last, Llsn::new(2));
}

#[test]
fn subscribers_to_durable_entries_go_on_and_others_begin_anew() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    let subscribe = |visible| {
        log.subscribe(SubscribeOptions {
            name: "reader".into(),
            from: Glsn::ZERO,
            streams: Vec::new(),
            visible,
        })
        .unwrap()
    };
    let (mut durable, mut early) = (subscribe(Durability::Sync), subscribe(Durability::Os));
    let lost = lose(&disk, &log, b"lost");
    assert_eq!(read(durable.wait().unwrap()), [b"durable"]);
    assert_eq!(read(early.wait().unwrap()), [&b"durable"[..], b"lost"]);
    log.resume().unwrap();
    append_synced(&log, 1, b"next");
    assert_eq!(durable.position(), lost);
    assert_eq!(read(durable.wait().unwrap()), [b"next"]);
    assert!(matches!(early.wait(), Err(LogError::Lost { .. })));
}

fn read(mut scan: clew_log::Scan) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(entry) = scan.next() {
        found.push(entry.unwrap().payload.to_vec());
    }
    found
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Everything acknowledged, by position.
type Acknowledged = BTreeMap<Glsn, Vec<u8>>;

/// Entries are dense, those acknowledged are there, and each was appended once.
fn check(log: &Log, acknowledged: &Acknowledged, seed: u64) {
    let entries = contents(log);
    let mut payloads = std::collections::HashSet::new();
    for (entry, due) in entries.iter().zip(1..) {
        assert_eq!(entry.glsn, Glsn::new(due), "seed {seed}");
        assert!(payloads.insert(entry.payload.clone()), "seed {seed}");
    }
    for (glsn, payload) in acknowledged {
        let at = usize::try_from(glsn.get()).unwrap() - 1;
        let found = entries.get(at).map(|entry| &entry.payload[..]);
        assert_eq!(found, Some(&payload[..]), "seed {seed}, {glsn}");
    }
}

fn strike(disk: &SimDisk, random: &mut Random) {
    match random.below(4) {
        0 => disk.limit_bytes(disk.bytes_used() + random.below(800)),
        1 => disk.set_read_only(true),
        _ => disk.fail_sync(random.below(4) + 1),
    }
}

/// The disk is well again, and the log goes on.
fn lift(disk: &SimDisk, log: &Log) {
    disk.limit_bytes(u64::MAX);
    disk.set_read_only(false);
    disk.fail_sync(u64::MAX);
    // What failed before may not have been told yet: the writer is at rest when all is durable, or given up.
    drop(log.wait(log.last(), Durability::Sync));
    log.resume().unwrap();
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let mut disk = SimDisk::new();
    let mut log = open(&disk, small_files());
    let mut acknowledged = Acknowledged::new();
    for step in 0..60 {
        match random.below(12) {
            0 => strike(&disk, &mut random),
            1 => drop(log.resume()),
            2 => {
                lift(&disk, &log);
                check(&log, &acknowledged, seed);
            }
            3 => {
                disk.cut_power_after(random.below(12) + 1);
                let _ = append_some(&log, &mut random, step, &mut acknowledged);
                drop(log.resume());
                let after = disk.crashed(random.below(1 << 30));
                drop(log);
                assert_sound(&after);
                (log, disk) = (open(&after, small_files()), after);
                check(&log, &acknowledged, seed);
            }
            _ => drop(append_some(&log, &mut random, step, &mut acknowledged)),
        }
    }
    lift(&disk, &log);
    append_synced(&log, 1, b"the end");
    check(&log, &acknowledged, seed);
    check(
        &open(&disk.crashed(seed), small_files()),
        &acknowledged,
        seed,
    );
}

fn append_some(
    log: &Log,
    random: &mut Random,
    step: u64,
    acknowledged: &mut Acknowledged,
) -> Result<(), LogError> {
    for n in 0..random.below(6) + 1 {
        let length = usize::try_from(random.below(60)).unwrap();
        let payload = format!("{step} {n} {}", "x".repeat(length));
        let parts = [payload.as_bytes()];
        let stream = u32::try_from(random.below(3)).unwrap() + 1;
        let entry = NewEntry::new(StreamId::new(stream), &parts);
        let life = log.life();
        let durability = match random.below(2) {
            0 => Durability::Sync,
            _ => Durability::Os,
        };
        let appended = log.append(&[entry], durability)?;
        if durability == Durability::Sync {
            log.wait_in(life, appended.last, durability)?;
            acknowledged.insert(appended.last, payload.into_bytes());
        }
    }
    Ok(())
}

#[test]
fn nothing_acknowledged_is_lost_however_often_the_disk_fails() {
    for seed in 0..400 {
        run(seed);
    }
}

#[test]
fn a_retired_file_that_has_become_shorter_than_its_successor_says_is_damage() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    lose(&disk, &log, b"lost");
    log.resume().unwrap();
    append_synced(&log, 1, b"next");
    log.close().unwrap();
    let files = disk.list(std::path::Path::new(DIR)).unwrap();
    let oldest = files
        .iter()
        .find(|path| path.extension().is_some_and(|one| one == "log"));
    let mut oldest = disk.open(oldest.unwrap()).unwrap();
    let bytes = oldest.len().unwrap();
    // What is behind the durable end may be cut, and nothing before it.
    let mut cut = 0;
    while cut < bytes {
        oldest.set_len(bytes - cut).unwrap();
        match super::try_open(&disk, LogOptions::default()) {
            Ok(log) => assert_eq!(payloads(&contents(&log)), [&b"durable"[..], b"next"]),
            Err(error) => {
                assert!(cut > 0, "{error}");
                assert!(matches!(error, LogError::Corrupt { .. }), "{error}");
                return;
            }
        }
        cut += 8;
    }
    panic!("a file that lacks everything passes");
}
