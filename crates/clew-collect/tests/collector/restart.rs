//! A restart neither loses nor repeats, wherever the last run ended.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::support::{Memory, Place, Random, lines, sorted, text};
use clew_collect::{CollectError, ErrorKind, NoProgress, SkipReason, StopToken, World};
use clew_platform::{Disk, RealClock, SimDisk};

#[test]
fn crashes_at_random_points_neither_lose_nor_repeat() {
    for seed in 0..10 {
        let mut random = Random(seed);
        let place = Place::new();
        let mut memory = Memory::default();
        let mut written = Vec::new();
        for _ in 0..15 {
            for name in ["a.log", "b.log"] {
                let more = lines(written.len(), random.below(20));
                place.append(name, text(&more));
                written.extend(more);
            }
            memory.crash_after = Some(random.below(40));
            match place.once("", &mut memory) {
                Ok(_) => {}
                Err(CollectError::Sink(_)) => assert_eq!(memory.crash_after, Some(0)),
                Err(error) => panic!("{error}"),
            }
        }
        memory.crash_after = None;
        place.once("", &mut memory).unwrap();
        assert_eq!(sorted(memory.messages), written, "seed {seed}");
    }
}

#[test]
fn a_clean_restart_sends_nothing_twice_and_keeps_the_order_within_a_file() {
    let place = Place::new();
    let mut memory = Memory::default();
    let all = lines(0, 100);
    for part in all.chunks(13) {
        place.append("a.log", text(part));
        let report = place.once("a.log", &mut memory).unwrap();
        assert_eq!(report.counters.events_acked, part.len() as u64);
    }
    assert_eq!((memory.messages, memory.repeated), (all, 0));
}

#[test]
fn events_sent_twice_have_the_same_id_and_different_lines_never_do() {
    let place = Place::new();
    place.append("a.log", "same\nsame\nsame\n");
    place.append("b.log", "same\nsame\n");
    let mut memory = Memory::default();
    place.once("", &mut memory).unwrap();
    assert_eq!(memory.documents.len(), 5);
    // Without its registry the collector sends everything again, under the same ids.
    std::fs::remove_file(place.registry()).unwrap();
    place.once("", &mut memory).unwrap();
    assert_eq!((memory.documents.len(), memory.repeated), (5, 5));
}

#[test]
fn a_registry_that_cannot_be_read_stops_the_run_before_anything_is_sent() {
    let place = Place::new();
    place.append("a.log", "x\n");
    std::fs::write(place.registry(), "{\"version\":1,\"files\":[{").unwrap();
    let mut memory = Memory::default();
    let error = place.once("", &mut memory).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.to_string().contains("registry.json is broken"),
        "{error}"
    );
    assert!(memory.messages.is_empty());
}

#[test]
fn the_registry_does_not_move_past_what_the_sink_refused_to_take() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 20)));
    let mut memory = Memory {
        crash_after: Some(10),
        ..Memory::default()
    };
    place.once("a.log", &mut memory).unwrap_err();
    // Two batches of seven: the second broke off, so only the first is remembered.
    let registry = std::fs::read_to_string(place.registry()).unwrap();
    let (_sum, registry) = registry.split_once('\n').unwrap();
    let registry: serde_json::Value = serde_json::from_str(registry).unwrap();
    let line_bytes = text(&lines(0, 1)).len();
    assert_eq!(registry["files"][0]["position"]["offset"], 7 * line_bytes);
}

#[test]
fn a_disk_that_is_full_for_an_hour_is_waited_for_and_nothing_is_lost() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 30)));
    // The first registry does not fit, or fits but not its successor beside it.
    for (bytes_max, sent) in [(100, 0), (900, 7)] {
        let disk = SimDisk::new();
        disk.create_dir_all_durable(place.folder.path()).unwrap();
        let run = |stop: &StopToken, memory: &mut Memory| {
            let world = World {
                disk: Arc::new(disk.clone()),
                clock: Arc::new(RealClock::new()),
                progress: &NoProgress,
                stop,
            };
            clew_collect::run(&place.options("a.log"), world, memory)
        };
        // Who does not want to wait asks for the stop, and is told why.
        disk.limit_bytes(bytes_max);
        let asked: Arc<OnceLock<StopToken>> = Arc::default();
        let stop = StopToken::simulated({
            let asked = Arc::clone(&asked);
            move |_| asked.get().expect("set before the run").stop()
        });
        asked.set(stop.clone()).unwrap();
        let mut memory = Memory::default();
        let error = run(&stop, &mut memory).unwrap_err();
        assert!(error.to_string().contains("registry.json"), "{error}");
        let reason = std::error::Error::source(&error).map(ToString::to_string);
        assert!(
            format!("{error} {reason:?}").contains("No space left"),
            "{error} {reason:?}"
        );
        assert!(memory.messages.len() >= sent, "{bytes_max}");
        assert!(memory.messages.len() < 30, "{bytes_max}");
        // The next run waits until there is room.
        let waited: Arc<Mutex<Duration>> = Arc::default();
        let stop = StopToken::simulated({
            let (disk, waited) = (disk.clone(), Arc::clone(&waited));
            move |pause| {
                let mut waited = waited.lock().unwrap();
                *waited += pause;
                if *waited >= Duration::from_secs(3600) {
                    disk.limit_bytes(u64::MAX);
                }
            }
        });
        run(&stop, &mut memory).unwrap();
        assert!(*waited.lock().unwrap() >= Duration::from_secs(3600));
        assert_eq!(memory.messages, lines(0, 30));
        run(&stop, &mut memory).unwrap();
        assert_eq!(memory.messages.len(), 30);
    }
}

