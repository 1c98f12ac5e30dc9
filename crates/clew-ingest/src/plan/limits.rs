//! Steps that let some events through and drop others: `sample`, `rate_limit`, `dedupe`. What they remember is bounded.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use serde_json::{Map, Value as Json};

use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot};
use crate::members::{number, one_or_more, text};
use crate::pipeline::Flow;

/// Keys that a step remembers at once.
const KEYS_MAX: usize = 10_000;

/// Values by the hash of the fields that tell events apart.
type ByKey<V> = HashMap<u64, V, FixedState>;

/// The hash of some fields of an event.
fn key(event: &mut Event, fields: &[Slot]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for slot in fields {
        if let Some(text) = event.text(*slot) {
            hasher.write(event.at(text).as_bytes());
        }
        hasher.write_u8(0xff);
    }
    hasher.finish()
}

fn fields(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Option<Vec<Slot>>, DefinitionError> {
    let Some(names) = one_or_more(config, "fields")? else {
        return Ok(None);
    };
    let slots = names.iter().map(|name| slot(event, name));
    slots.collect::<Result<_, _>>().map(Some)
}

fn whole(config: &mut Map<String, Json>, key: &str) -> Result<u64, DefinitionError> {
    let number = config.remove(key).and_then(|value| value.as_u64());
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| DefinitionError::refused(key, "must be a whole number above 0"))
}

/// `sample`: a part of the events, as even as it can be: what each adds to is an account, and one that fills it is let through.
#[derive(Debug)]
struct Sample {
    adds: u64,
    full: u64,
    account: u64,
}

/// A hundred percent, in the steps by which percentages are told apart.
const WHOLE: u64 = 1_000_000;

pub(super) fn read_sample(
    _: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let (adds, full) = if config.contains_key("percentage") {
        if config.contains_key("one_in") {
            let wanted = "cannot be there beside [percentage]";
            return Err(DefinitionError::refused("one_in", wanted));
        }
        (share(number(config, "percentage")?)?, WHOLE)
    } else {
        (1, whole(config, "one_in")?)
    };
    // The first event is let through.
    let account = full - adds;
    Ok(Box::new(Sample {
        adds,
        full,
        account,
    }))
}

/// A percentage as a part of [`WHOLE`].
fn share(percentage: f64) -> Result<u64, DefinitionError> {
    let steps = (percentage * 10_000.0).round();
    if !(1.0..=1e6).contains(&steps) {
        let wanted = "must be a number from 0.0001 to 100";
        return Err(DefinitionError::refused("percentage", wanted));
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and a million"
    )]
    let share = steps as u64;
    Ok(share)
}

impl Step for Sample {
    fn apply(&mut self, _: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        self.account = self.account.saturating_add(self.adds);
        if self.account < self.full {
            return Ok(Flow::Dropped);
        }
        self.account -= self.full;
        Ok(Flow::On)
    }
}

/// `rate_limit`: so many events in every second, minute or hour, for each value of some fields.
#[derive(Debug)]
struct RateLimit {
    limit: u64,
    window_ms: i64,
    fields: Vec<Slot>,
    /// The present window, and how many events of each key were let through in it.
    window: i64,
    counts: ByKey<u64>,
}

pub(super) fn read_rate_limit(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let written = text(config, "limit")?;
    let read = written.split_once('/').and_then(|(count, unit)| {
        let window_ms = match unit {
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        let count = count.parse::<u64>().ok().filter(|count| *count > 0)?;
        Some((count, window_ms))
    });
    let (limit, window_ms) = read.ok_or_else(|| {
        let wanted = "must be a whole number above 0 for each s, m or h, like 1000/m";
        DefinitionError::refused("limit", wanted)
    })?;
    Ok(Box::new(RateLimit {
        limit,
        window_ms,
        fields: fields(event, config)?.unwrap_or_default(),
        window: i64::MIN,
        counts: ByKey::default(),
    }))
}

impl Step for RateLimit {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        let window = work.now_ms.div_euclid(self.window_ms);
        if window != self.window {
            self.window = window;
            self.counts.clear();
        }
        let mut key = key(event, &self.fields);
        // Beyond the bound all new keys are one.
        if self.counts.len() >= KEYS_MAX && !self.counts.contains_key(&key) {
            key = 0;
        }
        let count = self.counts.entry(key).or_default();
        *count = count.saturating_add(1);
        let is_kept = *count <= self.limit;
        Ok(if is_kept { Flow::On } else { Flow::Dropped })
    }
}

