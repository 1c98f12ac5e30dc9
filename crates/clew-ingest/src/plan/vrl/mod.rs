//! `vrl`: a program in Vector Remap Language. Of the event it is given the fields that it names, or all where it asks for `.`
//! itself; what it leaves of them is put back. It works on values of its own, so that a program that fails has changed
//! nothing.

mod program;
mod values;

use serde_json::{Map, Value as Json};
use vrl::compiler::runtime::{Runtime, Terminate};
use vrl::compiler::{Program, TargetValueRef, TimeZone};
use vrl::value::{ObjectMap, Secrets, Value as Given};

use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot};
use crate::members::{flag, optional, text};
use crate::pipeline::Flow;
use values::Fields;

struct Remap {
    program: Program,
    runtime: Runtime,
    zone: TimeZone,
    /// The fields that it names; none where it asks for the whole event.
    named: Option<Vec<Slot>>,
    drop_on_abort: bool,
    drop_on_error: bool,
    fields: Fields,
}

impl std::fmt::Debug for Remap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Remap");
        shown.field("named", &self.named).finish_non_exhaustive()
    }
}

pub(super) fn read_vrl(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let source = text(config, "source")?;
    let file = optional(config, "file")?;
    let program = program::compile(&source, file.as_deref())?;
    let zone = optional(config, "timezone")?.unwrap_or_default();
    let zone = TimeZone::parse(&zone).ok_or_else(|| {
        let reason =
            format!("has [{zone}], which is neither [local] nor a zone as [Europe/Berlin]");
        DefinitionError::refused("timezone", reason)
    })?;
    Ok(Box::new(Remap {
        named: program::named(event, &program, &source)?,
        program,
        runtime: Runtime::default(),
        zone,
        drop_on_abort: flag(config, "drop_on_abort", true)?,
        drop_on_error: flag(config, "drop_on_error", false)?,
        fields: Fields::default(),
    }))
}

impl Step for Remap {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        let mut root = self.fields.take(event, self.named.as_deref())?;
        let mut metadata = Given::Object(ObjectMap::new());
        let mut secrets = Secrets::new();
        let mut target = TargetValueRef {
            value: &mut root,
            metadata: &mut metadata,
            secrets: &mut secrets,
        };
        let done = self.runtime.resolve(&mut target, &self.program, &self.zone);
        self.runtime.clear();
        match done {
            Ok(_) => {}
            Err(Terminate::Abort(_)) if self.drop_on_abort => return Ok(Flow::Dropped),
            Err(Terminate::Abort(_)) => return Ok(Flow::On),
            Err(error) => {
                work.say(&error);
                return Err(Reason::Program);
            }
        }
        match root {
            Given::Object(left) => self.fields.give(event, self.named.as_deref(), left)?,
            other => {
                let kind = other.kind_str();
                work.say(&format_args!(
                    "the program leaves a value of type {kind}, and no object, as the event"
                ));
                return Err(Reason::NotAnObject);
            }
        }
        Ok(Flow::On)
    }

    fn drops_failed(&self) -> bool {
        self.drop_on_error
    }
}

#[cfg(test)]
mod tests;
