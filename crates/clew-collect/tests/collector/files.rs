//! What an input may say of its files: which are read and from where, how bytes are text, and how lines are events.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::support::{Follower, Memory, Place, collect, lines, text};
use clew_collect::{
    CollectOptions, Encoding, FileOptions, Multiline, MultilineRule, ParserChoice, ParserName,
    SkipReason, StartAt, StopToken, Wrapping,
};
use clew_platform::{Clock, RealClock};

fn with(place: &Place, path: &str, change: impl FnOnce(&mut FileOptions)) -> CollectOptions {
    let mut options = place.options(path);
    change(&mut options.files[0]);
    options
}

fn messages(options: &CollectOptions) -> Vec<String> {
    let mut memory = Memory::default();
    collect(options, &mut memory, &StopToken::new()).unwrap();
    memory.messages
}

#[test]
fn excluded_files_are_left_out() {
    let place = Place::new();
    fs::create_dir_all(place.log("app/debug")).unwrap();
    for name in ["a.log", "a.log.gz", "app/b.log", "app/debug/c.log"] {
        place.append(name, format!("{name}\n"));
    }
    let debug = place.log("**/debug/*").display().to_string();
    let options = with(&place, "", |files| {
        files.exclude = vec!["*.gz".to_owned(), debug];
    });
    assert_eq!(messages(&options), ["a.log", "app/b.log"]);
}

#[test]
fn files_that_were_not_written_to_for_too_long_are_left_until_they_are() {
    let place = Place::new();
    place.append("old.log", "one\n");
    place.append("new.log", "two\n");
    let old = fs::File::options().append(true).open(place.log("old.log"));
    let hour = Duration::from_secs(3600);
    old.unwrap().set_modified(SystemTime::now() - hour).unwrap();
    let options = with(&place, "", |files| files.ignore_older = Some(hour / 2));
    let mut memory = Memory::default();
    let report = collect(&options, &mut memory, &StopToken::new()).unwrap();
    assert_eq!(memory.messages, ["two"]);
    assert_eq!(report.skipped[0].reason, SkipReason::TooOld);
    place.append("old.log", "three\n");
    assert_eq!(messages(&options), ["one", "three"]);
}

#[test]
fn reading_that_starts_at_the_end_takes_what_comes_and_all_of_new_files() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 20_000)) + "unfin");
    let options = with(&place, "", |files| files.start_at = StartAt::End);
    let follower = Follower::start(options.clone(), Memory::default());
    while !place.registry().exists() {
        std::thread::yield_now();
    }
    // An unfinished line belongs to what comes.
    place.append("a.log", "ished\nmore\n");
    place.append("b.log", "all\n");
    follower.expect(&["unfinished", "more", "all"]);
    let (_, memory) = follower.finish();
    // A copy of it continues where it was read to.
    place.append("a.log", "end\n");
    place.copy_truncate("a.log", "a.log.1");
    assert_eq!(messages(&options), ["end"]);
    assert_eq!(memory.repeated, 0);
}

#[test]
fn other_encodings_are_read_as_text() {
    let place = Place::new();
    let text = "eins\r\nzwölf 🪵\nĊ\n";
    let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let expected = ["eins", "zwölf 🪵", "Ċ"];
    place.append("marked.log", [b"\xff\xfe", &le[..]].concat());
    assert_eq!(messages(&place.options("marked.log")), expected);
    place.append("big.log", [b"\xfe\xff", &be[..]].concat());
    assert_eq!(messages(&place.options("big.log")), expected);
    // The mark may come byte by byte.
    place.append("half.log", b"\xff");
    assert!(messages(&place.options("half.log")).is_empty());
    place.append("half.log", [b"\xfe", &le[..]].concat());
    assert_eq!(messages(&place.options("half.log")), expected);
    place.append("le.log", &le);
    let options = with(&place, "le.log", |files| files.encoding = Encoding::Utf16Le);
    assert_eq!(messages(&options), expected);
    place.append("latin.log", b"caf\xe9\r\n\x80\xff\n");
    let options = with(&place, "latin.log", |files| {
        files.encoding = Encoding::Latin1
    });
    assert_eq!(messages(&options), ["café", "\u{80}ÿ"]);
    place.append("eight.log", b"\xef\xbb\xbfeins\n\xef\xbb\xbfzwei\n");
    let expected = ["eins", "\u{feff}zwei"];
    assert_eq!(messages(&place.options("eight.log")), expected);
    // Longer than a line may be, in two bytes a letter.
    let long: Vec<u8> = format!("{}\nlast\n", "x".repeat(300_000))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    place.append("long.log", &long);
    let options = with(&place, "long.log", |files| {
        files.encoding = Encoding::Utf16Le;
        files.line_bytes_max = 2_000;
    });
    assert_eq!(messages(&options), ["x".repeat(1_000), "last".to_owned()]);
}

