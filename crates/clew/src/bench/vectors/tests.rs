use std::path::Path;

use super::*;

fn npy(descr: &str, shape: (usize, usize), body: &[u8]) -> Vec<u8> {
    let (rows, columns) = shape;
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    super::npy::tests::file(&header, body)
}

/// The three nearest of each of two queries.
fn write_truth(folder: &Path, numbers: [i32; 6]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join("truth"), npy("<i4", (2, 3), &bytes)).unwrap();
}

/// A run over 50 points on a line, for two queries at 2.2, to which the nearest are 2, 3 and 1.
fn on_a_line(folder: &Path) -> VectorsArguments {
    let path = |name: &str| folder.join(name);
    let bytes = |numbers: &[f32]| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    let base: Vec<f32> = (0..50_u8).flat_map(|at| [f32::from(at), 0.0]).collect();
    let queries = [2.2, 0.0, 2.2, 0.0];
    std::fs::write(path("base"), npy("<f4", (50, 2), &bytes(&base))).unwrap();
    std::fs::write(path("queries"), npy("<f4", (2, 2), &bytes(&queries))).unwrap();
    write_truth(folder, [2, 3, 1, 2, 3, 1]);
    VectorsArguments {
        base: path("base"),
        queries: path("queries"),
        truth: path("truth"),
        metric: Metric::L2,
        element: Stored::F16,
        method: Way::Graph,
        lists: 0,
        probes: Vec::new(),
        target_recall: Vec::new(),
        m: 16,
        ef_construction: 64,
        ef_search: vec![3, 10],
        k: 3,
        threads: 2,
        at_once: 1,
        cold: false,
        image: None,
        json: Some(path("json")),
    }
}

#[test]
fn a_run_reports_one_build_and_one_row_per_effort() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let arguments = on_a_line(folder.path());
    run(&arguments, &Begun::default()).unwrap();
    let report = std::fs::read(path("json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<_> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["build", "search", "search"]);
    assert_eq!(rows[0]["metrics"]["walk_bytes_per_vector"], 0.0);
    assert!(rows[0]["metrics"]["vectors_per_s"].as_f64().unwrap() > 0.0);
    for (row, ef_search) in rows[1..].iter().zip([3, 10]) {
        assert_eq!(row["params"]["ef_search"], ef_search);
        assert_eq!(row["metrics"]["recall"], 1.0);
        assert!(row["metrics"]["p99_us"].as_f64() >= row["metrics"]["p50_us"].as_f64());
        assert!(row["metrics"]["qps"].as_f64().unwrap() > 0.0);
    }
    let lists = VectorsArguments {
        method: Way::Ivf,
        probes: vec![1, 2, 3],
        ..arguments
    };
    run(&lists, &Begun::default()).unwrap();
    let report = std::fs::read(path("json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[3]["params"]["probes"], 3);
    let at_once = VectorsArguments {
        at_once: 5,
        ..lists
    };
    run(&at_once, &Begun::default()).unwrap();
    let report = std::fs::read(path("json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[3]["params"]["at_once"], 5);
    assert_eq!(rows[3]["metrics"]["recall"], 1.0);
    let wanted = VectorsArguments {
        at_once: 1,
        probes: Vec::new(),
        target_recall: vec![0.5, 1.0],
        ..at_once
    };
    run(&wanted, &Begun::default()).unwrap();
    let report = std::fs::read(path("json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["params"]["target_recall"], 1.0);
    assert_eq!(rows[2]["metrics"]["recall"], 1.0);
    let few = VectorsArguments { k: 4, ..wanted };
    let refused =
        |arguments: &VectorsArguments| run(arguments, &Begun::default()).unwrap_err().to_string();
    assert!(refused(&few).contains("truth is 2 x 3"));
    // Neighbours of other vectors are no truth; where a query has fewer, there is none.
    let truth = |last| write_truth(folder.path(), [2, 3, 1, 2, 3, last]);
    let other = VectorsArguments { k: 3, ..few };
    truth(50);
    assert!(refused(&other).contains("truth names the vector 50, and there are 50"));
    truth(-1);
    run(&other, &Begun::default()).unwrap();
}
