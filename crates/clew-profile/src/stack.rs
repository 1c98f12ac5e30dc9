//! From registers and the words of a stack to the addresses of its calls, by frame pointers.
//!
//! Code that keeps no frame pointers, the system's C library, is only ever at the inner end of a stack: the first word of the
//! stack which follows a call of our own code tells who called it.

use crate::process::{Maps, Memory};

/// The longest stack that is kept, in calls; what is further out is left off.
pub(crate) const DEPTH_MAX: usize = 127;
/// How many words of a stack's inner end are looked through for the caller of a function without a frame pointer.
pub(crate) const TOP_WORDS: usize = 64;
/// So many frames of functions that have returned are looked for within the words of the innermost one.
const LEFT_OVER_MAX: usize = 4;
/// Nearly all functions are shorter. Within longer ones such frames stay: neighbours must not pass for one function.
const FUNCTION_BYTES_MAX: u64 = 1 << 12;

/// What the processor held when a thread was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) code: u64,
    pub(crate) stack: u64,
    pub(crate) frame: u64,
}

/// Follows frame pointers outwards; how many return addresses were found. `read` gives the frame that a pointer leads to: where
/// the next one stands, and the address that is returned to. The chain ends where `read` says so, or does not lead outwards.
#[inline]
pub(crate) fn follow(
    registers: Registers,
    found: &mut [u64],
    mut read: impl FnMut(u64) -> Option<(u64, u64)>,
) -> usize {
    let (mut frame, mut least, mut depth) = (registers.frame, registers.stack, 0);
    while let Some(place) = found.get_mut(depth) {
        if frame < least || frame % 8 != 0 {
            break;
        }
        let Some((next, back)) = read(frame) else {
            break;
        };
        if back == 0 {
            break;
        }
        *place = back;
        depth += 1;
        least = frame.saturating_add(16);
        frame = next;
    }
    depth
}

/// What is code, and which of it is the program's own.
#[derive(Debug)]
pub(crate) struct Code {
    maps: Maps,
    own: std::ops::Range<u64>,
    memory: Memory,
}

impl Code {
    pub(crate) fn read() -> Result<Self, crate::ProfileError> {
        let maps = Maps::read()?;
        let marker = (follow_marker as fn()) as usize as u64;
        let own = maps.find(marker).map_or(0..0, |found| found.from..found.to);
        let memory = Memory::open()?;
        Ok(Code { maps, own, memory })
    }

    /// Whether this is the program's own code, which keeps frame pointers.
    pub(crate) fn is_own(&self, address: u64) -> bool {
        self.own.contains(&address)
    }

    pub(crate) fn own(&self) -> std::ops::Range<u64> {
        self.own.clone()
    }

    pub(crate) fn maps(&self) -> &Maps {
        &self.maps
    }

    /// Whether a call lies just before this address of our own code, as before every address that is returned to.
    fn follows_call(&self, address: u64) -> bool {
        self.before(address).is_some_and(is_call)
    }

    /// What lies just before an address of our own code.
    fn before(&self, address: u64) -> Option<[u8; 8]> {
        let reach = self.own.start + 16..self.own.end;
        let from = reach.contains(&address).then(|| address - 8)?;
        self.word(from).map(u64::to_ne_bytes)
    }

    fn word(&self, address: u64) -> Option<u64> {
        let (mut words, mut bytes) = ([0; 1], Vec::new());
        let read = self.memory.read(address, &mut words, &mut bytes);
        (read == 1).then_some(words[0])
    }