#[test]
fn text_in_utf_16_is_followed_letter_by_letter() {
    let place = Place::new();
    place.append("a.log", b"\xff\xfea");
    let follower = Follower::start(place.options("a.log"), Memory::default());
    for byte in b"\0b\0\n\0c\0\n\0" {
        place.append("a.log", [*byte]);
    }
    follower.expect(&["ab", "c"]);
    follower.finish();
}

#[test]
fn files_compressed_with_zstandard_are_read_once_and_known_as_copies() {
    let place = Place::new();
    let mut memory = Memory::default();
    place.append("app.log", text(&lines(0, 10)));
    place.once("app.log*", &mut memory).unwrap();
    place.append("app.log", text(&lines(10, 10)));
    let bytes = fs::read(place.log("app.log")).unwrap();
    fs::write(
        place.log("app.log.1.zst"),
        zstd::encode_all(&bytes[..], 1).unwrap(),
    )
    .unwrap();
    fs::remove_file(place.log("app.log")).unwrap();
    place.append("app.log", text(&lines(20, 5)));
    for _ in 0..2 {
        place.once("app.log*", &mut memory).unwrap();
    }
    assert_eq!(crate::support::sorted(memory.messages), lines(0, 25));
    assert_eq!(memory.repeated, 0);
}

#[test]
fn a_damaged_zstandard_file_is_read_as_far_as_it_goes() {
    let place = Place::new();
    let whole = zstd::encode_all(text(&lines(0, 5_000)).as_bytes(), 1).unwrap();
    fs::write(place.log("a.zst"), &whole[..whole.len() - 20]).unwrap();
    let mut memory = Memory::default();
    let report = place.once("a.zst", &mut memory).unwrap();
    assert!(matches!(
        report.skipped[0].reason,
        SkipReason::Unreadable(_)
    ));
}

/// A clock that stands, but for the time of day, until it is told to go on.
#[derive(Debug)]
struct Standing {
    real: RealClock,
    passed_ms: AtomicU64,
}

fn standing() -> Arc<Standing> {
    Arc::new(Standing {
        real: RealClock::new(),
        passed_ms: AtomicU64::new(0),
    })
}

impl Clock for Standing {
    fn since_epoch(&self) -> Duration {
        self.real.since_epoch()
    }
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.passed_ms.load(Ordering::SeqCst))
    }
    fn identity(&self) -> u64 {
        self.real.identity()
    }
}

#[test]
fn events_of_several_lines_survive_restarts_and_rotations() {
    let place = Place::new();
    let options = with(&place, "app.log*", |files| {
        let mut multiline = Multiline::new(MultilineRule::preset("java").unwrap());
        multiline.timeout = Duration::from_millis(100);
        files.multiline = Some(multiline);
    });
    // No event is taken for whole while this thread is kept from writing its rest.
    let clock = standing();
    let time_passes = || {
        clock.passed_ms.fetch_add(200, Ordering::SeqCst);
    };
    let event =
        |number: usize| format!("line {number}\njava.io.IOException: x\n\tat a.b({number})");
    place.append(
        "app.log",
        format!("{}\n{}\n{}", event(0), event(1), &event(2)[..12]),
    );
    let follower = Follower::start_by(clock.clone(), options.clone(), Memory::default());
    follower.expect(&[event(0), event(1)]);
    // In the middle of an event the file is renamed, and what belongs to it comes later.
    place.rename("app.log", "app.log.1");
    place.append("app.log.1", format!("{}\n", &event(2)[12..]));
    place.append("app.log", format!("{}\nend\n", event(3)));
    follower.expect_while(&[event(2), event(3), "end".to_owned()], time_passes);
    let (_, memory) = follower.finish();
    assert_eq!(memory.repeated, 0);
    place.append("app.log", "more\n\tat c.d(1)\n");
    assert_eq!(messages(&options), ["more\n\tat c.d(1)"]);
}

