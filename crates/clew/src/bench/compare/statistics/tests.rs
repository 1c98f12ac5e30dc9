use super::*;

/// The definition itself, over all ways to choose which of the samples are old.
fn by_enumeration(old: &[f64], new: &[f64]) -> f64 {
    let ranks = doubled_ranks(old, new);
    let mean = old.len() * (ranks.len() + 1);
    let far = |sum: usize| sum.abs_diff(mean);
    let seen = far(ranks[..old.len()].iter().sum());
    let (mut all, mut extreme) = (0_u32, 0_u32);
    for chosen in 0_u32..1 << ranks.len() {
        if chosen.count_ones() as usize == old.len() {
            let sum = (0..ranks.len()).filter(|at| chosen >> at & 1 == 1);
            all += 1;
            extreme += u32::from(far(sum.map(|at| ranks[at]).sum()) >= seen);
        }
    }
    f64::from(extreme) / f64::from(all)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

#[test]
fn p_values_are_those_of_the_literature() {
    // The example of scipy's documentation: exact, and by the normal distribution.
    let (males, females) = ([19.0, 22.0, 16.0, 29.0, 24.0], [20.0, 11.0, 17.0, 12.0]);
    close(mann_whitney(&males, &females), 0.111_111_111_111_111_1);
    let ranks = doubled_ranks(&males, &females);
    close(by_normal(&ranks, 5), 0.111_346_886_533_140_41);
    // All of one above all of the other: two ways of C(8, 4).
    let apart = mann_whitney(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
    close(apart, 2.0 / 70.0);
    close(apart, p_min(4, 4));
    close(mann_whitney(&[1.0; 5], &[1.0; 6]), 1.0);
}

#[test]
fn exact_p_values_are_those_of_an_enumeration_with_and_without_ties() {
    let mut seed = 7_u64;
    let mut next = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % bound
    };
    for (old, new) in [(1, 1), (1, 5), (3, 3), (4, 6), (6, 4), (7, 7)] {
        for distinct in [1, 3, 8, 1000] {
            let mut draw =
                |count| -> Vec<f64> { (0..count).map(|_| next(distinct) as f64).collect() };
            let (old, new) = (draw(old), draw(new));
            close(mann_whitney(&old, &new), by_enumeration(&old, &new));
        }
    }
}

#[test]
fn beyond_the_exact_sizes_p_values_go_on_smoothly() {
    let ramp = |count: usize, from: f64| -> Vec<f64> {
        (0..count).map(|at| from + at as f64 * 2.0).collect()
    };
    for shift in [1.0, 5.0, 11.0, 21.0] {
        let (old, new) = (ramp(25, 0.0), ramp(25, shift));
        let ranks = doubled_ranks(&old, &new);
        let (exact, normal) = (exact(&ranks, 25), by_normal(&ranks, 25));
        assert!((exact - normal).abs() < 0.01, "{exact} beside {normal}");
    }
    assert!(mann_whitney(&ramp(40, 0.0), &ramp(40, 200.0)) < 1e-9);
    close(mann_whitney(&[2.0; 40], &[2.0; 40]), 1.0);
}

#[test]
fn the_interval_of_a_median_leaves_out_what_its_confidence_allows() {
    let check = |count: u8, wanted| {
        let samples: Vec<f64> = (1..=count).rev().map(f64::from).collect();
        assert_eq!(Summary::of(&samples, 0.95).interval, wanted, "{count}");
    };
    // Of the tables of the sign test: with six samples 97 %, with five 94.
    check(5, None);
    check(6, Some((1.0, 6.0)));
    check(8, Some((1.0, 8.0)));
    check(9, Some((2.0, 8.0)));
    check(20, Some((6.0, 15.0)));
    let even = Summary::of(&[4.0, 1.0, 3.0, 2.0], 0.95);
    assert_eq!((even.median, even.spread()), (2.5, None));
    let six = Summary::of(&[9.0, 10.0, 10.0, 10.0, 10.0, 12.0], 0.95);
    assert_eq!((six.median, six.spread()), (10.0, Some(0.2)));
    assert_eq!(Summary::of(&[0.0; 7], 0.95).spread(), Some(0.0));
}

#[test]
fn four_samples_of_each_side_are_needed_at_the_usual_level() {
    assert_eq!(samples_needed(0.05), 4);
    assert_eq!(samples_needed(0.01), 5);
}
