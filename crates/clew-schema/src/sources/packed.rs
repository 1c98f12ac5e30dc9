//! Columns of numbers in as many bytes as the widest needs.

use std::ops::Range;

/// A column of numbers in a file: what each one is above the least of them, in 0 (when all are equal) to 8 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    base: u64,
    width: usize,
    /// Where the column begins in the file.
    start: usize,
}

impl Packed {
    /// Bytes of [`Packed::header`].
    pub const HEADER_BYTES: usize = 16;

    /// A column for these numbers.
    pub fn of(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let base = numbers.clone().min().unwrap_or_default();
        let most = numbers.max().unwrap_or_default() - base;
        let width = (u64::BITS - most.leading_zeros()).div_ceil(u8::BITS) as usize;
        Packed {
            base,
            width,
            start: 0,
        }
    }

    /// What a file has to say of it: the least number and the bytes of each, in 8 bytes each.
    pub fn header(&self) -> [u8; Self::HEADER_BYTES] {
        let mut header = [0; Self::HEADER_BYTES];
        header[..8].copy_from_slice(&self.base.to_le_bytes());
        header[8..].copy_from_slice(&(self.width as u64).to_le_bytes());
        header
    }

    /// Appends the numbers.
    pub fn write(&self, numbers: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
        for number in numbers {
            let above = (number - self.base).to_le_bytes();
            out.extend_from_slice(&above[..self.width]);
        }
    }

    /// The column of `count` numbers that begins at `start`, and where it ends; `None` when it does not end
    /// before `end`.
    pub fn open(
        header: &[u8; Self::HEADER_BYTES],
        count: usize,
        start: usize,
        end: usize,
    ) -> Option<(Self, usize)> {
        let (base, width) = header.split_first_chunk()?;
        let width = usize::try_from(u64::from_le_bytes(width.try_into().ok()?)).ok()?;
        let stop = width.checked_mul(count)?.checked_add(start)?;
        let base = u64::from_le_bytes(*base);
        let fits = width <= size_of::<u64>() && stop <= end;
        fits.then_some((Packed { base, width, start }, stop))
    }

    /// Where the number of a row lies.
    #[inline]
    pub fn place(&self, row: usize) -> Range<usize> {
        let start = self.start + row * self.width;
        start..start + self.width
    }

    /// A number of the column.
    ///
    /// # Panics
    /// When the row is not below the count that the column was opened with.
    #[inline]
    pub fn get(&self, bytes: &[u8], row: usize) -> u64 {
        let start = self.start + row * self.width;
        let above = match bytes[start..].first_chunk() {
            // The bytes of the numbers behind are read too: a copy of as many as one has is a call.
            Some(wide) => u64::from_le_bytes(*wide) & self.mask(),
            None => {
                let mut wide = [0; 8];
                wide[..self.width].copy_from_slice(&bytes[start..start + self.width]);
                u64::from_le_bytes(wide)
            }
        };
        self.base.wrapping_add(above)
    }

    /// The bits that a number has.
    fn mask(&self) -> u64 {
        let unused = u64::BITS - u8::BITS * u32::try_from(self.width).unwrap_or(8);
        u64::MAX.checked_shr(unused).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_bytes_that_they_need() {
        let cases: [(&[u64], usize); 5] = [
            (&[], 0),
            (&[7, 7, 7], 0),
            (&[7, 262, 100], 1),
            (&[1 << 40, (1 << 40) + 256], 2),
            (&[0, u64::MAX, 1 << 63], 8),
        ];
        for (numbers, width) in cases {
            let packed = Packed::of(numbers.iter().copied());
            let mut bytes = vec![0xff; 3];
            packed.write(numbers.iter().copied(), &mut bytes);
            assert_eq!(bytes.len(), 3 + width * numbers.len(), "{numbers:?}");
            let (read, end) = Packed::open(&packed.header(), numbers.len(), 3, bytes.len())
                .expect("the column is whole");
            assert_eq!(end, bytes.len());
            let read: Vec<u64> = (0..numbers.len())
                .map(|row| read.get(&bytes, row))
                .collect();
            assert_eq!(read, numbers);
        }
        let wide = Packed {
            width: 9,
            ..Packed::of([1].into_iter())
        };
        assert!(Packed::open(&wide.header(), 1, 0, 100).is_none());
        let one = Packed::of([0, 1].into_iter());
        assert!(Packed::open(&one.header(), 2, 0, 1).is_none());
    }
}
