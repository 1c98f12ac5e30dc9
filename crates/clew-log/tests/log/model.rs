//! The log against the simplest thing that could be right: a vector.

use std::collections::BTreeMap;

use clew_log::{Durability, Entry, Glsn, Llsn, LogError, LogOptions, NewEntry, StreamId, Trim};
use clew_platform::SimDisk;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{contents, counters, expected_entry, open};

#[derive(Clone, Debug)]
enum Step {
    Append {
        call: Vec<(u32, Vec<u8>)>,
        synced: bool,
    },
    Read {
        glsn: u64,
    },
    Scan {
        from: u64,
    },
    Trim {
        until: u64,
    },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let entry = (0..4u32, vec(any::<u8>(), 0..90));
    prop_oneof![
        6 => (vec(entry, 0..5), any::<bool>()).prop_map(|(call, synced)| Step::Append { call, synced }),
        3 => (0..80u64).prop_map(|glsn| Step::Read { glsn }),
        2 => (0..80u64).prop_map(|from| Step::Scan { from }),
        1 => (0..80u64).prop_map(|until| Step::Trim { until }),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_log_behaves_as_a_vector(
        steps in vec(step(), 1..60),
        file_bytes_max in 100..2000u64,
        pending_bytes_max in 1..2000usize,
    ) {
        let options = LogOptions { file_bytes_max, pending_bytes_max, ..LogOptions::default() };
        let disk = SimDisk::new();
        let mut log = open(&disk, options);
        let mut floor = 0;
        let mut model: Vec<Entry> = Vec::new();
        let mut streams: BTreeMap<StreamId, Llsn> = BTreeMap::new();
        for step in steps {
            let (first, last) = (log.first(), Glsn::new(model.len() as u64));
            prop_assert_eq!(log.last(), last);
            match step {
                Step::Append { call, synced } => {
                    let parts: Vec<Vec<&[u8]>> = call.iter().map(|(_, p)| p.chunks(7).collect()).collect();
                    let entries: Vec<NewEntry<'_>> = call.iter().zip(&parts)
                        .map(|((stream, _), parts)| NewEntry::new(StreamId::new(*stream), parts))
                        .collect();
                    let durability = if synced { Durability::Sync } else { Durability::Os };
                    let appended = log.append(&entries, durability).unwrap();
                    for (index, (stream, payload)) in call.into_iter().enumerate() {
                        let stream = StreamId::new(stream);
                        let llsn = streams.entry(stream).or_default();
                        *llsn = llsn.next();
                        prop_assert_eq!(appended.llsns[index], *llsn);
                        let (glsn, payload) = (appended.glsn(index), payload.into());
                        model.push(expected_entry(glsn, *llsn, stream, payload));
                    }
                    prop_assert_eq!(appended.last.get(), model.len() as u64);
                    log.wait(appended.last, durability).unwrap();
                }
                Step::Read { glsn } => match log.read(Glsn::new(glsn)) {
                    Ok(entry) => prop_assert_eq!(&entry, &model[usize::try_from(glsn).unwrap() - 1]),
                    Err(LogError::Trimmed { .. }) => prop_assert!(glsn < first.get()),
                    Err(error) => prop_assert!(glsn > last.get(), "{}", error),
                },
                Step::Scan { from } => match log.scan(Glsn::new(from)) {
                    Ok(mut scan) => {
                        for expected in &model[usize::try_from(if from == 0 { first.get() } else { from }).unwrap() - 1..] {
                            prop_assert_eq!(&scan.next().unwrap().unwrap().to_entry(), expected);
                        }
                        prop_assert!(scan.next().is_none());
                    }
                    Err(LogError::Trimmed { .. }) => prop_assert!(from < first.get()),
                    Err(error) => prop_assert!(from > last.next().get(), "{}", error),
                },
                Step::Trim { until } => {
                    log.trim(Trim::Unnamed(Glsn::new(until))).unwrap();
                    floor = floor.max(until.min(last.get()));
                    prop_assert!(log.first() >= first && log.first().previous().get() <= floor);
                }
                Step::Reopen => {
                    drop(log);
                    log = open(&disk, options);
                    prop_assert_eq!(log.first(), first);
                    prop_assert_eq!(counters(&log.streams()), Vec::from_iter(streams.clone()));
                }
            }
        }
        let retained = usize::try_from(log.first().previous().get()).unwrap();
        prop_assert_eq!(&contents(&log)[..], &model[retained..]);
    }
}
