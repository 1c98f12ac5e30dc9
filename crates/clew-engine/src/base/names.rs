//! Index names: which are allowed, how an expression selects some, and ids that never repeat.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::error::EngineError;

const NAME_BYTES_MAX: usize = 255;
/// As many as clients expect of an index.
const UUID_CHARS: u32 = 22;
/// Characters of a document's id.
const ID_CHARS: u32 = 20;
/// Bits of an id that tell the millisecond its generator was made in: enough until the year 2109.
const TIME_BITS: u32 = 42;
/// Bits of an id that count: a million a second for 50 days.
const COUNT_BITS: u32 = 42;
const _: () = assert!(
    TIME_BITS + COUNT_BITS + 32 <= 6 * ID_CHARS,
    "32 bits are random at least"
);

/// Checks a new index's name by OpenSearch's rules.
pub(crate) fn check_name(name: &str) -> Result<(), EngineError> {
    check_form(name)?;
    let reason = if name.starts_with('_') {
        "must not start with '_', '-', or '+'"
    } else if name.chars().any(char::is_uppercase) {
        "must be lowercase"
    } else {
        return Ok(());
    };
    Err(EngineError::InvalidIndexName {
        index: name.to_string(),
        reason,
    })
}

/// Checks what holds for the names of all indexes: that lists and patterns of names can be told from them.
pub(crate) fn check_form(name: &str) -> Result<(), EngineError> {
    let forbidden = |c: char| "\\/*?\"<>| ,".contains(c) || c.is_control();
    let reason = if name.is_empty() {
        "must not be empty"
    } else if name == "." || name == ".." {
        "must not be '.' or '..'"
    } else if name.contains(forbidden) {
        "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]"
    } else if name.contains('#') {
        "must not contain '#'"
    } else if name.contains(':') {
        "must not contain ':'"
    } else if name.starts_with(['-', '+']) {
        "must not start with '_', '-', or '+'"
    } else if name.len() > NAME_BYTES_MAX {
        "index name is too long, (> 255)"
    } else {
        return Ok(());
    };
    Err(EngineError::InvalidIndexName {
        index: name.to_string(),
        reason,
    })
}

/// Checks an alias's name: the rules of index names, except that it may have capital letters.
pub(crate) fn check_alias_name(name: &str) -> Result<(), EngineError> {
    if name.is_empty() {
        let reason = "alias name is required".to_string();
        return Err(EngineError::InvalidRequest { reason });
    }
    match check_name(&name.to_lowercase()) {
        Err(EngineError::InvalidIndexName { reason, .. }) => Err(EngineError::InvalidAliasName {
            alias: name.to_string(),
            reason,
        }),
        checked => checked,
    }
}

/// A number in base 64, most significant digit first; the digits ascend as characters do.
fn digits<const COUNT: usize>(mut value: u128) -> [u8; COUNT] {
    const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
    let mut digits = [0; COUNT];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[usize::from(value.to_le_bytes()[0] & 63)];
        value >>= 6;
    }
    digits
}

/// Whether a name is what [`IdGenerator::next_uuid`] makes.
pub(crate) fn is_uuid(name: &str) -> bool {
    let digit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.len() == UUID_CHARS as usize && name.chars().all(digit)
}

/// Whether a name is what [`IdGenerator::next`] makes.
pub(crate) fn is_id(name: &str) -> bool {
    let digit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '~';
    name.len() == ID_CHARS as usize && name.chars().all(digit)
}

/// Makes ids that are unique over restarts: the millisecond in which the generator was made, random bits, because a clock
/// may show the same millisecond again, and a count.
#[derive(Debug)]
pub(crate) struct IdGenerator {
    /// What ids of documents begin with, and what those of indexes do.
    starts: [u128; 2],
    count: AtomicU64,
}

impl IdGenerator {
    /// `random` are bits that no other run has, even one at the same time.
    pub(crate) fn new(since_epoch: std::time::Duration, random: u64) -> Self {
        let start = |chars: u32| {
            let random_bits = 6 * chars - TIME_BITS - COUNT_BITS;
            let random = u128::from(random) & ((1 << random_bits) - 1);
            let time = since_epoch.as_millis() & ((1 << TIME_BITS) - 1);
            (time << random_bits | random) << COUNT_BITS
        };
        IdGenerator {
            starts: [start(ID_CHARS), start(UUID_CHARS)],
            count: AtomicU64::new(0),
        }
    }

    /// The next id: 20 characters that are safe in URLs and file names. Ids of one run share
    /// their beginning and rise, which keeps term dictionaries small.
    pub(crate) fn next(&self) -> String {
        let id: [u8; ID_CHARS as usize] = digits(self.starts[0] + self.counted());
        String::from_utf8_lossy(&id).into_owned()
    }

    /// An id of 22 characters, as many as clients expect of an index, and only those that they expect.
    pub(crate) fn next_uuid(&self) -> String {
        let uuid: [u8; UUID_CHARS as usize] = digits(self.starts[1] + self.counted());
        let uuid = uuid.map(|digit| if digit == b'~' { b'-' } else { digit });
        String::from_utf8_lossy(&uuid).into_owned()
    }

    fn counted(&self) -> u128 {
        // More than there are bits for would run into the random ones, which only have to differ from others'.
        u128::from(self.count.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: std::time::Duration = std::time::Duration::from_secs(1_790_000_000);

    #[test]
    fn names_follow_the_rules() {
        for good in ["a", "logs-2026.01.01", "x_y", ".hidden", "ä"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "", ".", "..", "A", "_x", "-x", "+x", "a b", "a,b", "a/b", "a*", "a#b", "a:b",
        ] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_rise_and_never_repeat() {
        let ids = IdGenerator::new(NOW, 7);
        let made: Vec<String> = (0..10_000).map(|_| ids.next()).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(
            made.iter()
                .all(|id| id.len() == 20 && id[..13] == made[0][..13])
        );
    }

    #[test]
    fn ids_of_runs_that_began_in_the_same_moment_differ() {
        let mut seen = std::collections::HashSet::new();
        for random in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            let ids = IdGenerator::new(NOW, random);
            assert!((0..1000).all(|_| seen.insert(ids.next())), "{random}");
            assert!(seen.iter().filter(|id| is_id(id)).count() >= 1000);
            assert!((0..1000).all(|_| seen.insert(ids.next_uuid())), "{random}");
        }
        assert_eq!(seen.iter().filter(|id| is_uuid(id)).count(), 4000);
    }

    #[test]
    fn later_runs_have_later_ids() {
        let later = NOW + std::time::Duration::from_millis(1);
        let (before, after) = (IdGenerator::new(NOW, u64::MAX), IdGenerator::new(later, 0));
        assert!(before.next() < after.next());
        assert!(before.next_uuid() < after.next_uuid());
    }

    #[test]
    fn ids_go_on_rising_when_the_count_runs_over() {
        let ids = IdGenerator::new(NOW, 7);
        ids.count.store((1 << COUNT_BITS) - 2, Ordering::Relaxed);
        let made: Vec<String> = (0..4).map(|_| ids.next()).collect();
        assert!(made.is_sorted_by(|a, b| a < b), "{made:?}");
    }
}