/// `dedupe`: drops an event whose fields were the same as those of one within the last seconds.
#[derive(Debug)]
struct Dedupe {
    fields: Vec<Slot>,
    window_ms: i64,
    /// When each key was let through.
    seen: ByKey<i64>,
}

pub(super) fn read_dedupe(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let fields = fields(event, config)?.ok_or_else(|| DefinitionError::missing("fields"))?;
    if fields.is_empty() {
        // By no field all events are the same.
        return Err(DefinitionError::refused("fields", "must name at least one"));
    }
    let window_s = i64::try_from(whole(config, "window_s")?).unwrap_or(i64::MAX);
    Ok(Box::new(Dedupe {
        fields,
        window_ms: window_s.saturating_mul(1000),
        seen: ByKey::default(),
    }))
}

impl Step for Dedupe {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        let (now, window) = (work.now_ms, self.window_ms);
        let key = key(event, &self.fields);
        let is_recent = |seen: i64| now.saturating_sub(seen) < window;
        if self.seen.get(&key).is_some_and(|seen| is_recent(*seen)) {
            return Ok(Flow::Dropped);
        }
        if self.seen.len() >= KEYS_MAX {
            self.seen.retain(|_, seen| is_recent(*seen));
            // More within a window than is remembered: what is forgotten may come again.
            if self.seen.len() >= KEYS_MAX {
                self.seen.clear();
            }
        }
        self.seen.insert(key, now);
        Ok(Flow::On)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::event::Value;
    use crate::pipeline::Flow;
    use crate::plan::Plan;

    /// Which of some lines, at their seconds, a step lets through.
    fn kept(step: &Json, lines: &[(i64, &str)]) -> Vec<bool> {
        let mut plan = Plan::default();
        let message = plan.slot("message").unwrap();
        plan.add(step).unwrap();
        let kept = lines.iter().map(|(second, text)| {
            let line = plan.event.begin(text).unwrap();
            plan.event.put(message, Value::Text(line)).unwrap();
            plan.run(second * 1000).unwrap() == Flow::On
        });
        kept.collect()
    }

    #[test]
    fn samples_limits_and_repetitions_drop_events() {
        let lines = [(0, "a"), (1, "a"), (2, "b"), (3, "a"), (61, "a"), (62, "b")];
        let check =
            |step: Json, expected: [bool; 6]| assert_eq!(kept(&step, &lines), expected, "{step}");
        check(
            json!({"sample": {"one_in": 2}}),
            [true, false, true, false, true, false],
        );
        check(
            json!({"sample": {"percentage": 50}}),
            [true, false, true, false, true, false],
        );
        check(json!({"sample": {"percentage": 100}}), [true; 6]);
        check(
            json!({"sample": {"percentage": "66.6667"}}),
            [true, false, true, true, false, true],
        );
        check(
            json!({"rate_limit": {"limit": "2/m"}}),
            [true, true, false, false, true, true],
        );
        check(
            json!({"rate_limit": {"limit": "1/m", "fields": "message"}}),
            [true, false, true, false, true, true],
        );
        check(
            json!({"dedupe": {"fields": "message", "window_s": 60}}),
            [true, false, true, false, true, true],
        );
        check(
            json!({"dedupe": {"fields": ["message"], "window_s": 1}}),
            [true, true, true, true, true, true],
        );
        let many: Vec<String> = (0..30_000).map(|number| number.to_string()).collect();
        let many: Vec<(i64, &str)> = many.iter().map(|text| (0, text.as_str())).collect();
        assert!(
            kept(
                &json!({"dedupe": {"fields": "message", "window_s": 60}}),
                &many
            )
            .iter()
            .all(|kept| *kept)
        );
        let sampled = kept(&json!({"sample": {"percentage": 0.1}}), &many);
        assert_eq!(sampled.iter().filter(|kept| **kept).count(), 30);
        let limited = kept(
            &json!({"rate_limit": {"limit": "1/m", "fields": "message"}}),
            &many,
        );
        assert_eq!(limited.iter().filter(|kept| **kept).count(), 10_001);
        for wrong in [
            json!({"sample": {"one_in": 0}}),
            json!({"sample": {"percentage": 0}}),
            json!({"sample": {"percentage": 100.1}}),
            json!({"sample": {"percentage": "some"}}),
            json!({"sample": {"percentage": 10, "one_in": 10}}),
            json!({"rate_limit": {"limit": "5"}}),
            json!({"rate_limit": {"limit": "0/s"}}),
            json!({"dedupe": {"window_s": 1}}),
            json!({"dedupe": {"fields": [], "window_s": 1}}),
        ] {
            assert!(Plan::default().add(&wrong).is_err(), "{wrong}");
        }
    }
}
