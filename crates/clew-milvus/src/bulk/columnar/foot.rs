//! The schema of a Parquet file as the end of the file has it, read before the rest: whoever reads it makes a call for
//! each part in a part, and many bytes of each part, however many there are.
//!
//! Source: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::io::Read;

use super::compact::{BYTE, Compact, INTEGER, LIST, STRUCT, TEXT, TRUTH, broken, is_of};
use crate::bulk::wrong;
use crate::error::Result;

/// Parts that a schema has, and those that are in each other: more than the fields of a collection need.
const PARTS_MAX: u64 = 4_096;
const DEPTH_MAX: usize = 32;

/// What is said of a part: type, length, repetition, name, how many parts it has, older type, scale, precision, number, type.
const PART: [u8; 10] = [
    INTEGER, INTEGER, INTEGER, TEXT, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, STRUCT,
];
/// Which of these is how many parts it has, and which is its type.
const PARTS: i64 = 5;
const TYPE: i64 = 10;

/// Reads the schema out of what the end of a file says, which is its version and the schema first.
///
/// # Errors
/// When there is none, or it has more parts, or more of them in each other, than a file of a collection.
pub(super) fn check(foot: impl Read) -> Result<()> {
    let mut compact = Compact::new(foot);
    let Some((1, INTEGER)) = compact.field(0)? else {
        return Err(broken());
    };
    compact.number()?;
    let Some((2, LIST)) = compact.field(1)? else {
        return Err(broken());
    };
    let parts = compact.structs()?;
    if parts > PARTS_MAX {
        return Err(wrong(format!(
            "the file has a schema of {parts} parts, more than {PARTS_MAX}"
        )));
    }
    // How many parts are to come of those that the next one is in.
    let mut around: Vec<u64> = Vec::new();
    for _ in 0..parts {
        if let Some(left) = around.last_mut() {
            *left -= 1;
        }
        let inside = part(&mut compact)?;
        if inside > parts {
            return Err(broken());
        }
        if inside > 0 {
            around.push(inside);
        }
        if around.len() > DEPTH_MAX {
            return Err(wrong(format!(
                "the file has a schema with more than {DEPTH_MAX} parts in each other"
            )));
        }
        while around.last() == Some(&0) {
            around.pop();
        }
    }
    Ok(())
}

/// How many parts a part has.
fn part(compact: &mut Compact<impl Read>) -> Result<u64> {
    let mut inside = 0;
    let mut id = 0;
    while let Some((next, kind)) = compact.field(id)? {
        id = next;
        match id {
            _ if !is_of(&PART, id, kind) => return Err(broken()),
            PARTS => inside = compact.size()?,
            TYPE => of_one(compact, type_kinds)?,
            _ => compact.pass_over(kind, 0)?,
        }
    }
    Ok(inside)
}

/// What is said beside the number of a type.
fn type_kinds(id: i64) -> &'static [u8] {
    match id {
        // Decimals, times of a day, moments, whole numbers, variants, and places.
        5 => &[INTEGER, INTEGER],
        7 | 8 => &[TRUTH, STRUCT],
        10 => &[BYTE, TRUTH],
        16 => &[BYTE],
        17 => &[TEXT],
        18 => &[TEXT, INTEGER],
        _ => &[],
    }
}

/// Passes over a struct that has one field, a struct; its fields are of these kinds by the number of the one.
fn of_one(compact: &mut Compact<impl Read>, kinds: fn(i64) -> &'static [u8]) -> Result<()> {
    let Some((one, STRUCT)) = compact.field(0)? else {
        return Err(broken());
    };
    let mut id = 0;
    while let Some((next, kind)) = compact.field(id)? {
        id = next;
        match kind {
            _ if !is_of(kinds(one), id, kind) => return Err(broken()),
            // The unit of a time: each is a struct without fields.
            STRUCT => of_one(compact, |_| &[])?,
            _ => compact.pass_over(kind, 0)?,
        }
    }
    match compact.field(one)? {
        None => Ok(()),
        Some(_) => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the end of a file says of so many parts, each with so many in it.
    fn foot(parts: u16, inside: u8) -> Vec<u8> {
        let [low, high] = parts.to_le_bytes();
        let (low, high) = (low | 0x80, (high << 1) | u8::from(low >= 0x80));
        let mut foot = vec![0x15, 0x02, 0x19, 0xfc, low, high];
        for _ in 0..parts {
            // Required, without a name.
            foot.extend([0x35, 0x00, 0x18, 0x00, 0x15, 2 * inside, 0x00]);
        }
        foot
    }

    #[test]
    fn schemas_are_bounded() {
        check(foot(300, 0).as_slice()).unwrap();
        for (foot, said) in [
            (foot(300, 1), "more than 32 parts in each other"),
            (foot(5_000, 0), "a schema of 5000 parts, more than 4096"),
            // More parts than there are.
            (foot(3, 4), "cannot be read"),
            // A type that is a number, and a name that is one: others would read it as what it should be.
            (
                vec![0x15, 0x02, 0x19, 0x1c, 0xa5, 0x00, 0x00],
                "cannot be read",
            ),
            (
                vec![0x15, 0x02, 0x19, 0x1c, 0x45, 0x00, 0x00],
                "cannot be read",
            ),
            (vec![0x15, 0x02, 0x19, 0x1c], "cannot be read"),
            (vec![0x29, 0x0c], "cannot be read"),
        ] {
            let error = check(foot.as_slice()).unwrap_err();
            assert_eq!(error.code(), 2100);
            assert!(error.to_string().contains(said), "{error}");
        }
        // Whole numbers of 8 bits, and moments in microseconds.
        for kind in [
            &[0xac, 0x13, 0x08, 0x11, 0x00, 0x00][..],
            &[0x8c, 0x11, 0x1c, 0x2c, 0x00, 0x00, 0x00, 0x00],
        ] {
            let mut foot = vec![0x15, 0x02, 0x19, 0x1c, 0xac];
            foot.extend(kind);
            foot.push(0x00);
            check(foot.as_slice()).unwrap();
        }
    }
}
