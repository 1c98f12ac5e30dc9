#![allow(
    clippy::cast_possible_truncation,
    reason = "the numbers of the tests are small"
)]

use std::num::NonZeroI64;

use proptest::prelude::*;

use crate::tests::{model, ms};
use crate::value::rounding::*;

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn fixed(step_ms: i64) -> DateInterval {
    DateInterval::Fixed {
        step_ms: NonZeroI64::new(step_ms).unwrap(),
    }
}

const HOUR: DateInterval = DateInterval::Calendar(CalendarUnit::Hour);
const DAY: DateInterval = DateInterval::Calendar(CalendarUnit::Day);
const WEEK: DateInterval = DateInterval::Calendar(CalendarUnit::Week);
const MONTH: DateInterval = DateInterval::Calendar(CalendarUnit::Month);
const QUARTER: DateInterval = DateInterval::Calendar(CalendarUnit::Quarter);
const YEAR: DateInterval = DateInterval::Calendar(CalendarUnit::Year);

fn show(ms: i64) -> String {
    clew_schema::DateFormat::default().format_millis(ms)
}

fn check(interval: DateInterval, name: &str, instant: &str, expected: &str) {
    let at = ms(instant);
    let rounding = Rounding::prepare(interval, &zone(name), 0, at..=at);
    let rounded = show(rounding.round(at, &mut 0));
    assert_eq!(rounded, expected, "{interval:?} of {instant} in {name}");
}

#[test]
fn days_follow_the_clocks_of_the_zone() {
    // The 23 hours of 29 March and the 25 of 25 October.
    for (instant, day) in [
        ("2026-03-28T22:59:59.999Z", "2026-03-27T23:00:00.000Z"),
        ("2026-03-28T23:00:00Z", "2026-03-28T23:00:00.000Z"),
        ("2026-03-29T21:59:59.999Z", "2026-03-28T23:00:00.000Z"),
        ("2026-03-29T22:00:00Z", "2026-03-29T22:00:00.000Z"),
        ("2026-10-24T22:00:00Z", "2026-10-24T22:00:00.000Z"),
        ("2026-10-25T22:59:59.999Z", "2026-10-24T22:00:00.000Z"),
        ("2026-10-25T23:00:00Z", "2026-10-25T23:00:00.000Z"),
    ] {
        check(DAY, "Europe/Berlin", instant, day);
    }
}

#[test]
fn a_day_without_midnight_begins_when_the_clocks_change() {
    // São Paulo went from 00:00 to 01:00 on 4 November 2018.
    let zone = "America/Sao_Paulo";
    check(
        DAY,
        zone,
        "2018-11-04T02:59:59Z",
        "2018-11-03T03:00:00.000Z",
    );
    check(
        DAY,
        zone,
        "2018-11-04T03:00:00Z",
        "2018-11-04T03:00:00.000Z",
    );
    check(
        DAY,
        zone,
        "2018-11-04T15:00:00Z",
        "2018-11-04T03:00:00.000Z",
    );
}

#[test]
fn a_midnight_that_happens_twice_counts_once() {
    // Havana goes from 01:00 back to 00:00.
    let zone = "America/Havana";
    check(
        DAY,
        zone,
        "2025-11-02T04:30:00Z",
        "2025-11-02T04:00:00.000Z",
    );
    check(
        DAY,
        zone,
        "2025-11-02T05:30:00Z",
        "2025-11-02T04:00:00.000Z",
    );
    check(
        DAY,
        zone,
        "2025-11-03T04:59:00Z",
        "2025-11-02T04:00:00.000Z",
    );
    check(
        DAY,
        zone,
        "2025-11-03T05:00:00Z",
        "2025-11-03T05:00:00.000Z",
    );
}

#[test]
fn a_day_that_comes_back_is_not_listed() {
    // St. John's went from 00:01 back to 23:01 of the day before.
    let (from, to) = (ms("2006-10-28T00:00:00Z"), ms("2006-10-31T00:00:00Z"));
    let rounding = Rounding::prepare(DAY, &zone("America/St_Johns"), 0, from..=to);
    assert!(rounding.starts(from..=to).is_none());
    let before = rounding.round(ms("2006-10-29T02:30:30Z"), &mut 0);
    let after = rounding.round(ms("2006-10-29T02:45:00Z"), &mut 0);
    assert_eq!(show(before), "2006-10-29T02:30:00.000Z");
    assert_eq!(show(after), "2006-10-28T02:30:00.000Z");
}

#[test]
fn hours_that_happen_twice_are_two() {
    let zone = "Europe/Berlin";
    check(
        HOUR,
        zone,
        "2026-10-25T00:30:00Z",
        "2026-10-25T00:00:00.000Z",
    );
    check(
        HOUR,
        zone,
        "2026-10-25T01:30:00Z",
        "2026-10-25T01:00:00.000Z",
    );
    // Lord Howe moves by half an hour: 02:00 becomes 01:30, and later 02:00 becomes 02:30.
    let zone = "Australia/Lord_Howe";
    check(
        HOUR,
        zone,
        "2026-04-04T15:10:00Z",
        "2026-04-04T14:00:00.000Z",
    );
    check(
        HOUR,
        zone,
        "2026-10-03T15:40:00Z",
        "2026-10-03T14:30:00.000Z",
    );
    check(
        HOUR,
        zone,
        "2026-10-03T16:10:00Z",
        "2026-10-03T16:00:00.000Z",
    );
}

