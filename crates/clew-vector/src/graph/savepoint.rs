//! The graph so far as bytes, so that a build goes on where it was interrupted: the lists of the rows
//! that are linked, and where walks start. Levels are not kept, as they follow from the seed.
//!
//! Layout, numbers little-endian: magic, four numbers that say what is built, rows linked, entry row,
//! rows, upper lists; then each list of level 0 and each upper list as its length and its nodes; then
//! the CRC32C of all that. Lists of one machine are read by the same program: the layout is no format,
//! and what cannot be read is built anew.

use std::io::{self, Write};

use crate::graph::grow::{Growing, Lists};

const MAGIC: &[u8; 8] = b"CLEWSAV1";
const HEAD_BYTES: usize = 8 + 4 * 8;
/// Bytes handed on at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Says what is built: checksums of everything that the graph follows from.
pub(crate) type Fingerprint = [u32; 4];

/// Writes a growing graph whose first `rows` rows are linked, and which nobody changes meanwhile.
pub(super) fn save(
    growing: &Growing,
    (rows, fingerprint): (usize, Fingerprint),
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = Summed {
        out,
        block: Vec::with_capacity(BLOCK_BYTES + 4 * 256),
        sum: 0,
    };
    out.block.extend(MAGIC);
    fingerprint.into_iter().for_each(|number| out.push(number));
    for number in [rows, growing.row_count, growing.upper.count()] {
        out.push(narrow(number));
    }
    out.push(growing.entry_row());
    for (lists, count) in [
        (&growing.base, growing.row_count),
        (&growing.upper, growing.upper.count()),
    ] {
        for list in 0..count {
            out.push(narrow(lists.nodes(list).count()));
            lists.nodes(list).for_each(|node| out.push(node));
            out.pass_on(BLOCK_BYTES)?;
        }
    }
    out.pass_on(0)?;
    let sum = out.sum;
    out.out.write_all(&sum.to_le_bytes())
}

/// Fills a growing graph from what [`save`] wrote, and answers how many rows are linked. Changes
/// nothing when it fails.
pub(super) fn load(
    growing: &Growing,
    bytes: &[u8],
    fingerprint: Fingerprint,
) -> Result<usize, &'static str> {
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or("it is cut short")?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*sum) {
        return Err("its checksum does not match");
    }
    let (head, lists) = body.split_at_checked(HEAD_BYTES).ok_or("it has no head")?;
    if &head[..MAGIC.len()] != MAGIC {
        return Err("it is no savepoint");
    }
    let head: Vec<u32> = numbers(&head[MAGIC.len()..]).collect();
    if head[..4] != fingerprint {
        return Err("it is of other vectors");
    }
    let [rows, row_count, upper_count, entry] = head[4..] else {
        return Err("it has no head");
    };
    let (wanted, upper_wanted) = (growing.row_count, growing.upper.count());
    let fits = row_count as usize == wanted && upper_count as usize == upper_wanted;
    if !fits || rows > row_count || entry >= row_count {
        return Err("its numbers do not fit");
    }
    let walk = |set: bool| {
        let rest = lists_of(lists, (&growing.base, wanted), wanted, set)?;
        let uppers = growing.upper_rows.len();
        lists_of(rest, (&growing.upper, upper_wanted), uppers, set).filter(|rest| rest.is_empty())
    };
    // All is looked at before anything is changed.
    walk(false).ok_or("its lists do not fit")?;
    walk(true).ok_or("its lists do not fit")?;
    growing.restart_at(entry);
    Ok(rows as usize)
}

/// Goes through the lists at the front of `bytes`, each of nodes below `nodes_end`; what is behind
/// them.
fn lists_of<'a>(
    mut bytes: &'a [u8],
    (lists, count): (&Lists, usize),
    nodes_end: usize,
    set: bool,
) -> Option<&'a [u8]> {
    for list in 0..count {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        let len = u32::from_le_bytes(*len) as usize;
        let (nodes, rest) = rest.split_at_checked(len.checked_mul(4)?)?;
        bytes = rest;
        if set {
            lists.set(list, numbers(nodes));
        } else if len > lists.slots() || numbers(nodes).any(|node| node as usize >= nodes_end) {
            return None;
        }
    }
    Some(bytes)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|number| u32::from_le_bytes(*number))
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("a column holds at most 2^30 rows")
}

/// Writes in blocks, and sums them up.
struct Summed<'a> {
    out: &'a mut dyn Write,
    block: Vec<u8>,
    sum: u32,
}

impl Summed<'_> {
    fn push(&mut self, number: u32) {
        self.block.extend(number.to_le_bytes());
    }

    /// Writes the block once it is longer than `limit`.
    fn pass_on(&mut self, limit: usize) -> io::Result<()> {
        if self.block.len() > limit {
            self.sum = crc32c::crc32c_append(self.sum, &self.block);
            self.out.write_all(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINT: Fingerprint = [1, 2, 3, 4];

    fn growing() -> Growing {
        Growing::new(50, (8, 4), 1, |row, _| u32::from(row % 10 == 0))
    }

    fn saved() -> Vec<u8> {
        let growing = growing();
        for row in 0..30 {
            growing
                .base
                .set(row, [30, 31, 32].into_iter().take(row % 4));
        }
        growing.upper.set(2, [0, 4].into_iter());
        growing.restart_at(20);
        let mut bytes = Vec::new();
        save(&growing, (30, PRINT), &mut bytes).unwrap();
        bytes
    }

    fn lists(growing: &Growing) -> Vec<Vec<u32>> {
        let base = (0..50).map(|row| growing.base.nodes(row).collect());
        let upper = (0..5).map(|list| growing.upper.nodes(list).collect());
        base.chain(upper).collect()
    }

    #[test]
    fn a_graph_comes_back_as_it_was() {
        let (bytes, graph) = (saved(), growing());
        assert_eq!(load(&graph, &bytes, PRINT), Ok(30));
        let lists = lists(&graph);
        assert_eq!(lists[7], [30, 31, 32]);
        assert_eq!(lists[30], []);
        assert_eq!(lists[52], [0, 4]);
        assert_eq!(graph.entry_row(), 20);
    }

    #[test]
    fn damage_is_found_and_changes_nothing() {
        let bytes = saved();
        let before = lists(&growing());
        let check = |bytes: &[u8], print: Fingerprint| {
            let graph = growing();
            load(&graph, bytes, print).unwrap_err();
            assert_eq!(lists(&graph), before);
        };
        check(&bytes, [1, 2, 3, 5]);
        for at in 0..bytes.len() {
            check(&bytes[..at], PRINT);
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            check(&damaged, PRINT);
            // With a checksum that fits, the numbers themselves are looked at.
            let (body, sum) = damaged.split_last_chunk_mut::<4>().unwrap();
            body[at.min(body.len() - 1)] |= 0x80;
            *sum = crc32c::crc32c(body).to_le_bytes();
            let _ = load(&growing(), &damaged, PRINT);
        }
    }
}