#[test]
fn the_collectors_own_files_are_not_collected() {
    let place = Place::new();
    place.append("a.log", "x\n");
    let mut options = place.options("");
    options.registry = place.log("registry.json");
    std::fs::write(options.dead_letter_path(), "{}\n").unwrap();
    let mut memory = Memory::default();
    for _ in 0..2 {
        crate::support::collect(&options, &mut memory, &clew_collect::StopToken::new()).unwrap();
    }
    assert_eq!(memory.messages, ["x"]);
}

#[test]
fn the_report_says_what_was_skipped_and_why() {
    let place = Place::new();
    place.append("good.log", "x\n");
    place.append("empty.log", "");
    place.append("nul.bin", b"a\0b\0c\0d");
    place.append("old.xz", b"\xfd7zXZ\0\x01\x02");
    std::fs::hard_link(place.log("good.log"), place.log("same.log")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.log("broken")).unwrap();
    let mut memory = Memory::default();
    let report = place.once("", &mut memory).unwrap();
    let skipped: Vec<(String, SkipReason)> = report
        .skipped
        .into_iter()
        .map(|skipped| {
            (
                skipped
                    .path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned(),
                skipped.reason,
            )
        })
        .collect();
    let expected = [
        ("broken", SkipReason::Missing),
        ("empty.log", SkipReason::Empty),
        ("nul.bin", SkipReason::Binary("it holds NUL bytes")),
        ("old.xz", SkipReason::Binary("compressed with xz")),
        ("same.log", SkipReason::SameAs(place.log("good.log"))),
    ];
    let expected = expected.map(|(name, reason)| (name.to_owned(), reason));
    assert_eq!(skipped, expected);
    assert_eq!(report.counters.files_skipped, 5);
    assert_eq!(report.files[0].path, place.log("good.log"));
    assert_eq!(report.files[0].parser, "plain");
}

#[test]
fn more_files_than_may_be_open_are_all_read() {
    let place = Place::new();
    let mut memory = Memory::default();
    for round in 0..2 {
        for n in 0..600 {
            place.append(&format!("{n:03}.log"), text(&lines(n * 10 + round * 5, 5)));
        }
        let mut options = place.options("");
        options.registry_interval = std::time::Duration::from_secs(1);
        crate::support::collect(&options, &mut memory, &clew_collect::StopToken::new()).unwrap();
    }
    assert_eq!(sorted(memory.messages), lines(0, 6_000));
    assert_eq!(memory.repeated, 0);
}

#[test]
fn a_compressed_file_that_is_broken_off_is_read_as_far_as_it_goes_and_reported() {
    let place = Place::new();
    let all = lines(0, 60_000);
    place.append("a.log", text(&all));
    place.gzip("a.log", "a.log.1.gz");
    let whole = std::fs::read(place.log("a.log.1.gz")).unwrap();
    std::fs::write(place.log("a.log.1.gz"), &whole[..whole.len() / 2]).unwrap();
    let mut options = place.options("");
    options.batch_lines_max = 1_000;
    let stop = clew_collect::StopToken::new();
    let mut memory = Memory::default();
    let report = crate::support::collect(&options, &mut memory, &stop).unwrap();
    assert!(memory.messages.len() > 10_000 && memory.messages.len() < 50_000);
    assert!(matches!(
        report.skipped[0].reason,
        SkipReason::Unreadable(_)
    ));
    // When the rest arrives, reading goes on where it broke off.
    std::fs::write(place.log("a.log.1.gz"), &whole).unwrap();
    let report = crate::support::collect(&options, &mut memory, &stop).unwrap();
    assert_eq!((memory.messages == all, memory.repeated), (true, 0));
    assert!(report.skipped.is_empty());
}

#[test]
fn the_status_tells_how_far_files_are_behind_also_while_a_collector_runs() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 10)));
    place.append("b.log", text(&lines(10, 10)));
    place.once("", &mut Memory::default()).unwrap();
    let look = || {
        let clock = clew_platform::RealClock::new();
        let files = clew_collect::status(&clew_platform::RealDisk, &clock, &place.registry());
        files.unwrap()
    };
    let line_bytes = text(&lines(0, 1)).len() as u64;
    let lags = |files: &[clew_collect::FileStatus]| -> Vec<Option<u64>> {
        files.iter().map(|file| file.lag_bytes).collect()
    };
    assert_eq!(lags(&look()), [Some(0), Some(0)]);
    assert!(look()[0].lag.is_zero());
    assert_eq!(look()[1].offset_bytes, 10 * line_bytes);
    place.append("b.log", text(&lines(20, 3)));
    std::fs::remove_file(place.log("a.log")).unwrap();
    assert_eq!(lags(&look()), [None, Some(3 * line_bytes)]);
    let follower = crate::support::Follower::start(place.options(""), Memory::default());
    follower.expect(&lines(20, 3));
    look();
    follower.finish();
    assert_eq!(lags(&look()), [Some(0)]);
}
