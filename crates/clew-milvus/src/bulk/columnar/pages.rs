//! The heads of the pages of a Parquet file, read before the pages: what a page becomes is known before there is room for it.
//!
//! Of what they say, four numbers matter here. Source: <https://github.com/apache/parquet-format>.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::ColumnChunkMetaData;

use super::compact::{Compact, INTEGER, STRUCT, TRUTH, broken, is_of};
use crate::bulk::{unread, wrong};
use crate::error::Result;

/// Longest head: it may have the least and the greatest value of its page.
const HEAD_BYTES_MAX: u64 = 1 << 20;
/// Most pages of a column in a row group.
const PAGES_MAX: usize = 1 << 20;

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

/// What a head says: kind, length as it becomes, length as it stands, a check sum, and the heads of values, of an index, of a
/// dictionary, and of values of the second kind.
const HEAD: [u8; 8] = [
    INTEGER, INTEGER, INTEGER, INTEGER, STRUCT, STRUCT, STRUCT, STRUCT,
];
/// What these heads say, but for that of an index: how many values, and more.
const VALUES: [u8; 5] = [INTEGER, INTEGER, INTEGER, INTEGER, STRUCT];
const VALUES_OF_DICTIONARY: [u8; 3] = [INTEGER, INTEGER, TRUTH];
const VALUES_OF_SECOND_KIND: [u8; 8] = [
    INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, TRUTH, STRUCT,
];

fn read_head(input: impl Read) -> Result<Head> {
    let mut compact = Compact::new(input);
    let mut head = Head::default();
    let mut id = 0;
    while let Some((next, kind)) = compact.field(id)? {
        id = next;
        let values = match id {
            _ if !is_of(&HEAD, id, kind) => return Err(broken()),
            5 => first(&mut compact, &VALUES)?,
            6 => first(&mut compact, &[])?,
            7 => first(&mut compact, &VALUES_OF_DICTIONARY)?,
            8 => first(&mut compact, &VALUES_OF_SECOND_KIND)?,
            1 => {
                head.kind = compact.number()?;
                0
            }
            2 => {
                head.bytes = compact.size()?;
                0
            }
            3 => {
                head.compressed = compact.size()?;
                0
            }
            _ => {
                compact.pass_over(kind, 0)?;
                0
            }
        };
        head.values = head.values.max(values);
    }
    head.length = compact.length();
    Ok(head)
}

/// The first field of a struct, a size, and what comes behind it passed over.
fn first(compact: &mut Compact<impl Read>, kinds: &[u8]) -> Result<u64> {
    let mut size = 0;
    let mut id = 0;
    while let Some((next, kind)) = compact.field(id)? {
        id = next;
        match id {
            _ if !is_of(kinds, id, kind) => return Err(broken()),
            1 => size = compact.size()?,
            _ => compact.pass_over(kind, 1)?,
        }
    }
    Ok(size)
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
            // A number without an end, and a list, texts and a number in the place of others.
            &[
                0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            ],
            &[0x19, 0x00],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 1],
            &[0x15, 0x00, 0x38, 0x00, 0x00],
            &[0x5c, 0x55, 0x00, 0x00, 0x00],
            &[STRUCT | 0x10; 20],
        ] {
            assert_eq!(read_head(bad).unwrap_err().code(), 2100, "{bad:?}");
        }
    }
}
