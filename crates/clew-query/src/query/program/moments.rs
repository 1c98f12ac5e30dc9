//! Moments that scripts make of texts and numbers, with the offset in which their parts are told, as Java's classes have
//! them; and what lies between two of them. They have milliseconds, and the offset of a zone is the one that it has at
//! the moment.

use clew_schema::{DateFormat, civil_date, parse_zone};

use super::days::{self, CalendarPart};
use super::value::ScriptValue;
use super::{calendar, date_formats, date_functions, dates};
use crate::error::{ScriptError, ScriptErrorKind};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Which class of moments it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// One that is the same everywhere.
    Instant,
    /// One in a zone, with the offset of that, in milliseconds.
    Zoned(i64),
    /// A day and a time of day, in no zone.
    Local,
    /// A day.
    Day,
    /// A time of day.
    Time,
}

impl Clock {
    fn offset_ms(self) -> i64 {
        match self {
            Clock::Zoned(offset) => offset,
            Clock::Instant | Clock::Local | Clock::Day | Clock::Time => 0,
        }
    }

    /// The name of the class.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Clock::Instant => "java.time.Instant",
            Clock::Zoned(_) => "java.time.ZonedDateTime",
            Clock::Local => "java.time.LocalDateTime",
            Clock::Day => "java.time.LocalDate",
            Clock::Time => "java.time.LocalTime",
        }
    }

    /// Whether it is of the class with this name.
    pub(super) fn is_of(self, class: &str) -> bool {
        class == "Object" || self.type_name().ends_with(&format!(".{class}"))
    }
}

/// What can be asked of moments and of what lies between them, with how many arguments.
pub(super) const METHODS: &[(&str, usize)] = &[
    ("abs", 0),
    ("atStartOfDay", 0),
    ("atStartOfDay", 1),
    ("atTime", 2),
    ("atZone", 1),
    ("getLong", 1),
    ("getMonth", 0),
    ("getOffset", 0),
    ("getSeconds", 0),
    ("getZone", 0),
    ("isLeapYear", 0),
    ("isNegative", 0),
    ("isZero", 0),
    ("lengthOfMonth", 0),
    ("lengthOfYear", 0),
    ("parse", 1),
    ("setTimeZone", 1),
    ("toDays", 0),
    ("toEpochDay", 0),
    ("toHours", 0),
    ("toLocalDate", 0),
    ("toLocalDateTime", 0),
    ("toLocalTime", 0),
    ("toMillis", 0),
    ("toMinutes", 0),
    ("toNanoOfDay", 0),
    ("toNanos", 0),
    ("toSecondOfDay", 0),
    ("toSeconds", 0),
    ("until", 1),
    ("withDayOfYear", 1),
    ("withZoneSameInstant", 1),
    ("withZoneSameLocal", 1),
];

pub(super) fn out_of_range() -> ScriptError {
    ScriptError::new(ScriptErrorKind::Arithmetic, "long overflow")
}

/// The offset of a zone at a moment, in milliseconds.
pub(super) fn offset_of(zone: &ScriptValue<'_>, millis: i64) -> Result<i64, ScriptError> {
    let name = zone.want_text()?;
    let zone = parse_zone(Some(name))
        .map_err(|_| ScriptError::argument(format!("Unknown time-zone ID: {name}")))?;
    let format = DateFormat::parse("yyyy-MM-dd'T'HH:mm:ss.SSS");
    let format = format.map_err(|error| ScriptError::argument(error.to_string()))?;
    let local = format.format_millis_in(millis, &zone);
    let local = format.parse_value(&local);
    let local = local.map_err(|error| ScriptError::argument(error.to_string()))?;
    Ok(local.saturating_sub(millis))
}

/// A moment that a text names, of a class.
pub(super) fn read<'a>(name: &str, text: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let millis = dates::read(text).map_err(|error| not_parsed(text, error))?;
    let offset = written_offset(text);
    Ok(of_class(name, millis, offset))
}

/// The error of a text that names no moment.
pub(super) fn not_parsed(text: &str, error: impl std::fmt::Display) -> ScriptError {
    let reason = format!("Text '{text}' could not be parsed: {error}");
    ScriptError::new(ScriptErrorKind::DateFormat, reason)
}

