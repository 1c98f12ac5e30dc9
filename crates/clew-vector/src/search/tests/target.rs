//! Searches that say how much they want to find, instead of how hard to look.

use super::*;

/// Recall of the shared column's queries at a target, and the greatest effort that took.
fn measure(target: f32, k: usize) -> (f64, usize) {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let (mut found, mut wanted, mut effort) = (0, 0, 0);
    for query in &data.queries {
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
