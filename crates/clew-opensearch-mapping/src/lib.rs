//! OpenSearch's JSON for mappings: read into what it says of a mapping ([`read`]), and shown again ([`shown`]).
//!
//! `clew-schema` says what mappings are and learns nothing of this; [`reader`] is what an engine is handed so that it can
//! read what was kept in OpenSearch's words: mappings of the catalog's format 1, and what dynamic templates make. A crate
//! below the engine, so that tests of lower crates can describe mappings in few words ([`mapping`]).
//!
//! ```
//! use serde_json::json;
//!
//! let body = json!({"properties": {"title": {"type": "text"}, "year": {"type": "long", "index": false}}});
//! let mapping = clew_opensearch_mapping::mapping(body.clone());
//! assert!(!mapping.field("year").unwrap().indexed);
//! assert_eq!(clew_opensearch_mapping::shown(&mapping), body);
//! ```
//!
//! It also words what `clew-schema` refuses: mappings ([`reason`]) and documents ([`document_reason`]).
//!
//! Deliberately absent: indexes, settings, documents, and what a mapping that is there allows: that says the mapping.

// Rooms, lowest first: each imports only from those before it, but for the circles that the test which reads this lists. The empty
// lines keep the order.
mod words;

mod parameter_values;

mod completion;

mod unwritten;

mod space;

mod kinds;

mod encoder;

mod compression;

mod join;

mod method;

mod shape;

mod vector;

mod new_values;

mod told;

mod parameters;

mod alias;

mod derived;

mod show;

mod source;

mod template;

mod read;

mod template_fields;

mod document_words;

mod format_1;

#[cfg(test)]
mod change_tests;

#[cfg(test)]
mod kept_tests;

#[cfg(test)]
mod tests;

use clew_schema::{Mapping, MappingError, MappingReader};
use serde_json::Value;

pub use completion::context_level;
pub use derived::read_derived;
pub use document_words::{
    document_cause, document_error_type, document_reason, fault_cause, source_place,
};
pub use kinds::is_type;
pub use read::read;
pub use show::shown;
pub use space::{check_space, set_usual_space};
pub use words::{error_cause, error_type, reason};

/// What reads the parts of kept mappings that are in OpenSearch's words.
pub fn reader() -> MappingReader {
    MappingReader {
        template: template_fields::made,
        format_1: format_1::read,
    }
}

/// Merges a `mappings` body into a mapping; nothing happens if any of it is refused.
///
/// # Errors
/// [`MappingError`], whose words are [`reason`]'s.
pub fn merge(mapping: &mut Mapping, body: &Value) -> Result<(), MappingError> {
    let spec = read(body, mapping.analysis())?;
    mapping.merge(spec)?;
    mapping.set_reader(Some(reader()));
    Ok(())
}

/// [`merge`] for an index that names the space of vectors whose fields name none.
///
/// # Errors
/// As [`merge`], and of names of no space.
pub fn merge_in_space(
    mapping: &mut Mapping,
    body: &Value,
    space: &str,
) -> Result<(), MappingError> {
    let mut spec = read(body, mapping.analysis())?;
    set_usual_space(&mut spec, space)?;
    mapping.merge(spec)?;
    mapping.set_reader(Some(reader()));
    Ok(())
}

/// The mapping that a `mappings` body describes.
///
/// # Errors
/// [`MappingError`], whose words are [`reason`]'s.
pub fn try_mapping(body: &Value) -> Result<Mapping, MappingError> {
    let mut mapping = Mapping::new();
    merge(&mut mapping, body)?;
    Ok(mapping)
}

/// The mapping that a `mappings` body describes, for tests.
///
/// # Panics
/// When it is refused.
#[allow(
    clippy::needless_pass_by_value,
    reason = "tests write it where it is used"
)]
pub fn mapping(body: Value) -> Mapping {
    try_mapping(&body).expect("a test describes a mapping that there can be")
}
