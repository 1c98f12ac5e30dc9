//! SIGKILL at arbitrary points on a real disk: a child process appends and reports what was
//! acknowledged; after each kill the next child finds all of it, and retries add no duplicate.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clew_log::{AppendOptions, Durability, Log, LogOptions, NewEntry, Producer};
use clew_platform::{Clock, RealClock, RealDisk};

use super::Random;

/// Set for the child: the folder of the log.
const CHILD: &str = "CLEW_LOG_KILLED_CHILD";
const TEST: &str = "kill::nothing_acknowledged_is_lost_or_doubled_by_sigkill";
/// How often the child is killed, if the environment has it, as `make kill-log` does for minutes.
const ROUNDS_GIVEN: &str = "CLEW_LOG_KILLS";
const ROUNDS: u64 = 250;
const PRODUCERS: usize = 3;

fn rounds() -> u64 {
    let given = std::env::var(ROUNDS_GIVEN);
    given.map_or(ROUNDS, |given| given.parse().unwrap())
}

fn open(dir: &Path) -> Log {
    let options = LogOptions {
        file_bytes_max: 64 << 10,
        ..LogOptions::default()
    };
    Log::open(Arc::new(RealDisk), Arc::new(RealClock::new()), dir, options).unwrap()
}

fn payload(producer: usize, sequence: u64) -> String {
    format!(
        "{producer}:{sequence} {}",
        "x".repeat(usize::try_from(sequence % 200).unwrap())
    )
}

/// The last sequence of each producer that the log has; checks that none is missing or doubled.
fn sequences(log: &Log, seed: u64) -> [u64; PRODUCERS] {
    let mut last = [0; PRODUCERS];
    let mut scan = log.scan(log.first()).unwrap();
    let mut due = log.first();
    while let Some(entry) = scan.next() {
        let entry = entry.unwrap();
        assert_eq!(entry.glsn, due, "seed {seed}: positions are dense");
        due = due.next();
        let text = std::str::from_utf8(entry.payload).unwrap();
        let (producer, rest) = text.split_once(':').unwrap();
        let producer: usize = producer.parse().unwrap();
        let sequence: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(
            text,
            payload(producer, sequence),
            "seed {seed}: other bytes"
        );
        let slot = &mut last[producer];
        assert!(
            *slot == 0 || sequence == *slot + 1,
            "seed {seed}: {sequence} after {slot} of {producer}"
        );
        *slot = sequence;
    }
    last
}

/// Appends from several threads for ever, each call first as a retry of the last one that may or
/// may not have arrived, and reports each acknowledgement as a line.
fn child(dir: &Path) {
    let log = open(dir);
    let last = sequences(&log, 0);
    let stream = match log.stream("s") {
        Ok(stream) => stream.id,
        Err(_) => log.create_stream("s").unwrap().id,
    };
    std::thread::scope(|scope| {
        for (producer, last) in last.into_iter().enumerate() {
            let log = log.clone();
            let from = last.max(1);
            scope.spawn(move || {
                for sequence in from.. {
                    let text = payload(producer, sequence);
                    let parts: [&[u8]; 1] = [text.as_bytes()];
                    let options = AppendOptions {
                        producer: Some(Producer {
                            id: producer as u64,
                            sequence,
                        }),
                        ..AppendOptions::default()
                    };
                    let appended = log
                        .append(&[NewEntry::new(stream, &parts)], options)
                        .unwrap();
                    log.wait(appended.last, Durability::Sync).unwrap();
                    let line = format!("ack {producer} {sequence}\n");
                    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_by_sigkill() {
    if let Some(dir) = std::env::var_os(CHILD) {
        child(Path::new(&dir));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let seed = u64::from(std::process::id());
    let mut random = Random::new(seed);
    let mut acknowledged = [0; PRODUCERS];
    let rounds = rounds();
    for number in 1..=rounds {
        round(dir.path(), &mut random, &mut acknowledged);
        let log = open(dir.path());
        let found = sequences(&log, seed);
        for (producer, (found, acknowledged)) in found.iter().zip(&acknowledged).enumerate() {
            assert!(
                found >= acknowledged,
                "seed {seed} round {number}: {acknowledged} of {producer} was acknowledged, {found} is there"
            );
        }
        // Old files go, so that a round does not read ever more.
        if log.bytes() > 1 << 20 {
            let until = log.last().get() - 1000;
            log.trim(clew_log::Trim::Named(clew_log::Glsn::new(until)))
                .unwrap();
        }
        log.close().unwrap();
    }
    eprintln!("killed {rounds} times, seed {seed}, last acknowledged {acknowledged:?}");
}

/// One child, killed after some acknowledgements, or in the middle of opening.
fn round(dir: &Path, random: &mut Random, acknowledged: &mut [u64; PRODUCERS]) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([TEST, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let wanted = random.below(30);
    let mut seen = 0;
    let note = |line: &str, acknowledged: &mut [u64; PRODUCERS]| {
        let mut words = line.split(' ');
        if words.next() == Some("ack") {
            let producer: usize = words.next().unwrap().parse().unwrap();
            let sequence: u64 = words.next().unwrap().parse().unwrap();
            let slot = &mut acknowledged[producer];
            *slot = sequence.max(*slot);
            return true;
        }
        false
    };
    while seen < wanted {
        let line = lines
            .next()
            .expect("the child goes on until it is killed")
            .unwrap();
        seen += u64::from(note(&line, acknowledged));
    }
    // Somewhere between two acknowledgements, not right behind one.
    let clock = RealClock::new();
    let pause = Duration::from_micros(random.below(2000));
    while clock.monotonic() < pause {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    // What it had reported before it died counts too; its last line may be cut.
    for line in lines.map_while(Result::ok) {
        if line.split(' ').count() == 3 {
            note(&line, acknowledged);
        }
    }
    child.wait().unwrap();
}
