//! Steps over lines: what each makes of one.

mod conditions;
mod failures;
mod json;
mod texts;
mod values;

use serde_json::{Value as Json, json};

use super::*;
use crate::event::Value;

/// What steps make of a line that is in `message`, or why they fail; what was done before is shown too.
fn run(steps: Json, line: &str) -> String {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    for step in steps.as_array().unwrap() {
        plan.add(step).unwrap();
    }
    let mut shown = String::new();
    // Twice, as the second line finds the memory of the first.
    for _ in 0..2 {
        let line = plan.event.begin(line).unwrap();
        plan.event.put(message, Value::Text(line)).unwrap();
        shown = match plan.run(1_767_323_045_678) {
            Ok(Flow::On) => String::new(),
            Ok(Flow::Dropped) => "dropped".to_owned(),
            Err(reason) => format!("{} ", reason.as_str()),
        };
        let mut out = Vec::new();
        plan.event.write(&mut out);
        serde_json::from_slice::<Json>(&out).unwrap();
        shown.push_str(std::str::from_utf8(&out).unwrap());
    }
    shown
}

#[track_caller]
fn check(steps: Json, line: &str, expected: &str) {
    assert_eq!(run(steps, line), expected);
}

fn dissect(pattern: &str) -> Json {
    json!([{"dissect": {"field": "message", "pattern": pattern, "append_separator": "+"}},
           {"remove": {"field": "message"}}])
}
