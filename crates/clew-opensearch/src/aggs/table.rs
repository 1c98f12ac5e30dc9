//! The aggregations there are, in one table: whoever needs their names asks it.

use clew_query::aggregation::AggSpec;
use serde_json::{Map, Value, json};

use super::AggDslError;
use super::body::Body;
use super::{bucket, metric, pipeline};
use crate::http::suggestion::did_you_mean;

/// Reads the settings of an aggregation.
type Reader = fn(&mut Body<'_>) -> Result<AggSpec, AggDslError>;

/// The kinds of values that an aggregation reads, as node information lists them.
pub(super) type ValueTypes = &'static [&'static str];

/// None of its own.
pub(super) const NO_VALUES: ValueTypes = &["other"];
/// Numbers, and what can be read as such.
pub(super) const NUMBERS: ValueTypes = &["boolean", "date", "numeric"];
/// Whatever has a column.
pub(super) const ANY_VALUES: ValueTypes = &["boolean", "bytes", "date", "ip", "numeric"];
/// Numbers alone.
pub(super) const PLAIN_NUMBERS: ValueTypes = &["numeric"];
/// Numbers, and ranges of them.
pub(super) const RANGED_NUMBERS: ValueTypes = &["boolean", "date", "numeric", "range"];
/// Values of every type.
#[rustfmt::skip]
pub(super) const ALL_VALUES: ValueTypes = &[
    "boolean", "bytes", "date", "geo_shape", "geopoint", "ip", "numeric", "range",
];
/// What makes documents alike.
pub(super) const ALIKE: ValueTypes = &["boolean", "bytes", "date", "numeric"];
/// Several fields' values.
pub(super) const TOGETHER: ValueTypes = &["boolean", "bytes", "date", "ip", "numeric", "other"];
/// Points.
pub(super) const PLACES: ValueTypes = &["geopoint"];
/// Points and shapes.
pub(super) const SHAPES: ValueTypes = &["geo_shape", "geopoint"];
/// Addresses.
pub(super) const ADDRESSES: ValueTypes = &["ip"];
/// Node information has nothing on it.
pub(super) const NOT_LISTED: ValueTypes = &[];

/// An aggregation as requests name it.
pub(super) struct Row {
    name: &'static str,
    values: ValueTypes,
    read: Reader,
}

impl Row {
    pub(super) const fn new(name: &'static str, values: ValueTypes, read: Reader) -> Self {
        Row { name, values, read }
    }
}

/// All of them, room by room and file by file.
fn rows() -> impl Iterator<Item = &'static Row> {
    let rooms = [bucket::ROWS, metric::ROWS, pipeline::ROWS];
    rooms.into_iter().flatten().copied().flatten()
}

/// Reads an aggregation by its name; what of its settings nobody took is left in `body`.
///
/// # Errors
/// [`AggDslError`] in OpenSearch's words.
pub(super) fn read(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let name = body.kind;
    let Some(row) = rows().find(|row| row.name == name) else {
        let known: Vec<&str> = rows().map(|row| row.name).collect();
        let meant = did_you_mean(name, &known);
        let reason = format!("Unknown aggregation type [{name}]{meant}");
        return Err(AggDslError::unknown_name(name, body.start(), reason));
    };
    (row.read)(body)
}

/// Names and kinds of values, as node information lists them.
pub(crate) fn supported() -> Value {
    let listed = rows().filter(|row| !row.values.is_empty());
    let listed = listed.map(|row| (row.name.to_string(), json!({"types": row.values})));
    Value::Object(listed.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_aggregations_read_is_listed() {
        let listed = supported();
        for (name, types) in [
            ("nested", json!(["other"])),
            ("histogram", json!(["boolean", "date", "numeric", "range"])),
            ("geohash_grid", json!(["geo_shape", "geopoint"])),
            ("weighted_avg", json!(["numeric"])),
        ] {
            assert_eq!(listed[name], json!({ "types": types }), "{name}");
        }
        assert_eq!(listed.get("avg_bucket"), None);
    }

    #[test]
    fn no_name_stands_twice() {
        let mut seen = BTreeSet::new();
        assert!(rows().all(|row| seen.insert(row.name)));
    }
}
