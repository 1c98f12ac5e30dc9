//! Samples: how large they are, and where they may stand.

use std::collections::BTreeSet;

use clew_engine::Engine;
use serde_json::{Value, json};

use super::oracle::{collection, engine_of, found};
use crate::expr::{Templates, lower, parse};

const ROWS: usize = 300;
const TIMES: usize = 20;

/// What a sample finds, time and again.
async fn samples(engine: &Engine, text: &str) -> Vec<BTreeSet<i64>> {
    let parsed = parse(text).unwrap();
    let mut samples = Vec::new();
    for _ in 0..TIMES {
        let query = lower(&parsed, &collection(), &Templates::default()).unwrap();
        samples.push(found(engine, query).await);
    }
    samples
}

#[tokio::test]
async fn a_sample_is_about_as_large_as_was_asked_for() {
    let row = |id: usize| json!({"id": id, "l": id % 5, "s": "x", "w": []});
    let rows: Vec<Value> = (0..ROWS).map(row).collect();
    let engine = engine_of(&rows, ROWS / 3);
    let count = |samples: &[BTreeSet<i64>]| samples.iter().map(BTreeSet::len).sum::<usize>();

    let quarters = samples(&engine, "random_sample(0.25)").await;
    assert!((1_250..1_750).contains(&count(&quarters)));
    assert!(quarters.iter().any(|one| *one != quarters[0]));

    let halves = samples(&engine, "l < 2 and s == 'x' and random_sample(0.5)").await;
    assert!((1_000..1_400).contains(&count(&halves)));
    assert!(halves.iter().flatten().all(|id| id % 5 < 2));

    let of_tested = samples(&engine, "l + 1 < 3 and RANDOM_SAMPLE(0.5)").await;
    assert!((1_000..1_400).contains(&count(&of_tested)));
    assert!(of_tested.iter().flatten().all(|id| id % 5 < 2));
}

#[test]
fn a_sample_that_stands_elsewhere_is_refused() {
    for (text, said) in [
        ("random_sample(0)", "should be between 0 and 1"),
        ("random_sample(1)", "should be between 0 and 1"),
        ("random_sample(1.0)", "should be between 0 and 1"),
        ("random_sample(-0.5)", "should be between 0 and 1"),
        ("random_sample(1e-11)", "should be between 0 and 1"),
        ("random_sample()", "sample factor missed"),
        ("random_sample(l)", "should be a const float expression"),
        ("random_sample({f})", "should be a const float expression"),
        ("not random_sample(0.5)", "unary expression"),
        ("!(l > 1 && random_sample(0.5))", "unary expression"),
        ("random_sample(0.5) && l > 1", "last expression"),
        (
            "(l > 1 and random_sample(0.5)) and l < 3",
            "last expression",
        ),
        ("l > 1 || random_sample(0.5)", "cannot be used in logical"),
        (
            "(l > 1 && random_sample(0.5)) || l < 3",
            "cannot be used in logical",
        ),
    ] {
        let lowered = lower(&parse(text).unwrap(), &collection(), &Templates::default());
        let error = lowered.unwrap_err();
        assert_eq!(error.code(), 1100, "{text}: {error}");
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}
