use std::sync::LazyLock;

use grok::Grok;

use super::*;

/// An expression for both engines; nothing if it is not compiled here.
struct Both {
    expression: String,
    own: Pattern,
    theirs: grok::Pattern,
    machine: Machine,
}

impl Both {
    fn compile(expression: &str) -> Option<Both> {
        static ENGINE: LazyLock<Grok> = LazyLock::new(|| {
            let mut engine = Grok::with_default_patterns();
            for (name, definition) in usual_patterns() {
                engine.add_pattern(*name, *definition);
            }
            engine
        });
        let own = Pattern::compile(expression, &|name| usual_patterns().get(name).copied())?;
        Some(Both {
            expression: expression.to_owned(),
            own,
            theirs: ENGINE.compile(expression, true).ok()?,
            machine: Machine::default(),
        })
    }

    /// Holds that both find the same groups, or that nothing was decided here.
    #[track_caller]
    fn check(&mut self, line: &str) -> Decision {
        let decision = self.own.find(line, &mut self.machine);
        let names = self.own.names();
        let groups = (decision == Decision::Yes).then(|| {
            let group = |group| self.own.group(&self.machine, group);
            let groups = (0..names.len()).map(|at| group(at).map(|span| span.of(line)));
            groups.collect::<Vec<_>>()
        });
        let found = self.theirs.match_against(line);
        let expected = found.as_ref().map(|found| {
            let groups = names.iter().map(|name| found.get(name));
            groups.collect::<Vec<_>>()
        });
        if decision != Decision::Unknown {
            assert_eq!(groups, expected, "{} {line}", self.expression);
        }
        decision
    }
}

#[track_caller]
fn check(expression: &str, line: &str) {
    let decision = Both::compile(expression).expect(expression).check(line);
    assert_ne!(decision, Decision::Unknown, "{expression} {line}");
}

const COMBINED: &str = concat!(
    r#"%{IPORHOST:client} %{USER:ident} %{USER:auth} \[%{HTTPDATE:time}\] "(?:%{WORD:verb} %{NOTSPACE:request}"#,
    r#"(?: HTTP/%{NUMBER:version})?|%{DATA:raw})" %{NUMBER:status} (?:%{NUMBER:bytes}|-) %{QS:referrer} %{QS:agent}"#
);

const LINES: [&str; 16] = [
    r#"10.0.0.7 - bob [02/Jan/2026:03:04:05 +0000] "GET /a/b?c=d HTTP/1.1" 200 1234 "https://x.org/" "curl/8.5 \"q\"""#,
    r#"::1 - - [02/Jan/2026:03:04:05 +0000] "-" 400 - "-" "-""#,
    r#"fe80::1:2%eth0 - - [2/Feb/2026:03:04:05 -0100] "GET /" 304 0 "-" 'x'"#,
    r#"www.example.org - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "a" "b" tail"#,
    "<34>Oct 11 22:14:15 web1 sshd[7]: failed for root from 1.2.3.4 port 22",
    "2026-01-02T03:04:05.678+01:00 ERROR [main] c.e.App - took 12.5ms id=0xFF",
    "2026-01-02 03:04:05,678 INFO user@example.com 00:1b:63:84:45:e6 550e8400-e29b-41d4-a716-446655440000",
    "Jan  1 00:00:00 h p[1]: \"quoted \\\" text\" 'single' `x`",
    "256.1.1.1 1.2.3.4.5 0012 -7 +3.5 .5 1. 7",
    "a.b.c. d- e-f http://u:p@h.example:8080/p/q;x?y=1&z#f /usr/local/bin C:\\dir\\file",
    "",
    " ",
    "\t\n x",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "12/31/2025 31.12.2025-23:59:60 Monday, Tue 5 May 2026 Sept",
    "10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] \"GET / HTTP/1.1\" 200",
];

#[test]
fn lines_match_as_with_the_other_engine() {
    for line in LINES {
        check(COMBINED, line);
        check(
            r"^%{SYSLOGTIMESTAMP:t} %{SYSLOGHOST:h} %{WORD:p}\[%{POSINT:pid}\]: %{GREEDYDATA:m}$",
            line,
        );
        check(
            r"%{TIMESTAMP_ISO8601:t} +%{LOGLEVEL:l} \[?%{DATA:th}\]? %{GREEDYDATA:m}",
            line,
        );
        check(r"(?<k>\w+)=(?<v>0x[0-9a-fA-F]{1,4}|\d{2,3}?)\b", line);
        check(r"(?:a|b)*(?<x>[^ab\s]??) ?(?=\w)(?<y>.{2,5})", line);
    }
}

#[test]
fn every_named_pattern_that_is_compiled_matches_as_with_the_other_engine() {
    let mut compiled = 0;
    for name in usual_patterns().keys() {
        let expression = format!("%{{{name}:x}}(?: ?%{{DATA:y}}:)?");
        if let Some(mut both) = Both::compile(&expression) {
            compiled += 1;
            for line in LINES {
                both.check(line);
            }
        }
    }
    assert!(compiled > 100, "{compiled} of {}", usual_patterns().len());
}

