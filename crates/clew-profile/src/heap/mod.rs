//! What has been allocated, and is still in use, by stack: an allocation is noted for each 512 KiB on the average, at random
//! intervals, so that every byte has the same chance (a Poisson process, as tcmalloc and Go sample).
//!
//! An allocation that is noted begins at a page or is large, and such are looked up when they are freed, unless none that is
//! noted shares a slot of a small table with them: that test of an address, and counting down on the way in, is all that the
//! others cost.

mod own_stack;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;

use self::own_stack::own_stack;
use crate::ProfileError;
use crate::profile::{Profile, ProfileKind};
use crate::stack::DEPTH_MAX;
use crate::symbols::Stacks;

/// Bytes between two samples, on the average.
const INTERVAL: f64 = 524_288.0;
const PAGE: usize = 4096;
/// Allocations of so many bytes are looked up when they are freed, wherever they begin: moving one to a page while it grows would
/// copy it, which the allocator itself often need not.
const LARGE: usize = 64 << 10;
/// Different stacks that are kept; what comes in others is counted together.
const STACKS_MAX: usize = 65_536;
/// Sampled allocations in use: of some 64 GiB.
const LIVE_MAX: usize = 131_072;

static ENABLED: AtomicBool = AtomicBool::new(false);
/// A number for each thread to begin with.
static SEED: AtomicU64 = AtomicU64::new(0x2545_f491_4f6c_dd1d);
static HEAP: Mutex<Option<Heap>> = Mutex::new(None);
/// Allocations in use that are noted, by the pages that they begin in.
static SLOTS: [AtomicU8; 1 << 15] = [const { AtomicU8::new(0) }; 1 << 15];

/// The slot of an address. What has once been counted to the last number stays there.
fn slot(address: usize) -> &'static AtomicU8 {
    let page = address / PAGE;
    &SLOTS[(page ^ (page >> 15)) % SLOTS.len()]
}

thread_local! {
    /// Bytes until the next sample.
    static LEFT: Cell<i64> = const { Cell::new(0) };
    /// 0 before the first was drawn.
    static RANDOM: Cell<u64> = const { Cell::new(0) };
    /// This thread is at work in here: what it allocates and frees is its own affair.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// An allocator that notes who allocates, once [`SamplingAllocator::start`] was called. Until then, and for what is not
/// sampled, an allocation and a release cost an instruction or two more each.
#[derive(Debug)]
pub struct SamplingAllocator<A>(pub A);

impl<A> SamplingAllocator<A> {
    /// From now on allocations are sampled, a microsecond for each 512 KiB.
    pub fn start(&self) {
        HEAP.lock().get_or_insert_default();
        ENABLED.store(true, Ordering::Release);
    }
}

#[derive(Debug, Default)]
struct Heap {
    numbers: HashMap<Box<[u64]>, usize>,
    stacks: Vec<Sums>,
    live: HashMap<usize, Live>,
    /// Samples that had no room.
    lost: u64,
}

/// Of one stack, as many as the samples stand for.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    allocated: f64,
    allocated_bytes: f64,
    freed: f64,
    freed_bytes: f64,
}

/// An allocation that was sampled and is in use.
#[derive(Clone, Copy, Debug)]
struct Live {
    stack: usize,
    /// As it was asked for.
    layout: Layout,
}

/// How many allocations of this size one sample stands for.
fn weight(size: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    let chance = 1.0 - (-(size as f64) / INTERVAL).exp();
    1.0 / chance.max(1e-9)
}

