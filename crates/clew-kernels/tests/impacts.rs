//! Sums of impacts are those of plain arithmetic in every instruction set.

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
}
