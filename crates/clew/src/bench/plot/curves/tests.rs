use serde_json::json;

use super::super::super::report::row;
use super::*;

fn rows() -> Vec<(String, Row)> {
    let mut rows = Vec::new();
    for (ef, recall) in [(64, 0.9), (32, 0.8)] {
        for clients in [1, 2] {
            let params = json!({"ef_search": ef, "concurrency": clients, "k": 10});
            let metrics = json!({"recall": recall, "qps": [ef * clients, ef * clients + 2], "p99_ms": clients});
            rows.push(("a".to_owned(), row("search", params, metrics)));
        }
    }
    rows.push((
        "a".to_owned(),
        row("load", json!({}), json!({"documents": 7})),
    ));
    rows
}

fn shown(axes: &Axes, by: &[String]) -> Vec<(String, Vec<(f64, f64)>)> {
    let curves = curves(&rows(), axes, by).unwrap();
    let points = |curve: &Curve| {
        curve
            .points
            .iter()
            .map(|point| (point.x, point.y))
            .collect()
    };
    curves
        .iter()
        .map(|curve| (curve.name.clone(), points(curve)))
        .collect()
}

#[test]
fn recall_runs_along_effort_and_latency_along_load() {
    let axes = Axes::of(&rows(), None, None);
    assert_eq!((axes.x.as_str(), axes.y.as_str()), ("recall", "qps"));
    let wanted = [
        ("concurrency 1".to_owned(), vec![(0.8, 32.0), (0.9, 64.0)]),
        ("concurrency 2".to_owned(), vec![(0.8, 64.0), (0.9, 128.0)]),
    ];
    // Of two samples the upper is as good as the lower.
    let lower = shown(&axes, &[]).into_iter().map(|(name, points)| {
        let points = points.into_iter().map(|(x, y)| (x, y - y % 32.0)).collect();
        (name, points)
    });
    assert_eq!(lower.collect::<Vec<_>>(), wanted);
    let axes = Axes::of(&rows(), Some("concurrency"), Some("p99_ms"));
    let wanted = |ef: u8| (format!("ef_search {ef}"), vec![(1.0, 1.0), (2.0, 2.0)]);
    assert_eq!(shown(&axes, &[]), [wanted(64), wanted(32)]);
}

#[test]
fn what_no_row_has_is_told_with_what_there_is() {
    let axes = Axes::of(&rows(), Some("rows"), None);
    let told = curves(&rows(), &axes, &[]).unwrap_err().to_string();
    assert!(
        told.contains("both rows and p99_ms: there are concurrency, documents"),
        "{told}"
    );
    let axes = Axes::of(&rows(), None, None);
    let told = curves(&rows(), &axes, &["clients".to_owned()]);
    let told = told.unwrap_err().to_string();
    assert!(
        told.ends_with("there are concurrency, ef_search, k, name"),
        "{told}"
    );
}

#[test]
fn points_of_parameters_that_hardly_differ_are_several() {
    let rows = [0.0001, 0.0002].map(|share| {
        let metrics = json!({"qps": 1.0 / share, "p99_ms": 1});
        let row = row("search", json!({"share": share}), metrics);
        ("a".to_owned(), row)
    });
    let axes = Axes::of(&rows, None, None);
    let found = curves(&rows, &axes, &["name".to_owned()]).unwrap();
    let [curve] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (curve.name.as_str(), curve.points.len()),
        ("name search", 2)
    );
    assert_eq!(
        curves(&rows, &axes, &["share".to_owned()]).unwrap().len(),
        2
    );
}

#[test]
fn what_has_no_place_on_an_axis_is_refused() {
    for value in [1e300, -1e300, 1e-300] {
        let row = row("search", json!({}), json!({"qps": value, "p99_ms": 1}));
        let rows = [("a".to_owned(), row)];
        let told = curves(&rows, &Axes::of(&rows, None, None), &[]);
        let told = told.unwrap_err().to_string();
        assert!(told.contains("has no place on an axis"), "{told}");
    }
}
