//! Decimal numbers as whole ones, exactly: 64 bits without a sign do not go through a float.

/// Digits that are looked at; a number with more of them before its point is too large for anything.
const DIGITS_MAX: usize = 400;

/// A decimal number taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    negative: bool,
    /// Its digits before the point, without zeros at the front.
    digits: String,
    /// Whether there is anything but zeros behind the point.
    pub has_fraction: bool,
}

impl Whole {
    /// Reads `[+-]digits[.digits][e[+-]digits]`.
    pub fn parse(text: &str) -> Option<Whole> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if before.len() + behind.len() == 0 || !all_digits(before) || !all_digits(behind) {
            return None;
        }
        let mut digits = format!("{before}{behind}");
        let point = i64::try_from(before.len()).ok()? + i64::from(exponent);
        let split = usize::try_from(point.max(0)).ok()?;
        let mut fraction = String::new();
        if split <= digits.len() {
            fraction = digits.split_off(split);
        } else if digits.bytes().any(|digit| digit != b'0') {
            let zeros = split.min(DIGITS_MAX).saturating_sub(digits.len());
            digits.extend(std::iter::repeat_n('0', zeros));
        }
        Some(Whole {
            negative,
            digits: digits.trim_start_matches('0').to_string(),
            has_fraction: fraction.bytes().any(|digit| digit != b'0'),
        })
    }

    /// Whether the number lies below zero.
    pub fn is_negative(&self) -> bool {
        self.negative && (self.has_fraction || !self.digits.is_empty())
    }

    /// The number without its fraction; `None` when it does not fit.
    pub fn toward_zero(&self) -> Option<u64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        if self.negative {
            return None;
        }
        self.digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_cut_at_their_point_exactly() {
        for (text, number, has_fraction) in [
            (
                "10223372036854775807.23",
                Some(10_223_372_036_854_775_807),
                true,
            ),
            ("18446744073709551615", Some(u64::MAX), false),
            ("18446744073709551616", None, false),
            ("1.5e3", Some(1500), false),
            ("12345e-2", Some(123), true),
            ("-0.5", Some(0), true),
            ("-1", None, false),
            ("1e2000000000", None, false),
            ("0e2000000000", Some(0), false),
        ] {
            let whole = Whole::parse(text).unwrap();
            assert_eq!(
                (whole.toward_zero(), whole.has_fraction),
                (number, has_fraction),
                "{text}"
            );
        }
        for text in ["", ".", "one", "1.2.3", "--1", "1e"] {
            assert_eq!(Whole::parse(text), None, "{text}");
        }
    }
}