#[test]
fn fixed_steps_are_aligned_to_local_time() {
    let zone = "Europe/Berlin";
    let half_day = fixed(43_200_000);
    check(
        half_day,
        zone,
        "2026-01-10T10:59:00Z",
        "2026-01-09T23:00:00.000Z",
    );
    check(
        half_day,
        zone,
        "2026-01-10T11:00:00Z",
        "2026-01-10T11:00:00.000Z",
    );
    check(
        half_day,
        zone,
        "2026-07-10T10:00:00Z",
        "2026-07-10T10:00:00.000Z",
    );
    // 02:00 does not exist on 29 March: what is aligned to it begins when the clocks change.
    let two_hours = fixed(7_200_000);
    check(
        two_hours,
        zone,
        "2026-03-29T00:59:00Z",
        "2026-03-28T23:00:00.000Z",
    );
    check(
        two_hours,
        zone,
        "2026-03-29T01:10:00Z",
        "2026-03-29T01:00:00.000Z",
    );
    check(
        two_hours,
        zone,
        "2026-03-29T02:00:00Z",
        "2026-03-29T02:00:00.000Z",
    );
}

#[test]
fn weeks_begin_on_monday_and_quarters_in_january() {
    check(
        WEEK,
        "UTC",
        "2026-03-01T12:00:00Z",
        "2026-02-23T00:00:00.000Z",
    );
    check(
        WEEK,
        "UTC",
        "1969-12-31T12:00:00Z",
        "1969-12-29T00:00:00.000Z",
    );
    check(
        QUARTER,
        "UTC",
        "2026-06-30T23:59:59Z",
        "2026-04-01T00:00:00.000Z",
    );
    check(
        MONTH,
        "UTC",
        "2024-02-29T23:59:59Z",
        "2024-02-01T00:00:00.000Z",
    );
    check(
        YEAR,
        "Asia/Tokyo",
        "2025-12-31T15:00:00Z",
        "2025-12-31T15:00:00.000Z",
    );
}

#[test]
fn an_offset_moves_every_start() {
    let at = ms("2026-03-29T04:00:00Z");
    let rounding = Rounding::prepare(DAY, &TimeZone::UTC, 6 * 3_600_000, at..=at);
    assert_eq!(show(rounding.round(at, &mut 0)), "2026-03-28T06:00:00.000Z");
    let next = rounding.next(ms("2026-03-28T06:00:00Z"));
    assert_eq!(show(next), "2026-03-29T06:00:00.000Z");
}

#[test]
fn extreme_instants_do_not_overflow() {
    for interval in [HOUR, DAY, MONTH, YEAR, fixed(1)] {
        for at in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX] {
            let rounding = Rounding::prepare(interval, &zone("Europe/Berlin"), 5, at..=at);
            let key = rounding.round(at, &mut 0);
            assert!(
                key <= at.saturating_add(5) || at < i64::MIN / 2,
                "{at} became {key}"
            );
            rounding.next(key);
        }
    }
}

fn anywhere() -> impl Strategy<Value = (DateInterval, &'static str, i64)> {
    let interval = prop::sample::select(vec![HOUR, DAY, WEEK, MONTH, QUARTER, YEAR]);
    let zone = prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Tokyo",
        "America/Sao_Paulo",
        "Asia/Beirut",
        "America/Havana",
    ]);
    // 1990 to 2030, to the second.
    (
        interval,
        zone,
        (631_152_000_i64..1_893_456_000).prop_map(|s| s * 1_000),
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4_096,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn rounding_equals_the_calendars((interval, name, at) in anywhere()) {
        let zone = zone(name);
        let rounding = Rounding::prepare(interval, &zone, 0, at - 86_400_000..=at + 86_400_000);
        let key = rounding.round(at, &mut 0);
        prop_assert_eq!(show(key), show(model::round(at, interval, &zone)));
    }

    #[test]
    fn the_next_start_is_the_first_instant_that_rounds_differently(
        (interval, name, at) in anywhere(),
    ) {
        let zone = zone(name);
        let rounding = Rounding::prepare(interval, &zone, 0, at..=at);
        let key = rounding.round(at, &mut 0);
        let next = rounding.next(key);
        prop_assert!(key <= at && at < next);
        prop_assert_eq!(rounding.round(next, &mut 0), next);
        prop_assert_eq!(rounding.round(next - 1, &mut 0), key);
    }

    #[test]
    fn listed_starts_find_what_rounding_finds(
        (interval, name, at) in anywhere(),
        span in 0_i64..10_000_000_000,
        part in (0_u32..1_000_000).prop_map(|part| f64::from(part) / 1e6),
    ) {
        let range = at..=at + span;
        let rounding = Rounding::prepare(interval, &zone(name), 0, range.clone());
        let inside = at + (span as f64 * part) as i64;
        if let Some(starts) = rounding.starts(range) {
            let start = starts.start_of(starts.place_of(inside));
            prop_assert_eq!(start, rounding.round(inside, &mut 0));
        }
    }

    #[test]
    fn fixed_steps_tile_time(
        step in prop::sample::select(vec![1_800_000_i64, 3_600_000, 5_400_000, 43_200_000, 250_000_000]),
        (_, name, at) in anywhere(),
    ) {
        let rounding = Rounding::prepare(fixed(step), &zone(name), 0, at..=at);
        let key = rounding.round(at, &mut 0);
        let next = rounding.next(key);
        prop_assert!(key <= at && at < next);
        prop_assert_eq!(rounding.round(next, &mut 0), next);
        prop_assert_eq!(rounding.round(next - 1, &mut 0), key);
    }
}
