use super::super::super::results::Results;
use super::*;

fn side(rows: Value) -> Side {
    let document = json!({"clew": "1", "machine": {"cores": 2}, "rows": rows});
    let mut side = Side::default();
    side.add(serde_json::from_value::<Results>(document).unwrap());
    side
}

fn compared(metric: &str, old: Value, new: Value) -> Line {
    let row = |samples| json!([{"name": "a", "params": {}, "metrics": {metric: samples}}]);
    let mut found = Comparison::of(&side(row(old)), &side(row(new)), &[], 0.05).unwrap();
    found.metrics.remove(0).lines.remove(0)
}

#[test]
fn a_difference_is_judged_by_the_metrics_better_way() {
    let (low, high) = (json!([1.0, 1.1, 1.2, 1.3]), json!([2.0, 2.1, 2.2, 2.3]));
    let verdict =
        |metric, old: &Value, new: &Value| compared(metric, old.clone(), new.clone()).verdict;
    assert_eq!(verdict("qps", &low, &high), Verdict::Better);
    assert_eq!(verdict("qps", &high, &low), Verdict::Worse);
    assert_eq!(verdict("p99_ms", &low, &high), Verdict::Worse);
    assert_eq!(verdict("p99_ms", &high, &low), Verdict::Better);
    assert_eq!(verdict("documents", &high, &low), Verdict::Different);
    assert_eq!(verdict("qps", &low, &low), Verdict::Same);
    assert_eq!(verdict("qps", &json!(1), &json!(9)), Verdict::TooFew);
}

#[test]
fn rows_are_matched_by_name_and_parameters_in_any_order() {
    let row = |name: &str, params: Value, qps: f64| json!({"name": name, "params": params, "metrics": {"qps": qps, "told": "in words"}});
    let old = side(json!([
        row("search", json!({"k": 10, "ef": 32}), 100.0),
        row("search", json!({"k": 10, "ef": 32}), 300.0),
        row("search", json!({"k": 10, "ef": 64}), 50.0),
        row("load", json!({}), 1.0),
    ]));
    let new = side(json!([
        row("search", json!({"ef": 64, "k": 10}), 100.0),
        row("search", json!({"ef": 32, "k": 10}), 100.0),
        row("search", json!({"ef": 128, "k": 10}), 1.0),
    ]));
    let found = Comparison::of(&old, &new, &[], 0.05).unwrap();
    assert_eq!(found.only_old, ["load"]);
    assert_eq!(found.only_new, ["search ef=128 k=10"]);
    assert_eq!(Value::Object(found.common.clone()), json!({"k": 10}));
    let [table] = &found.metrics[..] else {
        panic!("{:?}", found.metrics);
    };
    let medians: Vec<_> = table
        .lines
        .iter()
        .map(|line| (line.old.median, line.old.samples, line.new.median))
        .collect();
    assert_eq!(medians, [(200.0, 2, 100.0), (50.0, 1, 100.0)]);
    let (before, after) = table.geomean.unwrap();
    assert!((before - 100.0).abs() < 1e-9 && (after - 100.0).abs() < 1e-9);
}

#[test]
fn sides_without_a_row_or_a_metric_in_common_are_refused() {
    let one = |name: &str| json!([{"name": name, "params": {}, "metrics": {"qps": 1}}]);
    let refused = |old, new, wanted: &[String]| {
        let compared = Comparison::of(&side(old), &side(new), wanted, 0.05);
        compared.unwrap_err().to_string()
    };
    let told = refused(one("a"), one("b"), &[]);
    assert!(told.contains("old has `a`; new has `b`"), "{told}");
    let told = refused(one("a"), one("a"), &["p99_ms".to_owned()]);
    assert!(told.contains("of those asked for, p99_ms"), "{told}");
}

#[test]
fn what_one_side_did_not_measure_is_told() {
    let row = |metrics: Value| json!([{"name": "a", "params": {"k": 1}, "metrics": metrics}]);
    let old = side(row(json!({"qps": 1, "p50_ms": 2})));
    let new = side(row(json!({"qps": 1, "p99_ms": 2})));
    let of = |wanted: &[&str]| {
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let found = Comparison::of(&old, &new, &wanted, 0.05).unwrap();
        (
            found.metrics_only_old,
            found.metrics_only_new,
            found.nowhere,
        )
    };
    let lone = |name: &str| vec![format!("{name} of a k=1")];
    assert_eq!(of(&[]), (lone("p50_ms"), lone("p99_ms"), vec![]));
    let wanted = of(&["qps", "p99_ms", "p98_ms"]);
    assert_eq!(wanted, (vec![], lone("p99_ms"), vec!["p98_ms".to_owned()]));
}

#[test]
fn what_changes_from_nothing_has_no_percentage() {
    assert_eq!(delta_pct(0.0, 1.0), None);
    assert_eq!(delta_pct(0.0, 0.0), Some(0.0));
    assert_eq!(delta_pct(-2.0, -1.0), Some(50.0));
}
