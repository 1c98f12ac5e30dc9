//! Rounds instants down to the start of their interval, in a time zone, without asking the time
//! zone database for each document: the offsets that apply to a column's range are listed once, and
//! what is left per value is one comparison and integer arithmetic.
//!
//! Days that are 23 or 25 hours long, hours that happen twice and midnights that do not exist are
//! all decided in [`Rounding::resolve`].

use clew_query::aggregation::{CalendarUnit, DateInterval};
use clew_schema::{civil_from_days, days_from_civil};
use jiff::Timestamp;
use jiff::tz::TimeZone;

const DAY_MS: i64 = 86_400_000;

/// No zone has ever been further from UTC than this.
const OFFSET_MAX_MS: i64 = 26 * 3_600_000;

/// How local times are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Every so many milliseconds of local time, aligned to the local epoch.
    Fixed(i64),
    /// A clock unit (minute, hour): each time it begins counts, also when the hour repeats.
    Clock(i64),
    /// A unit that begins at a midnight; a repeated midnight counts once.
    Midnight(CalendarUnit),
}

impl Rule {
    fn floor(self, local: i64) -> i64 {
        match self {
            Rule::Fixed(step) | Rule::Clock(step) => local.div_euclid(step).saturating_mul(step),
            Rule::Midnight(unit) => floor_to_unit(local, unit),
        }
    }

    /// The longest an interval can be, in local time.
    fn longest_ms(self) -> i64 {
        match self {
            Rule::Fixed(step) | Rule::Clock(step) => step,
            Rule::Midnight(_) => 366 * DAY_MS,
        }
    }
}

/// From `start_ms` (UTC) on, local time is UTC plus `offset_ms`.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start_ms: i64,
    offset_ms: i64,
    /// Local times from here on belong to this piece alone.
    safe_local_ms: i64,
}

/// A rounding prepared for a range of instants.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    rule: Rule,
    shift_ms: i64,
    pieces: Vec<Piece>,
}

/// When all intervals have one length and one alignment: `key = number * step + base`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    pub(crate) step_ms: i64,
    pub(crate) base_ms: i64,
}

/// All interval starts of a range, where there are few enough of them. Intervals of a calendar are
/// nearly equally long, so a division guesses the place and a comparison or two correct it.
#[derive(Clone, Debug)]
pub(crate) struct Starts {
    starts: Vec<i64>,
    mean_ms: i64,
}

/// Above this many intervals a list costs more to make than it saves.
const STARTS_MAX: usize = 4_096;

impl Starts {
    /// The place of the interval that holds an instant of the range.
    #[inline]
    pub(crate) fn place_of(&self, instant_ms: i64) -> usize {
        let guess = instant_ms.saturating_sub(self.starts[0]) / self.mean_ms;
        let last = self.starts.len() - 1;
        let mut place = usize::try_from(guess).unwrap_or(0).min(last);
        while place > 0 && self.starts[place] > instant_ms {
            place -= 1;
        }
        while place < last && self.starts[place + 1] <= instant_ms {
            place += 1;
        }
        place
    }

    /// Where the interval at a place begins.
    pub(crate) fn start_of(&self, place: usize) -> i64 {
        self.starts[place]
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }
}

impl Arithmetic {
    /// The number of the interval that holds an instant.
    #[inline]
    pub(crate) fn step_of(self, instant_ms: i64) -> i64 {
        instant_ms
            .saturating_sub(self.base_ms)
            .div_euclid(self.step_ms)
    }

    /// Where an interval begins.
    pub(crate) fn start_of(self, step: i64) -> i64 {
        step.saturating_mul(self.step_ms)
            .saturating_add(self.base_ms)
    }
}

impl Rounding {
    /// Prepares for instants in a range of milliseconds; others round too, but as if no change of
    /// offset happened outside.
    pub(crate) fn prepare(
        interval: DateInterval,
        zone: &TimeZone,
        shift_ms: i64,
        range: std::ops::RangeInclusive<i64>,
    ) -> Self {
        let rule = match interval {
            DateInterval::Fixed { step_ms } => Rule::Fixed(step_ms.get()),
            DateInterval::Calendar(CalendarUnit::Second) => Rule::Clock(1_000),
            DateInterval::Calendar(CalendarUnit::Minute) => Rule::Clock(60_000),
            DateInterval::Calendar(CalendarUnit::Hour) => Rule::Clock(3_600_000),
            DateInterval::Calendar(unit) => Rule::Midnight(unit),
        };
        let slack = rule.longest_ms().saturating_add(2 * OFFSET_MAX_MS);
        let low = range.start().saturating_sub(shift_ms).saturating_sub(slack);
        let high = range
            .end()
            .saturating_sub(shift_ms)
            .saturating_add(slack.saturating_mul(2));
        Rounding {
            rule,
            shift_ms,
            pieces: pieces(zone, low, high),
        }
    }

