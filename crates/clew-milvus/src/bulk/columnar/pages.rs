//! The heads of the pages of a Parquet file, read before the pages: what a page becomes is known before there is room for it.
//!
//! Heads are Thrift's compact protocol: of what they say, four numbers matter here.
//! Source: <https://github.com/apache/parquet-format> and <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::ColumnChunkMetaData;

use crate::bulk::{unread, wrong};
use crate::error::Result;

/// Longest head: it may have the least and the greatest value of its page.
const HEAD_BYTES_MAX: u64 = 1 << 20;
/// Most pages of a column in a row group.
const PAGES_MAX: usize = 1 << 20;
/// Structs in structs of a head.
const DEPTH_MAX: usize = 8;

/// The number of a dictionary's page among the kinds of pages.
const DICTIONARY: i64 = 2;

/// What the pages of one column of a row group become.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pages {
    /// Bytes and values of the dictionary.
    pub(super) dictionary: [u64; 2],
    /// Bytes and values of the largest page beside it.
    pub(super) largest: [u64; 2],
}

/// Reads the heads of all pages of a column of a row group. Costs one seek a page.
///
/// # Errors
/// When a head is none, tells of more than the column has, or of a dictionary with more values than bytes.
pub(super) fn measure(file: &File, column: &ColumnChunkMetaData) -> Result<Pages> {
    let broken = || wrong("a column has no place in the file");
    let start = column.dictionary_page_offset();
    let start = u64::try_from(start.unwrap_or_else(|| column.data_page_offset()));
    let at = start.map_err(|_| broken())?;
    let mut left = u64::try_from(column.compressed_size()).map_err(|_| broken())?;
    let file = file.try_clone().map_err(|error| unread(&error))?;
    let mut file = BufReader::new(file);
    file.seek(SeekFrom::Start(at))
        .map_err(|error| unread(&error))?;
    let mut pages = Pages::default();
    let mut count = 0;
    while left > 0 {
        count += 1;
        if count > PAGES_MAX {
            return Err(wrong(format!("a column has more than {PAGES_MAX} pages")));
        }
        let head = read_head((&mut file).take(HEAD_BYTES_MAX.min(left)))?;
        let whole = head.length.saturating_add(head.compressed);
        if whole > left || whole == 0 {
            return Err(wrong("a page is longer than its column"));
        }
        let [bytes, values] = match head.kind {
            DICTIONARY if head.values > head.bytes => {
                return Err(wrong("a dictionary has more values than bytes"));
            }
            DICTIONARY => &mut pages.dictionary,
            _ => &mut pages.largest,
        };
        *bytes = head.bytes.max(*bytes);
        *values = head.values.max(*values);
        left -= whole;
        let step = i64::try_from(head.compressed).map_err(|_| broken())?;
        file.seek_relative(step).map_err(|error| unread(&error))?;
    }
    Ok(pages)
}

/// What the head of a page says.
#[derive(Debug, Default, PartialEq)]
struct Head {
    kind: i64,
    /// Bytes of the page as it becomes, and as it stands in the file.
    bytes: u64,
    compressed: u64,
    values: u64,
    /// Bytes of the head itself.
    length: u64,
}

fn read_head(input: impl Read) -> Result<Head> {
    let mut compact = Compact { input, length: 0 };
    let mut head = Head::default();
    let mut id = 0;
    while let Some((next, kind)) = compact.field(id)? {
        id = next;
        match (id, kind) {
            (1, INTEGER) => head.kind = compact.number()?,
            (2, INTEGER) => head.bytes = compact.size()?,
            (3, INTEGER) => head.compressed = compact.size()?,
            // The head of values, of a dictionary, or of values of the second kind: how many is said first.
            (5 | 7 | 8, STRUCT) => head.values = head.values.max(compact.first()?),
            _ => compact.pass_over(kind, 0)?,
        }
    }
    head.length = compact.length;
    Ok(head)
}

/// Kinds of fields in the compact protocol.
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

/// A reader of the compact protocol.
struct Compact<R> {
    input: R,
    /// Bytes that were read.
    length: u64,
}

impl<R: Read> Compact<R> {
    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        let read = self.input.read_exact(&mut byte);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => no_head(),
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
        Err(no_head())
    }

    /// A whole number, whose last bit is its sign.
    fn number(&mut self) -> Result<i64> {
        let bits = self.varint()?;
        Ok((bits >> 1).cast_signed() ^ -((bits & 1).cast_signed()))
    }

    fn size(&mut self) -> Result<u64> {
        u64::try_from(self.number()?).map_err(|_| no_head())
    }

    /// Number and kind of the next field; none at the end of a struct.
    fn field(&mut self, last: i64) -> Result<Option<(i64, u8)>> {
        let byte = self.byte()?;
        let kind = byte & 0x0f;
        match (kind, byte >> 4) {
            (0, _) => Ok(None),
            (_, 0) => Ok(Some((self.number()?, kind))),
            (_, step) => Ok(Some((last.saturating_add(i64::from(step)), kind))),
        }
    }

    /// The first field of a struct, a size, and what comes behind it passed over.
    fn first(&mut self) -> Result<u64> {
        let mut size = 0;
        let mut id = 0;
        while let Some((next, kind)) = self.field(id)? {
            id = next;
            match (id, kind) {
                (1, INTEGER) => size = self.size()?,
                _ => self.pass_over(kind, 1)?,
            }
        }
        Ok(size)
    }

    /// Passes over a value. Heads of pages have no lists.
    fn pass_over(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            // What is true or false says its kind.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => {
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
            _ => Err(no_head()),
        }
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        let mut passed = (&mut self.input).take(bytes);
        let read = io::copy(&mut passed, &mut io::sink()).map_err(|error| unread(&error))?;
        self.length += read;
        match read == bytes {
            true => Ok(()),
            false => Err(no_head()),
        }
    }
}

fn no_head() -> crate::error::MilvusError {
    wrong("a page has no head that can be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_say_what_pages_become() {
        // Kind 0, 300 and 200 bytes; of values of the first kind 7, with an encoding and a struct of two texts.
        let head = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x90, 0x03, 0x2c, 0x15, 0x0e, 0x15, 0x00, 0x3c,
            0x18, 0x02, 9, 9, 0x18, 0x00, 0x00, 0x00, 0x00,
        ];
        let mut behind = head.to_vec();
        behind.extend([1, 2, 3]);
        let want = Head {
            kind: 0,
            bytes: 300,
            compressed: 200,
            values: 7,
            length: head.len() as u64,
        };
        assert_eq!(read_head(behind.as_slice()).unwrap(), want);
        for bad in [
            &head[..5],
            &head[..17],
            // Less than nothing.
            &[0x15, 0x00, 0x15, 0x01],
            // A number without an end, a list, a text longer than all there is.
            &[
                0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            ],
            &[0x19, 0x00],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 1],
            &[STRUCT | 0x10; 20],
        ] {
            assert_eq!(read_head(bad).unwrap_err().code(), 2100, "{bad:?}");
        }
    }
}
