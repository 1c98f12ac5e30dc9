//! `profile` of a search's answer, in OpenSearch's shape: one entry for each shard, with `searches` and
//! `aggregations`. What OpenSearch has no place for stands beside, which its clients' parsers skip: how vectors were searched
//! (`knn`), where the time of each shard and of the request went (`parts`, `request`), what fetching cost, purpose by purpose
//! (`fetches`: typed clients know a `fetch`, which is one object, and stop at a list), and steps of a query that only Clew has.
//!
//! Every figure was measured. Steps of OpenSearch's that a search here does not take are there with 0.

mod fetch;

use std::time::Duration;

use clew_aggregation::AggProfile;
use clew_engine::{KnnProfile, SearchResponse, ShardProfile, Took, VectorChoice};
use clew_platform::whole_ns;
use clew_profile::{Spent, SpentTimes};
use clew_search::{Collecting, QueryProfile, RescoreProfile, Timing};
use serde_json::{Map, Value, json};

pub(super) use fetch::{FetchNotes, FetchPhase, Fetching};

/// Everything under `profile`; `fetched` is what was noted while hits were shown.
pub(super) fn render(response: &SearchResponse, node: &str, fetched: &FetchNotes) -> Value {
    let shards = response.shard_profiles.iter().map(|shard| {
        let of_shard = |one: &&KnnProfile| (&one.index, one.shard) == (&shard.index, shard.shard);
        let knn = response.knn.iter().filter(of_shard).map(knn_entry);
        let mut entry = shard_entry(shard, knn.collect(), node);
        entry["fetches"] = fetched.render(&shard.index, shard.shard).into();
        entry
    });
    let mut all = json!({ "shards": shards.collect::<Vec<Value>>() });
    if let Some(request) = request_entry() {
        all["request"] = request;
    }
    all
}

/// Has each time in words beside its nanoseconds, as `human` asks.
pub(super) fn tell_in_words(part: &mut Value) {
    match part {
        Value::Array(parts) => parts.iter_mut().for_each(tell_in_words),
        Value::Object(members) => {
            members.values_mut().for_each(tell_in_words);
            let nanos = members.get("time_in_nanos").and_then(Value::as_u64);
            if let Some(nanos) = nanos {
                let words = Took(Duration::from_nanos(nanos)).to_string();
                members.insert("time".to_string(), words.into());
            }
        }
        _ => {}
    }
}

fn shard_entry(shard: &ShardProfile, knn: Vec<Value>, node: &str) -> Value {
    let queries = &shard.queries;
    // Where there was no time to search, nothing was collected.
    let collectors = queries.queries.first();
    let collectors = collectors.map(|_| collector_entry(&queries.collecting));
    let collectors: Vec<Value> = collectors.into_iter().collect();
    let mut entry = json!({
        "id": format!("[{node}][{}][{}]", shard.index, shard.shard),
        "inbound_network_time_in_millis": 0,
        "outbound_network_time_in_millis": 0,
        "searches": [{
            "query": queries.queries.iter().map(query_entry).collect::<Vec<Value>>(),
            "rewrite_time": whole_ns(queries.rewriting),
            "collector": collectors,
            "knn": knn,
        }],
        "aggregations": shard.aggs.iter().map(agg_entry).collect::<Vec<Value>>(),
        "took_nanos": whole_ns(shard.query.took),
    });
    if !queries.rescoring.is_empty() {
        let rounds = queries.rescoring.iter().map(rescore_entry);
        entry["searches"][0]["rescore"] = rounds.collect();
    }
    if let Some(fetch) = shard.fetch {
        entry["fetch_nanos"] = whole_ns(fetch.took).into();
    }
    if let Some(spent) = shard.spent {
        entry["parts"] = parts(&spent);
    }
    entry
}

/// Where time went, as `rest_request_part_seconds` has it.
fn parts(spent: &SpentTimes) -> Value {
    json!({
        "cpu_nanos": whole_ns(spent.cpu),
        "run_queue_nanos": whole_ns(spent.run_queue),
        "queue_nanos": whole_ns(spent.queue),
        "blocked_nanos": whole_ns(spent.blocked),
        "wall_nanos": whole_ns(spent.wall()),
    })
}

/// What this thread's request has taken so far, and the trace that it is a part of; nothing where it has no account.
fn request_entry() -> Option<Value> {
    let spent = Spent::current()?;
    let mut entry = parts(&spent.so_far());
    if let Some(trace) = spent.trace() {
        entry["trace_id"] = trace.id().to_string().into();
    }
    Some(entry)
}

/// Steps that OpenSearch's queries have beside these, and queries here have not.
const QUERY_STEPS_OF_OTHERS: [&str; 4] = [
    "match",
    "compute_max_score",
    "shallow_advance",
    "set_min_competitive_score",
];

