use super::super::{Content, Encoding, Framing, Group, Rest, Wrapping};
use super::*;

/// The events of a text, which ends with a line that begins another.
fn events(multiline: &Multiline, text: &str, bytes_max: usize) -> Vec<String> {
    let joiner = Joiner::new(multiline).unwrap();
    let plain = Framing::new(
        Some(joiner.clone()),
        Wrapping::None,
        Encoding::Utf8,
        ParserName::Plain,
    );
    let decoded = Framing::new(
        Some(joiner),
        Wrapping::None,
        Encoding::Latin1,
        ParserName::Plain,
    );
    let found = framed(&plain, text.as_bytes(), bytes_max, Rest::Follows);
    // Lines that are decoded first are joined alike.
    assert_eq!(
        framed(&decoded, text.as_bytes(), bytes_max, Rest::Follows),
        found
    );
    found
}

fn framed(framing: &Framing, bytes: &[u8], bytes_max: usize, rest: Rest) -> Vec<String> {
    let mut group = Group::default();
    let (mut at, mut found) = (0, Vec::new());
    while framing.first(&bytes[at..], bytes_max, rest, &mut group) {
        for piece in &group.pieces {
            let text = match &piece.content {
                Content::Window(range) => &bytes[at..][range.clone()],
                Content::Text(range) => &group.text[range.clone()],
            };
            found.push(String::from_utf8(text.to_vec()).unwrap());
        }
        at += group.end;
    }
    found
}

fn preset(name: &str) -> MultilineRule {
    MultilineRule::preset(name).unwrap()
}

#[track_caller]
fn check(rule: MultilineRule, expected: &[&str]) {
    let text = expected.join("\n") + "\n2026-01-02 next\n";
    assert_eq!(events(&Multiline::new(rule), &text, 10_000), expected);
}

#[test]
fn patterns_begin_or_continue_events() {
    let start = MultilineRule::Start(r"^\d{4}-".to_owned());
    check(start, &["2026-01 a\n b\nc", "2026-02 d", "2026-03\n\n\nx"]);
    let go_on = MultilineRule::Continue(r"^(\s|\})".to_owned());
    check(go_on, &["a {\n b\n}", "c", "d"]);
    check(preset("indented"), &["a\n\tb\n  c", "d"]);
    let wrong = Multiline::new(MultilineRule::Start("(".to_owned()));
    assert!(Joiner::new(&wrong).is_err());
}

#[test]
fn lines_that_end_with_cr_and_lf_are_joined_by_lf() {
    let rule = || Multiline::new(MultilineRule::Continue(r"^\s".to_owned()));
    let text = "a\r\n b\r\n\r\n c\rd\r\ne\r\nf\r\n";
    assert_eq!(events(&rule(), text, 10_000), ["a\n b", "\n c\rd", "e"]);
    let joiner = Joiner::new(&rule()).unwrap();
    let framing = Framing::new(
        Some(joiner),
        Wrapping::None,
        Encoding::Utf8,
        ParserName::Plain,
    );
    let found = framed(&framing, b"a\r\n b\r\n c", 10_000, Rest::Ends);
    assert_eq!(found, ["a\n b\n c"]);
}

#[test]
fn events_end_where_their_last_line_says_so() {
    let end = |rule| Multiline {
        end: Some(r"^END|;$".to_owned()),
        ..Multiline::new(rule)
    };
    let start = end(MultilineRule::Start("^BEGIN".to_owned()));
    let text = "BEGIN\n a\nEND\nother\nBEGIN\nb\nEND 2\n";
    let expected = ["BEGIN\n a\nEND", "other", "BEGIN\nb\nEND 2"];
    assert_eq!(events(&start, text, 10_000), expected);
    // The last one is known to be whole.
    let alone = end(MultilineRule::Every);
    assert_eq!(events(&alone, "a\nb;\nc;\nd\n", 10_000), ["a\nb;", "c;"]);
    let goes_on = Multiline::new(MultilineRule::GoesOn(r"\\$".to_owned()));
    let expected = ["a \\\nb \\\nc", "d"];
    assert_eq!(events(&goes_on, "a \\\nb \\\nc\nd\n", 10_000), expected);
    let together = Multiline::new(MultilineRule::While(r"^\{".to_owned()));
    let expected = ["{a\n{b", "x", "y"];
    assert_eq!(events(&together, "{a\n{b\nx\ny\n{c\n", 10_000), expected);
    let mut count = Multiline::new(MultilineRule::Every);
    count.lines_max = 2;
    assert_eq!(events(&count, "1\n2\n3\n4\n5\n", 10_000), ["1\n2", "3\n4"]);
    let wrong = Multiline {
        end: Some("(".to_owned()),
        ..Multiline::new(MultilineRule::Every)
    };
    assert!(Joiner::new(&wrong).is_err());
}

