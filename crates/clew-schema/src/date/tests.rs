use proptest::prelude::*;

use super::*;

fn read(format: &str, text: &str) -> Result<i64, DateError> {
    DateFormat::parse(format)?.parse_value(text)
}

#[track_caller]
fn check(format: &str, text: &str, expected: &str) {
    let millis = read(format, text).unwrap_or_else(|error| panic!("{format} {text}: {error}"));
    assert_eq!(
        DateFormat::default().format_millis(millis),
        expected,
        "{format} {text}"
    );
}

#[rustfmt::skip]
const READ: &[(&str, &str, &str)] = &[
    ("strict_date_optional_time", "2024", "2024-01-01T00:00:00.000Z"),
    ("strict_date_optional_time", "2024-02", "2024-02-01T00:00:00.000Z"),
    ("strict_date_optional_time", "2024-02-29T", "2024-02-29T00:00:00.000Z"),
    ("strict_date_optional_time", "2024-02-29T10", "2024-02-29T10:00:00.000Z"),
    ("strict_date_optional_time", "2024-02-29T10:11Z", "2024-02-29T10:11:00.000Z"),
    ("strict_date_optional_time", "2024-02-29T10:11:12.5", "2024-02-29T10:11:12.500Z"),
    ("strict_date_optional_time", "1969-12-31T23:59:59.123456789+01:00", "1969-12-31T22:59:59.123Z"),
    ("strict_date_optional_time", "2024-01-01T00:00:00,25-0530", "2024-01-01T05:30:00.250Z"),
    ("strict_date_optional_time", "-0044-03-15", "-0044-03-15T00:00:00.000Z"),
    ("strict_date_optional_time", "+12024-03-15", "+12024-03-15T00:00:00.000Z"),
    ("date_optional_time", "2024-2-9T1:2:3", "2024-02-09T01:02:03.000Z"),
    ("epoch_millis", "1700000000123", "2023-11-14T22:13:20.123Z"),
    ("epoch_millis", "-1", "1969-12-31T23:59:59.999Z"),
    ("epoch_millis", "1.75", "1970-01-01T00:00:00.001Z"),
    ("epoch_second", "1700000000", "2023-11-14T22:13:20.000Z"),
    ("epoch_second", "1700000000.5", "2023-11-14T22:13:20.500Z"),
    ("basic_date", "20240229", "2024-02-29T00:00:00.000Z"),
    ("basic_date_time", "20240229T101112.345Z", "2024-02-29T10:11:12.345Z"),
    ("yyyy-MM-dd", "2024-02-29", "2024-02-29T00:00:00.000Z"),
    ("yyyy-MM-dd HH:mm:ss", "2024-02-29 10:11:12", "2024-02-29T10:11:12.000Z"),
    ("yyyy/MM/dd HH:mm:ss||yyyy/MM/dd", "2024/02/29", "2024-02-29T00:00:00.000Z"),
    ("dd/MMM/yyyy:HH:mm:ss Z", "10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36.000Z"),
    ("EEE, d MMM yyyy HH:mm:ss z", "Tue, 3 Jun 2008 11:05:30 GMT", "2008-06-03T11:05:30.000Z"),
    ("yyyy-MM-dd HH:mm z", "2024-07-01 12:00 Europe/Berlin", "2024-07-01T10:00:00.000Z"),
    ("MM/dd/yy hh:mm a", "02/29/24 12:30 PM", "2024-02-29T12:30:00.000Z"),
    ("h 'o''clock' a", "12 o'clock am", "1970-01-01T00:00:00.000Z"),
    ("yyyy-MM-dd['T'HH:mm[:ss]]", "2024-02-29T10:11", "2024-02-29T10:11:00.000Z"),
    ("yyyy-DDD", "2024-366", "2024-12-31T00:00:00.000Z"),
    ("yyyyMMddHHmmssSSS", "20240229101112345", "2024-02-29T10:11:12.345Z"),
    ("d/M/yyyy", "1/12/2024", "2024-12-01T00:00:00.000Z"),
    ("date_time", "2024-2-9T1:02:03.123456+01:00", "2024-02-09T00:02:03.123Z"),
    ("date_time", "2024-02-09T01:02Z", "2024-02-09T01:02:00.000Z"),
    ("date_time_no_millis", "2024-02-09T01:02:03", "2024-02-09T01:02:03.000Z"),
    ("strict_date_time", "2024-02-09T01:02:03Z", "2024-02-09T01:02:03.000Z"),
    ("strict_date_time", "2024-02-09T01:02:03.5+0100", "2024-02-09T00:02:03.500Z"),
    ("hour_minute_second_millis", "9:05:06.7", "1970-01-01T09:05:06.700Z"),
    ("hour_minute", "9:05", "1970-01-01T09:05:00.000Z"),
    ("hour_minute_second_millis", "9:05:06.007", "1970-01-01T09:05:06.007Z"),
    ("basic_t_time_no_millis", "T090506Z", "1970-01-01T09:05:06.000Z"),
    ("strict_ordinal_date_time", "2024-060T10:11:12.345+01:00", "2024-02-29T09:11:12.345Z"),
    ("strict_week_date", "2024-W09-4", "2024-02-29T00:00:00.000Z"),
    ("week_date", "2026-W53-5", "2027-01-01T00:00:00.000Z"),
    ("basic_week_date", "2020W531", "2020-12-28T00:00:00.000Z"),
    ("week_date_time_no_millis", "2025-W1-1T00:00:00Z", "2024-12-30T00:00:00.000Z"),
    ("weekyear_week", "2021-W01", "2021-01-04T00:00:00.000Z"),
    ("weekyear", "2021", "2021-01-04T00:00:00.000Z"),
    ("YYYY.ww", "2026.53", "2026-12-28T00:00:00.000Z"),
    ("basicDate", "20240229", "2024-02-29T00:00:00.000Z"),
    ("strictDateOptionalTime||epochMillis", "1700000000123", "2023-11-14T22:13:20.123Z"),
    ("dateOptionalTime", "2024-2-9", "2024-02-09T00:00:00.000Z"),
];

