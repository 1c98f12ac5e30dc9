//! Whole numbers that come packed as a Roaring bitmap of 64 bits, in its portable format, behind a header of Milvus' own. What does
//! not hold what its lengths say is refused.

/// Most numbers of one.
pub(super) const MEMBERS_MAX: usize = 1_000_000;

/// What a blob begins with.
const MAGIC: &[u8] = b"MRB1";
const VERSION: u16 = 1;
const PORTABLE: u16 = 1;
/// What a bitmap of 32 bits begins with: none of its containers is of runs, or some are.
const NO_RUNS: u32 = 12_346;
const RUNS: u32 = 12_347;
/// Of fewer containers, some of them with runs, nobody says where they begin.
const OFFSETS_MIN: usize = 4;
/// A container of more numbers is a set of bits.
const ARRAY_MAX: usize = 4_096;
const BITMAP_BYTES: usize = 8_192;

/// How many numbers a blob says that it has; none where it is no such blob.
pub(super) fn claimed(blob: &[u8]) -> usize {
    let head = Reader(blob).head();
    head.map_or(0, |(count, _)| usize::try_from(count).unwrap_or(usize::MAX))
}

/// The numbers of a blob.
///
/// # Errors
/// What is wrong with it.
pub(super) fn members(blob: &[u8]) -> Result<Vec<i64>, String> {
    let mut reader = Reader(blob);
    let (count, bytes) = reader.head().ok_or("it has no header that is known")?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > MEMBERS_MAX {
        return Err(format!("it has {count} members, more than {MEMBERS_MAX}"));
    }
    if u64::try_from(reader.0.len()) != Ok(bytes) {
        return Err(format!(
            "its body has {} bytes, and should have {bytes}",
            reader.0.len()
        ));
    }
    let mut numbers = Numbers {
        found: Vec::with_capacity(count),
        count,
    };
    let read = reader.body(&mut numbers);
    if read.is_none() || !reader.0.is_empty() || numbers.found.len() != count {
        return Err("its body is not what its lengths say".to_string());
    }
    Ok(numbers.found)
}

/// Numbers that were found, no more than there should be.
struct Numbers {
    found: Vec<i64>,
    count: usize,
}

impl Numbers {
    fn add(&mut self, number: u64) -> Option<()> {
        let has_room = self.found.len() < self.count;
        has_room.then(|| self.found.push(number.cast_signed()))
    }
}

