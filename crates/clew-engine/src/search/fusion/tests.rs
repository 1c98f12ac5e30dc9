use super::*;

fn places(scores: &[f32]) -> Vec<(FusedPlace, f32)> {
    (0..)
        .zip(scores)
        .map(|(doc, score)| ((0, 0, doc), *score))
        .collect()
}

fn near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (have, want) in found.iter().zip(expected) {
        assert!((have - want).abs() < 1e-5, "{found:?} is not {expected:?}");
    }
}

fn bound(mode: BoundMode, score: f32) -> Vec<Bound> {
    vec![Bound { mode, score }]
}

#[test]
fn scores_become_comparable() {
    let plain = Normalization::MinMax(Bounds::default());
    near(&plain.apply(0, &[8.0, 4.0, 2.0]), &[1.0, 1.0 / 3.0, 0.001]);
    near(&plain.apply(0, &[5.0]), &[1.0]);
    near(&plain.apply(0, &[5.0, 5.0]), &[1.0, 1.0]);
    near(&plain.apply(0, &[]), &[]);
    near(&Normalization::L2.apply(0, &[4.0, 3.0]), &[0.8, 0.6]);
    near(&Normalization::L2.apply(0, &[0.0]), &[0.0]);
    near(
        &Normalization::ZScore.apply(0, &[3.0, 2.0, 1.0]),
        &[1.0, 3.0, 0.001],
    );
    near(&Normalization::ZScore.apply(0, &[7.0]), &[7.0]);
    near(
        &Normalization::Rank(60).apply(0, &[9.0, 9.0, 1.0]),
        &[1.0 / 61.0, 1.0 / 62.0, 1.0 / 63.0],
    );
}

#[test]
fn bounds_stand_in_for_the_ends() {
    let lower = |mode, score| {
        Normalization::MinMax(Bounds {
            lower: bound(mode, score),
            upper: Vec::new(),
        })
    };
    let scores = [8.0, 4.0, 2.0];
    near(
        &lower(BoundMode::Apply, 0.0).apply(0, &scores),
        &[1.0, 0.5, 0.25],
    );
    near(
        &lower(BoundMode::Ignore, 0.0).apply(0, &scores),
        &[1.0, 1.0 / 3.0, 0.001],
    );
    near(
        &lower(BoundMode::Clip, 3.0).apply(0, &scores),
        &[1.0, 0.2, 0.001],
    );
    near(
        &lower(BoundMode::Clip, 3.0).apply(1, &scores),
        &[1.0, 1.0 / 3.0, 0.001],
    );
    let upper = Normalization::MinMax(Bounds {
        lower: Vec::new(),
        upper: bound(BoundMode::Clip, 6.0),
    });
    near(&upper.apply(0, &scores), &[1.0, 0.5, 0.001]);
}

#[test]
fn scores_become_one() {
    let parts = [Some(0.5), None, Some(1.0)];
    let cases = [
        (Combination::Arithmetic, vec![], 0.5),
        (Combination::Arithmetic, vec![0.5, 0.3, 0.2], 0.45),
        (Combination::Geometric, vec![], 0.5_f32.sqrt()),
        (Combination::Harmonic, vec![], 2.0 / 3.0),
        (Combination::Harmonic, vec![0.2, 0.2, 0.6], 0.8),
        (Combination::Sum, vec![], 1.5),
        (Combination::Sum, vec![0.5, 0.5, 0.0], 0.25),
    ];
    for (combination, weights, expected) in cases {
        near(&[combination.apply(&parts, &weights)], &[expected]);
    }
    near(&[Combination::Harmonic.apply(&[None], &[])], &[0.0]);
}

#[test]
fn ranks_count_over_all_shards_and_ties_go_by_place() {
    let fusion = Fusion {
        normalization: Normalization::Rank(1),
        combination: Combination::Sum,
        weights: Vec::new(),
    };
    let first = vec![((1, 0, 0), 3.0), ((0, 0, 0), 2.0)];
    let second = vec![((0, 0, 0), 9.0), ((1, 0, 0), 8.0), ((1, 0, 7), 1.0)];
    let fused = fusion.fuse(&[first, second]);
    let order: Vec<FusedPlace> = fused.iter().map(|one| one.place).collect();
    assert_eq!(order, [(0, 0, 0), (1, 0, 0), (1, 0, 7)]);
    near(&[fused[0].score, fused[2].score], &[0.5 + 1.0 / 3.0, 0.25]);
    assert_eq!(fused[2].parts, [None, Some(0.25)]);
}

#[test]
fn the_steps_are_described() {
    let fusion = Fusion {
        normalization: Normalization::MinMax(Bounds {
            lower: bound(BoundMode::Clip, 0.5),
            upper: Vec::new(),
        }),
        combination: Combination::Geometric,
        weights: vec![0.3, 0.7],
    };
    let normalized = "min_max, lower bounds [(clip, 0.5)] normalization of:";
    assert_eq!(fusion.normalized(), normalized);
    assert_eq!(
        fusion.combined(),
        "geometric_mean, weights [0.3, 0.7] combination of:"
    );
    assert!(fusion.fuse(&[places(&[1.0, 2.0]), Vec::new()])[0].score > 0.9);
}
