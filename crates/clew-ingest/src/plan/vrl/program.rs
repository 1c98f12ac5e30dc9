//! What is known of a program before it runs.

use vrl::compiler::Program;
use vrl::diagnostic::Formatter;
use vrl::path::{OwnedSegment, PathPrefix};

use crate::error::DefinitionError;
use crate::event::{Event, NAMES_MAX, Slot};

/// Functions that Vector has beside the language, or that are not built in, and why.
const ABSENT: [(&str, &str); 4] = [
    ("enrichment_table_record", NO_TABLES),
    ("dns_lookup", NO_NETWORK),
    ("reverse_dns", NO_NETWORK),
    ("http_request", NO_NETWORK),
];
const NO_TABLES: &str = "there are no enrichment tables here; the processor `lookup` has tables";
const NO_NETWORK: &str =
    "functions that ask the network are left out: a line must not make requests";

/// Compiles it; `file` says where it is from.
pub(super) fn compile(source: &str, file: Option<&str>) -> Result<Program, DefinitionError> {
    let errors = match vrl::compiler::compile(source, &vrl::stdlib::all()) {
        Ok(compiled) => return Ok(compiled.program),
        Err(errors) => errors,
    };
    let place = file.map_or_else(String::new, |file| format!("of {file} "));
    let shown = Formatter::new(source, errors).to_string();
    let absent = ABSENT.iter().find(|(name, _)| source.contains(name));
    let note = absent.map_or_else(String::new, |(_, note)| format!("\n\n{note}"));
    let reason = format!("{place}does not compile:{}{note}", shown.trim_end());
    Err(DefinitionError::refused("source", reason))
}

/// The fields at the root that it reads, sets or deletes; none where it asks for the event as a whole.
pub(super) fn named(
    event: &mut Event,
    program: &Program,
    source: &str,
) -> Result<Option<Vec<Slot>>, DefinitionError> {
    // It takes the whole event, whatever its argument is.
    if source.contains("unnest") {
        return Ok(None);
    }
    let info = program.info();
    let mut slots = Vec::new();
    for target in info.target_queries.iter().chain(&info.target_assignments) {
        if target.prefix == PathPrefix::Metadata {
            continue;
        }
        let Some(OwnedSegment::Field(name)) = target.path.segments.first() else {
            return Ok(None);
        };
        let slot = event.root_slot(name).map_err(|_| {
            let reason = format!("a pipeline has at most [{NAMES_MAX}] fields");
            DefinitionError::unsupported(reason)
        })?;
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    }
    Ok(Some(slots))
}
