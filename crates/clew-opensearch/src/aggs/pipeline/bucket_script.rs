//! `bucket_script` and `bucket_selector`: an expression per bucket.

use clew_query::aggregation::{AggSpec, Expression, PipelineKind};

use crate::aggs::body::Body;
use crate::aggs::error::AggDslError;
use crate::aggs::pipeline::{Script, pipeline, script};
use crate::aggs::table::{NOT_LISTED, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("bucket_script", NOT_LISTED, |body| {
        read(body, PipelineKind::Script)
    }),
    Row::new("bucket_selector", NOT_LISTED, |body| {
        read(body, PipelineKind::Selector)
    }),
];

fn read(body: &mut Body<'_>, kind: fn(Expression) -> PipelineKind) -> Result<AggSpec, AggDslError> {
    let kind = kind(expression(body)?);
    pipeline(body, kind)
}

fn expression(body: &mut Body<'_>) -> Result<Expression, AggDslError> {
    let Script { text, params } = script(body)?;
    let expression = Expression::parse(&text).map_err(|reason| {
        AggDslError::illegal(format!(
            "the script [{text}] of [{}] cannot be used: {reason}",
            body.name
        ))
    })?;
    Ok(expression.with_params(params))
}
