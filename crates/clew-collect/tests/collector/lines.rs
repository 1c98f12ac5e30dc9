//! Lines of every kind: long, unfinished, with odd ends and odd bytes.

use crate::support::{Follower, Memory, Place, collect, lines, text};
use clew_collect::{Event, Mode, ParserChoice, ParserName, Sink, StopToken};

#[test]
fn a_line_longer_than_the_limit_is_cut_and_marked_whatever_its_length() {
    // Around the limit, around one window, and far beyond both.
    for length in [1_999, 2_000, 2_001, 262_000, 262_144, 264_200, 1_500_000] {
        let place = Place::new();
        place.append("a.log", format!("first\n{}\nlast\n", "x".repeat(length)));
        let mut options = place.options("a.log");
        options.files[0].line_bytes_max = 2_000;
        let mut memory = Memory::default();
        let report = collect(&options, &mut memory, &StopToken::new()).unwrap();
        let cut = length > 2_000;
        let expected = [
            "first".to_owned(),
            "x".repeat(length.min(2_000)),
            "last".to_owned(),
        ];
        assert_eq!(memory.messages, expected, "{length}");
        assert_eq!(report.counters.lines_truncated, u64::from(cut), "{length}");
        let flags: Vec<_> = memory
            .documents
            .values()
            .filter_map(|document| document["log"].get("flags"))
            .collect();
        assert_eq!(
            flags,
            vec![&serde_json::json!(["truncated"]); usize::from(cut)]
        );
        assert_eq!(report.counters.bytes_read, length as u64 + 12);
        assert_eq!(report.counters.bytes_total, report.counters.bytes_read);
    }
}

#[test]
fn an_unfinished_line_is_taken_once_and_waited_for_when_following() {
    let place = Place::new();
    place.append("a.log", "one\ntw");
    let mut memory = Memory::default();
    place.once("a.log", &mut memory).unwrap();
    assert_eq!(memory.messages, ["one", "tw"]);

    let place = Place::new();
    place.append("a.log", "one\ntw");
    let follower = Follower::start(place.options("a.log"), Memory::default());
    follower.expect(&["one"]);
    place.append("a.log", "o");
    place.append("a.log", "\nthree\n");
    follower.expect(&["two", "three"]);
    follower.finish();
}

#[test]
fn a_long_unfinished_line_is_not_sent_before_its_end() {
    let place = Place::new();
    let mut options = place.options("a.log");
    options.files[0].line_bytes_max = 100;
    place.append("a.log", "one\n");
    let follower = Follower::start(options, Memory::default());
    follower.expect(&["one"]);
    for _ in 0..5 {
        place.append("a.log", "y".repeat(90));
    }
    place.append("b.log", "unrelated\n");
    place.append("a.log", "\nthree\n");
    follower.expect(&["y".repeat(100), "three".to_owned()]);
    follower.finish();
}

#[test]
fn carriage_returns_blank_lines_and_bad_bytes() {
    let place = Place::new();
    place.append("a.log", b"one\r\n\r\n  \n\ncaf\xe9\ttwo\r\nthr\ree\n");
    let mut memory = Memory::default();
    let report = place.once("a.log", &mut memory).unwrap();
    assert_eq!(memory.messages, ["one", "caf\u{fffd}\ttwo", "thr\ree"]);
    assert_eq!(report.counters.lines_read, 6);
}

#[test]
fn a_file_that_is_all_one_kind_of_thing_is_read_to_its_end() {
    for content in ["\n\n\n", " ", "x", "\r\n", "\u{feff}x\n"] {
        let place = Place::new();
        place.append("a.log", content);
        let mut memory = Memory::default();
        let report = place.once("a.log", &mut memory).unwrap();
        assert_eq!(
            report.files[0].offset_bytes,
            content.len() as u64,
            "{content:?}"
        );
    }
}

