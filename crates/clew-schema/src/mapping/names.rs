//! Names that fields cannot have, and the names of fields that stand beside others.

use super::error::{MappingError, NameProblem};

/// Names that a document's own fields cannot have.
const METADATA: [&str; 10] = [
    "_id",
    "_index",
    "_source",
    "_routing",
    "_field_names",
    "_ignored",
    "_version",
    "_seq_no",
    "_nested_path",
    "_data_stream_timestamp",
];

/// The field beside a `flat_object` that has its leaves with their paths.
pub const PATHS_AND_VALUES: &str = "_valueAndPath";

/// The field beside a `percolator` that has the words its queries need.
pub fn words_path(path: &str) -> String {
    format!("{path}#words")
}

/// The path of the hidden field that has the ids of one kind of parents.
pub(crate) fn parent_path(join: &str, parent: &str) -> String {
    format!("{join}#{parent}")
}

/// Whether a document may not have a field of this name.
pub fn is_metadata(name: &str) -> bool {
    METADATA.contains(&name)
}

/// Refuses a name that no field or object can have; dots in it make objects.
///
/// # Errors
/// [`MappingError::Name`].
pub fn check_field_name(name: &str) -> Result<(), MappingError> {
    NameProblem::of(name).map_or(Ok(()), |problem| {
        let name = name.to_string();
        Err(MappingError::Name { name, problem })
    })
}