#[test]
fn traces_of_other_languages_are_one_event() {
    check(
        preset("node"),
        &[
            "Error [ERR_X]: a\n    at f",
            "2026-01-01 ERROR it broke\nTypeError: no\n    at f (/a.js:1:2)\n    at g {\n  code: 'E'\n}",
            "2026-01-01 INFO fine",
        ],
    );
    check(
        preset("php"),
        &[
            "PHP Fatal error:  Uncaught Exception: x in /a.php:3\nStack trace:\n#0 /a.php(5): f()\n#1 {main}\n  thrown in /a.php on line 3",
            "[2026-01-01] local.ERROR: x {\"exception\":\"[object]\n[stacktrace]\n#0 a\n\"}",
            "#no frame",
            "PHP Fatal error:  Uncaught A: x\nStack trace:\n#0 {main}\n\nNext B: y in /a.php:7\nStack trace:\n#0 {main}",
            "[2026-01-01] x {\"exception\":\"[object]\n[stacktrace]\n#0 a\n\n[previous exception] [object]\n#0 b\n\"}",
        ],
    );
    check(
        preset("ruby"),
        &[
            "a.rb:1:in 'x': boom (RuntimeError)\n\tfrom a.rb:2:in 'y'",
            "ActionView::Template::Error (no):\n    1: x\n\napp/views/a.rb:3:in 'y'",
            "I, [2026] INFO: built in 3",
        ],
    );
    check(
        preset("rust"),
        &[
            "thread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with\nstack backtrace:\n   0: f\n             at /a.rs:1",
            "INFO fine",
            "thread 'main' panicked at 'boom', src/main.rs:2:5\nnote: run with",
            "Error: top\n\nCaused by:\n    0: middle\n    1: low\n\nStack backtrace:\n   0: f\n             at /a.rs:1",
            "INFO fine",
            "Error: alone",
            "INFO fine",
        ],
    );
}

#[test]
fn traces_of_java_belong_to_the_line_before_them() {
    check(
        preset("java"),
        &[
            "2026-01-02 10:00:00 ERROR [main] c.e.App - it broke\n\
             java.lang.IllegalStateException: no\n\
             \tat com.example.App.run(App.java:17)\n\
             \t... 5 more\n\
             \tSuppressed: java.io.IOException\n\
             Caused by: java.io.IOException: disk\n\
             \tat com.example.Disk.read(Disk.java:3)",
            "2026-01-02 10:00:01 INFO fine",
            "Exception in thread \"main\" java.lang.Error\n\tat x.Y.z(Y.java:1)",
            "java.lang.Error: one\n\tat x.Y.z(Y.java:1)",
            "java.lang.Error: two\n\tat x.Y.z(Y.java:1)",
            "com.example.App: not an exception",
        ],
    );
    // What exceptions say of themselves may have several lines.
    check(
        preset("java"),
        &[
            "ERROR it broke\n\
             org.h.SQLException: could not execute\n\
             select *\n\
             from t [at line 3]\n\
             \tat com.example.App.run(App.java:17)\n\
             Caused by: java.io.IOException: two\n\
             lines\n\
             \tat com.example.Disk.read(Disk.java:3)",
            "no line of a trace",
            "WARN also\njava.io.IOException: short\nof two",
            "[main] INFO fine",
            "x\njava.io.IOException: a",
            "{\"level\":\"info\"}",
            "y\njava.io.IOException: b",
            "Jan  2 10:00:00 host app: text",
            "z\njava.io.IOException: c",
            "java.io.IOException: d",
        ],
    );
}

#[test]
fn tracebacks_of_python_end_with_their_exception() {
    check(
        preset("python"),
        &[
            "ERROR:root:it broke\n\
             Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    1/0\n\
             ZeroDivisionError: division by zero\n\n\
             During handling of the above exception, another exception occurred:\n\n\
             Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n\
             ValueError: no",
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'a'",
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'b'",
            "INFO:root:fine",
            "INFO:root:fine\n  too",
        ],
    );
}

#[test]
fn panics_of_go_have_their_goroutines() {
    check(
        preset("go"),
        &[
            "2026/01/02 fine",
            "panic: runtime error: invalid memory address\n\
             [signal SIGSEGV: segmentation violation code=0x1]\n\n\
             goroutine 1 [running]:\n\
             main.(*T).f(...)\n\t/app/main.go:8\n\
             main.main()\n\t/app/main.go:4 +0x1d\n\n\
             goroutine 6 [select]:\nnet/http.(*persistConn).writeLoop(0xc0)\n\t/go/transport.go:1\n\
             created by net/http.(*Transport).dialConn\n\t/go/transport.go:2\n\
             exit status 2",
            "2026/01/02 http: panic serving 127.0.0.1:1: boom\n\
             goroutine 5 [running]:\nnet/http.f(0x1)\n\t/go/server.go:1",
            "2026/01/02 done (really)",
        ],
    );
}

#[test]
fn traces_of_dotnet_have_inner_exceptions() {
    check(
        preset("dotnet"),
        &[
            "fail: App[0]\n      it broke\n\
             System.InvalidOperationException: no\n ---> System.IO.IOException: disk\n\
             \x20  at App.Disk.Read() in /a/Disk.cs:line 3\n\
             \x20  --- End of inner exception stack trace ---\n\
             --- End of stack trace from previous location ---\n   at App.Main()",
            "info: App[0]\n      fine",
            "Unhandled exception. System.Exception: x\n   at App.Main()",
        ],
    );
}