    /// Where the call just before an address of our own code leads to, where that is told by nothing that a thread holds.
    #[cfg(target_arch = "x86_64")]
    fn called(&self, back: u64) -> Option<u64> {
        let [_, _, first, second, distance @ ..] = self.before(back)?;
        let place = back.wrapping_add_signed(i64::from(i32::from_le_bytes(distance)));
        match (first, second) {
            (_, 0xe8) => Some(place),
            // By way of the linker's table.
            (0xff, 0x15) => self.word(place),
            _ => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn called(&self, _: u64) -> Option<u64> {
        None
    }

    /// The whole stack, the innermost first: what was executed, whoever called it although it kept no frame pointer, and the
    /// calls outwards, as far as they are code. `top` are words of the stack from its inner end on, not beyond the first frame.
    pub(crate) fn join(&self, code: u64, top: &[u64], chain: &[u64]) -> Vec<u64> {
        let mut stack = Vec::with_capacity(chain.len() + 2);
        stack.push(code);
        let caller = match self.is_own(code) {
            // Only at its first instruction, or at its last, has one of our own no frame.
            true => self.frameless_caller(code, top),
            false => top.iter().copied().find(|word| self.follows_call(*word)),
        };
        if let Some(caller) = caller
            && chain.first() != Some(&caller)
        {
            stack.push(caller);
        }
        let valid = chain
            .iter()
            .take_while(|address| self.maps.is_code(**address));
        stack.extend(valid);
        stack
    }

    /// The caller of one of our own functions that has just begun, or is about to return.
    fn frameless_caller(&self, code: u64, top: &[u64]) -> Option<u64> {
        let place = Frameless::at(&self.word(code)?.to_ne_bytes())?;
        let caller = *top.get(place as usize)?;
        self.follows_call(caller).then_some(caller)
    }

    /// The stack of a thread that stands still, whose frame pointer is not known: the caller of what it is in, then the first
    /// words of its stack that are a chain of frames.
    pub(crate) fn scan(&self, code: u64, stack: u64, words: &[u64]) -> Vec<u64> {
        let chain = (0..words.len()).find_map(|at| self.chain_at(stack, words, at));
        let (first, chain) = chain.unwrap_or((words.len(), Vec::new()));
        // The frame itself may hold what looks like a return: only what is further in.
        let top = words.get(..first.min(TOP_WORDS)).unwrap_or_default();
        self.without_left_over(self.join(code, top, &chain))
    }

    /// A stack without frames of functions that have returned: where one was called from the same place as the innermost, what it
    /// pushed may lie among words that the innermost has not written, and looks as if it had called it.
    fn without_left_over(&self, mut stack: Vec<u64>) -> Vec<u64> {
        let Some(inner) = stack.iter().position(|address| self.is_own(*address)) else {
            return stack;
        };
        let mut places = stack.iter().skip(inner).copied();
        let Some(place) = places.next() else {
            return stack;
        };
        let called = places.take(LEFT_OVER_MAX + 1);
        let count = left_over(place, called.map(|back| self.called(back)));
        stack.drain(inner + 1..inner + 1 + count);
        stack
    }

    /// Where a chain of at least two frames of our own code begins, and its return addresses.
    fn chain_at(&self, stack: u64, words: &[u64], at: usize) -> Option<(usize, Vec<u64>)> {
        let end = stack + 8 * words.len() as u64;
        let (next, back) = (*words.get(at)?, *words.get(at + 1)?);
        let here = stack + 8 * at as u64;
        if next <= here || next >= end.saturating_sub(16) || !self.follows_call(back) {
            return None;
        }
        let mut found = [0; DEPTH_MAX];
        let registers = Registers {
            code: 0,
            stack: here,
            frame: here,
        };
        let depth = follow(registers, &mut found, |frame| {
            self.frame(stack, words, frame)
        });
        let found = found.get(..depth)?;
        let second = found.get(1).is_some_and(|back| self.maps.is_code(*back));
        second.then(|| (at, found.to_vec()))
    }

    /// A frame, from the words at hand or from memory beyond them.
    fn frame(&self, stack: u64, words: &[u64], frame: u64) -> Option<(u64, u64)> {
        let at = usize::try_from(frame.checked_sub(stack)? / 8).ok()?;
        if let (Some(next), Some(back)) = (words.get(at), words.get(at + 1)) {
            return Some((*next, *back));
        }
        let (mut pair, mut bytes) = ([0; 2], Vec::new());
        let read = self.memory.read(frame, &mut pair, &mut bytes);
        (read == 2).then_some((pair[0], pair[1]))
    }
}

/// How many calls, the innermost first, led elsewhere than to the function in which `place` is, before one that led there; none
/// where no such comes, or where it is not known of one where it led.
fn left_over(place: u64, called: impl IntoIterator<Item = Option<u64>>) -> usize {
    for (count, target) in called.into_iter().enumerate() {
        match target.map(|target| place.checked_sub(target)) {
            None => break,
            Some(Some(0..FUNCTION_BYTES_MAX)) => return count,
            Some(_) => {}
        }
    }
    0
}

/// A place of the program's own code.
fn follow_marker() {}

/// How far from the end of the stack the return address of a function lies that has no frame yet, or no more.
#[derive(Clone, Copy)]
enum Frameless {
    /// The frame pointer is about to be pushed, or the return comes next.
    Next = 0,
    /// It has been pushed, and not taken over.
    Pushed = 1,
}

#[cfg(target_arch = "x86_64")]
impl Frameless {
    fn at(code: &[u8]) -> Option<Self> {
        match code {
            [0x55, 0x48, 0x89, 0xe5, ..] | [0xc3, ..] => Some(Frameless::Next),
            [0x48, 0x89, 0xe5, ..] => Some(Frameless::Pushed),
            _ => None,
        }
    }
}

/// Whether the last of these bytes end a call.
#[cfg(target_arch = "x86_64")]
fn is_call(before: [u8; 8]) -> bool {
    let indirect = |length: usize| {
        let code = before.get(8 - length..).unwrap_or_default();
        let code = match code {
            [0x40..=0x4f, rest @ ..] if length > 2 => rest,
            code => code,
        };
        matches!(code, [0xff, mode, ..] if (mode >> 3) & 7 == 2)
    };
    before[3] == 0xe8 || [2, 3, 4, 6, 7].into_iter().any(indirect)
}

// There a call leaves its return address in a register, which a function that keeps frames puts beside the frame pointer.
#[cfg(not(target_arch = "x86_64"))]
impl Frameless {
    fn at(_: &[u8]) -> Option<Self> {
        None
    }
}

/// Whether the last of these bytes are `bl` or `blr`.
#[cfg(not(target_arch = "x86_64"))]
fn is_call(before: [u8; 8]) -> bool {
    let [.., a, b, c, d] = before;
    let code = u32::from_le_bytes([a, b, c, d]);
    code & 0xfc00_0000 == 0x9400_0000 || code & 0xffff_fc1f == 0xd63f_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_end_where_they_do_not_lead_outwards() {
        // Frames at 100, 200 and 300, of which the last leads back.
        let frames = |at: u64| match at {
            104 => Some((200, 1)),
            200 => Some((304, 2)),
            304 => Some((104, 3)),
            _ => None,
        };
        let registers = |frame| Registers {
            code: 0,
            stack: 96,
            frame,
        };
        let mut found = [0; 8];
        assert_eq!(follow(registers(104), &mut found, frames), 3);
        assert_eq!(found[..3], [1, 2, 3]);
        assert_eq!(follow(registers(104), &mut found[..2], frames), 2);
        for nowhere in [0, 88, 105, 400] {
            assert_eq!(follow(registers(nowhere), &mut found, frames), 0);
        }
    }

    #[test]
    fn who_called_somebody_else_is_left_over_where_somebody_further_out_called_it() {
        let (here, elsewhere, nearby) = (Some(0x5000), Some(0x4000), Some(0x5100));
        for (called, count) in [
            (vec![here, elsewhere], 0),
            (vec![elsewhere, here], 1),
            (vec![nearby, elsewhere, here, here], 2),
            // It was not called but jumped to, or nobody knows.
            (vec![elsewhere, elsewhere], 0),
            (vec![elsewhere, None, here], 0),
            (vec![None, here], 0),
            (vec![], 0),
        ] {
            assert_eq!(left_over(0x5080, called.clone()), count, "{called:x?}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    fn is_called() {
        std::hint::black_box(7351);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    fn calls() {
        is_called();
        std::hint::black_box(1537);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn calls_tell_where_they_lead() {
        let code = Code::read().unwrap();
        let (from, to) = (calls as fn(), is_called as fn());
        let (from, to) = (from as usize as u64, to as usize as u64);
        assert!((from..from + 64).any(|back| code.called(back) == Some(to)));
        calls();
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn calls_are_known_by_their_bytes() {
        let calls: [&[u8]; 5] = [
            &[0xe8, 1, 2, 3, 4],
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd3],
            &[0xff, 0x50, 0x18],
            &[0xff, 0x15, 1, 2, 3, 4],
        ];
        for call in calls {
            let mut before = [0x90; 8];
            before[8 - call.len()..].copy_from_slice(call);
            assert!(is_call(before), "{call:x?}");
        }
        assert!(!is_call([0x90; 8]) && !is_call([0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3]));
    }
}
