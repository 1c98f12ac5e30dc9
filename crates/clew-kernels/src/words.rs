//! Which bytes of a text make words.

/// What the bytes of a text are that make one block of [`WORD_BLOCK`]: bit `i` is byte `i`, and clear behind its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordMarks {
    /// ASCII letters, digits and underscores.
    pub inside: u64,
    /// Signs that may stand in the middle of a word, `'` `,` `.` `:` `;`, and all that is not ASCII.
    pub special: u64,
}

/// Bytes of a block.
pub const WORD_BLOCK: usize = 64;

/// The functions of one instruction set. There are as many marks as blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordTable {
    pub(crate) mark: fn(&[u8], &mut [WordMarks]),
}

pub(crate) const SCALAR: WordTable = WordTable { mark };

/// Only in tables for which AVX2 was detected.
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: WordTable = WordTable {
    // SAFETY: the feature was detected.
    mark: |text, marks| unsafe { mark_avx2(text, marks) },
};

/// The specification.
fn mark(text: &[u8], marks: &mut [WordMarks]) {
    for (marks, block) in marks.iter_mut().zip(text.chunks(WORD_BLOCK)) {
        *marks = WordMarks::default();
        for (at, byte) in block.iter().enumerate() {
            let is_inside = byte.is_ascii_alphanumeric() || *byte == b'_';
            let is_special = matches!(byte, b'\'' | b',' | b'.' | b':' | b';') || !byte.is_ascii();
            marks.inside |= u64::from(is_inside) << at;
            marks.special |= u64::from(is_special) << at;
        }
    }
}

/// A byte is of a class when both its halves may be: one bit for each row of the ASCII table that has members, two where
/// they are of both kinds.
#[cfg(target_arch = "x86_64")]
mod halves {
    const INSIDE: [(u8, &[u8]); 4] = [
        (3, b"0123456789"),
        (4, b"ABCDEFGHIJKLMNO"),
        (5, b"PQRSTUVWXYZ_"),
        (6, b"abcdefghijklmno"),
    ];
    const LAST: (u8, &[u8]) = (7, b"pqrstuvwxyz");
    const SPECIAL: [(u8, &[u8]); 2] = [(2, b"',."), (3, b":;")];
    /// Bits of the classes that lie inside words.
    pub(super) const INSIDE_BITS: u8 = 0b0001_1111;
    pub(super) const SPECIAL_BITS: u8 = 0b0110_0000;

    pub(super) const LOW: [u8; 16] = tables().0;
    pub(super) const HIGH: [u8; 16] = tables().1;

    const fn tables() -> ([u8; 16], [u8; 16]) {
        let [a, b, c, d] = INSIDE;
        let [e, f] = SPECIAL;
        let rows = [a, b, c, d, LAST, e, f];
        let (mut low, mut high) = ([0; 16], [0; 16]);
        let mut at = 0;
        while at < rows.len() {
            let (row, members) = rows[at];
            high[row as usize] |= 1 << at;
            let mut member = 0;
            while member < members.len() {
                low[(members[member] & 15) as usize] |= 1 << at;
                member += 1;
            }
            at += 1;
        }
        (low, high)
    }
}

/// Two table lookups by the halves of a byte and an AND tell its class (Langdale, Lemire: "Parsing gigabytes of JSON per
/// second", 2019).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn mark_avx2(text: &[u8], marks: &mut [WordMarks]) {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16,
    };
    let table = |bytes: &[u8; 16]| {
        // SAFETY: a table has 16 bytes; the load needs no alignment.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    };
    let (low, high) = (table(&halves::LOW), table(&halves::HIGH));
    let half = _mm256_set1_epi8(15);
    let bits = |bits: u8| _mm256_set1_epi8(bits.cast_signed());
    let (inside, special) = (bits(halves::INSIDE_BITS), bits(halves::SPECIAL_BITS));
    let sides = |bytes: &[u8; 32]| {
        // SAFETY: these are 32 bytes; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        // Bytes that are not ASCII find nothing in the first table, whose lookup minds their uppermost bit.
        let of_low = _mm256_shuffle_epi8(low, bytes);
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
        let classes = _mm256_and_si256(of_low, _mm256_shuffle_epi8(high, upper));
        let has = |bits: __m256i| {
            let none = _mm256_cmpeq_epi8(_mm256_and_si256(classes, bits), _mm256_setzero_si256());
            u64::from(!_mm256_movemask_epi8(none).cast_unsigned())
        };
        let not_ascii = u64::from(_mm256_movemask_epi8(bytes).cast_unsigned());
        (has(inside), has(special) | not_ascii)
    };
    let of_block = |block: &[u8; WORD_BLOCK]| {
        let (parts, _) = block.as_chunks::<32>();
        let (first, second) = (sides(&parts[0]), sides(&parts[1]));
        WordMarks {
            inside: first.0 | second.0 << 32,
            special: first.1 | second.1 << 32,
        }
    };
    let (blocks, rest) = text.as_chunks::<WORD_BLOCK>();
    for (marks, block) in marks.iter_mut().zip(blocks) {
        *marks = of_block(block);
    }
    if let (false, Some(marks)) = (rest.is_empty(), marks.get_mut(blocks.len())) {
        let mut block = [0; WORD_BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        *marks = of_block(&block);
    }
}
