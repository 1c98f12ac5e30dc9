use super::*;
use jiff::tz::TimeZone;

fn check(found: Option<(Stamp, &str)>, expected: Option<(&str, &str)>) {
    let mut times = Times::new(TimeZone::get("Europe/Berlin").unwrap());
    let found = found.map(|(stamp, rest)| {
        let mut text = Vec::new();
        Civil::from_utc_ms(stamp.epoch_ms(&mut times)).push_iso(&mut text);
        (String::from_utf8(text).unwrap(), rest)
    });
    let found = found.as_ref().map(|(text, rest)| (text.as_str(), *rest));
    assert_eq!(found, expected);
}

#[test]
fn zones_are_hours_alone_or_say_nothing_where_one_has_to_follow() {
    for (text, time, rest) in [
        ("2026-01-02 03:04:05.678 +03 [7]", "00:04:05.678", " [7]"),
        ("2026-01-02 03:04:05 -03,1", "06:04:05.000", ",1"),
        ("2026-01-02 03:04:05 +03", "00:04:05.000", ""),
        // Berlin's, since nobody knows better.
        ("2026-01-02 03:04:05 CST [7]", "02:04:05.000", " [7]"),
        ("2026-01-02 03:04:05 CST", "02:04:05.000", ""),
        ("2026-01-02 03:04:05 LOG:  x", "02:04:05.000", " LOG:  x"),
        ("2026-01-02 03:04:05 UTC [7]", "03:04:05.000", " [7]"),
        ("2026-01-02 03:04:05 -05:30 x", "08:34:05.000", " x"),
        ("2026-01-02 03:04:05 +3 x", "02:04:05.000", " +3 x"),
    ] {
        let time = format!("2026-01-02T{time}Z");
        check(iso_zoned(text), Some((time.as_str(), rest)));
    }
    // Elsewhere a number may follow a time.
    check(
        iso("2026-01-02 03:04:05 +03 x"),
        Some(("2026-01-02T02:04:05.000Z", " +03 x")),
    );
    check(iso_zoned("2026-01-02"), None);
}

#[test]
fn iso_stamps_in_all_their_spellings() {
    check(
        iso("2026-01-02 03:04:05 x"),
        Some(("2026-01-02T02:04:05.000Z", " x")),
    );
    check(
        iso("2026-01-02  03:04:05"),
        Some(("2026-01-02T02:04:05.000Z", "")),
    );
    check(
        iso("2026/07/02 03:04:05 [e"),
        Some(("2026-07-02T01:04:05.000Z", " [e")),
    );
    check(
        iso("2026-01-02T03:04:05.6789Z x"),
        Some(("2026-01-02T03:04:05.678Z", " x")),
    );
    check(
        iso("2026-01-02T03:04:05,6+02:30y"),
        Some(("2026-01-02T00:34:05.600Z", "y")),
    );
    check(
        iso("2026-01-02T03:04:05-0800"),
        Some(("2026-01-02T11:04:05.000Z", "")),
    );
    check(
        iso("2026-01-02 03:04:05.12 UTC [7]"),
        Some(("2026-01-02T03:04:05.120Z", " [7]")),
    );
    check(
        iso("2026-07-02 03:04:05.12 CEST [7]"),
        Some(("2026-07-02T01:04:05.120Z", " [7]")),
    );
    check(
        iso("2026-01-02 03:04:05 PST: x"),
        Some(("2026-01-02T11:04:05.000Z", ": x")),
    );
    check(
        iso("2026-01-02 03:04:05.12 +0530 x"),
        Some(("2026-01-01T21:34:05.120Z", " x")),
    );
    check(
        iso("2026-01-02 03:04:05 -05:00"),
        Some(("2026-01-02T08:04:05.000Z", "")),
    );
    // None of these is a zone.
    let none = [
        " - x", " -05 x", " +01001", " -2100 x", " +x", " CST x", " ESTx", " ALERT", " WARN",
    ];
    for rest in none {
        let text = format!("2026-01-02 03:04:05{rest}");
        check(iso(&text), Some(("2026-01-02T02:04:05.000Z", rest)));
    }
    check(iso("2026-02-29 03:04:05"), None);
    check(iso("2026-01-02 03:04:61"), None);
    check(
        iso("2016-12-31T23:59:60Z"),
        Some(("2016-12-31T23:59:59.000Z", "")),
    );
    for short in 0..19 {
        check(iso(&"2026-01-02 03:04:05"[..short]), None);
    }
    check(
        iso("2026-01-02 03:04:05."),
        Some(("2026-01-02T02:04:05.000Z", ".")),
    );
    check(iso("2026-01-02é03:04:05"), None);
}

#[test]
fn a_second_that_is_known_by_its_text_is_the_one_that_is_read() {
    let mut remembering = Times::new(TimeZone::get("Europe/Berlin").unwrap());
    let seconds = [
        "2026-01-02 03:04:05",
        "2026-01-02T03:04:05",
        "2026-01-02  3:04:05",
        "2026/07/02 03:04:05",
        "2026-07-02  03:04:05",
        "2025-10-26 02:30:00",
        "2016-12-31T23:59:60",
    ];
    let ends = [
        "",
        "Z",
        " UTC",
        "+02:00",
        "-0800",
        " - x",
        " +0530 x",
        " -0530",
        " CEST x",
        ".5 EST",
        " INFO x",
        ".5",
        ",123456 x",
        ".1Z",
        ".",
        ".7 UTC",
        "-x",
        "é",
    ];
    for second in seconds {
        for end in ends.iter().chain(ends.iter().rev()) {
            let text = format!("{second}{end}");
            let mut times = Times::new(TimeZone::get("Europe/Berlin").unwrap());
            let expected = iso(&text).map(|(stamp, rest)| (stamp.epoch_ms(&mut times), rest));
            assert_eq!(iso_ms(&text, &mut remembering), expected, "{text}");
        }
    }
}

#[test]
fn syslog_apache_and_access_log_stamps() {
    let mut times = Times::new(TimeZone::UTC);
    times.newest_ms = 1_767_400_000_000; // 2026-01-03
    check(
        rfc3164("Jan  2 03:04:05 h", &times),
        Some(("2026-01-02T02:04:05.000Z", " h")),
    );
    check(
        rfc3164("Dec 31 23:04:05 h", &times),
        Some(("2025-12-31T22:04:05.000Z", " h")),
    );
    check(
        rfc3164("Jan 2 2024 03:04:05.5 h", &times),
        Some(("2024-01-02T02:04:05.500Z", " h")),
    );
    check(rfc3164("Jan 32 03:04:05 h", &times), None);
    check(
        glog("20260102 03:04:05.678901 1", &times),
        Some(("2026-01-02T02:04:05.678Z", " 1")),
    );
    check(
        apache_error("Fri Sep 09 10:42:29.902022 2011] x"),
        Some(("2011-09-09T08:42:29.902Z", "] x")),
    );
    check(
        apache_error("Wed Oct 11 14:32:52 2000]"),
        Some(("2000-10-11T12:32:52.000Z", "]")),
    );
    check(
        common_log("02/Jan/2026:03:04:05 +0100] "),
        Some(("2026-01-02T02:04:05.000Z", "] ")),
    );
    check(common_log("02/Foo/2026:03:04:05 +0100"), None);
}
