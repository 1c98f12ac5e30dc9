//! Orders, and pages of them, against a loop.

use super::*;

use clew_query::Unmapped;

fn number_key(path: &str, order: Order, missing: Missing) -> SortKey {
    SortKey::Field {
        path: path.into(),
        order,
        missing,
        mode: None,
        unmapped: Unmapped::Refused,
        nested: None,
        numeric: None,
    }
}

fn values(doc: &Doc, key: &SortKey) -> SortValue {
    let SortKey::Field { path, order, .. } = key else {
        return SortValue::Null;
    };
    let found = match path.as_str() {
        "count" => doc.count.map(SortValue::I64),
        "price" => doc.price.map(SortValue::F64),
        "at" => doc.at.map(SortValue::I64),
        "flag" => doc.flag.map(|flag| SortValue::I64(flag.into())),
        "ip" => doc.ip.map(SortValue::Ip),
        _ => match order {
            Order::Asc => doc.tags.iter().min(),
            Order::Desc => doc.tags.iter().max(),
        }
        .map(|tag| SortValue::Str(tag.clone())),
    };
    found.unwrap_or_else(|| outermost(key))
}

/// What a document without a number is shown to have.
fn outermost(key: &SortKey) -> SortValue {
    let SortKey::Field {
        path,
        order,
        missing: missing @ (Missing::First | Missing::Last),
        ..
    } = key
    else {
        return SortValue::Null;
    };
    let least = (*missing == Missing::First) == (*order == Order::Asc);
    let whole = |low, high| SortValue::I64(if least { low } else { high });
    match path.as_str() {
        "count" | "flag" => whole(i32::MIN.into(), i32::MAX.into()),
        "at" => whole(i64::MIN, i64::MAX),
        "price" if least => SortValue::F64(f64::NEG_INFINITY),
        "price" => SortValue::F64(f64::INFINITY),
        _ => SortValue::Null,
    }
}

#[test]
fn sorting_orders_like_a_loop_and_pages_do_not_overlap() {
    let (snapshot, docs) = shard(9);
    let query = Query::match_all();
    for keys in sort_cases() {
        let mut rows: Vec<(Vec<SortValue>, usize, DocId)> = Vec::new();
        for (segment, docs) in docs.iter().enumerate() {
            for (number, doc) in (0..).zip(docs).filter(|(_, doc)| !doc.dead) {
                let row = keys.iter().map(|key| values(doc, key)).collect();
                rows.push((row, segment, number));
            }
        }
        rows.sort_by(|a, b| compare_rows(&keys, &a.0, &b.0));
        let live = rows.len() as u64;
        let mut after: Option<Vec<SortValue>> = None;
        for page in 0..4 {
            let request = ShardRequest {
                sort: &keys,
                limit: 25,
                search_after: after.as_deref(),
                ..ShardRequest::new(&query)
            };
            let result = run(&snapshot, request);
            assert_eq!(result.total.value, live);
            let want: Vec<_> = match &after {
                None => rows.iter().take(25).collect(),
                Some(after) => rows
                    .iter()
                    .filter(|row| compare_rows(&keys, &row.0, after).is_gt())
                    .take(25)
                    .collect(),
            };
            let have: Vec<(usize, DocId)> = result
                .hits
                .iter()
                .map(|hit| (hit.segment, hit.doc))
                .collect();
            let want: Vec<(usize, DocId)> = want.iter().map(|row| (row.1, row.2)).collect();
            assert_eq!(have, want, "page {page} of {keys:?}");
            match result.hits.last() {
                Some(last) => after = Some(last.sort.clone()),
                None => break,
            }
        }
    }
}

fn sort_cases() -> Vec<Vec<SortKey>> {
    use Order::{Asc, Desc};
    let mut cases = Vec::new();
    for path in ["count", "price", "at", "flag", "ip", "tags"] {
        for order in [Asc, Desc] {
            for missing in [Missing::First, Missing::Last] {
                cases.push(vec![
                    number_key(path, order, missing),
                    number_key("price", Desc, Missing::Last),
                ]);
            }
        }
    }
    cases.push(vec![number_key(
        "tags",
        Asc,
        Missing::Value(SortValue::Str("Tag5x".into())),
    )]);
    cases.push(vec![number_key(
        "count",
        Desc,
        Missing::Value(SortValue::I64(0)),
    )]);
    cases.push(vec![
        number_key("tags", Desc, Missing::Last),
        number_key("count", Asc, Missing::First),
    ]);
    cases
}

#[test]
fn fields_without_values_to_sort_by_are_refused() {
    let (snapshot, _) = shard(9);
    let query = Query::match_all();
    for path in ["body", "nothing"] {
        let keys = [SortKey::field(path, Order::Asc)];
        let request = ShardRequest {
            sort: &keys,
            ..ShardRequest::new(&query)
        };
        assert!(
            search(&snapshot, request, &VectorAnswers::default()).is_err(),
            "{path}"
        );
    }
    for (unmapped, missing, shown) in [
        (Unmapped::Empty, Missing::Last, SortValue::Null),
        (Unmapped::Long, Missing::Last, SortValue::I64(i64::MAX)),
        (
            Unmapped::Int,
            Missing::First,
            SortValue::I64(i32::MIN.into()),
        ),
        (Unmapped::Unsigned, Missing::Last, SortValue::U64(u64::MAX)),
        (
            Unmapped::Float,
            Missing::Last,
            SortValue::F64(f64::INFINITY),
        ),
        (
            Unmapped::Long,
            Missing::Value(SortValue::I64(5)),
            SortValue::I64(5),
        ),
    ] {
        let keys = [SortKey::Field {
            path: "nothing".into(),
            order: Order::Asc,
            missing,
            mode: None,
            unmapped,
            nested: None,
            numeric: None,
        }];
        let request = ShardRequest {
            sort: &keys,
            ..ShardRequest::new(&query)
        };
        let result = run(&snapshot, request);
        assert_eq!(result.hits[0].sort, [shown]);
        assert_eq!(result.hits.len(), 10);
    }
}