#[test]
fn events_that_a_parser_joins_survive_a_stop_in_their_middle_and_a_rotation() {
    let place = Place::new();
    let options = with(&place, "pg.csv*", |files| {
        files.parse = ParserChoice::Named(ParserName::PostgresqlCsv);
    });
    let event = |number: usize| {
        format!(
            "2026-01-02 03:04:05.678 UTC,,,{number},,5ff.1,1,,2026-01-02 03:00:00 UTC,,0,LOG,00000,\"a\nb\""
        )
    };
    let (first, rest) = (
        format!("{}\"a\n", event(1).split('"').next().unwrap()),
        "b\"\n",
    );
    place.append("pg.csv", format!("{}\n{first}", event(0)));
    // However late the stop comes, the event that has begun is not taken for whole.
    let follower = Follower::start_by(standing(), options.clone(), Memory::default());
    follower.expect(&[event(0)]);
    let (_, memory) = follower.finish();
    place.append("pg.csv", rest);
    place.rename("pg.csv", "pg.csv.1");
    place.append("pg.csv", format!("{}\n", event(2)));
    let follower = Follower::start(options, memory);
    follower.expect(&[event(1), event(2)]);
    let (_, memory) = follower.finish();
    let taken = |document: &serde_json::Value| document["event"]["parse_error"].is_null();
    assert!(memory.documents.values().all(taken));
}

#[test]
fn a_file_that_begins_with_nothing_but_blank_lines_is_read() {
    let place = Place::new();
    place.append("app.log", "\n".repeat(70_000) + "it goes on\n");
    let follower = Follower::start(with(&place, "app.log", |_| {}), Memory::default());
    follower.expect(&["it goes on"]);
    let _ = follower.finish();
}

#[test]
fn the_only_event_of_a_file_is_taken_when_its_time_is_over() {
    let place = Place::new();
    let options = with(&place, "*.log", |files| {
        let mut multiline = Multiline::new(MultilineRule::preset("java").unwrap());
        multiline.timeout = Duration::from_millis(100);
        files.multiline = Some(multiline);
    });
    place.append("there.log", "it broke\n\tat a.b(1)\n");
    let follower = Follower::start(options, Memory::default());
    follower.expect(&["it broke\n\tat a.b(1)"]);
    for name in ["one.log", "two.log"] {
        place.append(name, "it broke again\n");
    }
    follower.expect(&["it broke again", "it broke again"]);
    let _ = follower.finish();
}

#[test]
fn lines_of_containers_have_their_stream_and_time() {
    let place = Place::new();
    place.append(
        "docker.log",
        "{\"log\":\"half \",\"stream\":\"stderr\",\"time\":\"2026-01-02T03:04:05.678901Z\"}\n\
         {\"log\":\"and \\\"half\\\"\\n\",\"stream\":\"stderr\",\"time\":\"2026-01-02T03:04:06Z\"}\n\
         {\"log\":\"2025-01-01T00:00:00Z own time\\n\",\"stream\":\"stdout\",\"time\":\"2026-01-02T03:04:07Z\"}\n",
    );
    let options = with(&place, "docker.log", |files| {
        files.wrapping = Wrapping::Container
    });
    let mut memory = Memory::default();
    collect(&options, &mut memory, &StopToken::new()).unwrap();
    let mut found: Vec<_> = memory
        .documents
        .values()
        .map(|document| {
            let member = |name: &str| document[name].as_str().unwrap().to_owned();
            (member("message"), member("stream"), member("@timestamp"))
        })
        .collect();
    found.sort();
    let expected = [
        (
            "2025-01-01T00:00:00Z own time",
            "stdout",
            "2025-01-01T00:00:00.000Z",
        ),
        ("half and \"half\"", "stderr", "2026-01-02T03:04:05.678Z"),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(found, expected);
}
