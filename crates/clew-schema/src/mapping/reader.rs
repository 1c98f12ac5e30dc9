//! What only the protocol understands that wrote it: handed in by whoever knows one, so that nothing here does.

use clew_analysis::Analysis;
use serde_json::Value;

use super::error::MappingError;
use super::spec::{KeptMapping, MappingPart};
use super::template::TemplateField;

/// Reads what a protocol wrote of mappings and what is kept as it was written.
#[derive(Clone, Copy, Debug)]
pub struct MappingReader {
    /// What a dynamic template makes of a new name: the field or object, then what lies in it.
    pub template: fn(&TemplateField, &Analysis) -> Result<Vec<MappingPart>, MappingError>,
    /// A mapping that was kept before mappings were typed (format 1 of the catalog).
    pub format_1: fn(&Value) -> Result<KeptMapping, MappingError>,
}
