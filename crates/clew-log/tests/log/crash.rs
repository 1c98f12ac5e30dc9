//! Power cuts at arbitrary points: nothing acknowledged as durable may be lost, and what is found
//! must be a prefix of what was appended.

use std::collections::BTreeMap;

use clew_log::{
    Durability, Entry, Glsn, Llsn, Log, LogError, LogOptions, NewEntry, StreamId, Trim,
};
use clew_platform::SimDisk;

use super::{
    Random, append, append_synced, contents, counters, expected_entry, open, small_files, try_open,
};

/// What was appended to a log, and how much of it may not be lost.
#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
    /// Where each call ended.
    call_ends: Vec<Glsn>,
    acknowledged: Glsn,
    trimmed: Glsn,
}

impl Model {
    /// Appends a call of random entries; an error is the log's.
    fn append(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let durability = if random.below(3) == 0 {
            Durability::Sync
        } else {
            Durability::Os
        };
        let payload_max = if random.below(20) == 0 { 3000 } else { 80 };
        let new: Vec<(StreamId, Vec<u8>)> = (0..1 + random.below(4))
            .map(|_| (StreamId::new(random.stream()), random.bytes(payload_max)))
            .collect();
        let parts: Vec<[&[u8]; 1]> = new.iter().map(|(_, payload)| [&payload[..]]).collect();
        let calls: Vec<NewEntry<'_>> = new
            .iter()
            .zip(&parts)
            .map(|((stream, _), parts)| NewEntry::new(*stream, parts))
            .collect();
        let appended = log.append(&calls, durability)?;
        for (index, ((stream, payload), llsn)) in new.iter().zip(&appended.llsns).enumerate() {
            let (glsn, payload) = (appended.glsn(index), payload.clone().into());
            self.entries
                .push(expected_entry(glsn, *llsn, *stream, payload));
        }
        self.call_ends.push(appended.last);
        if durability == Durability::Sync || random.below(6) == 0 {
            log.wait(appended.last, Durability::Sync)?;
            self.acknowledged = appended.last;
        }
        Ok(())
    }

    fn trim(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let until = Glsn::new(random.below(log.last().get() + 1));
        self.trimmed = self.trimmed.max(until);
        log.trim(Trim::Unnamed(until))
    }

    /// Checks what a crash has left, and goes on from there.
    fn check(&mut self, log: &Log, seed: u64) {
        assert!(
            log.last() >= self.acknowledged,
            "seed {seed}: acknowledged entries are lost"
        );
        assert!(
            log.first() <= self.trimmed.next(),
            "seed {seed}: trimmed too much: first {} after {}",
            log.first(),
            self.trimmed
        );
        self.call_ends.retain(|end| *end <= log.last());
        let whole = self.call_ends.last().copied().unwrap_or_default();
        assert_eq!(log.last(), whole, "seed {seed}: a call was torn apart");
        self.entries
            .truncate(usize::try_from(log.last().get()).unwrap());
        let retained = usize::try_from(log.first().previous().get()).unwrap();
        assert!(
            contents(log) == self.entries[retained..],
            "seed {seed}: other entries"
        );
        let mut streams: BTreeMap<StreamId, Llsn> = BTreeMap::new();
        for entry in &self.entries {
            let last = streams.entry(entry.stream).or_default();
            assert_eq!(entry.llsn, last.next(), "seed {seed}: LLSNs are not dense");
            *last = entry.llsn;
        }
        assert_eq!(
            counters(&log.streams()),
            Vec::from_iter(streams),
            "seed {seed}: counters"
        );
        self.acknowledged = log.last();
    }
}

/// One life of a log, from opening to the power cut that is somewhere ahead.
fn live(disk: &SimDisk, model: &mut Model, random: &mut Random, seed: u64) -> Result<(), LogError> {
    let log = try_open(disk, small_files())?;
    model.check(&log, seed);
    for _ in 0..60 {
        model.append(&log, random)?;
        if random.below(25) == 0 {
            model.trim(&log, random)?;
        }
    }
    log.close()
}

#[test]
fn no_power_cut_loses_what_was_acknowledged_or_reorders_the_rest() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut model = Model::default();
        let mut disk = SimDisk::new();
        for life in 0..4 {
            disk.cut_power_after(1 + random.below(150));
            // The error is the power cut; a life may also end before it.
            let _ = live(&disk, &mut model, &mut random, seed);
            disk = disk.crashed(seed * 4 + life);
        }
        let log = open(&disk, small_files());
        model.check(&log, seed);
    }
}

#[test]
fn entries_acknowledged_to_several_threads_survive_a_crash_at_any_moment() {
    for seed in 0..60 {
        let disk = SimDisk::new();
        disk.cut_power_after(10 + 7 * seed);
        let Ok(log) = try_open(&disk, small_files()) else {
            continue;
        };
        let threads: Vec<_> = (0..3u32)
            .map(|stream| {
                let log = log.clone();
                std::thread::spawn(move || acknowledged_until_failure(&log, stream))
            })
            .collect();
        let acknowledged: Vec<Entry> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        let log = open(&disk.crashed(seed), small_files());
        let found = contents(&log);
        for (index, entry) in found.iter().enumerate() {
            assert_eq!(entry.glsn.get(), index as u64 + 1);
        }
        for entry in acknowledged {
            let index = usize::try_from(entry.glsn.get()).unwrap() - 1;
            assert_eq!(found.get(index), Some(&entry), "seed {seed}");
        }
    }
}

/// Appends until the power fails; gives what was acknowledged as durable.
fn acknowledged_until_failure(log: &Log, stream: u32) -> Vec<Entry> {
    let mut acknowledged = Vec::new();
    for n in 0..500u64 {
        let payload = n.to_le_bytes();
        let parts: [&[u8]; 1] = [&payload];
        let stream = StreamId::new(stream);
        let entry = NewEntry::new(stream, &parts);
        let Ok(appended) = log.append(&[entry], Durability::Sync) else {
            break;
        };
        if log.wait(appended.last, Durability::Sync).is_err() {
            break;
        }
        let payload = payload.to_vec().into();
        acknowledged.push(expected_entry(
            appended.last,
            appended.llsns[0],
            stream,
            payload,
        ));
    }
    acknowledged
}

#[test]
fn what_a_failed_sync_left_in_the_cache_is_made_durable_by_the_next_start() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    append_synced(&log, 1, b"one");
    disk.fail_sync(1);
    let two = append(&log, 1, b"two", Durability::Sync).last;
    log.wait(two, Durability::Sync).unwrap_err();
    drop(log);
    let log = open(&disk, small_files());
    assert_eq!(log.last(), two, "the cache still has it");
    append_synced(&log, 1, b"three");
    for seed in 0..100 {
        let log = open(&disk.crashed(seed), small_files());
        assert_eq!(contents(&log).len(), 3, "seed {seed}");
    }
}

#[test]
fn an_unsynced_tail_is_lost_in_part_under_some_seeds() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"kept");
    for _ in 0..10 {
        let last = append(&log, 1, &[7; 30], Durability::Os).last;
        log.written(last).unwrap();
    }
    let lasts: Vec<u64> = (0..200)
        .map(|seed| {
            open(&disk.crashed(seed), LogOptions::default())
                .last()
                .get()
        })
        .collect();
    assert_eq!(lasts.iter().min(), Some(&1));
    assert_eq!(lasts.iter().max(), Some(&11));
    assert!(
        lasts.iter().any(|last| (2..11).contains(last)),
        "the simulation tears writes"
    );
}
