//! Where `vrl` is left out, a definition that has it is told so.

use serde_json::{Map, Value as Json};

use super::step::Step;
use crate::error::DefinitionError;
use crate::event::Event;

pub(super) fn read_vrl(
    _: &mut Event,
    _: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    Err(DefinitionError::unsupported(
        "processor [vrl] is not there: built without vrl, a feature of cargo that is on by default",
    ))
}
