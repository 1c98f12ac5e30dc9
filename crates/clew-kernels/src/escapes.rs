//! Where a text has bytes that a string of JSON may not have as they are.

/// Where the next byte is, from a place on, that JSON wants escaped: a quote, a backslash or a control character; the length of
/// the text if there is none.
///
/// Sixteen bytes a step with what every processor of its architecture has: texts are short, so that nothing is chosen at run
/// time. What is left of a text is looked at together with bytes before it, where there are enough. A text of less than sixteen,
/// as most values of logs are, is looked at in words.
#[inline]
pub fn next_escape(text: &[u8], from: usize) -> usize {
    let mut at = from.min(text.len());
    #[cfg(target_arch = "x86_64")]
    {
        while let Some(block) = text[at..].first_chunk::<16>() {
            // SAFETY: SSE2 is part of the architecture.
            let found = unsafe { sse2(block) };
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 16;
        }
        if let Some(block) = text.last_chunk::<16>() {
            let passed = at + 16 - text.len();
            // SAFETY: as above.
            let found = unsafe { sse2(block) } >> passed;
            return match found {
                0 => text.len(),
                found => at + found.trailing_zeros() as usize,
            };
        }
    }
    while let Some(word) = text[at..].first_chunk::<8>() {
        let found = in_word(u64::from_le_bytes(*word));
        if found != 0 {
            return at + first_byte(found);
        }
        at += 8;
    }
    if at < text.len()
        && let Some(word) = text.last_chunk::<8>()
    {
        // What is passed gives way to zeros behind the end, which are found where nothing else is.
        let passed = at + 8 - text.len();
        return at + first_byte(in_word(u64::from_le_bytes(*word) >> (8 * passed)));
    }
    while at < text.len() && !wants_escape(text[at]) {
        at += 1;
    }
    at
}

/// Where the last byte is that JSON wants escaped, if there is one: as [`next_escape`], from the end.
#[inline]
pub fn last_escape(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    #[cfg(target_arch = "x86_64")]
    {
        const HIGHEST: usize = 31;
        let last = |found: u32| HIGHEST - found.leading_zeros() as usize;
        while let Some(block) = text[..end].last_chunk::<16>() {
            // SAFETY: SSE2 is part of the architecture.
            let found = unsafe { sse2(block) };
            if found != 0 {
                return Some(end - 16 + last(found));
            }
            end -= 16;
        }
        if let Some(block) = text.first_chunk::<16>() {
            // SAFETY: as above.
            let found = unsafe { sse2(block) } & ((1 << end) - 1);
            return (found != 0).then(|| last(found));
        }
    }
    while end > 0 && !wants_escape(text[end - 1]) {
        end -= 1;
    }
    end.checked_sub(1)
}

/// The highest bit of each byte that wants it, up to the first such; bits behind that one say nothing.
#[inline]
fn in_word(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let is_below = |bytes: u64, bound: u8| bytes.wrapping_sub(ONES * u64::from(bound)) & !bytes;
    let is = |byte: u8| is_below(bytes ^ (ONES * u64::from(byte)), 1);
    (is_below(bytes, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7)
}

/// The number of the byte that has the lowest bit.
#[inline]
fn first_byte(bits: u64) -> usize {
    (bits.trailing_zeros() / 8) as usize
}

/// Whether JSON wants a byte escaped: the specification of [`next_escape`].
#[inline]
fn wants_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// A bit for each byte that wants it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn sse2(block: &[u8; 16]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };
    // SAFETY: these are 16 bytes; the load needs no alignment.
    let bytes = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
    let all = |byte: u8| _mm_set1_epi8(byte.cast_signed());
    let is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, all(0x1f)), bytes);
    let is_quote = _mm_cmpeq_epi8(bytes, all(b'"'));
    let is_backslash = _mm_cmpeq_epi8(bytes, all(b'\\'));
    let found = _mm_or_si128(is_control, _mm_or_si128(is_quote, is_backslash));
    _mm_movemask_epi8(found).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_at_every_place_as_the_specification_says() {
        for byte in 0..=u8::MAX {
            for length in 0..40 {
                for place in 0..length {
                    let mut text = vec![b'a'; length];
                    text[place] = byte;
                    for from in 0..=length {
                        let expected = (from..length).find(|at| wants_escape(text[*at]));
                        assert_eq!(
                            next_escape(&text, from),
                            expected.unwrap_or(length),
                            "{byte} {place} {from}"
                        );
                        let last = text[..from].iter().rposition(|byte| wants_escape(*byte));
                        assert_eq!(last_escape(&text[..from]), last, "{byte} {place} {from}");
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_beside_each_other_neither_hide_nor_feign_one_that_is_found() {
        const BYTES: [u8; 10] = [0, 0x1f, b' ', b'!', b'"', b'#', b'[', b'\\', b']', 0xff];
        let mut dice = 7_u64;
        let mut throw = |sides: usize| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(dice >> 33).unwrap() % sides
        };
        for _ in 0..20_000 {
            let length = throw(40);
            let mut text: Vec<u8> = (0..length).map(|_| BYTES[throw(BYTES.len())]).collect();
            // Most of them begin with some that nothing is found in.
            let clean = throw(length + 1);
            text[..clean].fill(b'#');
            for from in 0..=length {
                let expected = (from..length).find(|at| wants_escape(text[*at]));
                let found = next_escape(&text, from);
                assert_eq!(found, expected.unwrap_or(length), "{text:?} {from}");
            }
        }
    }
}
