//! Chance that a seed decides, for what must come out the same again: simulations, samples, marks. Nothing for secrets.

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): numbers that are the same for
/// the same seed.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix(seed)
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number, below a bound that is not zero: the upper half of a product is spread as evenly as the number itself.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let scaled = (u128::from(self.draw()) * u128::from(bound)) >> 64;
        u64::try_from(scaled).expect("half of 128 bits are 64")
    }

    /// The next number as one between 0 and 1, never either.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.draw() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// The first number of a seed: all of its bits depend on all of the seed's.
#[inline]
pub fn mixed_bits(seed: u64) -> u64 {
    SplitMix::new(seed).draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones_and_lie_below_their_bound() {
        let mut random = SplitMix::new(1_234_567);
        let drawn = [(); 3].map(|()| random.draw());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, published);
        assert_eq!(mixed_bits(1_234_567), published[0]);
        for bound in [1, 2, 7, u64::MAX] {
            assert!((0..100).all(|_| random.below(bound) < bound), "{bound}");
        }
        let mut units = (0..100).map(|_| random.unit());
        assert!(units.all(|unit| 0.0 < unit && unit < 1.0));
    }
}