impl Heap {
    fn note(&mut self, address: usize, layout: Layout, stack: &[u64]) {
        let number = match self.numbers.get(stack) {
            Some(number) => *number,
            None => {
                let number = self.stacks.len();
                self.stacks.push(Sums::default());
                self.numbers.insert(stack.into(), number);
                number
            }
        };
        if let Some(sums) = self.stacks.get_mut(number) {
            let weight = weight(layout.size());
            sums.allocated += weight;
            #[allow(clippy::cast_precision_loss, reason = "an estimate")]
            let bytes = weight * layout.size() as f64;
            sums.allocated_bytes += bytes;
        }
        let live = Live {
            stack: number,
            layout,
        };
        self.live.insert(address, live);
        let _ = slot(address).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            count.checked_add(1)
        });
    }

    /// Whether one more can be noted; else it is counted as lost.
    fn has_room() -> bool {
        let mut heap = HEAP.lock();
        let Some(heap) = heap.as_mut() else {
            return false;
        };
        let has_room = heap.live.len() < LIVE_MAX && heap.stacks.len() < STACKS_MAX;
        heap.lost += u64::from(!has_room);
        has_room
    }

    fn free(&mut self, address: usize) -> Option<Live> {
        let live = self.live.remove(&address)?;
        let _ = slot(address).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            (count != u8::MAX).then(|| count.saturating_sub(1))
        });
        if let Some(sums) = self.stacks.get_mut(live.stack) {
            let size = live.layout.size();
            let weight = weight(size);
            sums.freed += weight;
            #[allow(clippy::cast_precision_loss, reason = "an estimate")]
            let bytes = weight * size as f64;
            sums.freed_bytes += bytes;
        }
        Some(live)
    }
}

/// A thread in here.
struct Inside;

