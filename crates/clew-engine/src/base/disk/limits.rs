//! How full the disk may get.

use std::fmt;
use std::time::Duration;

/// Millionths of one.
const WHOLE: u32 = 1_000_000;
/// How full the disk may get before something is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watermark {
    /// So many millionths of it are used.
    UsedMillionths(u32),
    /// Only so many bytes are free.
    FreeBytes(u64),
}

impl Watermark {
    /// Bytes that are free of a disk of so many bytes when it is just at the mark.
    pub fn free_bytes(self, total: u64) -> u64 {
        match self {
            Watermark::FreeBytes(bytes) => bytes,
            Watermark::UsedMillionths(used) => {
                let free = u128::from(WHOLE.saturating_sub(used)) * u128::from(total);
                u64::try_from(free / u128::from(WHOLE)).unwrap_or(u64::MAX)
            }
        }
    }
}

/// As OpenSearch's settings say it: `85%`, `500mb`.
impl fmt::Display for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(40, "tb"), (30, "gb"), (20, "mb"), (10, "kb")];
        match *self {
            Watermark::UsedMillionths(used) => {
                // As a fraction with at most four digits, without those that say nothing.
                let text = format!("{}.{:04}", used / 10_000, used % 10_000);
                write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
            }
            Watermark::FreeBytes(bytes) => {
                let whole =
                    |(shift, _): &&(u64, &str)| bytes > 0 && bytes.is_multiple_of(1 << shift);
                match UNITS.iter().find(whole) {
                    Some((shift, unit)) => write!(f, "{}{unit}", bytes >> shift),
                    None => write!(f, "{bytes}b"),
                }
            }
        }
    }
}

/// The marks of the disk that the data folder lies on. Whoever makes them sees to it that they rise: from `low` over
/// `high` to `flood_stage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
    /// Whether the disk is watched at all. When not, writes are taken until the disk refuses them.
    pub enabled: bool,
    /// Above this a person should look.
    pub low: Watermark,
    /// Above this the node gives up early what it can: the log is flushed and trimmed. Writes that were refused are
    /// taken again below it.
    pub high: Watermark,
    /// Above this writes are refused.
    pub flood_stage: Watermark,
    /// The disk is looked at after this long at the latest; earlier when much was written.
    pub look_every: Duration,
}

impl Default for DiskLimits {
    fn default() -> Self {
        DiskLimits {
            enabled: true,
            low: Watermark::UsedMillionths(850_000),
            high: Watermark::UsedMillionths(900_000),
            flood_stage: Watermark::UsedMillionths(950_000),
            look_every: Duration::from_secs(30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_shown_as_it_is_written() {
        use Watermark::{FreeBytes, UsedMillionths};
        for (mark, want) in [
            (UsedMillionths(850_000), "85%"),
            (UsedMillionths(855_000), "85.5%"),
            (UsedMillionths(1_000_000), "100%"),
            (UsedMillionths(0), "0%"),
            (UsedMillionths(1), "0.0001%"),
            (FreeBytes(500 << 20), "500mb"),
            (FreeBytes(1025), "1025b"),
            (FreeBytes(0), "0b"),
        ] {
            assert_eq!(mark.to_string(), want);
        }
    }

    #[test]
    fn a_mark_leaves_a_part_of_the_disk_or_so_many_bytes() {
        let used = |millionths| Watermark::UsedMillionths(millionths).free_bytes(u64::MAX);
        assert_eq!(used(0), u64::MAX);
        assert_eq!(used(1_000_000), 0);
        assert_eq!(Watermark::UsedMillionths(950_000).free_bytes(1_000), 50);
        assert_eq!(Watermark::FreeBytes(7).free_bytes(1_000), 7);
    }
}
