//! What kind of search one is, as metrics tell them apart.

use clew_query::Query;

use super::request::Spec;

impl Spec {
    /// What a search is asked for, by what of it costs the most as a rule.
    pub(super) fn kind(&self) -> &'static str {
        if self.control.scroll.is_some() {
            "scroll"
        } else if self.hybrid.is_some() {
            "hybrid"
        } else if self.asks(needs_vectors) {
            "knn"
        } else if !self.aggs.is_empty() {
            "aggregation"
        } else if self.query.is_none() && self.suggest.is_some() {
            "suggest"
        } else if self.asks(reads_words) {
            "text"
        } else {
            "filter"
        }
    }

    fn asks(&self, test: fn(&Query) -> bool) -> bool {
        let query = self.query.iter();
        let mut all = query.flat_map(Query::all);
        all.any(test)
    }
}

fn needs_vectors(query: &Query) -> bool {
    matches!(
        query,
        Query::Knn(_) | Query::VectorScore(_) | Query::SparseVector(_)
    )
}

fn reads_words(query: &Query) -> bool {
    matches!(
        query,
        Query::Match(_)
            | Query::MatchPhrase(_)
            | Query::MatchPhrasePrefix(_)
            | Query::MatchBoolPrefix(_)
            | Query::MultiMatch(_)
            | Query::QueryString(_)
            | Query::Intervals(_)
            | Query::MoreLikeThis(_)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::http::params::Params;

    #[test]
    fn a_search_is_known_by_what_costs_the_most() {
        let words = json!({"match": {"t": "fox"}});
        let knn = json!({"knn": {"v": {"vector": [1.0], "k": 1}}});
        let aggs = json!({"a": {"max": {"field": "n"}}});
        let kind = |body: &Value, params: &str| {
            let params = Params::parse(params).unwrap();
            Spec::parse(body, b"", &params).unwrap().kind()
        };
        for (body, wanted) in [
            (json!({}), "filter"),
            (json!({"query": {"term": {"k": "x"}}}), "filter"),
            (json!({"query": words}), "text"),
            (json!({"query": {"bool": {"filter": [words]}}}), "text"),
            (json!({"query": words, "aggs": aggs}), "aggregation"),
            (json!({"query": {"bool": {"should": [words, knn]}}}), "knn"),
            (
                json!({"query": {"hybrid": {"queries": [words, knn]}}}),
                "hybrid",
            ),
            (
                json!({"suggest": {"s": {"text": "x", "term": {"field": "t"}}}}),
                "suggest",
            ),
        ] {
            assert_eq!(kind(&body, ""), wanted, "{body}");
        }
        assert_eq!(kind(&json!({"query": words}), "scroll=1m"), "scroll");
    }
}
