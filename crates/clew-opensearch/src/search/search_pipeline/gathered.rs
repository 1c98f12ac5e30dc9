//! What the URI says of a search, written into its body: steps see one search, wherever its parts came from, and none that
//! a step has set is undone by the URI afterwards.

use serde_json::{Value, json};

use crate::http::error::ApiError;
use crate::http::params::{Params, of_worded_queries};
use crate::search::uri_query::{min_score_of_params, query_of_params};

/// Whole numbers.
const NUMBERS: [&str; 3] = ["from", "size", "terminate_after"];
/// Truth values.
const FLAGS: [&str; 4] = ["explain", "version", "seq_no_primary_term", "track_scores"];
/// The others, of which some belong to `q`.
const OTHERS: &[&str] = of_worded_queries!["track_total_hits", "min_score"];

/// Writes parameters into a body, which is an object; gives those that are left.
pub(super) fn into_body(params: &Params, body: &mut Value) -> Result<Params, ApiError> {
    if let Some(query) = query_of_params(params)? {
        body["query"] = query;
    }
    for name in NUMBERS {
        if let Some(number) = params.unsigned(name)? {
            body[name] = number.into();
        }
    }
    for name in FLAGS {
        if params.has(name) {
            body[name] = params.flag(name, false)?.into();
        }
    }
    if let Some(text) = params.get("track_total_hits") {
        body["track_total_hits"] = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    }
    if let Some(score) = min_score_of_params(params)? {
        body["min_score"] = json!(score);
    }
    Ok(params.without(|name| {
        let lists: [&[&str]; 3] = [&NUMBERS, &FLAGS, OTHERS];
        lists.iter().any(|list| list.contains(&name))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uri_stands_in_the_body_and_says_nothing_more() {
        let params = Params::parse("q=a&df=t&size=3&explain&track_total_hits=false&routing=r");
        let mut body = json!({"query": {"match_all": {}}, "size": 7, "from": 1});
        let left = into_body(&params.unwrap(), &mut body).unwrap();
        assert_eq!(
            body,
            json!({
                "query": {"query_string": {"query": "a", "default_field": "t"}},
                "size": 3, "from": 1, "explain": true, "track_total_hits": false,
            })
        );
        assert!(!left.has("q") && !left.has("size") && !left.has("df"));
        assert_eq!(left.get("routing"), Some("r"));
    }
}
