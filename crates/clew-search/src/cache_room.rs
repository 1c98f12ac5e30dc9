//! How large the caches may be. Their bounds are for machines with much memory; where there is less, they are less in
//! proportion.

use std::sync::OnceLock;

/// From so much memory on caches have their whole size.
const WHOLE_AT_BYTES: u64 = 8 << 30;
/// In so many parts a bound is cut.
const PARTS: usize = 64;

static PARTS_KEPT: OnceLock<usize> = OnceLock::new();

/// Sizes the process' caches, and what analysis may make of texts, for a machine, or a container, with so much memory. The first
/// call counts.
pub fn size_caches(memory_bytes: u64) {
    PARTS_KEPT.get_or_init(|| parts_of(memory_bytes));
    clew_analysis::size_room(memory_bytes);
}

/// The bound of a cache that has so many bytes where there is much memory.
pub(crate) fn cache_bytes(whole: usize) -> usize {
    let parts = PARTS_KEPT.get().copied().unwrap_or(PARTS);
    (whole / PARTS).saturating_mul(parts)
}

fn parts_of(memory_bytes: u64) -> usize {
    let parts = memory_bytes / (WHOLE_AT_BYTES / PARTS as u64);
    usize::try_from(parts).unwrap_or(PARTS).clamp(1, PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_shrink_with_the_memory_and_never_grow_above_their_bounds() {
        let sizes = [1, 512 << 20, 4 << 30, 8 << 30, u64::MAX].map(parts_of);
        assert_eq!(sizes, [1, 4, 32, 64, 64]);
        assert_eq!(cache_bytes(32 << 20), 32 << 20);
    }
}
