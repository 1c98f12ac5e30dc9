//! Appending parts of texts, most of them short, to what is put together of them: lines of logs become documents so, and a call
//! of a function that copies takes longer than the copy.

use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes that are copied at once.
const BLOCK: usize = 32;

/// Appends `bytes[part]`. Where the part is short, there are enough bytes behind its start, and there is enough room, a whole
/// block is copied, of which what is too much is no part of `out`.
///
/// # Panics
/// When the part is none of the bytes.
#[inline]
pub fn push_part(out: &mut Vec<u8>, bytes: &[u8], part: Range<usize>) {
    // Of a part that ends before it begins this is more than any block.
    let length = part.end.wrapping_sub(part.start);
    if length <= BLOCK
        && let Some(block) = bytes.get(part.start..).and_then(<[u8]>::first_chunk)
        && let Some(room) = out.spare_capacity_mut().first_chunk_mut()
    {
        let (block, room): (&[u8; BLOCK], &mut [MaybeUninit<u8>; BLOCK]) = (block, room);
        room.write_copy_of_slice(block);
        // SAFETY: so many bytes behind those that were there were just written, and are within the capacity.
        unsafe { out.set_len(out.len() + length) };
        return;
    }
    push_ends(out, &bytes[part]);
}

/// The same near the end of the bytes, where short parts are copied as their first and their last bytes, which may be the same.
#[inline]
fn push_ends(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = bytes.len();
    if let Some(room) = out.spare_capacity_mut().get_mut(..length)
        && match length {
            16..=32 => copy_ends::<16>(room, bytes),
            8..=15 => copy_ends::<8>(room, bytes),
            4..=7 => copy_ends::<4>(room, bytes),
            _ => false,
        }
    {
        // SAFETY: so many bytes behind those that were there were just written, and are within the capacity.
        unsafe { out.set_len(out.len() + length) };
        return;
    }
    push_long(out, bytes);
}

/// Copies the first `N` bytes and the last; tells whether there are so many. Of at most twice as many this is all.
#[inline]
fn copy_ends<const N: usize>(room: &mut [MaybeUninit<u8>], bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else {
        return false;
    };
    let Some(start) = room.first_chunk_mut::<N>() else {
        return false;
    };
    start.write_copy_of_slice(first);
    let Some(end) = room.last_chunk_mut::<N>() else {
        return false;
    };
    end.write_copy_of_slice(last);
    true
}

/// The same for what is long, or where there is no room: with room for what comes next.
#[inline(never)]
fn push_long(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() + BLOCK);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_every_length_are_appended_wherever_they_stand_and_whatever_room_there_is() {
        let bytes: Vec<u8> = (0..120).collect();
        for start in 0..bytes.len() {
            for end in start..=bytes.len() {
                for room in [0, 1, 7, 31, 32, 33, 200] {
                    let mut out = Vec::with_capacity(3 + room);
                    out.extend_from_slice(b"abc");
                    push_part(&mut out, &bytes, start..end);
                    push_part(&mut out, &bytes, 5..7);
                    let expected = [b"abc", &bytes[start..end], &[5, 6]].concat();
                    assert_eq!(out, expected, "{start}..{end} {room}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_part_that_is_not_there_is_refused() {
        push_part(&mut Vec::with_capacity(64), &[0; 40], 20..41);
    }
}
