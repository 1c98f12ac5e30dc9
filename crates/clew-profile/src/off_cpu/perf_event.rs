//! The kernel's context switches of one thread, as it writes them into memory that both see.

use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::process::Tid;

/// Bytes of the ring, a power of two: a hundred switches.
const RING: usize = 512 << 10;
const PAGE: usize = 4096;
/// Bytes of the stack's inner end that come with each switch.
const TOP_BYTES: u32 = 4096;

/// `struct perf_event_attr`, as far as version 5 of it goes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_kind: u32,
    config_1: u64,
    config_2: u64,
    branches: u64,
    registers_user: u64,
    stack_user: u32,
    clock: i32,
    registers_interrupt: u64,
    aux_watermark: u32,
    stack_most: u16,
    reserved: u16,
}

const SOFTWARE: u32 = 1;
const CONTEXT_SWITCHES: u64 = 3;
/// Instruction pointer, thread, time, calls, the user's registers and the end of the stack.
const SAMPLE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 12 | 1 << 13;
const ID_IN_ALL_RECORDS: u64 = 1 << 18;
const NO_KERNEL_CALLS: u64 = 1 << 21;
/// Times are those of the monotonic clock, which is asked for where the capture begins and ends, too.
const BY_CLOCK: u64 = 1 << 25;
const SWITCH_RECORDS: u64 = 1 << 26;
/// Frame pointer, stack pointer and instruction pointer.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(not(target_arch = "x86_64"))]
const REGISTERS: u64 = 1 << 29 | 1 << 31 | 1 << 32;

/// What the kernel tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// The thread is about to leave its processor, and this is where it is: addresses from the inner end on, and words of
    /// the stack's inner end with their address.
    Stack {
        calls: Vec<u64>,
        frame: u64,
        stack: u64,
        code: u64,
        top: &'a [u8],
    },
    /// It has left, at a time in nanoseconds; `runs_on` if it could have gone on.
    Left { at: u64, runs_on: bool },
    /// It has a processor again.
    Came { at: u64 },
    /// So many records had no room.
    Lost(u64),
}

/// The events of a thread. Dropped, the kernel stops.
#[derive(Debug)]
pub(super) struct Events {
    file: libc::c_int,
    memory: *mut u8,
    buffer: Vec<u8>,
}

