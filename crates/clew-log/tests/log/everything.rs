//! Power cuts while everything happens at once: named streams that are made, sealed, trimmed and
//! deleted, producers that retry, compressed calls, and every durability.

use std::collections::BTreeMap;

use clew_log::{
    AppendOptions, Appended, Compression, Durability, Entry, Glsn, Llsn, Log, LogError, NewEntry,
    Producer, StreamId, StreamInfo, Trim,
};
use clew_platform::SimDisk;

use super::{Random, expected_entry, small_files, try_contents, try_open};

const NAMES: [&str; 3] = ["red", "green", "blue"];
const SEEDS: u64 = 1500;

/// What is known of a log whatever happens to it.
#[derive(Default)]
struct World {
    /// All that was appended, as far as it is not known to be lost.
    entries: Vec<Entry>,
    call_ends: Vec<Glsn>,
    acknowledged: Glsn,
    streams: BTreeMap<StreamId, StreamInfo>,
    /// What the change that failed last would have made of its stream; `None` for its deletion.
    attempted: Option<(StreamId, Option<StreamInfo>)>,
    /// The producer's next call, or the one whose outcome is unknown.
    sequence: u64,
    unknown: Option<(StreamId, u64)>,
}

impl World {
    fn step(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        match random.below(20) {
            0 => self.create(log, random),
            1 | 2 => self.change(log, random),
            3 => self.trim(log, random),
            4 | 5 => self.produce(log, random),
            _ => self.append(log, random),
        }
    }

    fn pick(&self, random: &mut Random) -> Option<StreamInfo> {
        let index = usize::try_from(random.below(NAMES.len() as u64)).unwrap();
        self.streams.values().nth(index).cloned()
    }

