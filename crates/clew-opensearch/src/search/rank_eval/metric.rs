//! Measures of rankings.

use serde_json::{Map, Value, json};

use super::malformed;
use crate::http::error::ApiError;

/// Hits that are looked at unless a metric says otherwise.
const HITS_DEFAULT: u64 = 10;
/// Ratings from here on are relevant unless a metric says otherwise.
const RELEVANT_DEFAULT: u32 = 1;
/// The highest rating that a measure of expectations takes; it is an exponent.
const RELEVANCE_MAX: u32 = 31;

/// A measure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Metric {
    kind: Kind,
    /// How many hits are looked at.
    hits: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// The share of hits that are relevant.
    Precision {
        relevant: u32,
        ignores_unrated: bool,
    },
    /// The share of the relevant documents that are hits.
    Recall { relevant: u32 },
    /// One divided by the rank of the first relevant hit.
    ReciprocalRank { relevant: u32 },
    /// What all hits are worth, the lower ones less.
    Gain {
        normalized: bool,
        unrated: Option<u32>,
    },
    /// One divided by the rank at which somebody is expected to be content.
    ExpectedRank { most: u32, unrated: Option<u32> },
}

impl Metric {
    pub(super) fn read(value: &Value) -> Result<Self, ApiError> {
        let Some((name, Value::Object(settings))) =
            value.as_object().and_then(|all| all.iter().next())
        else {
            return Err(malformed("[metric] must name a metric"));
        };
        let mut settings = Settings {
            name,
            left: settings.clone(),
        };
        let hits = settings.whole("k")?.unwrap_or(HITS_DEFAULT);
        if hits == 0 {
            return Err(ApiError::illegal_argument(
                "Window size k must be positive.",
            ));
        }
        let kind = match name.as_str() {
            "precision" => Kind::Precision {
                relevant: settings.relevant()?,
                ignores_unrated: settings.flag("ignore_unlabeled")?,
            },
            "recall" => Kind::Recall {
                relevant: settings.relevant()?,
            },
            "mean_reciprocal_rank" => Kind::ReciprocalRank {
                relevant: settings.relevant()?,
            },
            "dcg" => Kind::Gain {
                normalized: settings.flag("normalize")?,
                unrated: settings.rating("unknown_doc_rating")?,
            },
            "expected_reciprocal_rank" => Kind::ExpectedRank {
                most: settings
                    .rating("maximum_relevance")?
                    .filter(|most| *most <= RELEVANCE_MAX)
                    .ok_or_else(|| malformed("Required [maximum_relevance]"))?,
                unrated: settings.rating("unknown_doc_rating")?,
            },
            other => {
                return Err(malformed(format!("[metric] unknown field [{other}]")));
            }
        };
        settings.end()?;
        Ok(Metric { kind, hits })
    }

    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Precision { .. } => "precision",
            Kind::Recall { .. } => "recall",
            Kind::ReciprocalRank { .. } => "mean_reciprocal_rank",
            Kind::Gain { .. } => "dcg",
            Kind::ExpectedRank { .. } => "expected_reciprocal_rank",
        }
    }

    /// How many hits a search must give.
    pub(super) fn size(&self) -> u64 {
        self.hits
    }

    /// How good hits with these ratings are, when the rated documents have those; and what it was
    /// computed from.
    pub(super) fn judge(&self, hits: &[Option<u32>], rated: &[u32]) -> (f64, Value) {
        let unrated_hits = hits.iter().filter(|rating| rating.is_none()).count();
        let relevant_hits = |least: u32| {
            let relevant = |rating: &&Option<u32>| rating.is_some_and(|rating| rating >= least);
            hits.iter().filter(relevant).count()
        };
        match &self.kind {
            Kind::Precision {
                relevant,
                ignores_unrated,
            } => {
                let found = relevant_hits(*relevant);
                let ignored = if *ignores_unrated { unrated_hits } else { 0 };
                let all = hits.len() - ignored;
                let figures = json!({"relevant_docs_retrieved": found, "docs_retrieved": all});
                (share(found, all), figures)
            }
            Kind::Recall { relevant } => {
                let found = relevant_hits(*relevant);
                let all = rated.iter().filter(|rating| **rating >= *relevant).count();
                let figures = json!({"relevant_docs_retrieved": found, "relevant_docs": all});
                (share(found, all), figures)
            }
            Kind::ReciprocalRank { relevant } => {
                let is_relevant = |rating: &Option<u32>| rating.is_some_and(|one| one >= *relevant);
                match hits.iter().position(is_relevant) {
                    None => (0.0, json!({"first_relevant": -1})),
                    Some(at) => (share(1, at + 1), json!({"first_relevant": at + 1})),
                }
            }
            Kind::Gain {
                normalized,
                unrated,
            } => {
                let gained = gain(hits.iter().map(|rating| rating.or(*unrated)));
                let mut figures = Map::new();
                figures.insert("dcg".to_string(), json!(gained));
                let mut score = gained;
                if *normalized {
                    let mut best = rated.to_vec();
                    best.sort_unstable_by(|a, b| b.cmp(a));
                    let ideal = gain(best.into_iter().take(hits.len()).map(Some));
                    score = if ideal > 0.0 { gained / ideal } else { 0.0 };
                    figures.insert("ideal_dcg".to_string(), json!(ideal));
                    figures.insert("normalized_dcg".to_string(), json!(score));
                }
                figures.insert("unrated_docs".to_string(), json!(unrated_hits));
                (score, Value::Object(figures))
            }
            Kind::ExpectedRank { most, unrated } => {
                let ratings = hits.iter().map(|rating| rating.or(*unrated));
                (
                    expected(ratings, *most),
                    json!({"unrated_docs": unrated_hits}),
                )
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "few documents are rated")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 / all as f64
    }
}

