//! Sets of numbers as roaring bitmaps (their portable format, in base 64), which `terms` takes in
//! place of a list.

use base64::Engine as _;
use serde_json::Value;

use super::DslError;

/// Numbers that a set may have; a list of terms has the same limit.
const NUMBERS_MAX: usize = 65_536;
/// The first number of a set whose containers all are arrays or bits.
const COOKIE: u32 = 12_346;
/// The lower half of the first number of a set with containers of runs.
const COOKIE_RUNS: u32 = 12_347;
/// Containers with more numbers are bits.
const ARRAY_MAX: usize = 4096;
/// Sets with fewer containers of which some are runs say nothing of where these begin.
const NO_OFFSETS: usize = 4;

/// The numbers of the only value, which is such a set.
pub(crate) fn numbers(values: &[Value]) -> Result<Vec<Value>, DslError> {
    let [Value::String(text)] = values else {
        return Err(DslError::illegal(
            "Invalid value for bitmap type: Expected a single-element array with a base64 encoded \
             serialized bitmap.",
        ));
    };
    let wrong = || {
        DslError::illegal("Failed to deserialize the bitmap: it is no roaring bitmap in base 64")
    };
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|_| wrong())?;
    let found = Reader(&bytes).set().ok_or_else(wrong)?;
    if found.len() > NUMBERS_MAX {
        return Err(DslError::illegal(format!(
            "a bitmap may hold at most [{NUMBERS_MAX}] numbers"
        )));
    }
    Ok(found.into_iter().map(Value::from).collect())
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    /// All numbers, or the first ones when there are more than wanted.
    fn set(mut self) -> Option<Vec<u32>> {
        let cookie = self.take().map(u32::from_le_bytes)?;
        let mut runs = Vec::new();
        let count = if cookie == COOKIE {
            usize::try_from(self.take().map(u32::from_le_bytes)?).ok()?
        } else if cookie & 0xFFFF == COOKIE_RUNS {
            let count = usize::try_from((cookie >> 16) + 1).ok()?;
            for _ in 0..count.div_ceil(8) {
                let [byte] = self.take()?;
                runs.extend((0..8).map(|bit| byte >> bit & 1 == 1));
            }
            count
        } else {
            return None;
        };
        if count > 1 << 16 {
            return None;
        }
        let mut containers = Vec::new();
        for at in 0..count {
            let key = u32::from(self.short()?) << 16;
            let size = usize::from(self.short()?) + 1;
            containers.push((key, size, runs.get(at).copied().unwrap_or(false)));
        }
        if runs.is_empty() || count >= NO_OFFSETS {
            for _ in 0..count {
                self.take::<4>()?;
            }
        }
        let mut found = Vec::new();
        for (key, size, is_runs) in containers {
            self.container(key, size, is_runs, &mut found)?;
            if found.len() > NUMBERS_MAX {
                break;
            }
        }
        Some(found)
    }

    fn container(
        &mut self,
        key: u32,
        size: usize,
        is_runs: bool,
        found: &mut Vec<u32>,
    ) -> Option<()> {
        if is_runs {
            for _ in 0..self.short()? {
                let first = u32::from(self.short()?);
                let last = first + u32::from(self.short()?);
                if last > u32::from(u16::MAX) {
                    return None;
                }
                found.extend((first..=last).map(|low| key | low));
            }
        } else if size <= ARRAY_MAX {
            for _ in 0..size {
                found.push(key | u32::from(self.short()?));
            }
        } else {
            for word in 0..1024_u32 {
                let bits = self.take().map(u64::from_le_bytes)?;
                let set = (0..64).filter(|bit| bits >> bit & 1 == 1);
                found.extend(set.map(|bit| key | (word * 64 + bit)));
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn encoded(bytes: &[u8]) -> Value {
        json!(base64::engine::general_purpose::STANDARD.encode(bytes))
    }

    #[test]
    fn arrays_bits_and_runs_are_read() {
        let have = numbers(&[json!("OjAAAAEAAAAAAAEAEAAAAG8A3gA=")]).unwrap();
        assert_eq!(have, [json!(111), json!(222)]);
        // One container of one run: 65536 + 5, 6 and 7.
        let runs = [0x3B, 0x30, 0, 0, 1, 1, 0, 2, 0, 1, 0, 5, 0, 2, 0];
        let have = numbers(&[encoded(&runs)]).unwrap();
        assert_eq!(have, [json!(65_541), json!(65_542), json!(65_543)]);
        let mut bits = vec![0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0xFF, 0x1F, 16, 0, 0, 0];
        bits.extend([0xFF; 1024]);
        bits.extend([0; 7168]);
        let have = numbers(&[encoded(&bits)]).unwrap();
        assert_eq!(have.len(), 8192);
        assert_eq!(have.last(), Some(&json!(8191)));
    }

    #[test]
    fn what_is_no_set_is_refused() {
        let cut = [0x3A, 0x30, 0, 0, 9, 0, 0, 0];
        for wrong in [json!("!"), json!(""), json!(5), encoded(&cut)] {
            assert!(numbers(std::slice::from_ref(&wrong)).is_err(), "{wrong}");
        }
        assert!(numbers(&[]).is_err());
    }
}
