use super::*;

fn zone(name: &str) -> TimeZone {
    zone_of(&BTreeMap::from([(ZONE.to_string(), name.to_string())])).unwrap()
}

/// Texts in a zone, and as they are told in UTC and in that zone.
const READ: [(&str, &str, &str, &str); 15] = [
    (
        "2025-01-01T00:00:00+08:00",
        "UTC",
        "2024-12-31T16:00:00Z",
        "2024-12-31T16:00:00Z",
    ),
    (
        "2025-01-01 00:00:00",
        "Asia/Shanghai",
        "2024-12-31T16:00:00Z",
        "2025-01-01T00:00:00+08:00",
    ),
    (
        " 2025-07-01 ",
        "America/New_York",
        "2025-07-01T04:00:00Z",
        "2025-07-01T00:00:00-04:00",
    ),
    (
        "2025-01-01T00:00:00",
        "+05:30",
        "2024-12-31T18:30:00Z",
        "2025-01-01T00:00:00+05:30",
    ),
    // An hour that there was not is told an hour later; of one that there was twice the first is meant.
    (
        "2025-03-09T02:30:00",
        "America/New_York",
        "2025-03-09T07:30:00Z",
        "2025-03-09T03:30:00-04:00",
    ),
    (
        "2025-11-02T01:30:00",
        "America/New_York",
        "2025-11-02T05:30:00Z",
        "2025-11-02T01:30:00-04:00",
    ),
    (
        "2025-11-02T01:30:00-05:00",
        "America/New_York",
        "2025-11-02T06:30:00Z",
        "2025-11-02T01:30:00-05:00",
    ),
    // A day that there was not.
    (
        "2011-12-30T12:00:00",
        "Pacific/Apia",
        "2011-12-30T22:00:00Z",
        "2011-12-31T12:00:00+14:00",
    ),
    // Microseconds are kept, what is less is not.
    (
        "2025-01-01T00:00:00.123456789Z",
        "UTC",
        "2025-01-01T00:00:00.123456Z",
        "2025-01-01T00:00:00.123456Z",
    ),
    (
        "1900-02-03T04:05:06.123456Z",
        "Asia/Shanghai",
        "1900-02-03T04:05:06.123456Z",
        "1900-02-03T12:10:06.123456+08:05",
    ),
    (
        "0000-01-01",
        "UTC",
        "0000-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
    ),
    (
        "9999-12-30T21:59:59.999999Z",
        "UTC",
        "9999-12-30T21:59:59.999999Z",
        "9999-12-30T21:59:59.999999Z",
    ),
    (
        "9999-12-31T23:59:59.999999Z",
        "UTC",
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59.999999Z",
    ),
    (
        "9999-12-31 23:59:59",
        "Asia/Shanghai",
        "9999-12-31T15:59:59Z",
        "9999-12-31T23:59:59+08:00",
    ),
    // There is no text of the year 10000.
    (
        "9999-12-31T23:59:59Z",
        "Asia/Shanghai",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59Z",
    ),
];

#[test]
fn instants_are_read_in_a_zone_and_told_in_one() {
    for (text, name, utc, local) in READ {
        let zone = zone(name);
        let micros = parse_instant(text, &zone).unwrap();
        assert_eq!(instant_text(micros, &TimeZone::UTC), utc, "{text} {name}");
        assert_eq!(instant_text(micros, &zone), local, "{text} {name}");
        assert_eq!(
            parse_instant(local, &TimeZone::UTC).unwrap(),
            micros,
            "{text} {name}"
        );
    }
}

#[test]
fn what_is_no_instant_is_refused_with_its_text() {
    for text in [
        "",
        "soon",
        "2025-13-01",
        "2025-01-01T25:00:00Z",
        "12025-01-01",
        "-000001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-00:01",
        "2025-01-01T00:00:00+24:00",
        "2025-01-01T00:00:00+14:01",
        "2025-01-01T00:00:00-12:01",
        "2025-01-01T00:00:00[Asia/Shanghai]",
    ] {
        let refused = parse_instant(text, &TimeZone::UTC).unwrap_err();
        assert_eq!(refused.code(), 1100, "{text}");
        assert!(
            refused.to_string().contains(&format!("'{text}'")),
            "{refused}"
        );
    }
    let nowhere = BTreeMap::from([(ZONE.to_string(), "Mars/Base".to_string())]);
    assert_eq!(zone_of(&nowhere).unwrap_err().code(), 1100);
}

#[test]
fn instants_are_told_by_their_parts() {
    let all = parts_of("year, Month day,hour minute second microsecond,").unwrap();
    for (text, name, want) in [
        (
            "2025-01-01T00:00:00.5+08:00",
            "UTC",
            [2024, 12, 31, 16, 0, 0, 500_000],
        ),
        (
            "2025-01-01T00:00:00.5+08:00",
            "Asia/Shanghai",
            [2025, 1, 1, 0, 0, 0, 500_000],
        ),
        (
            "1969-12-31T23:59:59.999999Z",
            "UTC",
            [1969, 12, 31, 23, 59, 59, 999_999],
        ),
    ] {
        let micros = parse_instant(text, &TimeZone::UTC).unwrap();
        assert_eq!(
            instant_parts(micros, &all, &zone(name)),
            want,
            "{text} {name}"
        );
    }
    assert!(parts_of(" , ").unwrap().is_empty());
    for (wrong, said) in [
        (
            "year,yeer".to_string(),
            "unsupported field for extraction: yeer",
        ),
        (
            "year;month".to_string(),
            "unsupported field for extraction: year;month",
        ),
        ("day,".repeat(PARTS_MAX + 1), "more than 64 parts"),
    ] {
        let refused = parts_of(&wrong).unwrap_err();
        assert_eq!(refused.code(), 1100);
        assert!(refused.to_string().contains(said), "{refused}");
    }
}

#[test]
fn intervals_move_instants() {
    for (from, interval, to) in [
        ("2024-02-28T12:00:00Z", "P1DT2H", "2024-02-29T14:00:00Z"),
        ("2024-02-28T12:00:00Z", "-P1M", "2024-01-28T12:00:00Z"),
        ("2024-02-29T00:00:00Z", "P1Y", "2025-02-28T00:00:00Z"),
        ("2024-01-31T00:00:00Z", "P1M", "2024-02-29T00:00:00Z"),
        ("2024-01-31T00:00:00Z", "P2W", "2024-02-14T00:00:00Z"),
        ("2024-12-31T23:59:59Z", "PT1.5S", "2025-01-01T00:00:00.5Z"),
        (
            "1969-12-31T23:59:59.999999Z",
            "PT1M",
            "1970-01-01T00:00:59.999999Z",
        ),
    ] {
        let at = parse_instant(from, &TimeZone::UTC).unwrap();
        let moved = shifted(at, parse_interval(interval).unwrap()).unwrap();
        assert_eq!(instant_text(moved, &TimeZone::UTC), to, "{from} {interval}");
    }
    for text in ["", "1 day or so", "P", "P1X", "PT", "P1D2H"] {
        assert!(parse_interval(text).is_none(), "{text}");
    }
    let late = parse_instant("9999-12-01", &TimeZone::UTC).unwrap();
    assert!(shifted(late, parse_interval("P1Y").unwrap()).is_none());
}
