//! Searches that say how much they want to find, instead of how hard to look.

use super::*;

/// Recall of the shared column's queries at a target, and the greatest effort that took.
fn measure(target: f32, k: usize) -> (f64, usize) {
    let (data, column) = shared();
    measure_in((column, &data.queries), target, k)
}

fn measure_in(
    (column, queries): (&Column<Vec<u8>>, &[Vec<f32>]),
    target: f32,
    k: usize,
) -> (f64, usize) {
    let mut scratch = Scratch::default();
    let (mut found, mut wanted, mut effort) = (0, 0, 0);
    for query in queries {
        let request = SearchRequest {
            target_recall: Some(target),
            ef_search: 1,
            ..SearchRequest::new(query, k)
        };
        let exact = SearchRequest {
            exact: true,
            ..request
        };
        let truth = column.search(&exact, &mut scratch).unwrap().hits;
        let outcome = column.search(&request, &mut scratch).unwrap();
        effort = effort.max(outcome.profile.ef);
        let worst = truth.last().unwrap().distance;
        let hits = outcome.hits.iter();
        found += hits.filter(|hit| hit.distance <= worst).count();
        wanted += truth.len();
    }
    (found as f64 / wanted as f64, effort)
}

#[test]
fn a_target_is_met_by_about_as_much_effort_as_it_takes() {
    let mut efforts = Vec::new();
    for target in [0.8, 0.9, 0.95, 0.99] {
        let (recall, effort) = measure(target, K);
        assert!(
            recall >= f64::from(target) - 0.03,
            "{recall} at target {target}, effort {effort}"
        );
        efforts.push(effort);
    }
    assert!(efforts.is_sorted(), "{efforts:?}");
    assert!(efforts[0] < efforts[3] && efforts[3] <= 160, "{efforts:?}");
    let (recall, _) = measure(0.95, 50);
    assert!(recall >= 0.92, "{recall} of 50");
}

#[test]
fn what_is_not_stored_is_found_as_well_as_what_is() {
    // Evenly on a sphere: a stored vector leads to its neighbours at once, all others are looked for long.
    const SPHERE: usize = 24;
    let mut noise = Noise(11);
    let mut draw = |count: usize| -> Vec<Vec<f32>> {
        let vector = |noise: &mut Noise| (0..SPHERE).map(|_| noise.normal()).collect();
        (0..count).map(|_| vector(&mut noise)).collect()
    };
    let (stored, queries) = (draw(COUNT), draw(QUERIES));
    let options = ColumnOptions {
        exact_structure: true,
        ..ColumnOptions::new(SPHERE, Space::Cosine)
    };
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in (0..).zip(&stored) {
        builder.push(doc, vector).unwrap();
    }
    let mut image = Vec::new();
    let how = ImageOptions {
        graph: GraphChoice::Always,
        seed: 7,
        threads: 1,
    };
    builder.write(how, &mut image).unwrap();
    let column = Column::open(image).unwrap();
    for target in [0.9, 0.95, 0.99] {
        let (recall, effort) = measure_in((&column, &queries), target, K);
        assert!(
            recall >= f64::from(target) - 0.04,
            "{recall} at target {target}, effort {effort}"
        );
        assert!(effort < COUNT, "a walk gets there");
    }
}

#[test]
fn a_target_of_one_is_exact_and_others_outside_are_refused() {
    let (data, column) = shared();
    let search = |target: f32| {
        let request = SearchRequest {
            target_recall: Some(target),
            ..SearchRequest::new(&data.queries[0], K)
        };
        column.search(&request, &mut Scratch::default())
    };
    assert_eq!(search(1.0).unwrap().strategy, Strategy::Exact);
    for (target, shown) in [(0.0, "0"), (1.5, "1.5"), (f32::NAN, "NaN")] {
        let error = search(target).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("target recall is {shown}, must be above 0 and no more than 1")
        );
    }
}

#[test]
fn a_recall_that_no_walk_reaches_is_reached_by_a_scan_of_codes() {
    let (recall, effort) = measure(0.9999, K);
    assert!(recall > 0.999, "{recall}");
    assert_eq!(effort, COUNT, "the walk would keep all");
}
