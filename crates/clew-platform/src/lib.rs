//! The world as the rest of Clew sees it: disk, clock and memory maps, each real and simulated,
//! so that one seed replays one run; whether anybody still waits for what is being done; hashes, and chance from a seed,
//! that every build makes alike.
//!
//! ```
//! use std::path::Path;
//!
//! use clew_platform::{Disk, SimDisk};
//!
//! # fn main() -> std::io::Result<()> {
//! let disk = SimDisk::new();
//! disk.create_dir_all_durable(Path::new("/data"))?;
//! disk.write_atomic(Path::new("/data/kept"), b"durable")?;
//! // What a power cut leaves, as the seed decides.
//! let after = disk.crashed(7);
//! assert_eq!(after.read(Path::new("/data/kept"))?, b"durable");
//! # Ok(())
//! # }
//! ```
//!
//! Deliberately absent: anything that knows what the bytes mean.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod advice;

mod allocator;

mod account;

mod clock;

mod cancellation;

mod counting;

mod defects;

mod disk;

mod kept_ready;

mod memory;

mod peak;

mod random;

mod regular_file;

mod real_disk;

mod sim_disk;

mod sorting;

mod stable_hash;

mod task;

mod workers;

pub use account::{
    MemoryAccount, MemoryExceeded, MemoryFigures, MemoryLimits, MemoryPurpose, MemoryScope,
    Reservation,
};
pub use advice::{advise_random, bring_in, brought_in};
pub use allocator::{Mimalloc, give_back_freed};
pub use cancellation::{
    CancellationToken, Entered, Pace, Scoped, Stop, book, book_for_a_while, overdue, stopped,
};
pub use clock::{
    Clock, FixedClock, RealClock, process_cpu_time, thread_cpu_time, whole_ms, whole_ns,
};
pub use counting::{CountingAllocator, thread_allocations};
pub use defects::{Panicked, caught};
pub use disk::{Disk, DiskFile, DiskSpace, GrowingMap, Mapped, TEMPORARY_SUFFIX};
pub use kept_ready::KeptReady;
pub use memory::memory_bytes;
pub use peak::{PeakAllocator, live_bytes, peak_bytes, restart_peak};
pub use random::{SplitMix, mixed_bits};
pub use real_disk::RealDisk;
pub use regular_file::open_regular;
pub use sim_disk::SimDisk;
pub use sorting::{sorted_while, sorted_while_wanted};
pub use stable_hash::{FNV1A_64, crc32, fnv1a_32, fnv1a_64, java_hash, murmur3_32};
pub use task::{Task, give_way, run_in_background};
pub use workers::{Work, Workers};
