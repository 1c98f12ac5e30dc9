//! What the system may know about memory that is read: hints that change no byte.

/// Says that these bytes, which are mapped from a file, are read here and there: the system then reads
/// a page when it is needed and none of its neighbours. Without this, each vector read from disk brings
/// 128 KiB along and pushes as much out of memory.
///
/// Only whole pages inside are meant. Does nothing where the system has no such call.
pub fn advise_random(bytes: &[u8]) {
    #[cfg(unix)]
    {
        // SAFETY: asks for a number that never changes.
        #[allow(unsafe_code, reason = "the standard library has no such call")]
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).unwrap_or(4_096).max(1);
        let range = bytes.as_ptr_range();
        let (start, end) = (range.start.addr(), range.end.addr());
        let first = start.next_multiple_of(page);
        let len = end.saturating_sub(first) / page * page;
        if len == 0 {
            return;
        }
        let at = bytes[first - start..].as_ptr().cast_mut();
        // SAFETY: the pages lie inside the slice, which is borrowed; the advice changes no byte of them.
        #[allow(unsafe_code, reason = "the standard library has no such call")]
        let _ = unsafe { libc::madvise(at.cast(), len, libc::MADV_RANDOM) };
    }
}

#[cfg(test)]
mod tests {
    use super::advise_random;
    use crate::{Disk, RealDisk};

    #[test]
    fn advice_changes_no_byte_whatever_the_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..20_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let map = RealDisk.map(&path).unwrap();
        for part in [0..0, 0..1, 1..4_095, 5..9_000, 0..20_000] {
            advise_random(&map[part.clone()]);
            assert_eq!(map[part.clone()], bytes[part]);
        }
        advise_random(&bytes);
    }
}
