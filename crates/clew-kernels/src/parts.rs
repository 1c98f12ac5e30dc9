//! Appending parts of texts, most of them short, to what is put together of them: lines of logs become documents so, and a call
//! of a function that copies takes longer than the copy.

use std::ops::Range;
use std::{mem, ptr};

/// Bytes that are copied at once.
const BLOCK: usize = 32;

/// A buffer while parts are appended to it, whose they are when this is dropped.
///
/// Of a part that is short, and has enough bytes behind its start, a whole block is copied, of which what is too much is no part
/// of the buffer. Where the next part goes and where room ends stand beside the buffer, which is in registers of a loop that
/// appends: a `Vec` is read and written for each part.
#[derive(Debug)]
pub struct Parts<'o> {
    out: &'o mut Vec<u8>,
    /// Where the next part goes: behind what was written, and within the capacity.
    next: *mut u8,
    /// Behind the last byte of the capacity.
    end: *mut u8,
}

impl<'o> Parts<'o> {
    /// A buffer with room for so many bytes more, which may be fewer than come.
    #[inline]
    pub fn new(out: &'o mut Vec<u8>, expected: usize) -> Self {
        out.reserve(expected + BLOCK);
        let (next, end) = room_of(out);
        Parts { out, next, end }
    }

    /// Appends `bytes[part]`.
    ///
    /// # Panics
    /// When the part is none of the bytes.
    #[inline]
    pub fn push(&mut self, bytes: &[u8], part: Range<usize>) {
        // Of a part that ends before it begins this is more than any block.
        let length = part.end.wrapping_sub(part.start);
        if length <= BLOCK
            && let Some(block) = bytes.get(part.start..).and_then(<[u8]>::first_chunk)
            && self.room() >= BLOCK
        {
            let block: &[u8; BLOCK] = block;
            // SAFETY: `next` has room for a block, and nothing else refers to it, as the buffer is borrowed for as long.
            unsafe { ptr::copy_nonoverlapping(block.as_ptr(), self.next, BLOCK) };
            // SAFETY: the part is no longer than a block, which is within the capacity.
            self.next = unsafe { self.next.add(length) };
        } else {
            self.push_whole(&bytes[part]);
        }
    }

    /// Lets something else append to the buffer.
    #[inline]
    pub fn with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.settle();
        // Where that panics there is no room that this knows of.
        let mut out = mem::take(self.out);
        (self.next, self.end) = room_of(self.out);
        write(&mut out);
        *self.out = out;
        (self.next, self.end) = room_of(self.out);
    }

    /// Appends these bytes and no others.
    #[inline]
    fn push_whole(&mut self, bytes: &[u8]) {
        if self.room() < bytes.len() {
            self.settle();
            (self.next, self.end) = grow(self.out, bytes.len());
        }
        // SAFETY: `next` has room for so many, and nothing else refers to it, as the buffer is borrowed for as long.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.next, bytes.len()) };
        // SAFETY: so many are within the capacity.
        self.next = unsafe { self.next.add(bytes.len()) };
    }

    /// Bytes that there is room for.
    #[inline]
    fn room(&self) -> usize {
        self.end.addr() - self.next.addr()
    }

    /// Makes what was appended the buffer's.
    #[inline]
    fn settle(&mut self) {
        let length = self.out.capacity() - self.room();
        // SAFETY: what is in front of `next` is within the capacity, and was written, by the buffer's owner or here.
        unsafe { self.out.set_len(length) };
    }
}

impl Drop for Parts<'_> {
    #[inline]
    fn drop(&mut self) {
        self.settle();
    }
}

/// Where room begins, and where it ends.
#[inline]
fn room_of(out: &mut Vec<u8>) -> (*mut u8, *mut u8) {
    let Range { start, end } = out.spare_capacity_mut().as_mut_ptr_range();
    (start.cast(), end.cast())
}

/// Makes room for so many bytes and for what comes behind them.
#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u8>, bytes: usize) -> (*mut u8, *mut u8) {
    out.reserve(bytes + BLOCK);
    room_of(out)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn parts_of_every_length_are_appended_wherever_they_stand_and_whatever_room_there_is() {
        let bytes: Vec<u8> = (0..120).collect();
        for start in 0..bytes.len() {
            for end in start..=bytes.len() {
                for room in [0, 1, 7, 31, 32, 33, 200] {
                    let mut out = b"abc".to_vec();
                    let mut parts = Parts::new(&mut out, room);
                    parts.push(&bytes, start..end);
                    parts.push(&bytes, 5..7);
                    parts.with(|out| out.push(8));
                    parts.push(&bytes, start..end);
                    drop(parts);
                    let part = &bytes[start..end];
                    let expected = [b"abc", part, &[5, 6, 8], part].concat();
                    assert_eq!(out, expected, "{start}..{end} {room}");
                    Parts::new(&mut out, 0).push(&bytes, start..end);
                    assert_eq!(out, [&expected, part].concat(), "{start}..{end} {room}");
                }
            }
        }
    }

    #[test]
    fn what_panics_while_it_appends_leaves_nothing_that_was_not_written() {
        let mut out = b"abc".to_vec();
        let mut parts = Parts::new(&mut out, 0);
        let write = |out: &mut Vec<u8>| {
            out.reserve(10_000);
            panic!("no more of it");
        };
        catch_unwind(AssertUnwindSafe(|| parts.with(write))).unwrap_err();
        drop(parts);
        assert_eq!(out, b"");
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_part_that_is_not_there_is_refused() {
        Parts::new(&mut Vec::new(), 0).push(&[0; 40], 20..41);
    }
}
