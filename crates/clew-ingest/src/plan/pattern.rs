//! `pattern`: which pattern a line is of, and whether it is the first line of it.

use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::json_text::push_hex;
use crate::members::{flag, optional};
use crate::patterns::{PatternOptions, Patterns};
use crate::pipeline::Flow;

/// On the 16 systems of loghub as good as Drain with settings for each of them.
const SIMILARITY: f64 = 0.7;
const PATTERNS_MAX: usize = 10_000;

#[derive(Debug)]
struct PatternStep {
    field: Slot,
    ignore_missing: bool,
    patterns: Patterns,
    id: Slot,
    text: Slot,
    new: Slot,
}

pub(super) fn read_pattern(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let field = optional(config, "field")?.unwrap_or_else(|| "message".to_string());
    let similarity = match config.remove("similarity") {
        None => SIMILARITY,
        Some(written) => written
            .as_f64()
            .filter(|share| (0.0..=1.0).contains(share))
            .ok_or_else(|| {
                DefinitionError::refused("similarity", "must be a number between 0 and 1")
            })?,
    };
    let patterns_max = match config.remove("patterns_max") {
        None => PATTERNS_MAX,
        Some(written) => written
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
            .filter(|count| (1..=100_000).contains(count))
            .ok_or_else(|| {
                DefinitionError::refused("patterns_max", "must be a number in 1..=100000")
            })?,
    };
    Ok(Box::new(PatternStep {
        field: slot(event, &field)?,
        ignore_missing: flag(config, "ignore_missing", false)?,
        patterns: Patterns::new(PatternOptions {
            similarity,
            first_words: 1,
            patterns_max,
        }),
        id: slot(event, "pattern_id")?,
        text: slot(event, "pattern")?,
        new: slot(event, "pattern_new")?,
    }))
}

impl Step for PatternStep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let placed = self.patterns.place(event.at(line));
        let id = event.own(|out| push_hex(out, placed.id, 16));
        event.put(self.id, Value::Text(id))?;
        event.put_text(self.text, placed.text)?;
        if placed.is_new {
            event.put(self.new, Value::Bool(true))?;
        }
        Ok(Flow::On)
    }

    fn patterns(&mut self) -> Option<&mut Patterns> {
        Some(&mut self.patterns)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::Plan;

    #[test]
    fn a_line_is_told_its_pattern_and_whether_it_is_new() {
        let mut plan = Plan::default();
        let message = plan.slot("message").unwrap();
        plan.add(&json!({"pattern": {}})).unwrap();
        plan.add(&json!({"remove": {"field": "message"}})).unwrap();
        let mut run = |text: &str| {
            let line = plan.event.begin(text).unwrap();
            plan.event.put(message, Value::Text(line)).unwrap();
            plan.run(0).unwrap();
            let mut out = Vec::new();
            plan.event.write(&mut out);
            serde_json::from_slice::<Json>(&out).unwrap()
        };
        let first = run("took 17ms in all");
        let id = first["pattern_id"].clone();
        assert_eq!(id.as_str().unwrap().len(), 16);
        let expected = json!({"pattern_id": id, "pattern": "took <num>ms in all"});
        assert_eq!(first["pattern_new"], true);
        assert_eq!(run("took 18ms in all"), expected);
        assert_eq!(plan.patterns(), 1);
        for wrong in [
            json!({"pattern": {"similarity": 1.5}}),
            json!({"pattern": {"patterns_max": 0}}),
            json!({"pattern": {"depth": 4}}),
        ] {
            assert!(Plan::default().add(&wrong).is_err(), "{wrong}");
        }
    }
}