#[test]
fn formats_read_what_they_describe() {
    for (format, text, expected) in READ {
        check(format, text, expected);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let rows = [
        ("strict_date_optional_time", ""),
        ("strict_date_optional_time", "24-01-01"),
        ("strict_date_optional_time", "2024-1-1"),
        ("strict_date_optional_time", "2024-02-30"),
        ("strict_date_optional_time", "2023-02-29"),
        ("strict_date_optional_time", "2024-13-01"),
        ("strict_date_optional_time", "2024-01-01T24:00"),
        ("strict_date_optional_time", "2024-01-01T10:60"),
        ("strict_date_optional_time", "2024-01-01 10:00"),
        ("strict_date_optional_time", "2024-01-01T10:00:00.Z"),
        ("strict_date_optional_time", "2024-01-01T10:00+25:00"),
        ("strict_date_optional_time", "2024-01-01x"),
        ("epoch_millis", "1e3"),
        ("epoch_millis", "99999999999999999999"),
        ("epoch_second", "-"),
        ("basic_date", "2024022"),
        ("dd/MMM/yyyy", "10/Okt/2000"),
        ("hh:mm a", "13:00 PM"),
        ("yyyy-MM-dd z", "2024-01-01 Nowhere/Land"),
        ("week_date", "2025-W53-1"),
        ("week_date", "2026-W00-1"),
        ("week_date", "2026-W01-8"),
        ("yyyy-Q", "2026-5"),
        ("yyyy-QQQ", "2026-1"),
    ];
    for (format, text) in rows {
        let refused = matches!(read(format, text), Err(DateError::Value { .. }));
        assert!(refused, "{format} {text:?}");
    }
    assert_eq!(
        read("strict_date_optional_time||epoch_millis", "abc")
            .unwrap_err()
            .to_string(),
        "failed to parse date field [abc] with format [strict_date_optional_time||epoch_millis]"
    );
}

#[test]
fn formats_that_mean_nothing_are_refused() {
    for format in [
        "",
        "nonsense",
        "yyyy-bb",
        "'open",
        "yyyy]",
        "yyyy||",
        "yyyy#",
        "yyyy{",
        "QQQQ",
        "weekDates",
    ] {
        let refused = matches!(DateFormat::parse(format), Err(DateError::Format { .. }));
        assert!(refused, "{format}");
    }
    assert!(DateFormat::parse(&"[".repeat(100_000)).is_err());
}

#[test]
fn the_first_alternative_writes() {
    let millis = 1_709_201_472_345; // 2024-02-29T10:11:12.345Z, a Thursday
    let rows = [
        (
            "strict_date_optional_time||epoch_millis",
            "2024-02-29T10:11:12.345Z",
        ),
        ("epoch_millis||yyyy", "1709201472345"),
        ("epoch_second", "1709201472.345"),
        ("yyyy-MM-dd", "2024-02-29"),
        ("dd/MMM/yyyy:HH:mm:ss Z", "29/Feb/2024:10:11:12 +0000"),
        (
            "EEEE d MMMM yy, h:mm a",
            "Thursday 29 February 24, 10:11 AM",
        ),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2024-02-29T10:11:12.345Z"),
        ("yyyyDDD", "2024060"),
        ("basic_date_time", "20240229T101112.345Z"),
        ("strict_week_date", "2024-W09-4"),
        ("date_time", "2024-02-29T10:11:12.345Z"),
        ("date_time_no_millis", "2024-02-29T10:11:12Z"),
        ("strict_date_time", "2024-02-29T10:11:12.345Z"),
        ("date", "2024-02-29"),
        ("year_month", "2024-02"),
        ("YY.ww", "24.09"),
        ("yyyy-MM-dd HH:mm z", "2024-02-29 10:11 Z"),
        ("8yyyy-MM||yyyy", "2024-02"),
        ("yyyy-'Q'Q", "2024-Q1"),
        ("yyyy-QQQ", "2024-Q1"),
    ];
    for (format, expected) in rows {
        let format = DateFormat::parse(format).unwrap();
        assert_eq!(format.format_millis(millis), expected);
    }
    for (format, expected) in [
        ("date_time", "1970-01-02T01:01:01.001Z"),
        ("date_time_no_millis", "1970-01-02T01:01:01Z"),
        ("date_hour_minute_second", "1970-01-02T01:01:01"),
        ("year_month_day", "1970-01-02"),
        ("hour_minute_second_millis", "01:01:01.001"),
        ("week_date", "1970-W01-5"),
        ("ordinal_date", "1970-002"),
    ] {
        let format = DateFormat::parse(format).unwrap();
        assert_eq!(format.format_millis(90_061_001), expected);
    }
    // Years of more digits than the pattern has have a sign.
    for (format, expected) in [
        ("yyyy-MM", "+20119-11"),
        ("strict_year", "+20119"),
        ("y-MM", "20119-11"),
        ("yyyyy", "20119"),
    ] {
        let format = DateFormat::parse(format).unwrap();
        assert_eq!(format.format_millis(572_754_585_600_000), expected);
    }
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    assert_eq!(
        DateFormat::default().format_millis_in(millis, &berlin),
        "2024-02-29T11:11:12.345+01:00"
    );
    for (format, expected) in [
        ("basic_time", "111112.345+01:00"),
        ("HH VV", "11 Europe/Berlin"),
        ("e ee eee eeee c ccc", "4 04 Thu Thursday 4 Thu"),
    ] {
        let format = DateFormat::parse(format).unwrap();
        assert_eq!(format.format_millis_in(millis, &berlin), expected);
    }
}

#[rustfmt::skip]
const MATH: &[(&str, &str, &str)] = &[
    ("now", "2024-02-29T10:11:12.345Z", "2024-02-29T10:11:12.345Z"),
    ("now-1d/d", "2024-02-28T00:00:00.000Z", "2024-02-28T23:59:59.999Z"),
    ("now/w", "2024-02-26T00:00:00.000Z", "2024-03-03T23:59:59.999Z"),
    ("now+d", "2024-03-01T10:11:12.345Z", "2024-03-01T10:11:12.345Z"),
    ("now-1y/M", "2023-02-01T00:00:00.000Z", "2023-02-28T23:59:59.999Z"),
    ("now-90m/H", "2024-02-29T08:00:00.000Z", "2024-02-29T08:59:59.999Z"),
    ("2024-01-31||+1M/d", "2024-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z"),
    ("2024-01||-1s", "2023-12-31T23:59:59.000Z", "2023-12-31T23:59:59.000Z"),
    ("2024-02", "2024-02-01T00:00:00.000Z", "2024-02-01T23:59:59.999Z"),
    ("2024", "2024-01-01T00:00:00.000Z", "2024-01-01T23:59:59.999Z"),
    ("2024-02-01T10", "2024-02-01T10:00:00.000Z", "2024-02-01T10:59:59.999Z"),
    ("1700000000123", "2023-11-14T22:13:20.123Z", "2023-11-14T22:13:20.123Z"),
];

#[test]
fn date_math_rounds_towards_the_end_that_is_meant() {
    let format = DateFormat::default();
    let now = format.parse_value("2024-02-29T10:11:12.345Z").unwrap();
    for &(text, down, up) in MATH {
        for (rounding, expected) in [(Rounding::Down, down), (Rounding::Up, up)] {
            let millis = format
                .parse_with_math_in(text, now, rounding, &TimeZone::UTC)
                .unwrap();
            assert_eq!(
                format.format_millis(millis),
                expected,
                "{text} {rounding:?}"
            );
        }
    }
    for text in [
        "now-",
        "now-1",
        "now*2d",
        "now/2d",
        "now-1x",
        "nowhere",
        "2024-01-01||+99999999999999999999y",
    ] {
        let refused = format.parse_with_math_in(text, now, Rounding::Down, &TimeZone::UTC);
        assert!(matches!(refused, Err(DateError::Math { .. })), "{text}");
    }
}

#[test]
fn date_math_counts_days_of_its_zone() {
    let format = DateFormat::default();
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    // The clocks went forward that night: the day has 23 hours.
    let now = format.parse_value("2024-03-31T20:00:00Z").unwrap();
    let rows = [
        ("now/d", Rounding::Down, "2024-03-30T23:00:00.000Z"),
        ("now/d", Rounding::Up, "2024-03-31T21:59:59.999Z"),
        ("now-1d", Rounding::Down, "2024-03-30T21:00:00.000Z"),
        ("2024-07-01", Rounding::Down, "2024-06-30T22:00:00.000Z"),
    ];
    for (text, rounding, expected) in rows {
        let millis = format
            .parse_with_math_in(text, now, rounding, &berlin)
            .unwrap();
        assert_eq!(format.format_millis(millis), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(millis in -62_000_000_000_000i64..253_000_000_000_000) {
        for format in [DATE_FORMAT_DEFAULT, "epoch_millis", "epoch_second", "yyyyMMdd HHmmss.SSS Z",
                       "EEE d MMM yyyy h:mm:ss,SSS a XXX", "strict_week_date_time"] {
            let format = DateFormat::parse(format).unwrap();
            prop_assert_eq!(format.parse_value(&format.format_millis(millis)), Ok(millis));
        }
    }

    #[test]
    fn calendar_arithmetic_agrees_with_jiff(millis in -300_000_000_000_000i64..250_000_000_000_000) {
        let days = millis.div_euclid(civil::DAY_MS);
        let (year, month, day) = civil::civil_from_days(days);
        prop_assert_eq!(civil::days_from_civil(year, month, day), days);
        let timestamp = jiff::Timestamp::from_millisecond(millis).unwrap();
        let date = jiff::tz::Offset::UTC.to_datetime(timestamp).date();
        prop_assert_eq!((year, month, day), (date.year().into(), date.month().into(), date.day().into()));
        let week = date.iso_week_date();
        let expected = (week.year().into(), week.week().into(), week.weekday().to_monday_one_offset().into());
        prop_assert_eq!(civil::week_from_days(days), expected);
    }

    #[test]
    fn no_format_and_no_text_panics(format in "[yYweQMdHhmsSaZXEDuknzV'\\[\\] |:/.-]{0,12}", text in any::<String>(), date in "[0-9+TZ:. -]{0,30}", math in "(now|2024\\|\\|)[-+/0-9yMwdhms]{0,30}") {
        if let Ok(format) = DateFormat::parse(&format) {
            let _ = format.parse_value(&text);
            let _ = format.parse_value(&date);
            let _ = format.format_millis(text.len() as i64);
            for extreme in [i64::MIN, i64::MAX] {
                let _ = format.format_millis(extreme);
            }
        }
        for rounding in [Rounding::Up, Rounding::Down] {
            let _ = DateFormat::default().parse_with_math_in(&math, 1 << 40, rounding, &TimeZone::UTC);
            let _ = DateFormat::default().parse_with_math_in(&date, 1 << 40, rounding, &TimeZone::UTC);
            let _ = DateFormat::default().parse_with_math_in(&math, i64::MAX, rounding, &TimeZone::UTC);
        }
    }
}

#[test]
fn where_reading_stops_is_told_as_java_tells_it() {
    use DateStop::{Anywhere, At, Behind};
    for (format, text, stop) in [
        ("yyyy-MM-dd", "x", Some(At(0))),
        ("yyyy-MM-dd", "2024-1-1", Some(At(5))),
        ("yyyy-MM-dd", "2024-01-0x", Some(At(8))),
        ("yyyy-MM-dd", "2024-01", Some(At(7))),
        ("yyyy-MM-dd", "20240101", Some(At(0))),
        ("yyyy-MM-dd", "2024-01-01T", Some(Behind(10))),
        ("yyyy-MM-dd", "2024-13-01", None),
        ("strict_date", "2024", Some(At(4))),
        (
            "yyyy-MM-dd HH:mm:ss[.SSS]",
            "2024-01-01 10:00",
            Some(At(16)),
        ),
        (
            "yyyy-MM-dd HH:mm:ss[.SSS]",
            "2024-01-01 10:00:00.5",
            Some(Behind(19)),
        ),
        ("dd MMM yyyy", "01 Foo 2024", Some(At(3))),
        ("yyyyMMdd", "2024-01-01", Some(At(4))),
        ("yyyyMMdd", "2024010", Some(At(6))),
        ("strict_date_optional_time", "x", Some(At(0))),
        ("strict_date_optional_time", "2024-01-01x", Some(Behind(10))),
        ("epoch_millis", "x", Some(Anywhere)),
        ("yyyy||MM", "x", Some(Anywhere)),
    ] {
        let found = DateFormat::parse(format).unwrap().stop(text);
        assert_eq!(found, stop, "{format}: {text}");
    }
}