impl Inside {
    /// None when it is already.
    fn enter() -> Option<Self> {
        (!INSIDE.replace(true)).then(|| Inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Counts bytes down; whether a sample is due.
#[inline]
fn is_due(size: usize) -> bool {
    let left = LEFT.get().wrapping_sub_unsigned(size as u64);
    LEFT.set(left);
    left < 0
}

/// Draws when the next sample is due; whether the one at hand is one.
#[cold]
fn draw() -> bool {
    let mut random = RANDOM.get();
    let first = random == 0;
    if first {
        random = SEED.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed) | 1;
    }
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    RANDOM.set(random);
    #[allow(clippy::cast_precision_loss, reason = "a number between 0 and 1")]
    let uniform = ((random >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "some hundred thousand bytes"
    )]
    LEFT.set((-uniform.ln() * INTERVAL) as i64);
    !first && ENABLED.load(Ordering::Acquire)
}

#[allow(unsafe_code, reason = "an allocator")]
impl<A: GlobalAlloc> SamplingAllocator<A> {
    /// An allocation that is noted, if one is due; `None` where it is not or cannot be.
    #[inline(never)]
    fn sampled(&self, layout: Layout, zeroed: bool) -> Option<*mut u8> {
        if !draw() {
            return None;
        }
        self.noted(layout, zeroed)
    }

    /// An allocation that is noted; `None` where it cannot be.
    fn noted(&self, layout: Layout, zeroed: bool) -> Option<*mut u8> {
        let _inside = Inside::enter()?;
        let layout = match layout.size() {
            LARGE.. => layout,
            _ => layout.align_to(PAGE).ok()?,
        };
        if !Heap::has_room() {
            return None;
        }
        let pointer = match zeroed {
            // SAFETY: the caller's promise is passed on; a larger alignment satisfies it.
            true => unsafe { self.0.alloc_zeroed(layout) },
            // SAFETY: likewise.
            false => unsafe { self.0.alloc(layout) },
        };
        if !pointer.is_null() {
            note(pointer, layout);
        }
        Some(pointer)
    }

    /// Gives an allocation that was noted, or is to be, another size. It stays noted: with each growth it had its chance, and
    /// so the whole of it had the chance of its size.
    ///
    /// # Safety
    /// As for [`GlobalAlloc::realloc`].
    #[inline(never)]
    unsafe fn realloc_noted(
        &self,
        pointer: *mut u8,
        layout: Layout,
        size: usize,
        due: bool,
    ) -> *mut u8 {
        let has_room = || Inside::enter().is_some_and(|_inside| Heap::has_room());
        let due = due && draw() && has_room();
        let live = may_be_noted(pointer, layout.size())
            .then(|| taken(pointer))
            .flatten();
        let held = live.map_or(layout, |live| live.layout);
        let is_to_be_noted = due || live.is_some();
        if !is_to_be_noted || size >= LARGE && held.align() == layout.align() {
            // SAFETY: the caller's promise is passed on; it was allocated with this very layout.
            let new = unsafe { self.0.realloc(pointer, layout, size) };
            let kept = match new.is_null() {
                true => (pointer, held.size()),
                false => (new, size),
            };
            if is_to_be_noted
                && let Ok(layout) = Layout::from_size_align(kept.1, layout.align())
                && let Some(_inside) = Inside::enter()
            {
                note(kept.0, layout);
            }
            return new;
        }
        // SAFETY: the caller promises that the new size is valid with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not zero, as the caller promises.
        let new = self
            .noted(wanted, false)
            .unwrap_or_else(|| unsafe { self.0.alloc(wanted) });
        if !new.is_null() {
            let length = size.min(layout.size());
            // SAFETY: both have this length, and the new one is nobody else's.
            unsafe { std::ptr::copy_nonoverlapping(pointer, new, length) };
            // SAFETY: the caller gives the old one up; this is the layout that it was allocated with.
            unsafe { self.0.dealloc(pointer, held) };
        } else if live.is_some()
            && let Some(_inside) = Inside::enter()
        {
            note(pointer, held);
        }
        new
    }
}

/// Notes an allocation; in here.
fn note(pointer: *mut u8, layout: Layout) {
    let mut found = [0; DEPTH_MAX];
    let depth = own_stack(&mut found);
    if let (Some(heap), Some(stack)) = (HEAP.lock().as_mut(), found.get(..depth)) {
        heap.note(pointer.addr(), layout, stack);
    }
}

/// What was noted of an allocation that is freed.
#[inline(never)]
fn taken(pointer: *mut u8) -> Option<Live> {
    let _inside = Inside::enter()?;
    HEAP.lock().as_mut()?.free(pointer.addr())
}

/// May have been noted: those begin at a page, or are large. Who frees an allocation knows of it from the thread that made it,
/// and so sees its slot as that left it.
#[inline]
fn may_be_noted(pointer: *mut u8, size: usize) -> bool {
    (size >= LARGE || pointer.addr().is_multiple_of(PAGE))
        && slot(pointer.addr()).load(Ordering::Relaxed) != 0
}

// SAFETY: every method hands its arguments to the wrapped allocator, which keeps the contract, or asks it for more alignment than
// is needed; what was asked for that way is given back that way.
#[allow(unsafe_code, reason = "allocators are unsafe by contract")]
unsafe impl<A: GlobalAlloc> GlobalAlloc for SamplingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_due(layout.size())
            && let Some(pointer) = self.sampled(layout, false)
        {
            return pointer;
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_due(layout.size())
            && let Some(pointer) = self.sampled(layout, true)
        {
            return pointer;
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let mut layout = layout;
        if may_be_noted(pointer, layout.size())
            && let Some(live) = taken(pointer)
        {
            layout = live.layout;
        }
        // SAFETY: the caller's promise is passed on; the pointer came from the same allocator with this layout.
        unsafe { self.0.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let due = is_due(size.saturating_sub(layout.size()));
        if !due && !may_be_noted(pointer, layout.size()) {
            // SAFETY: the caller's promise is passed on; it was allocated with this very layout.
            return unsafe { self.0.realloc(pointer, layout, size) };
        }
        // SAFETY: likewise.
        unsafe { self.realloc_noted(pointer, layout, size, due) }
    }
}

/// What has been allocated since sampling began and what is in use, by stack.
///
/// # Errors
/// When the program's allocator does not sample.
pub fn heap() -> Result<Profile, ProfileError> {
    let (stacks, lost) = {
        let _inside = Inside::enter();
        let heap = HEAP.lock();
        let heap = heap.as_ref().ok_or(ProfileError::NoSampling)?;
        let mut stacks = Stacks::new();
        let unnamed: Arc<str> = Arc::from("");
        #[allow(
            clippy::cast_possible_truncation,
            reason = "counts and bytes of one machine"
        )]
        let rounded = |value: f64| value.round() as i64;
        for (stack, number) in &heap.numbers {
            let sums = heap.stacks.get(*number).copied().unwrap_or_default();
            let values = [
                sums.allocated,
                sums.allocated_bytes,
                sums.allocated - sums.freed,
                sums.allocated_bytes - sums.freed_bytes,
            ];
            stacks.add(&unnamed, stack.to_vec(), &values.map(rounded));
        }
        (stacks, heap.lost)
    };
    let mut profile = stacks.resolve(ProfileKind::Heap)?;
    const OF_ALLOCATORS: [&str; 4] = [
        "clew_profile::heap::",
        "clew_platform::counting::",
        "Allocator<",
        "__rust",
    ];
    profile.leave_out_inner(|name| OF_ALLOCATORS.iter().any(|part| name.contains(part)));
    profile.began = SystemTime::now();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a constant"
    )]
    let interval = INTERVAL as u64;
    profile.period = interval;
    profile
        .comments
        .push("allocations, sampled once for each 512 KiB".to_string());
    if lost > 0 {
        profile.comments.push(format!("{lost} samples had no room"));
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use std::alloc::System;

    use super::*;

    #[global_allocator]
    static ALLOCATOR: SamplingAllocator<System> = SamplingAllocator(System);

    #[inline(never)]
    fn keeps(count: usize) -> Vec<Vec<u8>> {
        let kept = (0..count)
            .map(|_| std::hint::black_box(vec![1; 10_000]))
            .collect();
        std::hint::black_box(kept)
    }

    #[inline(never)]
    fn lets_go(count: usize) {
        for _ in 0..count {
            std::hint::black_box(vec![1_u8; 50_000]);
        }
    }

    fn of(profile: &Profile, function: &str, value: &str) -> f64 {
        let value = profile.value(value).unwrap();
        #[allow(clippy::cast_precision_loss, reason = "an estimate")]
        let within = profile.share_of(value, |name| name.contains(function)).1 as f64;
        within
    }

    #[test]
    fn estimates_are_near_what_was_allocated() {
        ALLOCATOR.start();
        let kept = keeps(20_000);
        lets_go(8_000);
        let mut grown: Vec<u64> = Vec::new();
        for number in 0..3_000_000 {
            grown.push(number);
        }
        assert!(grown.iter().copied().eq(0..3_000_000));
        let profile = heap().unwrap();
        // 381 samples of each: six times their error.
        let near = |found: f64, truth: f64| {
            assert!((found / truth - 1.0).abs() < 0.3, "{found} of {truth}")
        };
        near(of(&profile, "keeps", "inuse_space"), 2e8);
        near(of(&profile, "keeps", "alloc_objects"), 20_000.0);
        near(of(&profile, "lets_go", "alloc_space"), 4e8);
        assert!(of(&profile, "lets_go", "inuse_space") < 1e7);
        drop(kept);
        assert!(of(&heap().unwrap(), "keeps", "inuse_space") < 1e6);
    }

    #[test]
    fn memory_is_as_it_was_asked_for() {
        ALLOCATOR.start();
        for size in [1, 100, 5_000, 300_000, 3_000_000] {
            for _ in 0..20 {
                let mut zeros = std::hint::black_box(vec![0_u8; size]);
                assert!(zeros.iter().all(|byte| *byte == 0));
                zeros.fill(7);
                zeros.reserve_exact(size);
                assert!(zeros.iter().all(|byte| *byte == 7));
                zeros.shrink_to(size / 2);
                assert!(zeros.len() == size && zeros.iter().all(|byte| *byte == 7));
            }
        }
    }
}