/// Every text with one byte more, less or other.
fn changed(text: &str) -> Vec<String> {
    const BYTES: &str = " .:,-+/0129ZTJan\"\\'";
    let mut all = vec![text.to_owned()];
    for at in 0..=text.len() {
        let (before, behind) = text.split_at(at);
        let rest = behind.get(1..);
        all.extend(rest.map(|rest| format!("{before}{rest}")));
        for byte in BYTES.chars() {
            all.push(format!("{before}{byte}{behind}"));
            all.extend(rest.map(|rest| format!("{before}{byte}{rest}")));
        }
    }
    all
}

#[test]
fn shortcuts_find_what_their_patterns_find() {
    let cases: [(&str, &[&str]); 7] = [
        (
            "IPORHOST",
            &[
                "10.0.0.7",
                "255.249.199.030 x",
                "a 1.2.3.4:80",
                "::ffff:1.2.3.4",
                "1.2.3.host",
            ],
        ),
        (
            "HTTPDATE",
            &[
                "[02/Jan/2026:03:04:05 +0100]",
                "31/May/1999:23:59:60 0",
                "1/Sept/2026:00:00:00 -1",
            ],
        ),
        (
            "TIMESTAMP_ISO8601",
            &[
                "2026-01-02T03:04:05.678+01:00",
                "2026-12-31 23:59:59,1Z",
                "126-01-02T0304",
                "2026-01-02T03:04:05-0130",
            ],
        ),
        (
            "SYSLOGTIMESTAMP",
            &[
                "Jan  2 03:04:05",
                "x Dec 31 23:59:59.123 h",
                "March 3 1:02:03",
            ],
        ),
        ("NUMBER", &["-12.5", "a1.2.3", "+.5", "12-7"]),
        (
            "QS",
            &["\"a text\"\"\"", "\"a \\\"quoted\\\" text\" 'b'", "\\\"x\""],
        ),
        (
            "LOGLEVEL",
            &[
                "[ERROR]",
                "WARNING",
                "WARN INFO",
                "ERRORS",
                "EMERGENCY",
                "NOTICE",
            ],
        ),
    ];
    for (name, texts) in cases {
        for frame in [
            "%{NAME:x}",
            "^%{NAME:x}$",
            "(?<a>.)%{NAME:x}(?<b>.?)",
            r"%{NAME:x}%{INT:y}?\b",
            "(?:%{NAME:x}5|%{DATA:y}) ?%{GREEDYDATA:z}",
            "%{NAME:x}[^ ]*?%{NAME:y}",
        ] {
            let expression = frame.replace("NAME", name);
            let mut both = Both::compile(&expression).expect(&expression);
            for text in texts.iter().flat_map(|text| changed(text)) {
                both.check(&text);
            }
        }
    }
}

#[test]
fn a_pattern_that_is_defined_anew_has_no_shortcut() {
    let named = |name: &str| match name {
        "YEAR" => Some("[0-9]{2}"),
        name => usual_patterns().get(name).copied(),
    };
    let pattern = Pattern::compile("^%{HTTPDATE:x}$", &named).unwrap();
    let mut machine = Machine::default();
    let long = "02/Jan/2026:03:04:05 +0100";
    assert_eq!(pattern.find(long, &mut machine), Decision::No);
    let short = "02/Jan/26:03:04:05 +0100";
    assert_eq!(pattern.find(short, &mut machine), Decision::Yes);
}

#[test]
fn what_is_not_known_here_is_left_to_the_other_engine() {
    for expression in [
        "(?i)a",
        "a++",
        "[[:alnum:]]",
        "(a*)*",
        r"(?<a>x)(?<a>y)",
        r"\1",
        "%{NOPE}",
        "(",
        "a)",
        r"\p{L}",
        "(?>(?<a>x))",
        "(?<=ab)c",
    ] {
        assert!(
            Pattern::compile(expression, &|_| None).is_none(),
            "{expression}"
        );
    }
    let pattern = Pattern::compile(r"\w+ x", &|_| None).unwrap();
    let mut machine = Machine::default();
    assert_eq!(pattern.find("é x", &mut machine), Decision::Unknown);
    assert_eq!(pattern.find("é y", &mut machine), Decision::No);
    let slow = Pattern::compile(r"(?:a|aa|aaa)+(?:a|aa|aaa)+b|c", &|_| None).unwrap();
    assert_eq!(slow.find(&"a".repeat(500), &mut machine), Decision::Unknown);
}

#[test]
fn what_is_tried_is_bounded_by_bytes_as_well() {
    let mut machine = Machine::default();
    // Each would look at half of the line from every byte of it.
    for (expression, start) in [
        (r"(?<a>\S+) x", " x"),
        (r"(?<a>[^,]+),1", ",1"),
        (r"(?<a>[a-y]+?)z1", "z1"),
    ] {
        let pattern = Pattern::compile(expression, &|_| None).expect(expression);
        let line = format!("{start}{}", "a".repeat(1 << 20));
        machine.spent = 0;
        let found = pattern.find(&line, &mut machine);
        assert_eq!(found, Decision::Unknown, "{expression}");
        assert!(machine.spent < 2_000_000, "{expression}: {}", machine.spent);
    }
    // A long line that is read once is none of these.
    let columns = Pattern::compile(r"^(?<a>\S+) (?<b>.*) (?<c>[a-z]+)$", &|_| None).unwrap();
    let line = format!("{} {} end", "x".repeat(1 << 20), "y ".repeat(1 << 20));
    assert_eq!(columns.find(&line, &mut machine), Decision::Yes);
}
