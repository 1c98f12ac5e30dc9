//! What the system may know about memory that is read: hints that change no byte.

use std::io;

/// Bytes that are brought into memory together.
const PIECE_BYTES: usize = 1 << 20;

/// Says that these bytes, which are mapped from a file, are read here and there: the system then reads
/// a page when it is needed and none of its neighbours. Without this, each vector read from disk brings
/// 128 KiB along and pushes as much out of memory.
///
/// Only whole pages inside are meant. Does nothing where the system has no such call.
pub fn advise_random(bytes: &[u8]) {
    #[cfg(unix)]
    {
        let page = page_bytes();
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

/// Brings bytes that are mapped from a file into memory. What the disk cannot read is an error here, where an access alone would
/// end the process (SIGBUS). They may be pushed out of memory later, and read again by an access as ever.
///
/// Takes about a microsecond for 16 KiB, which their first access takes else. Does nothing where the system has no such call
/// (Linux before 5.14).
///
/// # Errors
/// `EIO` where the disk cannot read some of them, or the file has become shorter.
pub fn bring_in(bytes: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        if bytes.is_empty() {
            return Ok(());
        }
        let before = bytes.as_ptr().addr() % page_bytes();
        let at = bytes.as_ptr().wrapping_sub(before).cast_mut();
        let len = before + bytes.len();
        // SAFETY: each of the pages has a byte of the slice, which is borrowed, so they are mapped; the advice changes no byte.
        #[allow(unsafe_code, reason = "the standard library has no such call")]
        let done = unsafe { libc::madvise(at.cast(), len, libc::MADV_POPULATE_READ) };
        let refused = (done != 0).then(io::Error::last_os_error);
        let refused = refused.and_then(|error| error.raw_os_error());
        if let Some(libc::EFAULT | libc::EHWPOISON) = refused {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
    Ok(())
}

/// The bytes in pieces, each of which was brought into memory: for who goes through a whole file.
///
/// # Errors
/// As [`bring_in`].
pub fn brought_in(bytes: &[u8]) -> impl Iterator<Item = io::Result<&[u8]>> {
    let pieces = bytes.chunks(PIECE_BYTES);
    pieces.map(|piece| bring_in(piece).map(|()| piece))
}

#[cfg(unix)]
fn page_bytes() -> usize {
    // SAFETY: asks for a number that never changes.
    #[allow(unsafe_code, reason = "the standard library has no such call")]
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(4_096).max(1)
}

#[cfg(test)]
mod tests {
    use super::{advise_random, bring_in, brought_in};
    use crate::{Disk, RealDisk};

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_disk_cannot_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7_u8; 100_000]).unwrap();
        let map = RealDisk.map(&path).unwrap();
        for part in [0..0, 0..1, 5..9_000, 99_999..100_000, 0..100_000] {
            bring_in(&map[part]).unwrap();
        }
        bring_in(&[1; 10]).unwrap();
        // To look at what is no longer there ends the process, as it does where the disk fails.
        let file = std::fs::OpenOptions::new().write(true).open(&path);
        file.unwrap().set_len(10_000).unwrap();
        bring_in(&map[..10_000]).unwrap();
        for part in [50_000..50_001, 9_000..60_000] {
            let refused = bring_in(&map[part]).unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(libc::EIO));
        }
        assert!(brought_in(&map).any(|piece| piece.is_err()));
    }

    #[test]
    fn pieces_are_the_whole() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        let pieces: Result<Vec<&[u8]>, _> = brought_in(&bytes).collect();
        assert_eq!(pieces.unwrap().concat(), bytes);
        assert_eq!(brought_in(&[]).count(), 0);
    }

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