    /// The start of the interval that holds `instant_ms`. `hint` remembers where the last one was.
    pub(crate) fn round(&self, instant_ms: i64, hint: &mut usize) -> i64 {
        let instant = instant_ms.saturating_sub(self.shift_ms);
        let at = self.piece_of(instant, hint);
        let piece = &self.pieces[at];
        let local = self.rule.floor(instant.saturating_add(piece.offset_ms));
        let rounded = if local >= piece.safe_local_ms {
            local.saturating_sub(piece.offset_ms)
        } else {
            self.resolve(at, local)
        };
        rounded.saturating_add(self.shift_ms)
    }

    /// The first interval start after `key_ms`, itself an interval start.
    pub(crate) fn next(&self, key_ms: i64) -> i64 {
        let key = key_ms.saturating_sub(self.shift_ms);
        let next = match self.rule {
            Rule::Midnight(unit) => self.next_midnight(key, unit),
            Rule::Fixed(step) | Rule::Clock(step) => self.next_step(key, step),
        };
        next.saturating_add(self.shift_ms)
    }

    /// One length and alignment for the whole range, if that is so.
    pub(crate) fn arithmetic(&self) -> Option<Arithmetic> {
        let [piece] = self.pieces[..] else {
            return None;
        };
        let (step_ms, align_ms) = match self.rule {
            Rule::Fixed(step) | Rule::Clock(step) => (step, 0),
            Rule::Midnight(CalendarUnit::Day) => (DAY_MS, 0),
            // The epoch was a Thursday; weeks begin on Monday.
            Rule::Midnight(CalendarUnit::Week) => (7 * DAY_MS, -3 * DAY_MS),
            Rule::Midnight(_) => return None,
        };
        Some(Arithmetic {
            step_ms,
            base_ms: align_ms + self.shift_ms - piece.offset_ms,
        })
    }

    /// The starts of all intervals that meet a range; `None` when they are too many, or when a
    /// repeated day makes time go back to an earlier interval.
    pub(crate) fn starts(&self, range: std::ops::RangeInclusive<i64>) -> Option<Starts> {
        let round = |instant| self.round(instant, &mut 0);
        let goes_back = |piece: &Piece| {
            let change = piece.start_ms.saturating_add(self.shift_ms);
            round(change) < round(change - 1)
        };
        if self.pieces.len() > STARTS_MAX || self.pieces.iter().skip(1).any(goes_back) {
            return None;
        }
        let mut starts = vec![round(*range.start())];
        loop {
            let last = starts[starts.len() - 1];
            let next = self.next(last);
            if next > *range.end() || next <= last {
                let span = last.saturating_sub(starts[0]);
                let steps = i64::try_from(starts.len() - 1).unwrap_or(1).max(1);
                let mean_ms = (span / steps).max(1);
                return Some(Starts { starts, mean_ms });
            }
            if starts.len() == STARTS_MAX {
                return None;
            }
            starts.push(next);
        }
    }

    fn piece_of(&self, instant: i64, hint: &mut usize) -> usize {
        let holds = |at: usize| {
            self.pieces[at].start_ms <= instant
                && self
                    .pieces
                    .get(at + 1)
                    .is_none_or(|next| instant < next.start_ms)
        };
        if !holds(*hint) {
            *hint = self
                .pieces
                .partition_point(|piece| piece.start_ms <= instant)
                .saturating_sub(1);
        }
        *hint
    }

    /// The instant of a local interval start, seen from piece `at` or a later one than it.
    fn resolve(&self, at: usize, local: i64) -> i64 {
        let piece = self.pieces[at];
        if at == 0 || local >= piece.safe_local_ms {
            return local.saturating_sub(piece.offset_ms);
        }
        let before = piece.start_ms + self.pieces[at - 1].offset_ms;
        let after = piece.start_ms + piece.offset_ms;
        if after > before {
            return match self.rule {
                // The unit's start was skipped, so it has none: it belongs to what was before.
                Rule::Clock(_) => self.resolve(at - 1, self.rule.floor(before - 1)),
                Rule::Fixed(_) | Rule::Midnight(_) if local >= before => piece.start_ms,
                Rule::Fixed(_) | Rule::Midnight(_) => self.resolve(at - 1, local),
            };
        }
        match self.rule {
            Rule::Midnight(_) => self.resolve(at - 1, local),
            Rule::Fixed(_) | Rule::Clock(_) if local >= after => local - piece.offset_ms,
            Rule::Fixed(_) => self.resolve(at - 1, self.rule.floor(before - 1)),
            Rule::Clock(unit) if before - after >= unit => local - piece.offset_ms,
            Rule::Clock(_) => self.resolve(at - 1, local),
        }
    }