/// A cursor whose every step is checked.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// How many numbers there are, and how long what follows is.
    fn head(&mut self) -> Option<(u64, u64)> {
        let is_known =
            self.take(MAGIC.len())? == MAGIC && self.u16()? == VERSION && self.u16()? == PORTABLE;
        let (count, bytes) = (self.u64()?, self.u64()?);
        self.u64()?;
        is_known.then_some((count, bytes))
    }

    /// Bitmaps of 32 bits, each behind what its numbers begin with.
    fn body(&mut self, numbers: &mut Numbers) -> Option<()> {
        for _ in 0..self.u64()? {
            let high = u64::from(self.u32()?) << 32;
            self.bitmap(high, numbers)?;
        }
        Some(())
    }

    fn bitmap(&mut self, high: u64, numbers: &mut Numbers) -> Option<()> {
        let cookie = self.u32()?;
        let (count, with_runs) = match cookie & 0xffff {
            RUNS => {
                let count = usize::try_from(cookie >> 16).ok()? + 1;
                (count, self.take(count.div_ceil(8))?)
            }
            _ if cookie == NO_RUNS => (usize::try_from(self.u32()?).ok()?, &[][..]),
            _ => return None,
        };
        let mut described = Reader(self.take(count.checked_mul(4)?)?);
        if with_runs.is_empty() || count >= OFFSETS_MIN {
            self.take(count.checked_mul(4)?)?;
        }
        for at in 0..count {
            let first = high | (u64::from(described.u16()?) << 16);
            let length = usize::from(described.u16()?) + 1;
            let byte = with_runs.get(at / 8).copied().unwrap_or_default();
            match (byte >> (at % 8)) & 1 {
                0 if length <= ARRAY_MAX => self.array_of(first, length, numbers)?,
                0 => self.bits_of(first, numbers)?,
                _ => self.runs_of(first, numbers)?,
            }
        }
        Some(())
    }

    fn array_of(&mut self, first: u64, length: usize, numbers: &mut Numbers) -> Option<()> {
        for _ in 0..length {
            numbers.add(first | u64::from(self.u16()?))?;
        }
        Some(())
    }

    fn bits_of(&mut self, first: u64, numbers: &mut Numbers) -> Option<()> {
        for (byte, at) in self.take(BITMAP_BYTES)?.iter().zip(0_u64..) {
            for bit in (0..8_u64).filter(|bit| (byte >> bit) & 1 == 1) {
                numbers.add(first | (8 * at + bit))?;
            }
        }
        Some(())
    }

    fn runs_of(&mut self, first: u64, numbers: &mut Numbers) -> Option<()> {
        for _ in 0..self.u16()? {
            let (from, more) = (self.u16()?, self.u16()?);
            let last = from.checked_add(more)?;
            for low in from..=last {
                numbers.add(first | u64::from(low))?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A blob of bitmaps of 32 bits, each with what its numbers begin with.
    fn blob(count: u64, bitmaps: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut body = (bitmaps.len() as u64).to_le_bytes().to_vec();
        for (high, bitmap) in bitmaps {
            body.extend(high.to_le_bytes());
            body.extend(bitmap);
        }
        let mut blob = [MAGIC, &VERSION.to_le_bytes(), &PORTABLE.to_le_bytes()].concat();
        for number in [count, body.len() as u64, 0] {
            blob.extend(number.to_le_bytes());
        }
        blob.extend(body);
        blob
    }

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// One container without runs, of numbers that begin with `key`.
    fn container(key: u16, length: u16, body: &[u8]) -> Vec<u8> {
        let cookie = [NO_RUNS.to_le_bytes(), 1_u32.to_le_bytes()].concat();
        [cookie, words(&[key, length - 1, 16, 0]), body.to_vec()].concat()
    }

    #[test]
    fn numbers_are_found_in_arrays_sets_of_bits_and_runs() {
        let array = container(1, 3, &words(&[0, 7, 65_535]));
        let found = members(&blob(3, &[(0, array.clone())]));
        assert_eq!(found, Ok(vec![65_536, 65_543, 131_071]));
        // Below zero they stand last.
        let negative = container(65_535, 1, &words(&[65_535]));
        let both = blob(4, &[(0, array), (u32::MAX, negative)]);
        assert_eq!(members(&both), Ok(vec![65_536, 65_543, 131_071, -1]));
        let mut bits = vec![0; BITMAP_BYTES];
        bits[..600].fill(0xff);
        let many = blob(4_800, &[(2, container(0, 4_800, &bits))]);
        let want: Vec<i64> = (0..4_800).map(|low| (2_i64 << 32) + low).collect();
        assert_eq!(members(&many), Ok(want));
        let cookie = RUNS.to_le_bytes().to_vec();
        let runs = [cookie, vec![1], words(&[0, 6, 2, 5, 2, 9, 3])].concat();
        let found = members(&blob(7, &[(0, runs)]));
        assert_eq!(found, Ok(vec![5, 6, 7, 9, 10, 11, 12]));
        assert_eq!(members(&blob(0, &[])), Ok(Vec::new()));
        assert_eq!((claimed(&many), claimed(b"MRB")), (4_800, 0));
    }

    #[test]
    fn what_is_no_such_blob_is_refused() {
        let whole = blob(3, &[(0, container(1, 3, &words(&[0, 7, 9])))]);
        for length in 0..whole.len() {
            assert!(members(&whole[..length]).is_err(), "{length}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(members(&longer).is_err());
        for (at, byte) in [(0, b'X'), (4, 2), (6, 2), (8, 4), (8, 2), (16, 0), (44, 0)] {
            let mut wrong = whole.clone();
            wrong[at] = byte;
            assert!(members(&wrong).is_err(), "byte {at}");
        }
        let too_many = blob(MEMBERS_MAX as u64 + 1, &[]);
        assert!(members(&too_many).unwrap_err().contains("more than"));
    }
}
