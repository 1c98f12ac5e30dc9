//! What scripts gather of many documents: one begins it, one adds to it for each document, one ends it, and one makes a
//! single value of what was gathered in several places.

use serde_json::Value;

use super::run::{Machine, STEPS_MAX};
use super::value::{ScriptValue, json_bytes};
use super::{NoDocument, Script, ScriptDocument, too_much};
use crate::error::ScriptError;

/// Steps where something is made of all that was gathered.
const ALL_STEPS_MAX: usize = 20_000_000;
/// What may be gathered of one bucket in one place, in bytes.
const GATHERED_BYTES_MAX: usize = 32 << 20;

/// What scripts share that gather something: a map, which is empty at first.
#[derive(Debug)]
pub struct ScriptState<'a> {
    shared: ScriptValue<'a>,
    /// What was put into it at most, in bytes, since it was measured.
    held_bytes: usize,
}

impl<'a> ScriptState<'a> {
    /// Nothing gathered.
    ///
    /// # Errors
    /// None, as an empty map can always be made.
    pub fn begin() -> Result<Self, ScriptError> {
        Ok(ScriptState {
            shared: ScriptValue::mapped(Vec::new())?,
            held_bytes: 0,
        })
    }

    /// Runs a script that sees a document and changes what is gathered.
    ///
    /// # Errors
    /// What went wrong; what was gathered may have become too much, too.
    pub fn gather(
        &mut self,
        script: &'a Script,
        document: &mut dyn ScriptDocument<'a>,
    ) -> Result<(), ScriptError> {
        let mut machine = Machine::within(script, document, self.shared.clone(), STEPS_MAX);
        machine.run().map_err(|error| error.of(script.source()))?;
        self.held_bytes = self.held_bytes.saturating_add(machine.held_bytes());
        if self.held_bytes > 2 * GATHERED_BYTES_MAX {
            // Much of what was held is gone by now.
            let mut left = GATHERED_BYTES_MAX;
            if !self.shared.fits(&mut left) {
                return Err(too_much(GATHERED_BYTES_MAX).of(script.source()));
            }
            self.held_bytes = GATHERED_BYTES_MAX - left;
        }
        Ok(())
    }

    /// Runs a script that sees no document.
    ///
    /// # Errors
    /// As [`ScriptState::gather`].
    pub fn prepare(&mut self, script: &'a Script, now_ms: i64) -> Result<(), ScriptError> {
        self.gather(script, &mut NoDocument(now_ms))
    }

    /// What a script makes of all that was gathered.
    ///
    /// # Errors
    /// What went wrong, or that it makes too much.
    pub fn end(self, script: &'a Script, now_ms: i64) -> Result<Value, ScriptError> {
        made(script, self.shared, now_ms)
    }
}

impl Script {
    /// What it makes of a list, which it sees as `states`.
    ///
    /// # Errors
    /// What went wrong, or that it makes too much.
    pub fn join(&self, states: &Value, now_ms: i64) -> Result<Value, ScriptError> {
        match json_bytes(states) > 4 * GATHERED_BYTES_MAX {
            true => Err(too_much(4 * GATHERED_BYTES_MAX).of(&self.source)),
            false => made(self, ScriptValue::changeable(states), now_ms),
        }
    }
}

fn made<'a>(
    script: &'a Script,
    shared: ScriptValue<'a>,
    now_ms: i64,
) -> Result<Value, ScriptError> {
    let mut nothing = NoDocument(now_ms);
    let mut machine = Machine::within(script, &mut nothing, shared, ALL_STEPS_MAX);
    let said = machine.run().map_err(|error| error.of(&script.source))?;
    let said = said.unwrap_or(ScriptValue::Null);
    let mut left = GATHERED_BYTES_MAX;
    match said.fits(&mut left) {
        true => Ok(said.to_json()),
        false => Err(too_much(GATHERED_BYTES_MAX).of(&script.source)),
    }
}
