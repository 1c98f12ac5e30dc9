//! Impacts are summed and marked as plain arithmetic does it, in every instruction set.

use clew_kernels::{IMPACTS_CHUNK, WordImpacts, available};
use proptest::prelude::*;

proptest! {
    #[test]
    fn impacts_are_summed_as_plain_arithmetic_sums_them(
        words in proptest::collection::vec(
            (proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..400), any::<u16>()),
            0..5,
        ),
        docs in 0usize..300,
        needs_all: bool,
    ) {
        let sum = |doc: usize| {
            let impacts = words.iter().map(|(all, factor)| (*all.get(doc).unwrap_or(&0), *factor));
            if needs_all && impacts.clone().any(|(impact, _)| impact == 0) {
                return 0;
            }
            let parts = impacts.map(|(impact, factor)| u32::from(impact) * u32::from(factor) / 256);
            u16::try_from(parts.sum::<u32>() % (1 << 16)).unwrap()
        };
        let sums: Vec<u16> = (0..docs).map(sum).collect();
        let greatest = sums.chunks(IMPACTS_CHUNK).map(|chunk| *chunk.iter().max().unwrap());
        let wanted = (sums.clone(), greatest.collect::<Vec<u16>>());
        let words: Vec<WordImpacts<'_>> =
            words.iter().map(|(impacts, factor)| (&impacts[..], *factor)).collect();
        for kernels in available() {
            // What was there before does not matter.
            let (mut sums, mut greatest) = (vec![7; docs], vec![7; wanted.1.len()]);
            kernels.sum_impacts(&words, needs_all, &mut sums, &mut greatest);
            prop_assert_eq!(&(sums, greatest), &wanted, "{}", kernels.isa());
        }
    }

    #[test]
    fn impacts_that_are_not_zero_are_marked(
        impacts in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..400),
        marks in proptest::collection::vec(any::<u64>(), 0..8),
    ) {
        let mut wanted = marks.clone();
        for (place, impact) in impacts.iter().enumerate() {
            if let Some(mark) = wanted.get_mut(place / 64)
                && *impact > 0
            {
                *mark |= 1 << (place % 64);
            }
        }
        for kernels in available() {
            let mut have = marks.clone();
            kernels.mark_impacts(&impacts, &mut have);
            prop_assert_eq!(&have, &wanted, "{}", kernels.isa());
        }
    }
}
