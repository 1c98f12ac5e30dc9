//! `date`: a text as the time of the event, or of another field.

use std::ops::RangeInclusive;

use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::pipeline::Flow;
use crate::steps::dates::DateStep;
use crate::text::{Moment, Times};

/// The step. Times are in UTC, whatever the zone they are read in.
#[derive(Debug)]
struct Date {
    field: Slot,
    target: Slot,
    formats: Vec<Format>,
    times: Times,
    /// What reads the formats that are not compiled.
    step: DateStep,
}

#[derive(Debug)]
enum Format {
    Compiled(Moment),
    Seconds,
    Milliseconds,
    /// One that the step for documents knows.
    Other(usize),
}

pub(super) fn date(event: &mut Event, step: DateStep) -> Result<Box<dyn Step>, DefinitionError> {
    let formats = step.formats.iter().enumerate();
    let formats = formats.map(|(number, format)| match format.as_str() {
        "UNIX" | "epoch_second" => Format::Seconds,
        "UNIX_MS" | "epoch_millis" => Format::Milliseconds,
        other => {
            Moment::compile_in(other, step.months).map_or(Format::Other(number), Format::Compiled)
        }
    });
    Ok(Box::new(Date {
        field: slot(event, &step.field)?,
        target: slot(event, &step.target)?,
        formats: formats.collect(),
        times: Times::new(step.zone().clone()),
        step,
    }))
}

/// The times that can be written: the years 1 to 9999.
const CALENDAR_MS: RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

impl Step for Date {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        let text = event.text(self.field).ok_or(Reason::Missing)?;
        let text = event.at(text);
        self.times.newest_ms = work.now_ms;
        let (step, times) = (&self.step, &mut self.times);
        let found = self.formats.iter().find_map(|format| {
            let found = match format {
                Format::Compiled(moment) => moment.read(text, times),
                Format::Seconds => seconds(text),
                Format::Milliseconds => text.parse().ok(),
                Format::Other(number) => step.read_by(*number, text, work.now_ms),
            };
            found.filter(|ms| CALENDAR_MS.contains(ms))
        });
        event.put(self.target, Value::Time(found.ok_or(Reason::NotADate)?))?;
        Ok(Flow::On)
    }
}

/// Seconds since the epoch, perhaps with a fraction, as milliseconds.
fn seconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let mut ms = 0;
    for place in 0..3 {
        let digit = fraction.as_bytes().get(place).map_or(Some(0), |byte| {
            byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
        })?;
        ms = ms * 10 + digit;
    }
    let ms = if whole.starts_with('-') { -ms } else { ms };
    seconds.checked_mul(1000)?.checked_add(ms)
}
