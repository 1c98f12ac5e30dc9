//! Finding a byte that is mostly near: a call of a function for long texts takes longer than looking at what lies before it.

/// Blocks of sixteen bytes that are looked at: the ids of 32 and 36 letters that lines of logs have many of end in the third.
#[cfg(target_arch = "x86_64")]
const BLOCKS: usize = 3;

/// Where a byte stands for the first time from a place on, if that is near.
///
/// # Errors
/// Up to where it does not stand, which is where to go on from: the length of the text, if it is not there at all.
#[inline]
pub fn find_near(text: &[u8], from: usize, byte: u8) -> Result<usize, usize> {
    #[cfg(target_arch = "x86_64")]
    {
        let mut at = from.min(text.len());
        for _ in 0..BLOCKS {
            let Some(block) = text[at..].first_chunk::<16>() else {
                return find_last(text, at, byte);
            };
            // SAFETY: SSE2 is part of the architecture.
            let found = unsafe { sse2(block, byte) };
            if found != 0 {
                return Ok(at + found.trailing_zeros() as usize);
            }
            at += 16;
        }
        Err(at)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = byte;
        Err(from.min(text.len()))
    }
}

/// The same where fewer than sixteen bytes are left: they are looked at together with those before them, if there are enough.
#[cfg(target_arch = "x86_64")]
#[inline]
fn find_last(text: &[u8], at: usize, byte: u8) -> Result<usize, usize> {
    let Some(block) = text.last_chunk::<16>() else {
        let found = text[at..].iter().position(|&one| one == byte);
        return found.map(|behind| at + behind).ok_or(text.len());
    };
    let passed = at + 16 - text.len();
    // SAFETY: SSE2 is part of the architecture.
    let found = unsafe { sse2(block, byte) } >> passed;
    match found {
        0 => Err(text.len()),
        found => Ok(at + found.trailing_zeros() as usize),
    }
}

/// A bit for each byte that is this one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn sse2(block: &[u8; 16], byte: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: these are 16 bytes; the load needs no alignment.
    let bytes = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
    let is_it = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
    _mm_movemask_epi8(is_it).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_found_and_nothing_is_passed_over() {
        for length in 0..80 {
            for place in 0..=length {
                let mut text = vec![b'a'; length];
                // Bytes that differ in one bit, and one that comes again.
                text.iter_mut().step_by(3).for_each(|byte| *byte = b'-' ^ 1);
                text[place..]
                    .iter_mut()
                    .step_by(5)
                    .for_each(|byte| *byte = b'-');
                for from in 0..=length + 1 {
                    let rest = text.get(from..).unwrap_or_default();
                    let expected = rest
                        .iter()
                        .position(|&byte| byte == b'-')
                        .map(|at| from + at);
                    match find_near(&text, from, b'-') {
                        Ok(found) => assert_eq!(Some(found), expected, "{length} {place} {from}"),
                        Err(upto) => {
                            assert!(upto >= from.min(length) && upto <= length);
                            assert!(
                                expected.is_none_or(|at| at >= upto),
                                "{length} {place} {from}"
                            );
                            assert!(
                                upto == length
                                    || upto >= from + 16
                                    || cfg!(not(target_arch = "x86_64"))
                            );
                        }
                    }
                }
            }
        }
    }
}
