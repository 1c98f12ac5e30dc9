//! Bytes of files that are checked where they are read. tantivy takes whole parts of a file, which are checked as a
//! whole then; who reads here and there in a large part, as posting lists and sources are read, asks for the checks
//! of what it is about to read.

use std::io;
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tantivy::HasLen;
use tantivy::directory::{FileSlice, OwnedBytes};

/// A part of a file. Nothing of it is checked before it is asked for.
///
/// How bytes are checked is for the file's owner to know: its handle answers tantivy's reads with bytes that it has
/// checked, and the asynchronous read, which tantivy has no use for here, with the same bytes unchecked. A handle
/// that knows only the first gives all of the part, checked, when it is opened.
#[derive(Clone, Debug)]
pub struct CheckedBytes {
    file: FileSlice,
    bytes: OwnedBytes,
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
        Ok(CheckedBytes { file, bytes })
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.file.len()
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
        self.file.read_bytes_slice(range).map(drop)
    }

    /// All bytes, for whoever has checked what it reads of them, or has checks of its own.
    #[inline]
    pub fn unchecked(&self) -> &OwnedBytes {
        &self.bytes
    }
}
