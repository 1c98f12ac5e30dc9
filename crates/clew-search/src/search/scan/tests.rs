//! Sorted searches that pass over what comes too late, against those that see every match.

use clew_query::{Match, Missing, Order, Query, Range, SortKey, compare_rows};
use serde_json::json;

use crate::search::fixture::{Random, random_docs, run, snapshot};
use crate::search::{ShardHit, ShardRequest, TrackTotal};
use crate::snapshot::Snapshot;

// Two tests, so that they run side by side: one alone would go on when all others of this crate have ended.
#[test]
fn sorted_hits_are_the_same_whether_ranges_are_passed_over_or_not() {
    check_orders(&[("count", Order::Asc), ("count", Order::Desc)]);
}

#[test]
fn sorted_hits_of_other_fields_are_the_same_too() {
    check_orders(&[
        ("price", Order::Asc),
        ("price", Order::Desc),
        ("at", Order::Desc),
    ]);
}

fn check_orders(orders: &[(&str, Order)]) {
    let mut docs = random_docs(&mut Random(31), &[9_000, 40, 300, 14_000, 5_000]);
    // One segment ascends, as a log does; one holds nothing that comes early.
    for (number, doc) in docs[3].iter_mut().enumerate() {
        doc.count = Some(number as i64 / 3 - 900);
    }
    for (number, doc) in docs[4].iter_mut().enumerate() {
        doc.count = (number % 7 > 0).then_some(5_000);
        doc.price = Some(1e6 + (number / 50) as f64);
    }
    let snapshot = snapshot(&docs);
    let queries = [
        Query::MatchAll { boost: 1.0 },
        Query::term("flag", true),
        Query::Match(Match::new("body", "w3 w9")),
        Query::Range(Range {
            gte: Some(json!(-5)),
            ..Range::new("count")
        }),
    ];
    for &(path, order) in orders {
        for missing in [Missing::First, Missing::Last] {
            let SortKey::Field { unmapped, mode, .. } = SortKey::field(path, order) else {
                unreachable!("it is a field");
            };
            let first = SortKey::Field {
                path: path.into(),
                order,
                missing,
                mode,
                unmapped,
                nested: None,
                numeric: None,
            };
            let alone = vec![first.clone()];
            let second = vec![first, SortKey::field("price", Order::Desc)];
            for (sort, query) in [&alone, &second].into_iter().zip(queries.iter().cycle()) {
                check_sorted(&snapshot, query, sort);
            }
            queries
                .iter()
                .for_each(|query| check_sorted(&snapshot, query, &alone));
        }
    }
}

fn check_sorted(snapshot: &Snapshot, query: &Query, sort: &[SortKey]) {
    let all = ShardRequest {
        limit: 100_000,
        sort,
        // Every match must be seen.
        min_score: Some(f32::MIN),
        ..ShardRequest::new(query)
    };
    let all = run(snapshot, all);
    let place = |hit: &ShardHit| (hit.segment, hit.doc, hit.sort.clone());
    for (limit, track_total) in [
        (1, TrackTotal::No),
        (10, TrackTotal::No),
        (10, TrackTotal::UpTo(100)),
        (500, TrackTotal::UpTo(100)),
        (10, TrackTotal::Exact),
    ] {
        let request = |after| ShardRequest {
            limit,
            track_total,
            sort,
            search_after: after,
            ..ShardRequest::new(query)
        };
        let found = run(snapshot, request(None));
        let wanted = &all.hits[..limit.min(all.hits.len())];
        assert!(
            found.hits.iter().map(place).eq(wanted.iter().map(place)),
            "{query:?} {sort:?} {limit} {track_total:?}"
        );
        if track_total == TrackTotal::Exact {
            assert_eq!(found.total.value, all.hits.len() as u64);
        }
        let Some(middle) = all.hits.get(all.hits.len() / 2) else {
            continue;
        };
        let next = run(snapshot, request(Some(&middle.sort)));
        let after = all.hits.iter();
        let after = after.filter(|hit| compare_rows(sort, &hit.sort, &middle.sort).is_gt());
        assert!(
            next.hits.iter().map(place).eq(after.take(limit).map(place)),
            "after {:?}: {query:?} {sort:?} {limit}",
            middle.sort
        );
    }
}