#[allow(
    unsafe_code,
    reason = "a system call without a wrapper, and memory that the kernel writes into"
)]
impl Events {
    /// # Errors
    /// When the kernel does not permit it, or the thread has ended (`ESRCH`).
    pub(super) fn open(thread: Tid) -> io::Result<Self> {
        let attributes = Attributes {
            kind: SOFTWARE,
            size: u32::try_from(size_of::<Attributes>()).unwrap_or_default(),
            config: CONTEXT_SWITCHES,
            period: 1,
            sample_type: SAMPLE,
            flags: ID_IN_ALL_RECORDS | NO_KERNEL_CALLS | BY_CLOCK | SWITCH_RECORDS,
            registers_user: REGISTERS,
            stack_user: TOP_BYTES,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        // SAFETY: the attributes are valid and of the size that they say.
        let file = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread,
                -1,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        let file = libc::c_int::try_from(file).unwrap_or(-1);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of the file that was opened above.
        let memory = unsafe {
            libc::mmap(
                null_mut(),
                PAGE + RING,
                protection,
                libc::MAP_SHARED,
                file,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            // SAFETY: opened above, and nobody else has it.
            unsafe { libc::close(file) };
            return Err(error);
        }
        Ok(Events {
            file,
            memory: memory.cast(),
            buffer: Vec::new(),
        })
    }

    /// `data_head` and `data_tail` of `struct perf_event_mmap_page`.
    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: it lies within the first page of the mapping.
        let place = unsafe { self.memory.add(at) };
        // SAFETY: the page holds these numbers, aligned, and the kernel changes them atomically.
        unsafe { &*place.cast::<AtomicU64>() }
    }

    /// Hands on what has come since the last time.
    pub(super) fn fetch(&mut self, mut each: impl FnMut(Event<'_>)) {
        let head = self.position(1024).load(Ordering::Acquire);
        let mut tail = self.position(1032).load(Ordering::Relaxed);
        let mut buffer = std::mem::take(&mut self.buffer);
        while tail < head {
            self.copy(tail, 8, &mut buffer);
            let size = u64::from(half(&buffer, 6));
            if size < 8 || tail + size > head {
                break;
            }
            self.copy(tail, size, &mut buffer);
            if let Some(event) = Event::read(&buffer) {
                each(event);
            }
            tail += size;
        }
        self.buffer = buffer;
        self.position(1032).store(head, Ordering::Release);
    }

    fn copy(&self, from: u64, length: u64, to: &mut Vec<u8>) {
        to.clear();
        let from = usize::try_from(from % RING as u64).unwrap_or_default();
        let length = usize::try_from(length).unwrap_or_default();
        let first = length.min(RING - from);
        for (from, length) in [(from, first), (0, length - first)] {
            // SAFETY: it lies within the ring, which the mapping holds behind its first page.
            let place = unsafe { self.memory.add(PAGE + from) };
            // SAFETY: so does the piece, and the kernel writes nothing before the tail has passed it.
            to.extend_from_slice(unsafe { std::slice::from_raw_parts(place, length) });
        }
    }
}

#[allow(unsafe_code, reason = "memory and a file of its own")]
impl Drop for Events {
    fn drop(&mut self) {
        // SAFETY: mapped by `open`, of this length, and nobody refers to it any more.
        unsafe { libc::munmap(self.memory.cast(), PAGE + RING) };
        // SAFETY: opened by `open`, and closed once.
        unsafe { libc::close(self.file) };
    }
}

fn half(bytes: &[u8], at: usize) -> u16 {
    let found = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    found.map_or(0, |bytes| u16::from_ne_bytes(*bytes))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

impl<'a> Event<'a> {
    /// Reads a record with its header.
    fn read(record: &'a [u8]) -> Option<Self> {
        const LOST: u64 = 2;
        const SAMPLED: u64 = 9;
        const SWITCH: u64 = 14;
        let kind = word(record, 0)? & 0xffff_ffff;
        let flags = half(record, 4);
        // Thread and time end each record that is no sample.
        let at = word(record, record.len().checked_sub(8)?)?;
        match kind {
            LOST => Some(Event::Lost(word(record, 16)?)),
            SWITCH if flags & (1 << 13) == 0 => Some(Event::Came { at }),
            SWITCH => Some(Event::Left {
                at,
                runs_on: flags & (1 << 14) != 0,
            }),
            SAMPLED => Self::read_sample(record),
            _ => None,
        }
    }

    fn read_sample(record: &'a [u8]) -> Option<Self> {
        /// Addresses from here on are marks that say whose the next ones are.
        const MARKS: u64 = (-4096_i64).cast_unsigned();
        let count = usize::try_from(word(record, 32)?).ok()?;
        let calls = (0..count).map(|call| word(record, 40 + 8 * call));
        let calls: Vec<u64> = calls.collect::<Option<_>>()?;
        let mut at = 40 + 8 * count;
        let has_registers = word(record, at)? != 0;
        at += 8;
        if !has_registers {
            return None;
        }
        let (frame, stack, code) = (
            word(record, at)?,
            word(record, at + 8)?,
            word(record, at + 16)?,
        );
        at += 24;
        let size = usize::try_from(word(record, at)?).ok()?;
        at += 8;
        let there = match size {
            0 => 0,
            size => usize::try_from(word(record, at + size)?).ok()?.min(size),
        };
        Some(Event::Stack {
            calls: calls.into_iter().filter(|call| *call < MARKS).collect(),
            frame,
            stack,
            code,
            top: record.get(at..at + there)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, flags: u16, words: &[u64]) -> Vec<u8> {
        let size = u16::try_from(8 + 8 * words.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    #[test]
    fn records_are_read_and_cut_ones_are_none() {
        let left = record(14, 1 << 13 | 1 << 14, &[77, 5]);
        assert_eq!(
            Event::read(&left),
            Some(Event::Left {
                at: 5,
                runs_on: true
            })
        );
        assert_eq!(
            Event::read(&record(14, 0, &[77, 6])),
            Some(Event::Came { at: 6 })
        );
        assert_eq!(
            Event::read(&record(2, 0, &[1, 9, 77, 6])),
            Some(Event::Lost(9))
        );
        let user = (-512_i64).cast_unsigned();
        let words = [
            0x10, 77, 5, 2, user, 0x20, 2, 0x300, 0x200, 0x10, 16, 1, 2, 8,
        ];
        let sample = record(9, 0, &words);
        let read = Event::read(&sample).unwrap();
        let Event::Stack {
            calls,
            frame,
            stack,
            code,
            top,
        } = read
        else {
            panic!("{read:?}");
        };
        // The instruction pointer stands in front by itself.
        assert_eq!(
            (calls.as_slice(), frame, stack, code, top.len()),
            (&[0x20][..], 0x300, 0x200, 0x10, 8)
        );
        for length in 0..sample.len() {
            assert_eq!(Event::read(&sample[..length]), None, "{length}");
        }
        assert_eq!(Event::read(&record(1, 0, &[1, 2])), None);
    }
}
