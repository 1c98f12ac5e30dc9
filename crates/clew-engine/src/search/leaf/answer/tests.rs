use std::net::Ipv6Addr;

use clew_query::SortValue;
use clew_search::{Collecting, QueryProfile, Relation, RescoreProfile, Timing, Total};
use clew_vector::{SearchProfile, Strategy as Way};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn value() -> impl Strategy<Value = SortValue> {
    prop_oneof![
        Just(SortValue::Null),
        any::<f32>().prop_map(SortValue::Score),
        any::<i64>().prop_map(SortValue::I64),
        any::<u64>().prop_map(SortValue::U64),
        any::<f64>().prop_map(SortValue::F64),
        Just(SortValue::F64(f64::NEG_INFINITY)),
        any::<f32>().prop_map(SortValue::F32),
        any::<String>().prop_map(SortValue::Str),
        any::<u128>().prop_map(|bits| SortValue::Ip(Ipv6Addr::from_bits(bits))),
    ]
}

fn hit() -> impl Strategy<Value = ShardHit> {
    let place = (any::<usize>(), any::<u32>(), any::<Option<f32>>());
    let order = (vec(value(), 0..3), proptest::option::of(value()));
    (place, order).prop_map(|((segment, doc, score), (sort, group))| ShardHit {
        segment,
        doc,
        score,
        sort,
        group,
    })
}

fn result() -> impl Strategy<Value = ShardResult> {
    let total = (any::<u64>(), any::<bool>()).prop_map(|(value, is_exact)| Total {
        value,
        relation: if is_exact {
            Relation::Eq
        } else {
            Relation::Gte
        },
    });
    let ends = (any::<bool>(), any::<bool>());
    let found = (total, any::<Option<f32>>(), vec(hit(), 0..4), ends);
    found.prop_map(
        |(total, max_score, hits, (timed_out, terminated_early))| ShardResult {
            total,
            max_score,
            hits,
            timed_out,
            terminated_early,
        },
    )
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        Just(Way::Exact),
        Just(Way::Graph),
        Just(Way::FilteredGraph),
        Just(Way::ExactAfterGraph),
        Just(Way::Codes),
        Just(Way::CodesAfterGraph),
        Just(Way::Lists),
    ]
}

fn segment_profile() -> impl Strategy<Value = SegmentProfile> {
    let place = (any::<usize>(), any::<String>());
    let counts = (any::<usize>(), any::<u64>(), any::<Option<usize>>());
    let prices = (any::<f64>(), any::<Option<f64>>());
    (place, way(), counts, prices).prop_map(
        |((segment, field), strategy, (hits, distances, survivors), (scan, walk))| {
            let mut profile = SearchProfile::default();
            profile.rows = hits;
            profile.survivors = survivors;
            profile.bytes_read = distances;
            profile.prices.scan_ns = scan;
            profile.prices.walk_ns = walk;
            SegmentProfile {
                segment,
                field,
                strategy,
                hits,
                distances,
                profile,
            }
        },
    )
}

fn queries() -> impl Strategy<Value = QueriesProfile> {
    let timing = || {
        let timing = (any::<u64>(), any::<u64>());
        timing.prop_map(|(ns, count)| Timing {
            took: Duration::from_nanos(ns),
            count,
        })
    };
    let query = (any::<String>(), timing(), timing());
    let query = query.prop_map(|(description, score, next_doc)| QueryProfile {
        description,
        score,
        next_doc,
        children: vec![QueryProfile::default()],
        ..QueryProfile::default()
    });
    let times = (timing(), proptest::option::of(timing()));
    (vec(query, 0..3), times).prop_map(|(queries, (hits, aggs))| QueriesProfile {
        queries,
        rewriting: hits.took,
        collecting: Collecting {
            name: "all".to_string(),
            hits: hits.took,
            aggregations: aggs.map(|timing| timing.took),
            post_filter: None,
        },
        rescoring: vec![RescoreProfile {
            took: hits.took,
            ..RescoreProfile::default()
        }],
    })
}

proptest! {
    #[test]
    fn what_a_shard_found_is_the_same_once_it_was_written_and_read(
        result in result(),
        parts in vec(vec(hit(), 0..3), 0..3),
        knn in vec(segment_profile(), 0..3),
        nanoseconds in any::<u64>(),
        queries in proptest::option::of(queries()),
    ) {
        let found = ShardFound {
            result,
            parts,
            knn,
            took: Duration::from_nanos(nanoseconds),
            queries,
        };
        let mut written = Vec::new();
        ciborium::into_writer(&found, &mut written).unwrap();
        let read: ShardFound = ciborium::from_reader(&written[..]).unwrap();
        prop_assert_eq!(read, found);
    }
}
