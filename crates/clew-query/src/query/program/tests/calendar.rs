//! Moments, days, times, spans and their formats.

use super::*;

#[test]
fn moments_are_counted_and_moved() {
    check([
        (
            "ChronoUnit.DAYS.between(Instant.ofEpochMilli(0), doc['at'].value)",
            json!(1),
        ),
        (
            "ZonedDateTime.parse('2024-01-31T10:30:00Z').plusMonths(1).format(DateTimeFormatter.ofPattern('yyyy-MM-dd'))",
            json!("2024-02-29"),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00Z').truncatedTo(ChronoUnit.DAYS).withDayOfMonth(15).getMillis()",
            json!(1_710_460_800_000_i64),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00+02:00').toString()",
            json!("2024-03-01T10:30+02:00"),
        ),
        (
            "'' + Instant.parse('2024-03-01T10:30:00Z')",
            json!("2024-03-01T10:30:00Z"),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00+02:00').getHour()",
            json!(10),
        ),
        (
            "Instant.parse('2024-07-01T10:00:00Z').atZone(ZoneId.of('Europe/Berlin')).getHour()",
            json!(12),
        ),
        (
            "def d = Duration.between(Instant.ofEpochMilli(0), Instant.ofEpochSecond(90)); d.toMinutes() + '' + d",
            json!("1PT1M30S"),
        ),
        (
            "LocalDate.parse('2024-02-28').plusDays(2).toString()",
            json!("2024-03-01"),
        ),
        (
            "ChronoUnit.NANOS.between(Instant.ofEpochMilli(1), Instant.ofEpochMilli(3))",
            json!(2_000_000),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00Z').isBefore(doc['at'].value)",
            json!(false),
        ),
        (
            "ZonedDateTime.of(2024, 3, 1, 10, 0, 0, 0, ZoneId.of('+01:00')).toInstant().toString()",
            json!("2024-03-01T09:00:00Z"),
        ),
        (
            "LocalDateTime.of(2024, 3, 1, 10, 0).toString()",
            json!("2024-03-01T10:00"),
        ),
        (
            "def f = new SimpleDateFormat('yyyy-MM-dd'); f.format(new Date(0L)) + f.parse('1970-01-02').getTime()",
            json!("1970-01-0186400000"),
        ),
    ]);
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn moments_are_written_and_read_in_the_formats_of_java() {
    let zoned = "ZonedDateTime.parse('2024-03-15T10:30:00Z')";
    let east = "ZonedDateTime.parse('2024-03-15T10:30:00.250+02:00')";
    for (of, format, wanted) in [
        (
            zoned,
            "DateTimeFormatter.ISO_INSTANT",
            "2024-03-15T10:30:00Z",
        ),
        (zoned, "DateTimeFormatter.ISO_LOCAL_DATE", "2024-03-15"),
        (
            zoned,
            "DateTimeFormatter.ISO_LOCAL_DATE_TIME",
            "2024-03-15T10:30:00",
        ),
        (
            zoned,
            "DateTimeFormatter.ISO_DATE_TIME",
            "2024-03-15T10:30:00Z",
        ),
        (zoned, "DateTimeFormatter.ISO_ORDINAL_DATE", "2024-075Z"),
        (zoned, "DateTimeFormatter.ISO_WEEK_DATE", "2024-W11-5Z"),
        (
            zoned,
            "DateTimeFormatter.RFC_1123_DATE_TIME",
            "Fri, 15 Mar 2024 10:30:00 GMT",
        ),
        (zoned, "DateTimeFormatter.BASIC_ISO_DATE", "20240315Z"),
        (east, "DateTimeFormatter.BASIC_ISO_DATE", "20240315+0200"),
        (
            east,
            "DateTimeFormatter.ISO_OFFSET_DATE_TIME",
            "2024-03-15T10:30:00.25+02:00",
        ),
        (
            east,
            "DateTimeFormatter.ISO_INSTANT",
            "2024-03-15T08:30:00.250Z",
        ),
        (
            east,
            "DateTimeFormatter.RFC_1123_DATE_TIME",
            "Fri, 15 Mar 2024 10:30:00 +0200",
        ),
        (
            east,
            "DateTimeFormatter.ofPattern('HH:mmXXX')",
            "10:30+02:00",
        ),
        (
            "LocalDate.of(2024, 3, 15)",
            "DateTimeFormatter.ISO_DATE",
            "2024-03-15",
        ),
    ] {
        for source in [
            format!("{of}.format({format})"),
            format!("{format}.format({of})"),
        ] {
            let answer = made(&source, ScriptLanguage::Painless);
            assert_eq!(answer, Ok(json!(wanted)), "{source}");
        }
    }
    for (source, wanted) in [
        (
            "LocalDate.parse('2024-03-15', DateTimeFormatter.ISO_LOCAL_DATE).toString()",
            "2024-03-15",
        ),
        (
            "LocalDate.parse('20240315', DateTimeFormatter.BASIC_ISO_DATE).toString()",
            "2024-03-15",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00+02:00', DateTimeFormatter.ISO_DATE_TIME).toString()",
            "2024-03-15T10:30+02:00",
        ),
        (
            "DateTimeFormatter.ISO_DATE.parse('2024-03-15').get(ChronoField.YEAR).toString()",
            "2024",
        ),
    ] {
        let answer = made(source, ScriptLanguage::Painless);
        assert_eq!(answer, Ok(json!(wanted)), "{source}");
    }
    let lacks = made(
        "LocalDate.of(2024, 3, 15).format(DateTimeFormatter.ISO_INSTANT)",
        ScriptLanguage::Painless,
    );
    let reason = lacks.expect_err("a day is no moment").reason;
    assert_eq!(reason, "Unsupported field: InstantSeconds");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn parts_of_the_calendar_are_those_of_java() {
    for (source, wanted) in [
        ("LocalDate.of(2024, 3, 15).getDayOfWeek()", "FRIDAY"),
        (
            "LocalDate.of(2024, 3, 15).getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ROOT)",
            "Fri",
        ),
        (
            "LocalDate.of(2024, 3, 15).getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH)",
            "March",
        ),
        ("LocalDate.of(2024, 3, 15).getMonth().plus(11)", "FEBRUARY"),
        ("LocalDate.of(2024, 3, 15).dayOfWeek.plus(3)", "MONDAY"),
        ("DayOfWeek.of(1)", "MONDAY"),
        ("DayOfWeek.valueOf('MONDAY')", "MONDAY"),
        ("doc['at'].value.dayOfWeekEnum", "FRIDAY"),
        ("LocalDate.of(2024, 2, 1).withDayOfYear(60)", "2024-02-29"),
        (
            "LocalDate.of(2024, 2, 1).plus(Period.ofMonths(1))",
            "2024-03-01",
        ),
        (
            "LocalDate.of(2024, 2, 1).minus(Period.of(1, 2, 3))",
            "2022-11-28",
        ),
        (
            "LocalDate.of(2024, 2, 1).until(LocalDate.of(2025, 4, 15))",
            "P1Y2M14D",
        ),
        ("LocalDate.ofEpochDay(19000)", "2022-01-08"),
        ("LocalDate.ofYearDay(2024, 60)", "2024-02-29"),
        (
            "LocalDate.parse('2024-03-15').atTime(10, 30)",
            "2024-03-15T10:30",
        ),
        ("LocalTime.of(10, 30, 15)", "10:30:15"),
        ("LocalTime.parse('10:30:15.5')", "10:30:15.500"),
        ("LocalTime.parse('10:30').plusHours(15)", "01:30"),
        ("LocalTime.MIDNIGHT", "00:00"),
        ("LocalTime.ofSecondOfDay(3661)", "01:01:01"),
        (
            "LocalTime.of(10, 30).truncatedTo(ChronoUnit.HOURS)",
            "10:00",
        ),
        (
            "LocalDateTime.of(LocalDate.of(2024, 1, 1), LocalTime.of(1, 2))",
            "2024-01-01T01:02",
        ),
        (
            "LocalDateTime.ofInstant(Instant.ofEpochMilli(0), ZoneId.of('UTC'))",
            "1970-01-01T00:00",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00Z').getMonth()",
            "MARCH",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00Z').toLocalTime()",
            "10:30",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00Z').minus(Duration.ofDays(1))",
            "2024-03-14T10:30Z",
        ),
        ("Period.of(1, 14, 3).normalized()", "P2Y2M3D"),
        (
            "Period.between(LocalDate.of(2024, 1, 31), LocalDate.of(2024, 3, 1))",
            "P1M1D",
        ),
        ("Period.ofWeeks(2)", "P14D"),
        ("Period.ZERO", "P0D"),
        ("Duration.parse('P1DT2H')", "PT26H"),
        ("Duration.ofHours(1).multipliedBy(3)", "PT3H"),
        ("Duration.ofHours(1).dividedBy(2)", "PT30M"),
        ("Duration.ofHours(1).negated()", "PT-1H"),
        ("Duration.ofHours(1).minusMinutes(5)", "PT55M"),
        ("Duration.of(5, ChronoUnit.MINUTES)", "PT5M"),
        ("Instant.EPOCH", "1970-01-01T00:00:00Z"),
        ("ZoneOffset.ofHours(5)", "+05:00"),
    ] {
        let have = made(
            &format!("String.valueOf({source})"),
            ScriptLanguage::Painless,
        );
        assert_eq!(have, Ok(json!(wanted)), "{source}");
    }
}

#[test]
fn numbers_of_the_calendar_are_those_of_java() {
    check([
        (
            "LocalDate.of(2024, 3, 15).getDayOfWeek() == DayOfWeek.FRIDAY",
            json!(true),
        ),
        (
            "LocalDate.of(2024, 3, 15).getDayOfWeek().getValue()",
            json!(5),
        ),
        (
            "LocalDate.parse('2024-03-15').get(ChronoField.DAY_OF_WEEK)",
            json!(5),
        ),
        (
            "LocalDate.parse('2024-03-15').getLong(ChronoField.EPOCH_DAY)",
            json!(19_797),
        ),
        ("LocalDate.of(2024, 2, 1).lengthOfMonth()", json!(29)),
        ("LocalDate.of(2024, 2, 1).isLeapYear()", json!(true)),
        ("Month.of(2).length(true)", json!(29)),
        ("Month.MARCH.maxLength()", json!(31)),
        ("LocalTime.parse('10:30').toSecondOfDay()", json!(37_800)),
        (
            "LocalTime.parse('10:30').isAfter(LocalTime.NOON)",
            json!(false),
        ),
        ("Period.parse('P1Y2M3D').getMonths()", json!(2)),
        ("Period.of(1, 14, 3).toTotalMonths()", json!(26)),
        ("Period.ofMonths(3).plusDays(2).isNegative()", json!(false)),
        ("Year.isLeap(2023)", json!(false)),
        ("Byte.MAX_VALUE + Short.MIN_VALUE", json!(-32_641)),
    ]);
}

#[test]
fn what_is_not_in_the_calendar_is_refused() {
    for source in [
        "Period.of(2147483647, 0, 0).multipliedBy(2)",
        "Duration.ofDays(1).dividedBy(0)",
        "DayOfWeek.of(8)",
        "Duration.parse('P')",
        "Period.parse('P1X')",
        "LocalTime.of(24, 0)",
    ] {
        assert!(made(source, ScriptLanguage::Painless).is_err(), "{source}");
    }
}