/// A moment that was read, of the class that a function makes.
pub(super) fn of_class<'a>(name: &str, millis: i64, offset: i64) -> ScriptValue<'a> {
    let local = millis.saturating_add(offset);
    match name {
        "parseInstant" => ScriptValue::Moment(millis, Clock::Instant),
        "parseLocal" => ScriptValue::Moment(local, Clock::Local),
        "parseDay" => ScriptValue::Moment(midnight_of(local), Clock::Day),
        _ => ScriptValue::Moment(millis, Clock::Zoned(offset)),
    }
}

/// When the day of a moment began.
fn midnight_of(local: i64) -> i64 {
    local.div_euclid(DAY_MS).saturating_mul(DAY_MS)
}

/// The offset that stands behind the time in a text, in milliseconds.
fn written_offset(text: &str) -> i64 {
    let Some((_, time)) = text.split_once('T') else {
        return 0;
    };
    let offset = time.rfind(['+', '-']).and_then(|at| time.get(at..));
    let offset = offset.map(|offset| ScriptValue::Text(offset.into()));
    offset.map_or(0, |offset| offset_of(&offset, 0).unwrap_or(0))
}

/// A moment as Java writes it.
pub(super) fn shown(millis: i64, clock: Clock) -> String {
    let local = millis.saturating_add(clock.offset_ms());
    let date = civil_date(local);
    let of_day = local.rem_euclid(DAY_MS);
    let day = format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
    if clock == Clock::Day {
        return day;
    }
    let (hour, minute) = (of_day / HOUR_MS, of_day % HOUR_MS / MINUTE_MS);
    let (second, rest) = (of_day % MINUTE_MS / SECOND_MS, of_day % SECOND_MS);
    let day = match clock {
        Clock::Time => String::new(),
        _ => format!("{day}T"),
    };
    let mut shown = format!("{day}{hour:02}:{minute:02}");
    if second > 0 || rest > 0 || clock == Clock::Instant {
        shown.push_str(&format!(":{second:02}"));
    }
    if rest > 0 {
        shown.push_str(&format!(".{rest:03}"));
    }
    shown.push_str(&match clock {
        Clock::Instant => "Z".to_string(),
        Clock::Zoned(offset) => shown_offset(offset),
        Clock::Local | Clock::Day | Clock::Time => String::new(),
    });
    shown
}

/// An offset as it stands behind a moment: `+02:00`, or `Z`.
pub(super) fn shown_offset(offset: i64) -> String {
    if offset == 0 {
        return "Z".to_string();
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / HOUR_MS, offset.abs() % HOUR_MS / MINUTE_MS);
    format!("{sign}{hours:02}:{minutes:02}")
}

/// The milliseconds of a moment of any kind.
pub(super) fn millis_of(value: &ScriptValue<'_>) -> Option<i64> {
    match value {
        ScriptValue::Date(millis) | ScriptValue::Moment(millis, _) => Some(*millis),
        _ => None,
    }
}

/// Arguments with all moments in one place.
pub(super) fn plain<'a>(arguments: &[ScriptValue<'a>], offset_ms: i64) -> Vec<ScriptValue<'a>> {
    let each = arguments.iter().map(|argument| match millis_of(argument) {
        Some(millis) => ScriptValue::Date(millis.saturating_add(offset_ms)),
        None => argument.clone(),
    });
    each.collect()
}

/// What a moment of a document answers; `None` where it has no such method.
pub(super) fn of_date<'a>(
    millis: i64,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    if arguments.is_empty()
        && let Some(found) = dates::method(millis, name, arguments)?
    {
        return Ok(Some(found));
    }
    // What dates of documents lack, moments in a zone have.
    let is_own = METHODS.iter().any(|(known, _)| *known == name);
    let has_lapse = matches!(
        arguments,
        [ScriptValue::Lapse(_) | ScriptValue::Calendar(_)]
    );
    if is_own || has_lapse {
        return method((millis, Clock::Zoned(0)), name, arguments);
    }
    let has_moment = arguments.iter().any(|one| millis_of(one).is_some());
    match has_moment {
        true => of_plain(millis, name, &plain(arguments, 0)),
        false => of_plain(millis, name, arguments),
    }
}

fn of_plain<'a>(
    millis: i64,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    match dates::method(millis, name, arguments)? {
        None => calendar::method(millis, name, arguments),
        found => Ok(found),
    }
}

