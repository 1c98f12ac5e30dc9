//! Impacts are added and marked as plain arithmetic does it, in every instruction set.

use clew_kernels::available;
use proptest::prelude::*;

proptest! {
    #[test]
    fn impacts_are_added_as_plain_arithmetic_adds_them(
        impacts in proptest::collection::vec(any::<u8>(), 0..200),
        sums in proptest::collection::vec(any::<u16>(), 0..200),
        factor: u16,
    ) {
        let mut wanted = sums.clone();
        for (sum, impact) in wanted.iter_mut().zip(&impacts) {
            let part = u32::from(*impact) * u32::from(factor) / 256;
            *sum = u16::try_from((u32::from(*sum) + part) % (1 << 16)).unwrap();
        }
        for kernels in available() {
            let mut have = sums.clone();
            kernels.add_impacts(&impacts, factor, &mut have);
            prop_assert_eq!(&have, &wanted, "{}", kernels.isa());
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
