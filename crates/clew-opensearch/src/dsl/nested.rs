//! The `nested` query.

use clew_query::{JoinScore, NestedQuery, Query};
use serde_json::Value;

use super::object::Parameters;
use super::{DslError, query};

pub(super) fn nested(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("nested", body)?;
    let boost = parameters.boost()?;
    let path = parameters.text("path")?;
    let inner = parameters.take("query");
    let score = match parameters.text("score_mode")? {
        None => JoinScore::default(),
        Some(name) => score_mode(&name)?,
    };
    let ignore_unmapped = parameters.flag("ignore_unmapped")?.unwrap_or(false);
    // What is wanted from inside the hits is read with the search around it.
    parameters.ignore(&["inner_hits"]);
    parameters.finish()?;
    let missing = |name| DslError::illegal(format!("[nested] requires '{name}' field"));
    let path = path.ok_or_else(|| missing("path"))?;
    let inner = inner.ok_or_else(|| missing("query"))?;
    Ok(Query::Nested(NestedQuery {
        path,
        query: Box::new(query(inner, depth + 1)?),
        score,
        ignore_unmapped,
        boost,
    }))
}

pub(super) fn score_mode(name: &str) -> Result<JoinScore, DslError> {
    Ok(match name {
        "avg" => JoinScore::Avg,
        "sum" => JoinScore::Sum,
        "max" => JoinScore::Max,
        "min" => JoinScore::Min,
        "none" => JoinScore::None,
        other => {
            return Err(DslError::illegal(format!(
                "No score mode for child query [{other}] found"
            )));
        }
    })
}