/// What a moment answers; `None` where it has no such method.
pub(super) fn method<'a>(
    (millis, clock): (i64, Clock),
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let local = millis.saturating_add(clock.offset_ms());
    let midnight = midnight_of(local);
    let of = |millis: i64, clock: Clock| Ok(Some(ScriptValue::Moment(millis, clock)));
    match (name, arguments) {
        ("toInstant", []) => of(millis, Clock::Instant),
        ("atZone" | "withZoneSameInstant", [zone]) => {
            let offset = offset_of(zone, millis)?;
            // What was in no zone is that time in this one.
            let moved = if clock == Clock::Local { offset } else { 0 };
            of(millis.saturating_sub(moved), Clock::Zoned(offset))
        }
        ("withZoneSameLocal", [zone]) => {
            let offset = offset_of(zone, millis)?;
            of(local.saturating_sub(offset), Clock::Zoned(offset))
        }
        ("atStartOfDay", []) => of(midnight, Clock::Local),
        ("atStartOfDay", [zone]) => {
            let offset = offset_of(zone, midnight)?;
            of(midnight.saturating_sub(offset), Clock::Zoned(offset))
        }
        ("toLocalDate", []) => of(midnight, Clock::Day),
        ("toLocalDateTime", []) => of(local, Clock::Local),
        ("toEpochDay", []) => Ok(Some(ScriptValue::Whole(local.div_euclid(DAY_MS)))),
        ("toEpochMilli" | "getMillis" | "getTime", []) => Ok(Some(ScriptValue::Whole(millis))),
        ("toEpochSecond" | "getEpochSecond", []) => {
            Ok(Some(ScriptValue::Whole(millis.div_euclid(SECOND_MS))))
        }
        ("getOffset" | "getZone", []) => {
            ScriptValue::made(shown_offset(clock.offset_ms())).map(Some)
        }
        ("equals", _) => Ok(None),
        ("format", [pattern]) => {
            date_formats::formatted(pattern.want_text()?, millis, clock).map(Some)
        }
        ("plus" | "minus", [ScriptValue::Lapse(by)]) => {
            let by = if name == "plus" {
                *by
            } else {
                by.saturating_neg()
            };
            of(millis.saturating_add(by), clock)
        }
        _ => {
            if let Some(found) = of_calendar((local, clock), name, arguments)? {
                return Ok(Some(at_clock(found, clock)));
            }
            let found = of_plain(local, name, &plain(arguments, clock.offset_ms()))?;
            Ok(found.map(|found| at_clock(found, clock)))
        }
    }
}

/// What a moment answers that is about its day, its time of day, or a period, by the time of its clock; `None` where it is
/// something else.
fn of_calendar<'a>(
    (local, clock): (i64, Clock),
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let of = |local: i64, clock: Clock| Ok(Some(ScriptValue::Moment(local, clock)));
    let of_day = local.rem_euclid(DAY_MS);
    match (name, arguments) {
        ("toLocalTime", []) => of(of_day, Clock::Time),
        ("toSecondOfDay", []) => Ok(Some(ScriptValue::Whole(of_day / SECOND_MS))),
        ("toNanoOfDay", []) => Ok(Some(ScriptValue::Whole(of_day * 1_000_000))),
        ("get" | "getLong", [ScriptValue::Text(field)]) => match days::getter(field) {
            // Of the fields that are named this one is a number, too.
            Some("getDayOfWeek") => dates::method(local, "getDayOfWeek", &[]),
            Some(getter) => method(
                (local.saturating_sub(clock.offset_ms()), clock),
                getter,
                &[],
            ),
            None => Err(ScriptError::argument(format!("Unsupported field: {field}"))),
        },
        ("atTime", [hour, minute]) => {
            let time = date_functions::call("LocalTime.of", &[hour.clone(), minute.clone()])?;
            let time = time.as_ref().and_then(millis_of).unwrap_or(0);
            of(midnight_of(local).saturating_add(time), Clock::Local)
        }
        ("until", [other]) => match millis_of(other) {
            Some(to) => days::between(local, to).map(Some),
            None => Ok(None),
        },
        ("plus" | "minus", [ScriptValue::Calendar(CalendarPart::Period(years, months, count))]) => {
            let sign = if name == "plus" { 1 } else { -1 };
            days::moved(local, (*years, *months, *count), sign)
        }
        _ => days::of_day(local, name, arguments),
    }
}

