//! Bytes of files that are checked where they are read. tantivy takes whole parts of a file, which are checked as a
//! whole then; who reads here and there in a large part, as posting lists and sources are read, asks for the checks
//! of what it is about to read.

use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use tantivy::HasLen;
use tantivy::directory::{FileSlice, OwnedBytes};

/// What is checked at once, and known afterwards: small, so that little is checked that nobody reads, and a bit for each
/// of a large file stays in a core's cache.
const GRAIN_BYTES: usize = 4096;

/// What takes less than a millisecond to check.
const SHORT_BYTES: usize = 4 << 20;

/// A part of a file. Nothing of it is checked before it is asked for.
///
/// How bytes are checked is for the file's owner to know: its handle answers tantivy's reads with bytes that it has
/// checked, and the asynchronous read, which tantivy has no use for here, with the same bytes unchecked. A handle
/// that knows only the first gives all of the part, checked, when it is opened.
#[derive(Clone, Debug)]
pub struct CheckedBytes {
    bytes: OwnedBytes,
    /// Apart, so that what is read of every list of every segment stays small. None where all is known to be sound.
    unproven: Option<Arc<Unproven>>,
}

/// What is needed for as long as there may be damage.
#[derive(Debug)]
struct Unproven {
    file: FileSlice,
    /// A bit for each grain that the owner has found sound: to ask the owner anew counts references, which takes longer
    /// than to read a short list. Several threads may ask for one at the same time, which is harmless.
    sound: Box<[AtomicU64]>,
}

impl CheckedBytes {
    /// Opens a part of a file; O(1) in its length where the file's owner checks bytes one by one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(file: FileSlice) -> io::Result<Self> {
        let unchecked = {
            let reading = pin!(file.read_bytes_async());
            reading.poll(&mut Context::from_waker(Waker::noop()))
        };
        let bytes = match unchecked {
            Poll::Ready(Ok(bytes)) => bytes,
            _ => file.read_bytes()?,
        };
        let grains = bytes.len().div_ceil(GRAIN_BYTES);
        let words = 0..grains.div_ceil(u64::BITS as usize);
        let sound = words.map(|_| AtomicU64::new(0)).collect();
        Ok(CheckedBytes {
            bytes,
            unproven: Some(Arc::new(Unproven { file, sound })),
        })
    }

    /// The same for what is read everywhere: a short part is checked as a whole now, so that nothing is looked up when it
    /// is read. Where it is damaged that shows when the damage is read, as in a long one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open_for_all(file: FileSlice) -> io::Result<Self> {
        let mut opened = Self::open(file)?;
        if opened.len() <= SHORT_BYTES && opened.check(0..opened.len()).is_ok() {
            opened.unproven = None;
        }
        Ok(opened)
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a range, which are sound; takes some ns where they were checked before.
    ///
    /// # Errors
    /// When they are damaged, or not there.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> io::Result<&[u8]> {
        self.check(range.clone())?;
        Ok(&self.bytes[range])
    }

    /// Checks the bytes of a range that will be read from [`CheckedBytes::unchecked`].
    ///
    /// # Errors
    /// As [`CheckedBytes::get`].
    #[inline]
    pub fn check(&self, range: Range<usize>) -> io::Result<()> {
        if range.start > range.end || range.end > self.bytes.len() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a file ends before what is read of it",
            ));
        }
        match &self.unproven {
            Some(unproven) => unproven.check(range),
            None => Ok(()),
        }
    }

    /// All bytes, for whoever has checked what it reads of them, or has checks of its own.
    #[inline]
    pub fn unchecked(&self) -> &OwnedBytes {
        &self.bytes
    }
}

impl Unproven {
    #[inline]
    fn check(&self, range: Range<usize>) -> io::Result<()> {
        let (mut grain, end) = (range.start / GRAIN_BYTES, range.end.div_ceil(GRAIN_BYTES));
        while grain < end {
            // As many as have their bits in one word.
            let word = grain / 64;
            let next = end.min((word + 1) * 64);
            let wanted = (u64::MAX >> (64 - (next - grain))) << (grain % 64);
            if wanted & !self.sound[word].load(Ordering::Relaxed) != 0 {
                self.ask(grain..next)?;
            }
            grain = next;
        }
        Ok(())
    }

    /// Has the owner check grains whose bits are in one word.
    #[cold]
    fn ask(&self, grains: Range<usize>) -> io::Result<()> {
        let end = self.file.len().min(grains.end * GRAIN_BYTES);
        self.file
            .read_bytes_slice(grains.start * GRAIN_BYTES..end)?;
        let bits = (u64::MAX >> (64 - grains.len())) << (grains.start % 64);
        self.sound[grains.start / 64].fetch_or(bits, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
