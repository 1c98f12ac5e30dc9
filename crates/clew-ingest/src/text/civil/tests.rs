use super::*;

#[test]
fn civil_and_epoch_agree_with_jiff_over_four_centuries() {
    let times = IsoTimes::default();
    for day in (-30_000..120_000).step_by(7) {
        let ms = i64::from(day) * 86_400_000 + 45_296_789;
        let civil = Civil::from_utc_ms(ms);
        assert_eq!(civil.as_utc_ms(), ms);
        let mut text = Vec::new();
        civil.push_iso(&mut text);
        let mut remembered = Vec::new();
        for beyond in [0, 1, -1, 210, 211, -789, 86_400_000] {
            remembered.clear();
            times.push(ms + beyond, &mut remembered);
            let mut written = Vec::new();
            Civil::from_utc_ms(ms + beyond).push_iso(&mut written);
            assert_eq!(remembered, written, "{ms} {beyond}");
        }
        let theirs = jiff::Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), format!("{theirs:.3}"));
    }
}

#[test]
fn times_beyond_the_calendar_are_the_epoch_and_not_remembered() {
    let times = IsoTimes::default();
    for ms in [
        0,
        i64::MIN,
        7,
        i64::MAX,
        253_402_300_800_001,
        253_402_300_799_999,
        -1,
    ] {
        let (mut remembered, mut written) = (Vec::new(), Vec::new());
        times.push(ms, &mut remembered);
        Civil::from_utc_ms(ms).push_iso(&mut written);
        assert_eq!(remembered, written, "{ms}");
    }
}

#[test]
fn local_times_follow_the_zone_through_its_changes() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let mut times = Times::new(zone.clone());
    // Every half hour around both changes of 2025, in an order that reuses the cached hour.
    for (month, day) in [(3, 30), (10, 26), (1, 1), (7, 1)] {
        for half_hour in 0..48 {
            let civil = Civil {
                year: 2025,
                month,
                day,
                hour: half_hour / 2,
                minute: half_hour % 2 * 30,
                second: 7,
                millisecond: 5,
            };
            let theirs = DateTime::new(
                2025,
                i8::try_from(month).unwrap(),
                i8::try_from(day).unwrap(),
                i8::try_from(half_hour / 2).unwrap(),
                i8::try_from(half_hour % 2 * 30).unwrap(),
                7,
                5_000_000,
            );
            let theirs = zone.to_timestamp(theirs.unwrap()).unwrap().as_millisecond();
            assert_eq!(times.local_ms(civil), theirs, "{civil:?}");
        }
    }
}

#[test]
fn a_missing_year_is_the_latest_that_is_not_in_the_future() {
    let mut times = Times::new(TimeZone::UTC);
    let mut check = |newest: &str, (month, day): (u8, u8), year: Option<i16>| {
        times.newest_ms = newest.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let stamp = Civil {
            year: 0,
            month,
            day,
            hour: 12,
            minute: 0,
            second: 0,
            millisecond: 0,
        };
        assert_eq!(
            times.guess_year(stamp).map(|c| c.year),
            year,
            "{newest} {month}-{day}"
        );
    };
    check("2026-01-01T00:10:00Z", (12, 31), Some(2025));
    check("2026-01-01T00:10:00Z", (1, 1), Some(2026));
    check("2025-12-31T23:59:00Z", (1, 1), Some(2026));
    check("2026-06-01T00:00:00Z", (6, 5), Some(2025));
    check("2026-06-01T00:00:00Z", (2, 29), Some(2024));
    check("2026-06-01T00:00:00Z", (2, 30), None);
}