/// What hits with these ratings are worth.
fn gain(ratings: impl Iterator<Item = Option<u32>>) -> f64 {
    let mut sum = 0.0;
    let mut rank = 1.0_f64;
    for rating in ratings {
        if let Some(rating) = rating {
            sum += (f64::from(rating).exp2() - 1.0) / (rank + 1.0).log2();
        }
        rank += 1.0;
    }
    sum
}

/// One divided by the rank at which somebody is expected to stop.
fn expected(ratings: impl Iterator<Item = Option<u32>>, most: u32) -> f64 {
    let (mut sum, mut goes_on, mut rank) = (0.0, 1.0, 1.0);
    for rating in ratings {
        if let Some(rating) = rating {
            let content = (f64::from(rating).exp2() - 1.0) / f64::from(most).exp2();
            sum += goes_on * content / rank;
            goes_on *= 1.0 - content;
        }
        rank += 1.0;
    }
    sum
}

/// A metric's settings, taken out one by one.
struct Settings<'a> {
    name: &'a str,
    left: Map<String, Value>,
}

impl Settings<'_> {
    fn whole(&mut self, key: &str) -> Result<Option<u64>, ApiError> {
        let Some(value) = self.left.remove(key) else {
            return Ok(None);
        };
        let number = value.as_u64();
        number.map(Some).ok_or_else(|| {
            malformed(format!(
                "[{}] [{key}] must be a whole number from 0 on, found [{value}]",
                self.name
            ))
        })
    }

    fn rating(&mut self, key: &str) -> Result<Option<u32>, ApiError> {
        let number = self.whole(key)?;
        Ok(number.map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
    }

    fn relevant(&mut self) -> Result<u32, ApiError> {
        Ok(self
            .rating("relevant_rating_threshold")?
            .unwrap_or(RELEVANT_DEFAULT))
    }

    fn flag(&mut self, key: &str) -> Result<bool, ApiError> {
        match self.left.remove(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(malformed(format!(
                "[{}] [{key}] must be true or false, found [{other}]",
                self.name
            ))),
        }
    }

    fn end(self) -> Result<(), ApiError> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(other) => Err(malformed(format!(
                "[{}] unknown field [{other}]",
                self.name
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(metric: &Value, hits: &[Option<u32>], rated: &[u32]) -> (f64, Value) {
        Metric::read(metric).unwrap().judge(hits, rated)
    }

    #[test]
    fn rankings_are_measured() {
        let hits = [Some(0), None, Some(3), Some(1)];
        let rated = [0, 3, 1, 2];
        let cases = [
            (json!({"precision": {}}), 0.5),
            (json!({"precision": {"ignore_unlabeled": true}}), 2.0 / 3.0),
            (json!({"precision": {"relevant_rating_threshold": 2}}), 0.25),
            (json!({"recall": {}}), 2.0 / 3.0),
            (json!({"mean_reciprocal_rank": {}}), 1.0 / 3.0),
            (json!({"dcg": {}}), 7.0 / 2.0 + 1.0 / 5.0_f64.log2()),
            (
                json!({"expected_reciprocal_rank": {"maximum_relevance": 3}}),
                7.0 / 8.0 / 3.0 + (1.0 / 8.0) * (1.0 / 8.0) / 4.0,
            ),
        ];
        for (metric, expected) in cases {
            let (score, _) = judged(&metric, &hits, &rated);
            assert!(
                (score - expected).abs() < 1e-9,
                "{metric}: {score}, not {expected}"
            );
        }
        let (score, figures) = judged(&json!({"dcg": {"normalize": true}}), &hits, &rated);
        let ideal = 7.0 + 3.0 / 3.0_f64.log2() + 1.0 / 2.0;
        assert!((figures["ideal_dcg"].as_f64().unwrap() - ideal).abs() < 1e-9);
        assert!((score - (7.0 / 2.0 + 1.0 / 5.0_f64.log2()) / ideal).abs() < 1e-9);
        assert_eq!(
            judged(&json!({"mean_reciprocal_rank": {}}), &[None], &[]).0,
            0.0
        );
        assert_eq!(judged(&json!({"recall": {}}), &[], &[]).0, 0.0);
    }

    #[test]
    fn what_is_no_metric_is_refused() {
        for wrong in [
            json!({}),
            json!({"x": {}}),
            json!({"precision": {"k": 0}}),
            json!({"precision": {"x": 1}}),
            json!({"dcg": {"normalize": 1}}),
            json!({"expected_reciprocal_rank": {}}),
        ] {
            assert!(Metric::read(&wrong).is_err(), "{wrong}");
        }
    }
}
