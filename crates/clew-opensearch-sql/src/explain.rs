//! Plans as answers: the search, and what is done with its rows.

use clew_opensearch::wing::{Call, Reply};
use serde_json::{Map, Value, json};

use crate::error::SqlError;
use crate::pushed::push::{Pushed, RowSource};
use crate::request::Request;
use crate::statement::plan::ROWS_MAX;
use crate::statement::plan::{Plan, Statement};
use crate::{Language, planned, resolved};

/// Says what would be done.
pub(super) async fn explained(call: &Call, language: Language) -> Result<Reply, SqlError> {
    let request = Request::of(call)?;
    match request.statement(language)? {
        Statement::Rows(plan) | Statement::Explain(plan) => {
            told_plan(call, plan, request.filter).await
        }
        _ => Err(SqlError::unsupported("explaining this statement")),
    }
}

/// Says what would be done for a plan, with a condition that was given beside it.
pub(super) async fn told_plan(
    call: &Call,
    plan: Plan,
    filter: Option<Value>,
) -> Result<Reply, SqlError> {
    let Some(indices) = plan.indices.clone() else {
        return Ok(Reply::json(
            &json!({"root": {"name": "ValuesOperator", "description": {}, "children": []}}),
        ));
    };
    let plan = resolved(call, plan).await?;
    let (_, pushed) = planned(call, plan, filter).await?;
    Ok(Reply::json(&json!({"root": tree(&pushed, &indices)})))
}

/// The operators of a plan, the last one outermost, down to the search.
fn tree(pushed: &Pushed, indices: &str) -> Value {
    let body = with_size(pushed);
    let request = format!(
        "OpenSearchQueryRequest(indexName={indices}, sourceBuilder={body}, searchDone=false)"
    );
    let scan = json!({
        "name": "OpenSearchIndexScan",
        "description": {"request": request},
        "children": [],
    });
    pushed.rest.iter().fold(
        scan,
        |child, stage| json!({"name": stage.operator(), "description": {}, "children": [child]}),
    )
}

/// The body of the search, as it is sent where one page is enough.
fn with_size(pushed: &Pushed) -> Value {
    let mut body: Map<String, Value> = pushed.body();
    if let RowSource::Hits(hits) = &pushed.read {
        body.insert("from".into(), hits.offset.into());
        body.insert(
            "size".into(),
            hits.limit.unwrap_or(ROWS_MAX).min(ROWS_MAX).into(),
        );
    }
    Value::Object(body)
}
