//! The words of a text, under every instruction set of this CPU, against the scalar specification.

use clew_kernels::{WORD_BLOCK, WordMarks, available};
use proptest::prelude::*;

#[test]
fn every_byte_is_marked_for_what_it_is() {
    let bytes: Vec<u8> = (0..=255).collect();
    for kernels in available() {
        let mut marks = Vec::new();
        kernels.mark_words(&bytes, &mut marks);
        let has = |mark: fn(&WordMarks) -> u64, byte: u8| {
            let block = &marks[usize::from(byte) / WORD_BLOCK];
            mark(block) >> (usize::from(byte) % WORD_BLOCK) & 1 == 1
        };
        for byte in bytes.iter().copied() {
            let is_inside = byte.is_ascii_alphanumeric() || byte == b'_';
            assert_eq!(
                has(|marks| marks.inside, byte),
                is_inside,
                "{} {byte}",
                kernels.isa()
            );
            let is_special = b"',.:;".contains(&byte) || byte >= 0x80;
            assert_eq!(
                has(|marks| marks.special, byte),
                is_special,
                "{} {byte}",
                kernels.isa()
            );
        }
    }
}

proptest! {
    #[test]
    fn texts_of_any_length_are_marked_alike(
        text in proptest::collection::vec(any::<u8>(), 0..300),
        before in 0_usize..9,
    ) {
        let mut expected = Vec::new();
        for kernels in available() {
            // Marks of a text before are not left over.
            let mut marks = vec![WordMarks { inside: !0, special: !0 }; before];
            kernels.mark_words(&text, &mut marks);
            prop_assert_eq!(marks.len(), text.len().div_ceil(WORD_BLOCK));
            let last = text.len() % WORD_BLOCK;
            if let (Some(marks), true) = (marks.last(), last > 0) {
                prop_assert_eq!((marks.inside | marks.special) >> last, 0);
            }
            if expected.is_empty() {
                expected = marks;
            } else {
                prop_assert_eq!(&marks, &expected, "{}", kernels.isa());
            }
        }
    }
}
