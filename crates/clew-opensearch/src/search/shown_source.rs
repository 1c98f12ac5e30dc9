//! The member `_source` of a hit: what the mapping lets be seen of it, then what the request wants.

use clew_schema::Mapping;

use crate::http::json_writer::JsonWriter;
use crate::http::source_filter::SourceFilter;

/// Writes the member, if there is one.
pub(crate) fn write(
    mapping: &Mapping,
    wanted: &SourceFilter,
    source: &[u8],
    json: &mut JsonWriter,
) {
    if *wanted == SourceFilter::None || !mapping.is_source_enabled() {
        return;
    }
    json.key("_source");
    write_value(mapping, wanted, source, json);
}

/// Writes what is to be seen of a source.
pub(crate) fn write_value(
    mapping: &Mapping,
    wanted: &SourceFilter,
    source: &[u8],
    json: &mut JsonWriter,
) {
    let (includes, excludes) = mapping.source_paths_shown();
    if includes.is_empty() && excludes.is_empty() {
        wanted.write(source, json);
        return;
    }
    let mut kept = JsonWriter::with_capacity(source.len());
    let shown = SourceFilter::Paths {
        includes: includes.to_vec(),
        excludes: excludes.to_vec(),
    };
    shown.write(source, &mut kept);
    wanted.write(&kept.into_bytes(), json);
}
