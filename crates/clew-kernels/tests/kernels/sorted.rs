//! Numbers in common are found as a set finds them, in every instruction set.

use std::collections::BTreeSet;

use clew_kernels::available;
use proptest::prelude::*;

/// Ascending numbers, often close to each other.
fn ascending() -> impl Strategy<Value = Vec<u32>> {
    let steps = prop_oneof![1u32..4, 1u32..4, 1u32..100];
    proptest::collection::vec(steps, 0..200).prop_map(|steps| {
        let numbers = steps.iter().scan(0, |number, step| {
            *number += step;
            Some(*number)
        });
        numbers.collect()
    })
}

proptest! {
    #[test]
    fn places_of_common_numbers_are_found(a in ascending(), b in ascending(), ends_alike: bool) {
        let (mut a, mut b) = (a, b);
        if ends_alike {
            a.push(u32::MAX);
            b.push(u32::MAX);
        }
        let both: BTreeSet<u32> = a.iter().filter(|one| b.contains(one)).copied().collect();
        let places = |list: &[u32]| -> Vec<u32> {
            let numbered = list.iter().zip(0..);
            numbered.filter(|(one, _)| both.contains(one)).map(|(_, at)| at).collect()
        };
        let wanted = (places(&a), places(&b));
        for kernels in available() {
            let (mut in_a, mut in_b) = (vec![7; a.len()], vec![7; b.len()]);
            let count = kernels.intersect(&a, &b, [&mut in_a, &mut in_b]);
            in_a.truncate(count);
            in_b.truncate(count);
            prop_assert_eq!(&(in_a, in_b), &wanted, "{}", kernels.isa());
        }
    }
}
