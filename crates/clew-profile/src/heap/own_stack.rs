//! The stack of the calling thread, by its own frame pointers.

use std::cell::Cell;

use crate::process::Maps;
use crate::stack::{Registers, follow};

thread_local! {
    /// Where this thread's stack ends.
    static STACK_END: Cell<u64> = const { Cell::new(0) };
}

/// The calls of this thread, from the allocator outwards; how many.
#[inline(never)]
pub(super) fn own_stack(found: &mut [u64]) -> usize {
    let registers = own_registers();
    if !(registers.stack..STACK_END.get()).contains(&registers.frame) {
        let maps = Maps::read().unwrap_or_default();
        STACK_END.set(maps.find(registers.stack).map_or(0, |found| found.to));
    }
    let end = STACK_END.get();
    follow(registers, found, |frame| {
        let valid = frame >= registers.stack && frame.saturating_add(16) <= end;
        // SAFETY: `follow` asks for aligned addresses, and this one lies between here and the end of this thread's stack.
        #[allow(unsafe_code, reason = "reads the stack")]
        let read = |address: u64| unsafe { (address as *const u64).read_volatile() };
        valid.then(|| (read(frame), read(frame + 8)))
    })
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code, reason = "registers")]
fn own_registers() -> Registers {
    let (frame, stack): (u64, u64);
    // SAFETY: reads two registers.
    unsafe {
        std::arch::asm!("mov {}, rbp", "mov {}, rsp", out(reg) frame, out(reg) stack, options(nomem, nostack, preserves_flags));
    }
    Registers {
        code: 0,
        stack,
        frame,
    }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[allow(unsafe_code, reason = "registers")]
fn own_registers() -> Registers {
    let (frame, stack): (u64, u64);
    // SAFETY: reads two registers.
    unsafe {
        std::arch::asm!("mov {}, x29", "mov {}, sp", out(reg) frame, out(reg) stack, options(nomem, nostack, preserves_flags));
    }
    Registers {
        code: 0,
        stack,
        frame,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn own_registers() -> Registers {
    Registers::default()
}