#[test]
fn stanzas_wait_for_their_end_and_lines_a_parser_refuses_are_kept() {
    let place = Place::new();
    std::fs::create_dir(place.log("apt")).unwrap();
    place.append(
        "apt/history.log",
        "\nStart-Date: 2025-06-24  14:36:25\nInstall: a:b (1)\n",
    );
    let follower = Follower::start(place.options("apt/history.log"), Memory::default());
    place.append(
        "apt/history.log",
        "End-Date: 2025-06-24  14:36:26\n\nStart-Date: x\n",
    );
    follower.expect(&[
        "Start-Date: 2025-06-24  14:36:25\nInstall: a:b (1)\nEnd-Date: 2025-06-24  14:36:26",
    ]);
    let (report, _) = follower.finish();
    assert_eq!(report.files[0].parser, "apt_history");

    let mut memory = Memory::default();
    let report = place.once("apt/history.log", &mut memory).unwrap();
    assert_eq!(memory.messages, ["Start-Date: x"]);
    assert_eq!(report.counters.parse_errors, 1);
    let document = memory.documents.values().next().unwrap();
    assert_eq!(document["event"]["parse_error"], true);
}

#[test]
fn the_named_parser_is_used_and_the_automatic_choice_survives_a_restart() {
    let place = Place::new();
    place.append("a.txt", "{\"a\":1}\n");
    let mut memory = Memory::default();
    place.once("a.txt", &mut memory).unwrap();
    place.append("a.txt", "not json\n");
    let report = place.once("a.txt", &mut memory).unwrap();
    assert_eq!(
        (
            report.files[0].parser.as_str(),
            report.counters.parse_errors
        ),
        ("json", 1)
    );

    place.append("b.txt", "{\"a\":1}\n");
    let mut options = place.options("b.txt");
    options.files[0].parse = ParserChoice::Named(ParserName::Plain);
    let report = collect(&options, &mut memory, &StopToken::new()).unwrap();
    assert_eq!(
        (
            report.files[0].parser.as_str(),
            report.counters.parse_errors
        ),
        ("plain", 0)
    );
}

#[test]
fn batches_keep_their_limits() {
    struct Limits(Vec<(usize, usize)>);
    impl Sink for Limits {
        fn deliver(
            &mut self,
            batch: &[Event],
        ) -> Result<clew_collect::Delivery, clew_collect::SinkError> {
            let bytes = batch.iter().map(|event| event.document.len()).sum();
            self.0.push((batch.len(), bytes));
            let acked = batch.len() as u64;
            Ok(clew_collect::Delivery {
                acked,
                ..Default::default()
            })
        }
    }
    let place = Place::new();
    place.append("a.log", text(&lines(0, 1_000)));
    let mut options = place.options("a.log");
    options.batch_lines_max = 50;
    options.batch_bytes_max = 4_000;
    let mut sink = Limits(Vec::new());
    let report = collect(&options, &mut sink, &StopToken::new()).unwrap();
    assert_eq!(report.counters.events_acked, 1_000);
    let one = sink.0[0].1 / sink.0[0].0;
    assert!(
        sink.0
            .iter()
            .all(|(count, bytes)| *count <= 50 && *bytes < 4_000 + 2 * one)
    );
    assert!(sink.0.len() < 1_000 / 10);
}

#[test]
fn options_that_cannot_work_are_refused_by_name() {
    let place = Place::new();
    let check = |change: fn(&mut clew_collect::CollectOptions), name: &str| {
        let mut options = place.options("");
        change(&mut options);
        let error = options.validate().unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    };
    check(|o| o.files[0].paths.clear(), "paths");
    check(|o| o.batch_lines_max = 0, "batch_lines_max");
    check(|o| o.batch_bytes_max = 1, "batch_bytes_max");
    check(|o| o.files[0].line_bytes_max = 1, "line_bytes_max");
    check(|o| o.host.clear(), "host");
    check(|o| o.index = "a b".to_owned(), "index");
    check(|o| o.registry = "/".into(), "registry");
    let mut options = place.options("");
    options.mode = Mode::Follow;
    options.validate().unwrap();
}
