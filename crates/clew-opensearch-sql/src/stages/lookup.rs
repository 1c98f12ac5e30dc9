//! What `lookup` and `expand` of PPL do: values of another index beside those of a row, and a row for each value of a list.

use clew_opensearch::wing::RequestMemory;
use serde_json::Value;

use crate::error::SqlError;
use crate::fields::is_metadata;
use crate::stages::budget::{Budget, Walk};
use crate::stages::join::{joined, made};
use crate::statement::expr::Expr;
use crate::statement::plan::{Expand, Join, JoinKind, Lookup};
use crate::table::{Row, Table};

/// The rows with what others have under the same keys; without columns that are named, all that those have.
///
/// # Errors
/// A column that there is not, too many pairs, or rows that take too much memory.
pub(crate) fn looked_up(
    table: Table,
    lookup: &Lookup,
    memory: &RequestMemory,
) -> Result<Table, SqlError> {
    let others = made(&lookup.rows)?;
    let width = table.columns.0.len();
    let keys = lookup.keys.iter();
    let keys = keys.map(|(there, here)| (Expr::column(here), Expr::column(there)));
    let join = Join {
        kind: JoinKind::Left,
        rows: lookup.rows.clone(),
        keys: keys.collect(),
        condition: None,
    };
    let mut table = joined(table, &join, memory)?;
    let brought = table.columns.0.split_off(width);
    let mut columns = lookup.columns.clone();
    if columns.is_empty() {
        let is_key = |name: &str| lookup.keys.iter().any(|(there, _)| there == name);
        let shown = others.columns.0.iter().filter(|column| !column.is_hidden);
        let names = shown.map(|column| column.name.clone());
        let names = names.filter(|name| !is_key(name) && !is_metadata(name));
        columns.extend(names.map(|name| (name.clone(), name)));
    }
    let mut moves = Vec::with_capacity(columns.len());
    for (there, here) in columns {
        let from = others.columns.place(&there)?;
        let to = table
            .columns
            .0
            .iter()
            .position(|column| column.name == here);
        if let (None, Some(column)) = (to, brought.get(from)) {
            let mut column = column.clone();
            column.name = here;
            table.columns.0.push(column);
        }
        moves.push((from, to));
    }
    let mut walk = Walk::begin();
    for row in &mut table.rows {
        walk.step()?;
        let found = row.split_off(width);
        for (from, to) in &moves {
            let value = found.get(*from).cloned().unwrap_or_default();
            let Some(place) = *to else {
                row.push(value);
                continue;
            };
            if let Some(have) = row.get_mut(place)
                && (have.is_null() || !lookup.appends)
            {
                *have = value;
            }
        }
    }
    Ok(table)
}

/// A row for each value of a list; rows whose column has no list stay.
///
/// # Errors
/// A column that there is not, or rows that take too much memory.
pub(crate) fn expanded(
    mut table: Table,
    expand: &Expand,
    memory: &RequestMemory,
) -> Result<Table, SqlError> {
    let place = table.columns.place(&expand.column)?;
    if let Some(column) = table.columns.0.get_mut(place) {
        column.name.clone_from(&expand.name);
        column.is_hidden = false;
    }
    let (mut budget, mut walk) = (Budget::of(memory), Walk::begin());
    let mut rows: Vec<Row> = Vec::new();
    for mut row in std::mem::take(&mut table.rows) {
        walk.step()?;
        let items = match row.get_mut(place).map(Value::take) {
            Some(Value::Array(items)) if !items.is_empty() => items,
            Some(Value::Array(_)) | None => vec![Value::Null],
            Some(one) => vec![one],
        };
        for item in items {
            let mut new = row.clone();
            if let Some(value) = new.get_mut(place) {
                *value = item;
            }
            budget.spend_row(&new)?;
            rows.push(new);
        }
    }
    table.rows = rows;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clew_platform::{MemoryAccount, MemoryLimits};
    use serde_json::json;

    use super::*;
    use crate::fields::SqlType;
    use crate::statement::plan::Rows;
    use crate::table::{Column, Columns};

    fn table(names: &[&str], rows: Value) -> Table {
        let columns = names.iter().map(|name| Column::new(*name, SqlType::Long));
        let rows = rows.as_array().cloned().unwrap_or_default();
        let row = |row: &Value| row.as_array().cloned().unwrap_or_default();
        Table {
            columns: Columns(columns.collect()),
            rows: rows.iter().map(row).collect(),
        }
    }

    fn memory() -> RequestMemory {
        RequestMemory::new(&MemoryAccount::new(MemoryLimits::none()))
    }

    fn both(there: &str, here: &str) -> (String, String) {
        (there.to_string(), here.to_string())
    }

    #[test]
    fn values_are_looked_up_in_place_of_others_or_where_there_are_none() {
        let here = || table(&["id", "n"], json!([[1, 5], [2, null], [3, 7]]));
        let others = Arc::new(table(&["uid", "n", "m"], json!([[1, 10, 11], [2, 20, 21]])));
        for (columns, appends, expected) in [
            (
                vec![both("n", "n")],
                false,
                json!([[1, 10], [2, 20], [3, null]]),
            ),
            (vec![both("n", "n")], true, json!([[1, 5], [2, 20], [3, 7]])),
            (
                vec![both("m", "x")],
                true,
                json!([[1, 5, 11], [2, null, 21], [3, 7, null]]),
            ),
            (
                Vec::new(),
                false,
                json!([[1, 10, 11], [2, 20, 21], [3, null, null]]),
            ),
        ] {
            let lookup = Lookup {
                rows: Rows::Made(others.clone()),
                keys: vec![both("uid", "id")],
                columns,
                appends,
            };
            let found = looked_up(here(), &lookup, &memory()).expect("rows");
            assert_eq!(json!(found.rows), expected);
            assert_eq!(found.columns.0.len(), found.rows[0].len());
        }
    }

    #[test]
    fn lists_become_rows() {
        let rows = json!([[1, [5, 6]], [2, 7], [3, []], [4, null]]);
        let expand = Expand {
            column: "list".into(),
            name: "item".into(),
        };
        let found = expanded(table(&["id", "list"], rows), &expand, &memory()).expect("rows");
        let expected = json!([[1, 5], [1, 6], [2, 7], [3, null], [4, null]]);
        assert_eq!(json!(found.rows), expected);
        assert_eq!(found.columns.0[1].name, "item");
    }
}