fn query_entry(query: &QueryProfile) -> Value {
    let mut breakdown = Map::new();
    for name in QUERY_STEPS_OF_OTHERS {
        step(&mut breakdown, name, Timing::default());
    }
    for (name, timing) in [
        ("create_weight", query.create_weight),
        ("build_scorer", query.build_scorer),
        ("next_doc", query.next_doc),
        ("advance", query.advance),
        ("score", query.score),
    ] {
        step(&mut breakdown, name, timing);
    }
    for (name, timing) in [
        ("count", query.count),
        ("from_postings", query.from_postings),
    ] {
        if timing != Timing::default() {
            step(&mut breakdown, name, timing);
        }
    }
    let mut entry = json!({
        "type": query.kind,
        "description": query.description,
        "time_in_nanos": whole_ns(query.took()),
        "breakdown": breakdown,
    });
    if !query.children.is_empty() {
        entry["children"] = query.children.iter().map(query_entry).collect();
    }
    entry
}

/// A round in which the best hits were scored again, which OpenSearch has no place for.
fn rescore_entry(round: &RescoreProfile) -> Value {
    json!({
        "type": "QueryRescorer",
        "window_size": round.window,
        "time_in_nanos": whole_ns(round.took),
        "query": [query_entry(&round.query)],
    })
}

/// How long a step took, and how often it was taken.
fn step(breakdown: &mut Map<String, Value>, name: &str, timing: Timing) {
    breakdown.insert(name.to_string(), whole_ns(timing.took).into());
    breakdown.insert(format!("{name}_count"), timing.count.into());
}

fn collector_entry(collecting: &Collecting) -> Value {
    let entry = |name: &str, reason: &str, took: Duration, children: Vec<Value>| {
        let mut entry = json!({ "name": name, "reason": reason, "time_in_nanos": whole_ns(took) });
        if !children.is_empty() {
            entry["children"] = children.into();
        }
        entry
    };
    let reason = match &*collecting.name {
        "TotalHitCountCollector" => "search_count",
        _ => "search_top_hits",
    };
    let mut took = collecting.hits;
    let mut all = entry(&collecting.name, reason, took, Vec::new());
    if let Some(filter) = collecting.post_filter {
        took += filter;
        all = entry("FilteredCollector", "search_post_filter", took, vec![all]);
    }
    if let Some(aggregations) = collecting.aggregations {
        let inside = entry(
            "ProfilingAggregator",
            "aggregation",
            aggregations,
            Vec::new(),
        );
        took += aggregations;
        all = entry("MultiCollector", "search_multi", took, vec![all, inside]);
    }
    all
}

fn agg_entry(agg: &AggProfile) -> Value {
    let whole =
        agg.planning + agg.opening + agg.collecting + agg.late + agg.building + agg.reducing;
    let mut debug = Map::new();
    if let Some(strategy) = agg.strategy {
        debug.insert("result_strategy".to_string(), json!(strategy));
        debug.insert("total_buckets".to_string(), json!(agg.buckets));
    }
    if let Some(has_filter) = agg.has_filter {
        debug.insert("has_filter".to_string(), json!(has_filter));
    }
    // Of histograms those that have something in them: what is between comes afterwards.
    let buckets = match agg.kind {
        "AutoDateHistogramAggregator.FromSingle" => Some("surviving_buckets"),
        "DateHistogramAggregator" | "NumericHistogramAggregator" => Some("total_buckets"),
        _ => None,
    };
    if let Some(name) = buckets {
        debug.insert(name.to_string(), json!(agg.buckets));
    }
    let mut entry = json!({
        "type": agg.kind,
        "description": agg.name,
        "time_in_nanos": whole_ns(whole),
        "breakdown": {
            "reduce": whole_ns(agg.reducing),
            "reduce_count": agg.reductions,
            "initialize": whole_ns(agg.planning),
            "initialize_count": 1,
            "build_leaf_collector": whole_ns(agg.opening),
            "build_leaf_collector_count": agg.segments,
            "collect": whole_ns(agg.collecting),
            "collect_count": agg.docs,
            "post_collection": whole_ns(agg.late),
            "post_collection_count": agg.lates,
            "build_aggregation": whole_ns(agg.building),
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

#[cfg(test)]
mod tests {
    use clew_engine::{Phase, ShardCounts};
    use clew_engine::{SearchProfile, Strategy};
    use clew_platform::{MemoryAccount, MemoryLimits, MemoryPurpose};
    use clew_search::{QueriesProfile, Relation, Total};

    use super::*;

    fn shard(index: &str, shard: u32) -> ShardProfile {
        ShardProfile {
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
            queries: QueriesProfile {
                queries: vec![QueryProfile {
                    score: Timing {
                        took: Duration::from_micros(5),
                        count: 3,
                    },
                    ..QueryProfile::default()
                }],
                ..QueriesProfile::default()
            },
            spent: None,
            aggs: Vec::new(),
        }
    }

    #[test]
    fn each_shard_tells_of_its_own_segments_and_quiet_shards_are_there_too() {
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
            now_ms: 0,
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
        let rendered = render(&response, "n", &FetchNotes::default());
        let told = rendered["shards"].as_array().unwrap().iter().map(|shard| {
            assert_eq!(shard["aggregations"], json!([]));
            assert_eq!(shard["fetches"], json!([]));
            let search = &shard["searches"][0];
            assert_eq!(search["query"][0]["time_in_nanos"], 5_000);
            assert_eq!(search["query"][0]["breakdown"]["score_count"], 3);
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