#[test]
fn events_have_limits_and_nothing_is_dropped_beyond_them() {
    let mut multiline = Multiline::new(preset("indented"));
    multiline.lines_max = 3;
    let text = "a\n 1\n 2\n 3\n 4\n 5\nb\nc\n";
    assert_eq!(
        events(&multiline, text, 10_000),
        ["a\n 1\n 2", " 3\n 4\n 5", "b"]
    );
    multiline.lines_max = 500;
    let text = format!("a\n{}b\nc\n", " 123456\n".repeat(10));
    let found = events(&multiline, &text, 40);
    assert!(found.iter().all(|event| event.len() <= 48), "{found:?}");
    assert_eq!(found.join("\n"), text.trim_end_matches("\nc\n"));
}

#[test]
fn an_event_waits_for_the_next_one_unless_nothing_follows() {
    let joiner = Joiner::new(&Multiline::new(preset("java"))).unwrap();
    let framing = Framing::new(
        Some(joiner),
        Wrapping::None,
        Encoding::Utf8,
        ParserName::Plain,
    );
    let text = b"a\n\tat b\n\tat";
    assert!(framed(&framing, text, 1_000, Rest::Follows).is_empty());
    assert_eq!(framed(&framing, text, 1_000, Rest::Quiet), ["a\n\tat b"]);
    assert_eq!(
        framed(&framing, text, 1_000, Rest::Ends),
        ["a\n\tat b\n\tat"]
    );
    assert!(framed(&framing, b"a\n\tat b\n", 1_000, Rest::Follows).is_empty());
}

#[test]
fn parsers_know_which_lines_of_their_formats_belong_together() {
    let check = |parser, lines: &str, expected: &[&str]| {
        let framing = Framing::new(None, Wrapping::None, Encoding::Utf8, parser);
        assert_eq!(
            framed(&framing, lines.as_bytes(), 1_000, Rest::Ends),
            expected
        );
    };
    let csv = "2026-01-02 03:04:05 UTC,\"a\nb\",1\n2026-01-02 03:04:05 UTC,2\n";
    check(
        ParserName::PostgresqlCsv,
        csv,
        &[
            "2026-01-02 03:04:05 UTC,\"a\nb\",1",
            "2026-01-02 03:04:05 UTC,2",
        ],
    );
    check(
        ParserName::MysqlSlowlog,
        "# Time: a\n# User@Host: b\nq\n# User@Host: c\nq\nr\n",
        &["# Time: a\n# User@Host: b\nq", "# User@Host: c\nq\nr"],
    );
    let kafka = "[2026-01-02 03:04:05,678] ERROR a (b)\nc: d\n\tat e\n[2026-01-02 x\n";
    check(
        ParserName::Kafka,
        kafka,
        &[
            "[2026-01-02 03:04:05,678] ERROR a (b)\nc: d\n\tat e",
            "[2026-01-02 x",
        ],
    );
    check(
        ParserName::Redis,
        "1:M 30 May 12:50:13.457 * a\n       _._\n  .-`` |\n\n1:M 30 May 12:50:13.463 # b\n",
        &[
            "1:M 30 May 12:50:13.457 * a\n       _._\n  .-`` |",
            "1:M 30 May 12:50:13.463 # b",
        ],
    );
    // An event in quotes is whole with the last of them.
    let framing = Framing::new(
        None,
        Wrapping::None,
        Encoding::Utf8,
        ParserName::PostgresqlCsv,
    );
    assert_eq!(
        framed(&framing, csv.as_bytes(), 1_000, Rest::Follows).len(),
        2
    );
}

#[test]
fn lines_of_containers_are_joined_in_each_stream() {
    let framing = Framing::new(
        Some(Joiner::new(&Multiline::new(preset("indented"))).unwrap()),
        Wrapping::Cri,
        Encoding::Utf8,
        ParserName::Plain,
    );
    let line = |rest: &str| format!("2016-10-06T00:07:09.794669202Z {rest}\n");
    let text: String = [
        "stdout P one ",
        "stderr F trouble",
        "stdout P goes ",
        "stderr F  at x",
        "stdout F on",
        "stdout F two",
        "stderr F done",
        "stdout F three",
    ]
    .map(line)
    .concat();
    let found = framed(&framing, text.as_bytes(), 10_000, Rest::Quiet);
    assert_eq!(
        found,
        ["trouble\n at x", "one goes on", "two", "done", "three"]
    );
    let without = Framing::new(None, Wrapping::Cri, Encoding::Utf8, ParserName::Plain);
    let found = framed(&without, text.as_bytes(), 10_000, Rest::Follows);
    let whole = ["trouble", " at x", "one goes on", "two", "done", "three"];
    assert_eq!(found, whole);
    // A part that never ends is cut at the limit, and what follows is read.
    let part = format!("stdout P {}", "x".repeat(1_000));
    let endless = line(&part).repeat(20) + &line("stdout F end");
    let found = framed(&without, endless.as_bytes(), 1_500, Rest::Follows);
    assert_eq!(found[0].len(), 1_500);
    assert_eq!((found.len(), &found[10][..]), (11, "end"));
}
