//! `bucket_script` and `bucket_selector`: a script of each bucket's numbers, in the languages that searches have.

use clew_query::aggregation::{AggSpec, PipelineKind};
use clew_query::{Script, ScriptPurpose};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::pipeline::{made, named_paths, script};
use crate::aggs::table::{NOT_LISTED, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("bucket_script", NOT_LISTED, |body| {
        read(body, "bucket_script", PipelineKind::Script)
    }),
    Row::new("bucket_selector", NOT_LISTED, |body| {
        read(body, "bucket_selector", PipelineKind::Selector)
    }),
];

fn read(
    body: &mut Body<'_>,
    name: &'static str,
    kind: fn(Box<Script>) -> PipelineKind,
) -> Result<AggSpec, AggDslError> {
    if name == "bucket_script" {
        body.require(&["buckets_path", "script"]);
    }
    let paths = named_paths(body)?;
    let written = script(body, name)?;
    // What a path leads to wins over a parameter of the same name.
    let written = written.without_params(paths.iter().map(|(name, _)| name.as_str()));
    let script = written.read_when_reducing(ScriptPurpose::Bucket)?;
    made(body, kind(Box::new(script)), paths)
}
