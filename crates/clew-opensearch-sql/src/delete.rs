//! `DELETE`: its condition becomes a search, and what that finds is written by query.

use clew_opensearch::wing::{Call, delete_found};
use serde_json::{Value, json};

use crate::error::SqlError;
use crate::fields::SqlType;
use crate::statement::plan::Plan;
use crate::table::{Column, Columns, Table};
use crate::{planned, resolved};

/// Deletes the documents that a plan finds, and another condition that was given beside it: a row of how many these were.
///
/// # Errors
/// A condition of which a search can say only a part: more would be deleted than is meant.
pub(super) async fn deleted(
    call: &Call,
    plan: Plan,
    filter: Option<Value>,
) -> Result<Table, SqlError> {
    let indices = plan.indices.clone().unwrap_or_default();
    let (_, pushed) = planned(call, resolved(call, plan).await?, filter).await?;
    if !pushed.rest.is_empty() {
        return Err(SqlError::unsupported(
            "DELETE by a condition that no search can say",
        ));
    }
    let everything = || json!({"match_all": {}});
    let query = pushed.query.clone().unwrap_or_else(everything);
    let count = delete_found(call, &indices, &query).await?;
    Ok(Table {
        columns: Columns(vec![Column::new("deleted_rows", SqlType::Long)]),
        rows: vec![vec![Value::from(count)]],
    })
}