    fn next_midnight(&self, key: i64, unit: CalendarUnit) -> i64 {
        let at = self.piece_of(key, &mut 0);
        let local = next_unit(
            floor_to_unit(key.saturating_add(self.pieces[at].offset_ms), unit),
            unit,
        );
        let after = self.piece_of(local.saturating_add(OFFSET_MAX_MS), &mut 0);
        let next = self.resolve(after, local);
        // A repeated day would send us back; the caller must always move on.
        next.max(key.saturating_add(1))
    }

    fn next_step(&self, key: i64, step: i64) -> i64 {
        let mut at = self.piece_of(key, &mut 0);
        let mut from = key;
        loop {
            let offset = self.pieces[at].offset_ms;
            let candidate = self
                .rule
                .floor(from.saturating_add(offset))
                .saturating_add(step)
                .saturating_sub(offset);
            let Some(next) = self.pieces.get(at + 1) else {
                return candidate.max(key.saturating_add(1));
            };
            if candidate < next.start_ms {
                return candidate.max(key.saturating_add(1));
            }
            let start = self.round(next.start_ms + self.shift_ms, &mut 0) - self.shift_ms;
            if start > key {
                return start;
            }
            at += 1;
            from = next.start_ms;
        }
    }
}

/// The offsets in force from `low` to `high`, each with its first instant.
fn pieces(zone: &TimeZone, low: i64, high: i64) -> Vec<Piece> {
    let low = clamp_to_timestamp(low);
    let high = clamp_to_timestamp(high);
    let offset_ms = i64::from(zone.to_offset(low).seconds()) * 1_000;
    let mut pieces = vec![Piece {
        start_ms: i64::MIN,
        offset_ms,
        safe_local_ms: i64::MIN,
    }];
    let mut previous_ms = offset_ms;
    for transition in zone.following(low) {
        if transition.timestamp() > high {
            break;
        }
        let offset_ms = i64::from(transition.offset().seconds()) * 1_000;
        if offset_ms == previous_ms {
            continue;
        }
        let start_ms = transition.timestamp().as_millisecond();
        pieces.push(Piece {
            start_ms,
            offset_ms,
            safe_local_ms: start_ms + offset_ms.max(previous_ms),
        });
        previous_ms = offset_ms;
    }
    pieces
}

/// Beyond what a timestamp can hold, clocks are taken to stay as they are at its end.
fn clamp_to_timestamp(ms: i64) -> Timestamp {
    let second = ms.div_euclid(1_000);
    let second = second.clamp(
        Timestamp::MIN.as_second() + 1,
        Timestamp::MAX.as_second() - 1,
    );
    Timestamp::from_second(second).expect("the value was clamped to what a timestamp can hold")
}

fn floor_to_unit(local: i64, unit: CalendarUnit) -> i64 {
    let day = local.div_euclid(DAY_MS);
    let first = match unit {
        CalendarUnit::Second | CalendarUnit::Minute | CalendarUnit::Hour | CalendarUnit::Day => day,
        CalendarUnit::Week => day - (day + 3).rem_euclid(7),
        CalendarUnit::Month | CalendarUnit::Quarter | CalendarUnit::Year => {
            let (year, month, _) = civil_from_days(day);
            days_from_civil(year, first_month(month, unit), 1)
        }
    };
    first.saturating_mul(DAY_MS)
}

/// The start of the unit after the one that starts at `local`.
fn next_unit(local: i64, unit: CalendarUnit) -> i64 {
    let day = local.div_euclid(DAY_MS);
    let months = match unit {
        CalendarUnit::Second | CalendarUnit::Minute | CalendarUnit::Hour | CalendarUnit::Day => {
            return local.saturating_add(DAY_MS);
        }
        CalendarUnit::Week => return local.saturating_add(7 * DAY_MS),
        CalendarUnit::Month => 1,
        CalendarUnit::Quarter => 3,
        CalendarUnit::Year => 12,
    };
    let (year, month, _) = civil_from_days(day);
    let months = year * 12 + (month - 1) + months;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    days_from_civil(year, month, 1).saturating_mul(DAY_MS)
}

fn first_month(month: i64, unit: CalendarUnit) -> i64 {
    match unit {
        CalendarUnit::Quarter => (month - 1) / 3 * 3 + 1,
        CalendarUnit::Year => 1,
        _ => month,
    }
}

#[cfg(test)]
mod tests;
