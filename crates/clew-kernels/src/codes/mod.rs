//! Kernels over small codes: whole numbers of one, two, four or eight bits instead of `f32`. Their sums
//! are exact in 32-bit integers, so every instruction set answers the same to the bit.
//!
//! Rows are picked by number, as a graph walk needs them: one call scores a whole hop.

#[macro_use]
mod rows;
pub(crate) mod scalar;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;

/// Bits of a code per dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CodeBits {
    /// Signs only.
    One,
    /// Four levels.
    Two,
    /// Sixteen levels.
    #[default]
    Four,
    /// 256 levels.
    Eight,
}

impl CodeBits {
    /// Every width, narrowest first.
    pub const ALL: [CodeBits; 4] = [
        CodeBits::One,
        CodeBits::Two,
        CodeBits::Four,
        CodeBits::Eight,
    ];

    /// The number of bits.
    pub fn count(self) -> u8 {
        match self {
            CodeBits::One => 1,
            CodeBits::Two => 2,
            CodeBits::Four => 4,
            CodeBits::Eight => 8,
        }
    }

    /// Dimensions whose codes one byte holds.
    pub fn dimensions_per_byte(self) -> usize {
        usize::from(8 / self.count())
    }

    /// The level of code 0 is the negative of this, in steps: code *k* stands for `k - zero_level`.
    pub fn zero_level(self) -> f32 {
        f32::from(u8::MAX >> (8 - self.count())) / 2.0
    }
}

/// Rows of codes of one width.
#[derive(Debug, Clone, Copy)]
pub struct CodeRows<'a> {
    /// Row after row of `pitch` bytes.
    ///
    /// Of two bits and more, byte `j` of a row holds dimensions `j`, `j + pitch` and so on, the
    /// first in its lowest bits. Of one bit, bit `j % 8` of byte `j / 8` holds dimension `j`.
    pub codes: &'a [u8],
    /// Bytes of a row.
    pub pitch: usize,
    /// `add` and `scale` of each row.
    pub factors: &'a [[f32; 2]],
}

/// A query over rows of codes.
#[derive(Debug, Clone, Copy)]
pub struct CodeQuery<'a> {
    /// One number per code of a row; zero for those that no dimension has. Of one bit, there may be
    /// fewer numbers than codes, a multiple of 8; the codes behind them are not read.
    pub numbers: &'a [i8],
    /// Size of one step of the numbers.
    pub step: f32,
    /// What is taken away from every product.
    pub offset: f32,
    /// What is added to every score.
    pub base: f32,
}
