//! `profile` of a search's answer, in OpenSearch's shape: one entry for each shard, with `searches` and
//! `aggregations`. How vectors were searched stands beside, under `knn`, which OpenSearch's own parsers
//! skip.
//!
//! A shard's search is timed as a whole: it is one entry under `query`, without a breakdown.
//! Aggregations are timed apart, each with what is inside it.

use std::time::Duration;

use clew_aggregation::AggProfile;
use clew_engine::{KnnProfile, SearchResponse, ShardProfile, VectorChoice};
use serde_json::{Map, Value, json};

/// Everything under `profile`.
pub(super) fn render(response: &SearchResponse, node: &str) -> Value {
    let shards = response.shard_profiles.iter().map(|shard| {
        let of_shard = |one: &&KnnProfile| (&one.index, one.shard) == (&shard.index, shard.shard);
        let knn = response.knn.iter().filter(of_shard).map(knn_entry);
        shard_entry(shard, knn.collect(), node)
    });
    json!({ "shards": shards.collect::<Vec<Value>>() })
}

fn shard_entry(shard: &ShardProfile, knn: Vec<Value>, node: &str) -> Value {
    json!({
        "id": format!("[{node}][{}][{}]", shard.index, shard.shard),
        "inbound_network_time_in_millis": 0,
        "outbound_network_time_in_millis": 0,
        "searches": [{
            "query": [{
                "type": "ShardSearch",
                "description": "the whole search of the shard, without fetching sources",
                "time_in_nanos": nanos(shard.query.took),
                "breakdown": {},
            }],
            "rewrite_time": 0,
            "collector": [],
            "knn": knn,
        }],
        "aggregations": shard.aggs.iter().map(agg_entry).collect::<Vec<Value>>(),
    })
}

fn agg_entry(agg: &AggProfile) -> Value {
    let whole = agg.opening + agg.collecting + agg.building;
    let mut debug = Map::new();
    if let Some(strategy) = agg.strategy {
        debug.insert("result_strategy".to_string(), json!(strategy));
        debug.insert("total_buckets".to_string(), json!(agg.buckets));
    }
    if let Some(has_filter) = agg.has_filter {
        debug.insert("has_filter".to_string(), json!(has_filter));
    }
    if agg.kind.starts_with("AutoDate") {
        debug.insert("surviving_buckets".to_string(), json!(agg.buckets));
    }
    let mut entry = json!({
        "type": agg.kind,
        "description": agg.name,
        "time_in_nanos": nanos(whole),
        "breakdown": {
            "reduce": 0,
            "reduce_count": 0,
            "initialize": 0,
            "initialize_count": 0,
            "build_leaf_collector": nanos(agg.opening),
            "build_leaf_collector_count": agg.segments,
            "collect": nanos(agg.collecting),
            "collect_count": agg.docs,
            "post_collection": 0,
            "post_collection_count": 0,
            "build_aggregation": nanos(agg.building),
            "build_aggregation_count": agg.segments,
        },
    });
    if !debug.is_empty() {
        entry["debug"] = Value::Object(debug);
    }
    if !agg.children.is_empty() {
        let children = agg.children.iter().map(agg_entry);
        entry["children"] = children.collect();
    }
    entry
}

fn knn_entry(one: &KnnProfile) -> Value {
    let profile = &one.profile;
    json!({
        "field": one.field,
        "segment": one.segment,
        "strategy": one.strategy.name(),
        "hits": one.hits,
        "rows": profile.rows,
        "survivors": profile.survivors,
        "ef": profile.ef,
        "prices": {
            "scan_ns": profile.prices.scan_ns,
            "codes_ns": profile.prices.codes_ns,
            "walk_ns": profile.prices.walk_ns,
            "lists_ns": profile.prices.lists_ns,
        },
        "chosen": profile.choice.map(chosen),
        "distances": one.distances,
        "codes": profile.codes,
        "vectors": profile.vectors,
        "reranked": profile.reranked,
        "bytes_read": profile.bytes_read,
    })
}

/// Why a column has a graph or lists: what a search of that recall took through either, when it was written. One that does
/// not find as much has no price.
pub(crate) fn chosen(choice: VectorChoice) -> Value {
    let price = |ns: f32| ns.is_finite().then_some(ns.round());
    json!({
        "structure": if choice.is_for_lists() { "lists" } else { "graph" },
        "recall": choice.recall,
        "graph_ns": price(choice.graph_ns),
        "lists_ns": price(choice.lists_ns),
        "rows": choice.rows,
    })
}

fn nanos(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use clew_engine::{Phase, ShardCounts};
    use clew_engine::{SearchProfile, Strategy};
    use clew_platform::{MemoryAccount, MemoryLimits, MemoryPurpose};
    use clew_search::{Relation, Total};

    use super::*;

    #[test]
    fn each_shard_tells_of_its_own_segments_and_quiet_shards_are_there_too() {
        let shard = |index: &str, shard| ShardProfile {
            index: index.to_string(),
            shard,
            query: Phase {
                took: Duration::from_micros(5),
                ..Phase::default()
            },
            fetch: None,
            total: Total {
                value: 0,
                relation: Relation::Eq,
            },
            aggs: Vec::new(),
        };
        let segment = |index: &str, shard, segment, strategy| KnnProfile {
            index: index.to_string(),
            shard,
            segment,
            field: "v".to_string(),
            strategy,
            hits: 2,
            distances: 7,
            profile: SearchProfile::default(),
        };
        let response = SearchResponse {
            total: None,
            max_score: None,
            hits: Vec::new(),
            aggs: Vec::new(),
            top_hits: Vec::new(),
            shards: ShardCounts::default(),
            failures: Vec::new(),
            timed_out: false,
            terminated_early: false,
            knn: vec![
                segment("a", 0, 0, Strategy::Graph),
                segment("a", 0, 1, Strategy::Exact),
                segment("b", 0, 0, Strategy::CodesAfterGraph),
            ],
            shard_profiles: vec![shard("a", 0), shard("a", 1), shard("b", 0)],
            memory: MemoryAccount::new(MemoryLimits::none()).open(MemoryPurpose::Searches),
        };
        let rendered = render(&response, "n");
        let told = rendered["shards"].as_array().unwrap().iter().map(|shard| {
            assert_eq!(shard["aggregations"], json!([]));
            let search = &shard["searches"][0];
            assert_eq!(search["query"][0]["time_in_nanos"], 5_000);
            let knn = search["knn"].as_array().unwrap().iter();
            let knn: Vec<(u64, &str)> = knn
                .map(|one| {
                    let name = one["strategy"].as_str().unwrap();
                    (one["segment"].as_u64().unwrap(), name)
                })
                .collect();
            (shard["id"].as_str().unwrap(), knn)
        });
        let expected = [
            ("[n][a][0]", vec![(0, "graph"), (1, "exact")]),
            ("[n][a][1]", vec![]),
            ("[n][b][0]", vec![(0, "codes_after_graph")]),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
