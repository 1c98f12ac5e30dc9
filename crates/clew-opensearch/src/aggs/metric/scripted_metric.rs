//! `scripted_metric`, which is known and refused.

use clew_query::aggregation::AggSpec;

use crate::aggs::body::Body;
use crate::aggs::error::AggDslError;
use crate::aggs::table::{NOT_LISTED, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("scripted_metric", NOT_LISTED, refused)];

fn refused(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    Err(AggDslError::illegal(format!(
        "[scripted_metric] aggregation [{}] needs scripts, and there are none",
        body.name
    )))
}
