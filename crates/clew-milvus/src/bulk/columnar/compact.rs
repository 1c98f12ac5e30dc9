//! Thrift's compact protocol, in which Parquet says what is in a file: as much of it as must be known before the rest is
//! read by others.
//!
//! Readers of Parquet take the kinds of fields for granted and go by their numbers, so a field of another kind than its
//! number has is refused here: otherwise both would read different things in the same bytes.
//! Source: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

use std::io::{self, Read};

use crate::bulk::{unread, wrong};
use crate::error::{MilvusError, Result};

/// Kinds of fields. What is true or false is of a kind each; [`TRUTH`] stands for both.
pub(super) const TRUTH: u8 = 1;
const FALSEHOOD: u8 = 2;
pub(super) const BYTE: u8 = 3;
pub(super) const INTEGER: u8 = 5;
pub(super) const TEXT: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Structs in structs that are passed over.
const DEPTH_MAX: usize = 8;

/// Whether a field is of the kind that its number has in a struct, whose kinds are by numbers from 1 on.
pub(super) fn is_of(kinds: &[u8], id: i64, kind: u8) -> bool {
    let want = usize::try_from(id - 1).ok().and_then(|at| kinds.get(at));
    match want {
        Some(&TRUTH) => kind == TRUTH || kind == FALSEHOOD,
        Some(want) => *want == kind,
        None => false,
    }
}

/// What is said where something is not of the protocol, or of no meaning in Parquet.
pub(super) fn broken() -> MilvusError {
    wrong("the file describes itself in a way that cannot be read")
}

/// A reader of the compact protocol.
pub(super) struct Compact<R> {
    input: R,
    length: u64,
}

impl<R: Read> Compact<R> {
    pub(super) fn new(input: R) -> Self {
        Compact { input, length: 0 }
    }

    /// Bytes that were read.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        let read = self.input.read_exact(&mut byte);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => broken(),
            _ => unread(&error),
        })?;
        self.length += 1;
        let [byte] = byte;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for at in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(broken())
    }

    /// A whole number, whose last bit is its sign.
    ///
    /// # Errors
    /// When there is none; so with all below.
    pub(super) fn number(&mut self) -> Result<i64> {
        let bits = self.varint()?;
        Ok((bits >> 1).cast_signed() ^ -((bits & 1).cast_signed()))
    }

    /// A whole number that is not below 0.
    pub(super) fn size(&mut self) -> Result<u64> {
        u64::try_from(self.number()?).map_err(|_| broken())
    }

    /// Number and kind of the next field, where the one before it has the number `last`; none at the end of a struct.
    pub(super) fn field(&mut self, last: i64) -> Result<Option<(i64, u8)>> {
        let byte = self.byte()?;
        let kind = byte & 0x0f;
        let id = match (kind, byte >> 4) {
            (0, _) => return Ok(None),
            (_, 0) => self.number()?,
            (_, step) => last.saturating_add(i64::from(step)),
        };
        match (0..=i64::from(i16::MAX)).contains(&id) {
            true => Ok(Some((id, kind))),
            false => Err(broken()),
        }
    }

    /// The length of a list whose elements are structs.
    pub(super) fn structs(&mut self) -> Result<u64> {
        let byte = self.byte()?;
        match (byte & 0x0f, byte >> 4) {
            (STRUCT, 15) => self.varint(),
            (STRUCT, length) => Ok(length.into()),
            _ => Err(broken()),
        }
    }

    /// Passes over a value, which has no lists in it, in so many structs.
    pub(super) fn pass_over(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            // What is true or false says its kind.
            TRUTH | FALSEHOOD => Ok(()),
            BYTE => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            TEXT => {
                let bytes = self.varint()?;
                self.pass(bytes)
            }
            STRUCT if depth < DEPTH_MAX => {
                let mut id = 0;
                while let Some((next, kind)) = self.field(id)? {
                    id = next;
                    self.pass_over(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(broken()),
        }
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        let mut passed = (&mut self.input).take(bytes);
        let read = io::copy(&mut passed, &mut io::sink()).map_err(|error| unread(&error))?;
        self.length += read;
        match read == bytes {
            true => Ok(()),
            false => Err(broken()),
        }
    }
}
