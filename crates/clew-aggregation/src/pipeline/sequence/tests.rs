use super::*;
use clew_query::{Script, ScriptLanguage, ScriptPurpose};
use serde_json::Value;

fn places(numbers: &[Option<f64>]) -> Vec<SequenceBucket> {
    let keys = (0_u32..).map(|at| f64::from(at) * 10.0);
    let places = numbers
        .iter()
        .zip(keys)
        .map(|(number, key)| SequenceBucket {
            number: *number,
            is_lacking: false,
            key,
        });
    places.collect()
}

fn check(kind: &Sequence, numbers: &[Option<f64>], expected: &[Option<f64>]) {
    let made = sequence(kind, &places(numbers)).unwrap();
    let values: Vec<_> = made
        .iter()
        .map(|made| made.map(|made| made.value))
        .collect();
    assert_eq!(format!("{values:?}"), format!("{expected:?}"), "{kind:?}");
}

#[test]
fn sequences_follow_the_order_of_buckets() {
    let numbers = [Some(1.0), Some(4.0), None, Some(2.0)];
    let nan = Some(f64::NAN);
    let unit_ms = None;
    check(
        &Sequence::Derivative { unit_ms },
        &numbers,
        &[None, Some(3.0), nan, nan],
    );
    check(
        &Sequence::CumulativeSum,
        &numbers,
        &[Some(1.0), Some(5.0), Some(5.0), Some(7.0)],
    );
    check(
        &Sequence::SerialDiff { lag: 3 },
        &numbers,
        &[None, None, None, Some(1.0)],
    );
    check(
        &moving(2, "MovingFunctions.max(values)"),
        &numbers,
        &[nan, Some(1.0), None, Some(4.0)],
    );
}

fn moving(window: usize, source: &str) -> Sequence {
    let (language, purpose) = (ScriptLanguage::Painless, ScriptPurpose::Window);
    let script = Script::read(source, language, &Value::Null, purpose);
    Sequence::MovingFn {
        window,
        shift: 0,
        script: Box::new(script.unwrap()),
    }
}

#[test]
fn derivatives_of_what_is_not_there_are_not_there() {
    let mut places = places(&[None, Some(3.0), Some(5.0)]);
    places[0].is_lacking = true;
    let made = sequence(&Sequence::Derivative { unit_ms: None }, &places).unwrap();
    assert_eq!(made, [None, None, Made::of(2.0)]);
}

#[test]
fn scripts_see_the_buckets_around() {
    let numbers = [1.0, 4.0, 2.0, 8.0, 3.0].map(Some);
    for (source, expected) in [
        ("MovingFunctions.min(values)", 1.0),
        ("return MovingFunctions.sum(values);", 15.0),
        ("MovingFunctions.unweightedAvg(values)", 3.75),
        ("MovingFunctions.linearWeightedAvg(values)", 47.0 / 11.0),
        ("MovingFunctions.ewma(values, 0.5)", 5.125),
        ("MovingFunctions.holt(values, 0.5, 0.5)", 5.53125),
        (
            "values.length < 4 ? 0 : MovingFunctions.holtWinters(values, 0, 0, 0, 2, false)",
            2.9,
        ),
        (
            "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))",
            7.1875_f64.sqrt(),
        ),
        (
            "values.length == 0 ? 0 : MovingFunctions.max(values) - values[0]",
            7.0,
        ),
        (
            "double s = 0; for (double v : values) { s += v * v } return s",
            85.0,
        ),
        ("if (values.length > 3) { values.length * 2 }", 8.0),
    ] {
        let made = sequence(&moving(4, source), &places(&numbers)).unwrap();
        let value = made[4].unwrap().value;
        assert!((value - expected).abs() < 1e-12, "{source}: {value}");
    }
    let few = "MovingFunctions.holtWinters(values, 0.5, 0.5, 0.5, 3, false)";
    assert!(sequence(&moving(4, few), &places(&numbers)).is_err());
}

#[test]
fn derivatives_have_units() {
    let made = sequence(
        &Sequence::Derivative { unit_ms: Some(5.0) },
        &places(&[Some(1.0), Some(7.0)]),
    )
    .unwrap();
    assert_eq!(made[1].unwrap().normalized, Some(3.0));
}
