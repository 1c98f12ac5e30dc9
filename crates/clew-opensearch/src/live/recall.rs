//! `GET /{index}/_recall`, Clew's own: how much of the nearest the searches of a vector field find.

use std::time::Instant;

use clew_engine::{Purpose, RecallEffort, RecallFigures, RecallRequest, SearchCost};
use clew_platform::whole_ms;
use serde_json::{Value, json};

use crate::http::error::ApiError;
use crate::http::params::Params;
use crate::http::reply::Reply;
use crate::state::call::Call;

/// What the endpoint takes.
pub(crate) const PARAMS: &[&str] = &[
    "field",
    "k",
    "ef_search",
    "target_recall",
    "sample",
    "seed",
    "after_glsn",
];

const K_DEFAULT: u64 = 10;
const SAMPLE_DEFAULT: u64 = 100;

/// Measures the recall of one index's field on a sample of its own vectors.
pub(crate) async fn measure(call: Call) -> Result<Reply, ApiError> {
    let started = Instant::now();
    let request = read(&call.params)?;
    let indices = call.opened(call.index_expression(), Purpose::Read).await?;
    let [index] = &indices[..] else {
        return Err(ApiError::illegal_argument(format!(
            "[_recall] takes one index, [{}] names {}",
            call.index_expression(),
            indices.len()
        )));
    };
    let report = call.api.engine.measure_recall(index, &request).await?;
    let (ef_search, target_recall) = match report.effort {
        RecallEffort::Ef(ef) => (json!(ef), Value::Null),
        RecallEffort::Target(target) => (Value::Null, json!(target)),
        RecallEffort::Index => (Value::Null, Value::Null),
    };
    let shards = report.shards.iter().map(|shard| {
        let mut shown = figures(&shard.figures);
        shown["shard"] = json!(shard.shard);
        shown
    });
    let shards: Vec<Value> = shards.collect();
    let took_ms = whole_ms(started.elapsed());
    let mut body = figures(&report.all);
    let head = json!({
        "took": took_ms,
        "_shards": {"total": shards.len(), "successful": shards.len(), "failed": 0},
        "index": index.name(),
        "field": request.field,
        "k": request.k,
        "ef_search": ef_search,
        "target_recall": target_recall,
        "seed": request.seed,
        "shards": shards,
    });
    if let (Value::Object(body), Value::Object(head)) = (&mut body, head) {
        body.extend(head);
    }
    Ok(Reply::json(&body))
}

fn read(params: &Params) -> Result<RecallRequest, ApiError> {
    let field = params.get("field").filter(|field| !field.is_empty());
    let Some(field) = field else {
        return Err(ApiError::validation("[field] is missing"));
    };
    let whole = |name: &str, default: u64| -> Result<usize, ApiError> {
        let number = params.unsigned(name)?.unwrap_or(default);
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    };
    let target = params.get("target_recall").map(|text| {
        text.parse::<f32>().map_err(|_| {
            ApiError::illegal_argument(format!(
                "Failed to parse float parameter [target_recall] with value [{text}]"
            ))
        })
    });
    let effort = match (params.has("ef_search"), target.transpose()?) {
        (true, Some(_)) => {
            return Err(ApiError::illegal_argument(
                "[_recall] takes at most one of [target_recall] and [ef_search]",
            ));
        }
        (true, None) => RecallEffort::Ef(whole("ef_search", 0)?),
        (false, Some(target)) => RecallEffort::Target(target),
        (false, None) => RecallEffort::Index,
    };
    Ok(RecallRequest {
        field: field.to_string(),
        k: whole("k", K_DEFAULT)?,
        effort,
        sample: whole("sample", SAMPLE_DEFAULT)?,
        seed: params.unsigned("seed")?.unwrap_or(0),
    })
}

fn figures(figures: &RecallFigures) -> Value {
    let recall = &figures.recall;
    let measured = |share: f64| (recall.query_count > 0).then_some(share);
    json!({
        "vectors": figures.vectors,
        "queries": recall.query_count,
        "recall": {
            "mean": measured(recall.mean),
            "low": measured(recall.low),
            "high": measured(recall.high),
        },
        "search": cost(&figures.search),
        "exact": cost(&figures.exact),
    })
}

fn cost(cost: &SearchCost) -> Value {
    json!({
        "mean_ms": cost.took.as_secs_f64() * 1e3,
        "mean_distances": cost.distances,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: Result<RecallRequest, &str>) {
        let found = read(&Params::parse(query).unwrap());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{query}"),
            (Err(error), Err(expected)) => {
                let body = String::from_utf8(error.body()).unwrap();
                assert!(body.contains(expected), "{query}: {body}");
                assert_eq!(error.status().as_u16(), 400, "{query}");
            }
            (found, expected) => panic!("{query}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn parameters_are_read_and_wrong_ones_named() {
        let request = |effort| RecallRequest {
            field: "v".to_string(),
            k: 10,
            effort,
            sample: 100,
            seed: 0,
        };
        check("field=v", Ok(request(RecallEffort::Index)));
        check("field=v&ef_search=40", Ok(request(RecallEffort::Ef(40))));
        check(
            "field=a.b&k=3&target_recall=0.5&sample=7&seed=9",
            Ok(RecallRequest {
                field: "a.b".to_string(),
                k: 3,
                sample: 7,
                seed: 9,
                ..request(RecallEffort::Target(0.5))
            }),
        );
        check("", Err("[field] is missing"));
        check("field=", Err("[field] is missing"));
        check("field=v&k=ten", Err("parameter [k] with value [ten]"));
        check(
            "field=v&sample=-1",
            Err("[sample] parameter cannot be negative"),
        );
        check(
            "field=v&target_recall=x",
            Err("[target_recall] with value [x]"),
        );
        check(
            "field=v&target_recall=0.5&ef_search=4",
            Err("at most one of [target_recall] and [ef_search]"),
        );
    }

    #[test]
    fn a_recall_of_no_queries_is_not_a_number() {
        let none = RecallFigures {
            vectors: 0,
            recall: clew_engine::RecallEstimate::of_shares(&[]),
            search: SearchCost::default(),
            exact: SearchCost::default(),
        };
        let nothing = json!({"mean": null, "low": null, "high": null});
        assert_eq!(figures(&none)["recall"], nothing);
    }
}