    fn create(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let name = NAMES[usize::try_from(random.below(3)).unwrap()];
        match log.create_stream(name) {
            Ok(info) => {
                assert!(self.streams.insert(info.id, info).is_none());
                Ok(())
            }
            Err(LogError::StreamExists { stream, .. }) => {
                assert!(self.streams.contains_key(&stream));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Seals, unseals or deletes.
    fn change(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let Some(info) = self.pick(random) else {
            return Ok(());
        };
        let (id, mut after) = (info.id, info.clone());
        let done = match random.below(5) {
            0 => {
                self.attempted = Some((id, None));
                log.delete_streams(&[id])?;
                self.streams.remove(&id);
                return Ok(());
            }
            1 | 2 => {
                after.sealed = true;
                self.attempted = Some((id, Some(after)));
                log.seal(id)?
            }
            _ => {
                after.epoch += u64::from(after.sealed);
                after.sealed = false;
                self.attempted = Some((id, Some(after)));
                log.unseal(id)?
            }
        };
        self.streams.insert(id, done);
        Ok(())
    }

    fn trim(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let Some(info) = self.pick(random) else {
            return Ok(());
        };
        let until = Llsn::new(random.below(info.last.get() + 1));
        let first = info.first.max(until.next());
        self.attempted = Some((
            info.id,
            Some(StreamInfo {
                first,
                ..info.clone()
            }),
        ));
        log.trim(Trim::Stream(info.id, until))?;
        assert_eq!(log.stream_info(info.id)?.first, first);
        self.streams.insert(info.id, StreamInfo { first, ..info });
        Ok(())
    }

    fn append(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let named = self.pick(random).map(|info| info.id);
        let streams = [
            named.unwrap_or(StreamId::new(1)),
            StreamId::new(random.stream()),
        ];
        let durability = [Durability::Memory, Durability::Os, Durability::Sync];
        let options = AppendOptions {
            durability: durability[usize::try_from(random.below(3)).unwrap()],
            compression: [Compression::None, Compression::Lz4, Compression::Zstd]
                [usize::try_from(random.below(3)).unwrap()],
            ..AppendOptions::default()
        };
        let count = 1 + random.below(4);
        let new: Vec<(StreamId, Vec<u8>)> = (0..count)
            .map(|n| {
                (
                    streams[usize::from(n % 2 == 1)],
                    vec![7; usize::try_from(random.below(700)).unwrap()],
                )
            })
            .collect();
        let sealed = |id: &StreamId| self.streams.get(id).is_some_and(|info| info.sealed);
        let refused = new.iter().any(|(stream, _)| sealed(stream));
        match self.call(log, &new, options) {
            Err(LogError::Sealed { .. }) if refused => Ok(()),
            other => {
                let appended = other?;
                assert!(!refused, "a sealed stream took an append");
                if options.durability == Durability::Sync {
                    log.wait(appended.last, Durability::Sync)?;
                    self.acknowledged = appended.last;
                }
                Ok(())
            }
        }
    }

    /// Appends a call and remembers it.
    fn call(
        &mut self,
        log: &Log,
        new: &[(StreamId, Vec<u8>)],
        options: AppendOptions,
    ) -> Result<Appended, LogError> {
        let parts: Vec<[&[u8]; 1]> = new.iter().map(|(_, payload)| [&payload[..]]).collect();
        let entries = new.iter().zip(&parts);
        let entries: Vec<_> = entries
            .map(|((stream, _), parts)| NewEntry::new(*stream, parts))
            .collect();
        let appended = log.append(&entries, options)?;
        if !appended.replayed {
            for (index, ((stream, payload), llsn)) in new.iter().zip(&appended.llsns).enumerate() {
                let payload = payload.clone().into();
                self.entries.push(expected_entry(
                    appended.glsn(index),
                    *llsn,
                    *stream,
                    payload,
                ));
                if let Some(info) = self.streams.get_mut(stream) {
                    info.last = *llsn;
                }
            }
            self.call_ends.push(appended.last);
        }
        Ok(appended)
    }

    /// A call of the producer, again if its outcome is unknown.
    fn produce(&mut self, log: &Log, random: &mut Random) -> Result<(), LogError> {
        let (stream, sequence) = self
            .unknown
            .unwrap_or((StreamId::new(random.stream()), self.sequence + 1));
        let options = AppendOptions {
            producer: Some(Producer { id: 5, sequence }),
            ..AppendOptions::default()
        };
        self.unknown = Some((stream, sequence));
        let payload = format!("call {sequence}").into_bytes();
        let appended = self.call(log, &[(stream, payload)], options)?;
        log.wait(appended.last, Durability::Sync)?;
        self.acknowledged = self.acknowledged.max(appended.last);
        (self.unknown, self.sequence) = (None, sequence);
        Ok(())
    }

    /// Checks what a crash has left, and goes on from there.
    fn check(&mut self, log: &Log, seed: u64) {
        assert!(
            log.last() >= self.acknowledged,
            "seed {seed}: acknowledged entries are lost"
        );
        self.call_ends.retain(|end| *end <= log.last());
        let whole = self.call_ends.last().copied().unwrap_or_default();
        assert_eq!(log.last(), whole, "seed {seed}: a call was torn apart");
        self.entries
            .truncate(usize::try_from(log.last().get()).unwrap());
        self.check_streams(log, seed);
        let shown = |entry: &&Entry| {
            let stream = self.streams.get(&entry.stream);
            let named = stream.is_some_and(|info| entry.llsn >= info.first);
            entry.glsn >= log.first() && (!entry.stream.is_named() || named)
        };
        let expected: Vec<Entry> = self.entries.iter().filter(shown).cloned().collect();
        assert!(
            try_contents(log).unwrap() == expected,
            "seed {seed}: other entries"
        );
        let once = (1..=self.sequence).all(|sequence| {
            let payload = format!("call {sequence}");
            self.entries
                .iter()
                .filter(|entry| entry.payload == payload)
                .count()
                == 1
        });
        assert!(
            once,
            "seed {seed}: a call of the producer is missing or doubled"
        );
        self.acknowledged = log.last();
    }

    fn check_streams(&mut self, log: &Log, seed: u64) {
        let attempted = self.attempted.take();
        let known: Vec<StreamInfo> = self.streams.values().cloned().collect();
        for mut info in known {
            let mut may_be = vec![Some(info.clone())];
            if let Some((id, after)) = attempted.clone()
                && id == info.id
            {
                may_be.push(after);
            }
            // Entries that were not acknowledged may be gone, and the counter with them.
            let of_stream = self.entries.iter().filter(|entry| entry.stream == info.id);
            info.last = of_stream.map(|entry| entry.llsn).max().unwrap_or_default();
            let found = log.stream_info(info.id).ok();
            let alike = |one: &Option<StreamInfo>| match (one, &found) {
                (Some(one), Some(found)) => {
                    (one.sealed, one.epoch, one.first) == (found.sealed, found.epoch, found.first)
                        && found.last.next() >= found.first
                }
                (None, None) => true,
                _ => false,
            };
            assert!(
                may_be.iter().any(alike),
                "seed {seed}: {found:?} instead of {may_be:?}"
            );
            match found {
                Some(found) => self.streams.insert(found.id, found),
                None => self.streams.remove(&info.id),
            };
        }
        // A stream whose making was not acknowledged may be there.
        for found in log.streams().into_iter().filter(|info| info.id.is_named()) {
            self.streams.entry(found.id).or_insert(found);
        }
    }
}

fn live(disk: &SimDisk, world: &mut World, random: &mut Random, seed: u64) -> Result<(), LogError> {
    let log = try_open(disk, small_files())?;
    world.check(&log, seed);
    for _ in 0..50 {
        world.step(&log, random)?;
        world.attempted = None;
    }
    log.close()
}

#[test]
fn no_power_cut_takes_back_anything_that_was_acknowledged() {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let (mut world, mut disk) = (World::default(), SimDisk::new());
        for life in 0..4 {
            disk.cut_power_after(1 + random.below(120));
            // The error is the power cut; a life may also end before it.
            match live(&disk, &mut world, &mut random, seed) {
                Ok(()) | Err(LogError::Io { .. } | LogError::Poisoned { .. }) => {}
                Err(error) => panic!("seed {seed} life {life}: {error}"),
            }
            disk = disk.crashed(seed * 4 + life);
        }
        let log = try_open(&disk, small_files()).unwrap();
        world.check(&log, seed);
    }
}

#[test]
fn a_disk_that_lies_about_syncs_leaves_whole_calls_in_order_or_is_reported() {
    let (mut whole, mut reported) = (0, 0);
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let (mut world, disk) = (World::default(), SimDisk::new());
        let log = try_open(&disk, small_files()).unwrap();
        disk.lie_about_syncs(random.below(2) == 0);
        for _ in 0..1 + random.below(12) {
            world.append(&log, &mut random).unwrap();
            disk.lie_about_syncs(random.below(2) == 0);
        }
        let left = disk.crashed(seed);
        match try_open(&left, small_files()).and_then(|log| Ok((log.last(), try_contents(&log)?))) {
            Ok((last, found)) => {
                let kept = usize::try_from(last.get()).unwrap();
                assert!(found == world.entries[..kept], "seed {seed}: other entries");
                let ends = world.call_ends.contains(&last) || last == Glsn::ZERO;
                assert!(ends, "seed {seed}: a call was torn apart");
                whole += 1;
            }
            Err(LogError::Corrupt { .. }) => reported += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(
        whole > 50 && reported > 50,
        "both happen: {whole} and {reported}"
    );
}

/// Every bit of a log is damaged in turn: what is read is what was written, or an error, but for
/// the last group that nothing vouches for yet, which may be cut.
#[test]
fn a_flipped_bit_anywhere_is_reported_or_harmless() {
    let disk = SimDisk::new();
    let log = try_open(&disk, small_files()).unwrap();
    let (mut world, mut random) = (World::default(), Random::new(3));
    for name in NAMES {
        let info = log.create_stream(name).unwrap();
        world.streams.insert(info.id, info);
    }
    for _ in 0..12 {
        world.append(&log, &mut random).unwrap();
        world.produce(&log, &mut random).unwrap();
    }
    log.seal(*world.streams.keys().next().unwrap()).unwrap();
    log.close().unwrap();
    let (mut reported, mut harmless) = (0, 0);
    for path in super::files(&disk) {
        for offset in 0..super::len(&disk, &path) {
            let copy = super::killed(&disk);
            super::damage(&copy, &path, offset);
            match try_open(&copy, small_files())
                .and_then(|log| Ok((try_contents(&log)?, log.streams())))
            {
                Err(
                    LogError::Corrupt { path: named, .. } | LogError::Version { path: named, .. },
                ) => {
                    let linked = named != path;
                    assert!(
                        !linked || offset < 48,
                        "{offset} of {} is named as {}",
                        path.display(),
                        named.display()
                    );
                    reported += 1;
                }
                Err(error) => panic!("{offset} of {}: {error}", path.display()),
                Ok((entries, streams)) => {
                    assert!(
                        entries == world.entries,
                        "{offset} of {}: other entries",
                        path.display()
                    );
                    assert!(
                        streams.iter().any(|info| info.sealed),
                        "the seal is still there"
                    );
                    harmless += 1;
                }
            }
        }
    }
    // Only the mark at the very end may be lost without harm.
    assert!(
        harmless <= 40 && reported > 2000,
        "{harmless} harmless, {reported} reported"
    );
}
