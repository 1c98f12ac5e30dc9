//! `redact`: parts of texts that nobody should see; and `duration`: times that were written with units, as numbers.

use clew_analysis::JavaPattern;
use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::{slot, slots};
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::members::{flag, optional, pattern, text};
use crate::pipeline::Flow;
use crate::text::Span;

#[derive(Debug)]
struct Redact {
    fields: Vec<Slot>,
    pattern: JavaPattern,
    replacement: String,
}

pub(super) fn read_redact(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(Redact {
        fields: slots(event, config)?,
        pattern: pattern(config, "pattern")?,
        replacement: optional(config, "replacement")?.unwrap_or_else(|| "***".to_string()),
    }))
}

impl Step for Redact {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        for slot in &self.fields {
            let Some(text) = event.text(*slot) else {
                continue;
            };
            work.found.clear();
            for found in self.pattern.find_all(event.at(text)) {
                let found = found.map_err(|_| Reason::TooLong)?;
                let place = Span::new(found.start, found.end).after(text.start());
                work.found.push(place);
            }
            if work.found.is_empty() {
                continue;
            }
            let redacted = event.own(|out| {
                let mut at = text.start();
                for place in &work.found {
                    out.extend_from_within(at..place.start());
                    out.push_str(&self.replacement);
                    at = place.end();
                }
                out.extend_from_within(at..text.end());
            });
            event.put(*slot, Value::Text(redacted))?;
        }
        Ok(Flow::On)
    }
}

/// `duration`: `1.5s`, `2m30s`, `17ms` as a number of one unit.
#[derive(Debug)]
struct Duration {
    field: Slot,
    target: Slot,
    ignore_missing: bool,
    /// Nanoseconds of the unit that is written.
    unit_ns: f64,
}

pub(super) fn read_duration(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let field = text(config, "field")?;
    let target = optional(config, "target_field")?.unwrap_or_else(|| field.clone());
    let unit = optional(config, "unit")?.unwrap_or_else(|| "ms".to_string());
    let unit_ns = unit_ns(&unit)
        .ok_or_else(|| DefinitionError::refused("unit", "must be one of ns, us, ms, s, m, h, d"))?;
    Ok(Box::new(Duration {
        field: slot(event, &field)?,
        target: slot(event, &target)?,
        ignore_missing: flag(config, "ignore_missing", false)?,
        unit_ns,
    }))
}

impl Step for Duration {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(text) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let ns = duration_ns(event.at(text)).ok_or(Reason::NotConvertible)?;
        event.put(self.target, Value::Float(ns / self.unit_ns))?;
        Ok(Flow::On)
    }
}

/// Nanoseconds of a duration, in any of the ways in which it may be written.
fn duration_ns(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1.0, text),
        None => (1.0, text),
    };
    let ns = clock_ns(text)
        .or_else(|| iso_ns(text))
        .or_else(|| in_units_ns(text))?;
    Some(sign * ns)
}

/// A number without a sign or an exponent.
fn number(text: &str) -> Option<f64> {
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_number.then(|| text.parse().ok()).flatten()
}

/// Hours, minutes and seconds, `01:02:03.5`, and days before them as .NET writes them: `1.02:03:04.5`.
fn clock_ns(text: &str) -> Option<f64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    let (minutes, seconds) = (number(minutes)?, number(seconds)?);
    let is_clock = minutes < 60.0 && seconds < 60.0;
    let hours = number(days)? * 24.0 + number(hours)?;
    is_clock.then_some(((hours * 60.0 + minutes) * 60.0 + seconds) * 1e9)
}

/// `PT1M30.5S`, `P1DT2H`, of ISO 8601.
fn iso_ns(text: &str) -> Option<f64> {
    const DAYS: [(char, f64); 2] = [('W', 604_800e9), ('D', 86_400e9)];
    const TIMES: [(char, f64); 3] = [('H', 3_600e9), ('M', 60e9), ('S', 1e9)];
    let text = text.strip_prefix('P')?;
    let (days, times) = text.split_once('T').unwrap_or((text, ""));
    let mut sum = 0.0;
    for (part, units) in [(days, &DAYS[..]), (times, &TIMES[..])] {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|letter: char| letter.is_ascii_uppercase())?;
            let unit = units
                .iter()
                .find(|(name, _)| rest[end..].starts_with(*name));
            sum += number(&rest[..end])? * unit?.1;
            rest = &rest[end + 1..];
        }
    }
    (!days.is_empty() || !times.is_empty()).then_some(sum)
}

/// Nanoseconds of a text of numbers with units.
fn in_units_ns(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let number = rest.find(|letter| !is_number(letter))?;
        let value: f64 = rest[..number].parse().ok()?;
        rest = rest[number..].trim_start();
        let unit = rest.find(|letter: char| letter.is_ascii_digit() || letter == ' ');
        let unit = unit.unwrap_or(rest.len());
        sum += value * unit_ns(&rest[..unit])?;
        rest = rest[unit..].trim_start();
    }
    (!text.is_empty()).then_some(sum)
}

fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nanosecond" | "nanoseconds" => 1.0,
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => 1e3,
        "ms" | "msec" | "millisecond" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" | "mins" | "minute" | "minutes" => 60e9,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600e9,
        "d" | "day" | "days" => 86_400e9,
        "w" | "week" | "weeks" => 604_800e9,
        _ => return None,
    })
}