/// A moment that was made by the time of a clock, as one of that; a time of day begins again at midnight.
fn at_clock(made: ScriptValue<'_>, clock: Clock) -> ScriptValue<'_> {
    match (made, clock) {
        (ScriptValue::Date(local), Clock::Time) => {
            ScriptValue::Moment(local.rem_euclid(DAY_MS), clock)
        }
        (ScriptValue::Date(local), _) => {
            ScriptValue::Moment(local.saturating_sub(clock.offset_ms()), clock)
        }
        (other, _) => other,
    }
}

/// What lies between two moments, as Java writes it: `PT1H30M`.
pub(super) fn shown_lapse(millis: i64) -> String {
    if millis == 0 {
        return "PT0S".to_string();
    }
    let (hours, minutes) = (millis / HOUR_MS, millis % HOUR_MS / MINUTE_MS);
    let rest = millis % MINUTE_MS;
    let mut shown = "PT".to_string();
    if hours != 0 {
        shown.push_str(&format!("{hours}H"));
    }
    if minutes != 0 {
        shown.push_str(&format!("{minutes}M"));
    }
    if rest != 0 {
        let sign = if rest < 0 { "-" } else { "" };
        let (seconds, millis) = (rest.abs() / SECOND_MS, rest.abs() % SECOND_MS);
        shown.push_str(&format!("{sign}{seconds}"));
        if millis > 0 {
            let digits = format!("{millis:03}");
            shown.push_str(&format!(".{}", digits.trim_end_matches('0')));
        }
        shown.push('S');
    }
    shown
}

/// What something between two moments answers; `None` where it has no such method.
pub(super) fn of_lapse<'a>(
    millis: i64,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match (name, arguments) {
        ("toMillis", []) => ScriptValue::Whole(millis),
        ("toSeconds" | "getSeconds", []) => ScriptValue::Whole(millis.div_euclid(SECOND_MS)),
        ("toMinutes", []) => ScriptValue::Whole(millis.div_euclid(SECOND_MS) / 60),
        ("toHours", []) => ScriptValue::Whole(millis.div_euclid(SECOND_MS) / 3_600),
        ("toDays", []) => ScriptValue::Whole(millis.div_euclid(SECOND_MS) / 86_400),
        ("toNanos", []) => {
            let nanos = millis.checked_mul(1_000_000);
            ScriptValue::Whole(nanos.ok_or_else(out_of_range)?)
        }
        ("getNano", []) => ScriptValue::Whole(millis.rem_euclid(SECOND_MS) * 1_000_000),
        ("isNegative", []) => ScriptValue::Bool(millis < 0),
        ("isZero", []) => ScriptValue::Bool(millis == 0),
        ("abs", []) => ScriptValue::Lapse(millis.saturating_abs()),
        ("plus", [ScriptValue::Lapse(other)]) => ScriptValue::Lapse(millis.saturating_add(*other)),
        ("minus", [ScriptValue::Lapse(other)]) => ScriptValue::Lapse(millis.saturating_sub(*other)),
        ("compareTo", [ScriptValue::Lapse(other)]) => ScriptValue::Whole(millis.cmp(other) as i64),
        ("negated", []) => ScriptValue::Lapse(millis.saturating_neg()),
        ("multipliedBy", [by]) => {
            let product = millis.checked_mul(by.want_whole()?);
            ScriptValue::Lapse(product.ok_or_else(out_of_range)?)
        }
        ("dividedBy", [by]) => match by.want_whole()? {
            0 => {
                let kind = ScriptErrorKind::Arithmetic;
                return Err(ScriptError::new(kind, "Cannot divide by zero"));
            }
            by => ScriptValue::Lapse(millis.wrapping_div(by)),
        },
        (name, [_]) => match of_plain(millis, name, arguments)? {
            Some(ScriptValue::Date(moved)) => ScriptValue::Lapse(moved),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// What a pattern of moments answers; `None` where it has no such method. All that it reads and writes is in UTC.
pub(super) fn of_pattern<'a>(
    pattern: &str,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let wrong = |error: clew_schema::DateError| ScriptError::argument(error.to_string());
    Ok(Some(match (name, arguments) {
        ("parse", [text]) if date_formats::named(pattern).is_some() => {
            date_formats::parsed("parseZoned", text.want_text()?, pattern)?
        }
        ("parse", [text]) => {
            let format = DateFormat::parse(pattern).map_err(wrong)?;
            ScriptValue::Date(format.parse_value(text.want_text()?).map_err(wrong)?)
        }
        ("setTimeZone", [zone]) => match offset_of(zone, 0)? {
            0 => ScriptValue::Null,
            _ => return Err(ScriptError::argument("dates of patterns are in UTC here")),
        },
        _ => return Ok(None),
    }))
}
