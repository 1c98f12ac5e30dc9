use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryLimits};
use serde_json::json;

use super::*;
use crate::statement::expr::Expr;
use crate::statement::plan::MemberColumn;

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

#[test]
fn rows_with_the_same_key_stand_beside_each_other() {
    let left = || table(&["a.n"], json!([[1], [2], [null], [3.0]]));
    let others = table(
        &["b.n", "b.m"],
        json!([[2, 20], [1, 10], [2, 21], [3, 30], [null, 0]]),
    );
    let others = Arc::new(others);
    let join = |kind: JoinKind| Join {
        kind,
        rows: Rows::Made(others.clone()),
        keys: vec![(Expr::column("a.n"), Expr::column("b.n"))],
        condition: None,
    };
    let found = joined(left(), &join(JoinKind::Inner), &memory())
        .expect("rows")
        .rows;
    let expected = json!([[1, 1, 10], [2, 2, 20], [2, 2, 21], [3.0, 3, 30]]);
    assert_eq!(json!(found), expected);
    let joined = |kind| joined(left(), &join(kind), &memory()).expect("rows");
    let found = joined(JoinKind::Left).rows;
    assert_eq!(found.len(), 5);
    assert_eq!(json!(found[3]), json!([null, null, null]));
    let found = joined(JoinKind::Right).rows;
    assert_eq!(found.len(), 5);
    assert_eq!(json!(found[4]), json!([null, null, 0]));
    assert_eq!(joined(JoinKind::Full).rows.len(), 6);
    for (kind, expected) in [
        (JoinKind::Semi, json!([[1], [2], [3.0]])),
        (JoinKind::Anti, json!([[null]])),
    ] {
        let found = joined(kind);
        assert_eq!(json!(found.rows), expected);
        assert_eq!(found.columns.0.len(), 1);
    }
}

#[test]
fn joins_of_too_many_pairs_are_refused() {
    let many = |name: &str| {
        let mut many = table(&[name], json!([]));
        many.rows = vec![vec![1.into()]; 1_100];
        many
    };
    let join = Join {
        kind: JoinKind::Inner,
        rows: Rows::Made(Arc::new(many("b.n"))),
        keys: Vec::new(),
        condition: Some(Expr::Literal(false.into())),
    };
    let error = joined(many("a.n"), &join, &memory()).expect_err("too many");
    assert!(error.shown().contains("pairs"), "{}", error.shown());
}

#[test]
fn rows_are_put_together_as_sets_or_not() {
    let others = Arc::new(table(&["m"], json!([[2], [3], [3]])));
    for (kind, expected) in [
        (Combining::All, json!([[1], [2], [2], [2], [3], [3]])),
        (Combining::Distinct, json!([[1], [2], [3]])),
        (Combining::Without, json!([[1]])),
        (Combining::Common, json!([[2]])),
    ] {
        let combine = Combine {
            kind,
            rows: Rows::Made(others.clone()),
        };
        let left = table(&["n"], json!([[1], [2], [2]]));
        let found = combined(left, &combine, &memory()).expect("rows");
        assert_eq!(json!(found.rows), expected, "{kind:?}");
    }
}

#[test]
fn objects_become_rows() {
    let rows = json!([[1, [{"n": 5}, {"n": 6}], [5, 6]], [2, {"n": 7}, 7], [3, null, null]]);
    let unnest = |keeps_left: bool| Unnest {
        column: "objects".into(),
        parts: vec![MemberColumn {
            column: "all".into(),
            path: "n".into(),
            name: "p.n".into(),
        }],
        keeps_left,
    };
    for (keeps_left, expected) in [
        (false, json!([[1, 5], [1, 6], [2, 7]])),
        (true, json!([[1, 5], [1, 6], [2, 7], [3, null]])),
    ] {
        let table = table(&["id", "objects", "all"], rows.clone());
        let found = unnested(table, &unnest(keeps_left), &memory()).expect("rows");
        let shown = found.rows.iter().map(|row| json!([row[0], row[3]]));
        assert_eq!(json!(shown.collect::<Vec<_>>()), expected);
    }
}
