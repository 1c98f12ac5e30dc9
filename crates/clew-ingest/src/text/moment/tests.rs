use jiff::tz::TimeZone;

use super::*;

#[track_caller]
fn check(format: &str, text: &str, expected: Option<&str>) {
    let mut times = Times::new(TimeZone::get("Europe/Berlin").unwrap());
    times.newest_ms = 1_767_400_000_000; // 2026-01-03
    let moment = Moment::compile(format).expect(format);
    let shown = moment.read(text, &mut times).map(|ms| {
        let mut out = Vec::new();
        Civil::from_utc_ms(ms).push_iso(&mut out);
        String::from_utf8(out).unwrap()
    });
    assert_eq!(shown.as_deref(), expected, "{format}: {text}");
}

#[test]
fn formats_read_what_they_say_and_nothing_else() {
    check(
        "yyyy-MM-dd HH:mm:ss,SSS",
        "2026-07-02 03:04:05,678",
        Some("2026-07-02T01:04:05.678Z"),
    );
    check(
        "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
        "2026-07-02T03:04:05.6-03:30",
        Some("2026-07-02T06:34:05.600Z"),
    );
    check(
        "dd/MMM/yyyy:HH:mm:ss Z",
        "02/Jan/2026:03:04:05 +0100",
        Some("2026-01-02T02:04:05.000Z"),
    );
    check(
        "MMM d HH:mm:ss",
        "Dec 31 23:04:05",
        Some("2025-12-31T22:04:05.000Z"),
    );
    check(
        "MMM d HH:mm:ss",
        "Jan  1 23:04:05",
        Some("2026-01-01T22:04:05.000Z"),
    );
    check(
        "d/M/yy h:mm a",
        "3/4/26 12:30 PM",
        Some("2026-04-03T10:30:00.000Z"),
    );
    check(
        "%d/%b/%Y:%H:%M:%S %z",
        "02/Jan/2026:03:04:05 -0700",
        Some("2026-01-02T10:04:05.000Z"),
    );
    check(
        "%Y-%m-%dT%T.%fZ",
        "2026-01-02T03:04:05.123456Z",
        Some("2026-01-02T02:04:05.123Z"),
    );
    check(
        "%a %b %e %T %Y",
        "Fri Jan  2 03:04:05 2026",
        Some("2026-01-02T02:04:05.000Z"),
    );
    check("%s", "1767323045", Some("2026-01-02T03:04:05.000Z"));
    check("%s.%L", "1767323045.25", Some("2026-01-02T03:04:05.250Z"));
    check("%s", "-", None);
    check(
        "%D %r %Z",
        "01/02/26 03:04:05 PM PST",
        Some("2026-01-02T23:04:05.000Z"),
    );
    check(
        "EEE, dd MMM yyyy HH:mm:ss zzz",
        "Thu, 02 Jul 2026 03:04:05 CEST",
        Some("2026-07-02T01:04:05.000Z"),
    );
    check("yyyy-MM-dd z", "2026-02-03 ABC", None);
    check("yyyy-MM-dd", "2026-02-30", None);
    check("yyyy-MM-dd", "2026-02-03x", None);
    check("yyyy-MM-dd HH:mm", "2026-02-03 24:00", None);
    check("yyyy-MM-dd", "é", None);
}

#[test]
fn days_may_be_counted_in_their_year() {
    check(
        "%Y%j %H:%M",
        "2024060 03:04",
        Some("2024-02-29T02:04:00.000Z"),
    );
    check("%j/%y", "365/26", Some("2026-12-30T23:00:00.000Z"));
    check("%Y-%j", "2026-366", None);
    check("%Y-%j", "2026-0", None);
}

#[test]
fn names_are_read_in_the_language_that_is_given() {
    let check = |locale: &str, format: &str, text: &str, expected: Option<&str>| {
        let moment = Moment::compile_in(format, Months::of(locale)).expect(format);
        assert!(moment.has_names());
        let found = moment.read(text, &mut Times::new(TimeZone::UTC));
        let shown = found.map(|ms| {
            let mut out = Vec::new();
            Civil::from_utc_ms(ms).push_iso(&mut out);
            String::from_utf8(out).unwrap()
        });
        assert_eq!(shown.as_deref(), expected, "{locale} {format}: {text}");
    };
    let january = Some("2026-01-12T00:00:00.000Z");
    check("fr", "dd MMM yyyy", "12 janv. 2026", january);
    check(
        "fr-FR",
        "EEEE d MMMM yyyy",
        "lundi 12 janvier 2026",
        january,
    );
    check("fr", "EEE d MMM yyyy", "lun. 12 janv 2026", january);
    check("de", "dd.MMM.yyyy", "12.Jan.2026", january);
    check("de", "d. MMMM yyyy", "12. Januar 2026", january);
    check(
        "pt_BR",
        "EEEE, d 'de' MMMM 'de' yyyy",
        "segunda-feira, 12 de janeiro de 2026",
        january,
    );
    check("es", "%a %d/%b/%Y", "sáb 12/ene/2026", january);
    check("it", "dd-MMM-yyyy", "12-gen-2026", january);
    check("de", "dd MMM yyyy", "12 May 2026", None);
    check("en", "dd MMM yyyy", "12 Jan 2026", january);
}

#[test]
fn eras_distances_and_milliseconds_of_a_day() {
    check(
        "yyyy-MM-dd HH:mm:ss O",
        "2026-01-02 03:04:05 GMT+8",
        Some("2026-01-01T19:04:05.000Z"),
    );
    check(
        "yyyy-MM-dd HH:mm:ss O",
        "2026-01-02 03:04:05 UTC-03:30",
        Some("2026-01-02T06:34:05.000Z"),
    );
    check("G yyyy-MM-dd", "BC 2026-01-02", None);
    check(
        "G yyyy-MM-dd A",
        "AD 2026-01-02 11045678",
        Some("2026-01-02T02:04:05.678Z"),
    );
}

#[test]
fn formats_with_more_are_left_to_others() {
    for format in [
        "",
        "HH:mm",
        "yyyy[-MM]",
        "e",
        "%j",
        "%",
        "'open",
        "ww",
        "strict_date",
    ] {
        assert!(Moment::compile(format).is_none(), "{format}");
    }
}
