//! Patterns of numbers: `0.00`, `#,##0.###`, `0.0%`, `0.##E0`, with text around them.

use std::fmt::LowerExp;

/// A pattern, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    /// What stands around negative numbers instead of a sign and the above.
    negative: Option<(String, String)>,
    whole_min: usize,
    fraction_min: usize,
    fraction_max: usize,
    /// Digits between separators; none without.
    group: Option<usize>,
    percent: bool,
    /// Numbers are shown with a power of ten.
    power: Option<Power>,
}

/// How a power of ten is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Power {
    /// Its digits, at least.
    digits_min: usize,
    /// Digits before the point, at most: with fewer that must be there, powers are multiples of it.
    whole_max: usize,
}

/// No pattern shows more digits behind the point.
const FRACTION_MAX: usize = 340;
/// Digits between separators where a pattern says nothing at all.
const GROUP_OF_NONE: usize = 3;

impl DecimalFormat {
    /// Understands a pattern; `None` when it has misplaced signs. One without digits is text before whole numbers, and an
    /// empty one shows numbers as they are, by thousands.
    pub fn parse(pattern: &str) -> Option<Self> {
        // The digits of a second pattern, which is for negative numbers, say nothing.
        let (pattern, negative) = match pattern.split_once(';') {
            Some((pattern, negative)) => (pattern, Some(parts(negative)?)),
            None => (pattern, None),
        };
        let (prefix, digits, power_min, suffix) = parts(pattern)?;
        let plain = |text: &str| text.replace('\'', "");
        let negative = negative
            .map(|(before, _, _, after)| (plain(before), plain(after)))
            .filter(|around| *around != (plain(prefix), plain(suffix)));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let misplaced = fraction.contains(['.', ','])
            || fraction.trim_start_matches('0').contains('0')
            || whole.replace(',', "").trim_start_matches('#').contains('#')
            || fraction.len() > FRACTION_MAX
            || power_min > 0 && (whole.contains(',') || !(1..=FRACTION_MAX).contains(&whole.len()));
        if misplaced {
            return None;
        }
        Some(DecimalFormat {
            prefix: plain(prefix),
            suffix: plain(suffix),
            negative,
            whole_min: whole.matches('0').count(),
            fraction_min: fraction.matches('0').count(),
            fraction_max: match pattern {
                "" => FRACTION_MAX,
                _ => fraction.len(),
            },
            group: match pattern {
                "" => Some(GROUP_OF_NONE),
                _ => whole
                    .rfind(',')
                    .map(|at| whole.len() - at - 1)
                    .filter(|length| *length > 0),
            },
            percent: suffix.contains('%') || prefix.contains('%'),
            power: (power_min > 0).then_some(Power {
                digits_min: power_min,
                whole_max: whole.len(),
            }),
        })
    }

    /// A number's text; halves are rounded to even digits.
    pub fn format(&self, value: f64) -> String {
        if value.is_nan() {
            return "NaN".to_string();
        }
        let value = if self.percent { value * 100.0 } else { value };
        let is_negative = value.is_sign_negative() && value != 0.0;
        if value.is_infinite() {
            return self.around(is_negative, "∞");
        }
        if let Some(power) = self.power {
            return self.around(is_negative, &self.with_power(power, value.abs()));
        }
        // The digits that tell a number from others, unless fewer are wanted.
        let shortest = digits_of(value.abs());
        let digits = shortest
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let text = match digits <= self.fraction_max {
            true => shortest,
            false => format!("{:.*}", self.fraction_max, value.abs()),
        };
        self.around(is_negative, &self.filled(&text))
    }

    /// A whole number's text, with all its digits.
    pub fn format_whole(&self, value: i64) -> String {
        if let Some(power) = self.power {
            let times = if self.percent { 100 } else { 1 };
            let shown = self.with_power(power, u128::from(value.unsigned_abs()) * times);
            return self.around(value < 0, &shown);
        }
        let mut text = value.unsigned_abs().to_string();
        if self.percent {
            text.push_str("00");
        }
        self.around(value < 0, &self.filled(&text))
    }

    /// A number of no sign as digits and a power of ten.
    fn with_power(&self, power: Power, value: impl LowerExp) -> String {
        let digits_max = (power.whole_max + self.fraction_max).max(1);
        let split = |text: &str| {
            let (digits, ten) = text.split_once('e').unwrap_or((text, "0"));
            let digits = digits.replace('.', "").trim_end_matches('0').to_string();
            (digits, ten.parse().unwrap_or(0_i32))
        };
        let mut found = split(&format!("{value:e}"));
        if found.0.len() > digits_max {
            found = split(&format!("{value:.*e}", digits_max - 1));
        }
        let (digits, ten) = found;
        let signed = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        // The place of the point among the digits, where all of them stand behind it without a power.
        let point = ten + 1;
        let repeat = signed(power.whole_max);
        let (ten, whole) = if power.whole_max > self.whole_min.max(1) {
            let beyond = if point >= 1 {
                point - 1
            } else {
                point - repeat
            };
            (beyond / repeat * repeat, 1)
        } else {
            (point - signed(self.whole_min), self.whole_min)
        };
        let (ten, whole) = match digits.is_empty() {
            true => (0, whole),
            false => (ten, usize::try_from(point - ten).unwrap_or(0)),
        };
        let count = whole
            .max(self.whole_min + self.fraction_min)
            .max(digits.len());
        let mut text = format!("{digits:0<count$}");
        if count > whole {
            text.insert(whole, '.');
        }
        let sign = if ten < 0 { "-" } else { "" };
        let width = power.digits_min;
        format!("{text}E{sign}{:0width$}", ten.unsigned_abs())
    }

    /// Digits with what stands around them.
    fn around(&self, is_negative: bool, digits: &str) -> String {
        let (sign, prefix, suffix) = match &self.negative {
            Some((before, after)) if is_negative => ("", before, after),
            _ if is_negative => ("-", &self.prefix, &self.suffix),
            _ => ("", &self.prefix, &self.suffix),
        };
        format!("{sign}{prefix}{digits}{suffix}")
    }

    /// Digits with as many zeros and separators as the pattern wants.
    fn filled(&self, text: &str) -> String {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let fraction = format!("{fraction:0<width$}", width = self.fraction_min);
        let whole = whole.trim_start_matches('0');
        let whole = format!(
            "{}{whole}",
            "0".repeat(self.whole_min.saturating_sub(whole.len()))
        );
        let whole = if whole.is_empty() && fraction.is_empty() {
            "0".to_string()
        } else {
            self.grouped(&whole)
        };
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{whole}{point}{fraction}")
    }

    fn grouped(&self, whole: &str) -> String {
        let Some(group) = self.group else {
            return whole.to_string();
        };
        let mut text = String::with_capacity(whole.len() * 2);
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(group) {
                text.push(',');
            }
            text.push(digit);
        }
        text
    }
}

/// The digits by which Java tells a number from others: of whole ones from 2^53 to 2^63 all down to the last that such numbers
/// can differ in.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is whole and in range"
)]
fn digits_of(value: f64) -> String {
    if !(9_007_199_254_740_992.0..9_223_372_036_854_775_808.0).contains(&value) {
        return value.to_string();
    }
    let whole = value as u64;
    let unit = match whole.ilog2() {
        ..58 => 1,
        58..61 => 10,
        _ => 100,
    };
    ((whole + unit / 2) / unit * unit).to_string()
}

/// What stands before the digits of a pattern, the digits, how many digits a power of ten has that stands behind them (0 of
/// none), and what stands behind that, where there are no more.
fn parts(pattern: &str) -> Option<(&str, &str, usize, &str)> {
    let is_digit = |c: char| matches!(c, '#' | '0' | ',' | '.');
    let start = pattern.find(is_digit).unwrap_or(pattern.len());
    let (prefix, rest) = pattern.split_at(start);
    let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at(end);
    let (power_min, suffix) = match rest.strip_prefix('E') {
        None => (0, rest),
        Some(power) => {
            let suffix = power.trim_start_matches('0');
            let power_min = power.len() - suffix.len();
            (power_min, (power_min > 0).then_some(suffix)?)
        }
    };
    (!suffix.contains(is_digit)).then_some((prefix, digits, power_min, suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_their_pattern() {
        for (pattern, value, expected) in [
            ("0.0", 12.34, "12.3"),
            ("0.00", 0.5, "0.50"),
            ("#.##", 0.5, ".5"),
            ("#", 0.0, "0"),
            ("#,##0.###", 1_234_567.5, "1,234,567.5"),
            ("$0.00", -3.0, "-$3.00"),
            ("0.0%", 0.256, "25.6%"),
            ("000", 7.0, "007"),
            ("", 1.123_456, "1.123456"),
            ("", 2.0, "2"),
            ("", -57_218.5, "-57,218.5"),
            ("yyyy", 529.8, "yyyy530"),
            ("#,##0.0;(#,##0.0)", -1_234.56, "(1,234.6)"),
            ("#,##0.0;(#,##0.0)", 1_234.56, "1,234.6"),
            ("0;0", -3.0, "-3"),
            ("0;neg ", -3.0, "neg 3"),
            ("0.00##################", 0.1, "0.10"),
            ("0.0", 1e15, "1000000000000000.0"),
            ("0", 9_007_199_254_740_994.0, "9007199254740994"),
            ("0.00", 399_945_566_908_355_392.0, "399945566908355390.00"),
            ("0", -4_611_686_018_427_387_904.0, "-4611686018427387900"),
            ("0", f64::INFINITY, "∞"),
            ("0.###E0", -0.576_642_335_766_423_3, "-5.766E-1"),
            ("0.###E0", 0.0, "0E0"),
            ("0.###E0", 100.0, "1E2"),
            ("##0.##E00 x", 12_345.0, "12.345E03 x"),
            ("##0.##E0", 0.000_123_456, "123.46E-6"),
            ("00.0E0", 5.0, "50.0E-1"),
        ] {
            let format = DecimalFormat::parse(pattern).unwrap();
            assert_eq!(format.format(value), expected, "{pattern} {value}");
        }
        for (pattern, value, expected) in [
            ("0.00", i64::MIN, "-9223372036854775808.00"),
            ("#,##0", (1 << 53) + 1, "9,007,199,254,740,993"),
            ("#%", i64::MAX, "922337203685477580700%"),
            ("0%", 0, "0%"),
            ("0;(0)", -3, "(3)"),
            ("0.###E0", -29, "-2.9E1"),
            ("0E0%", i64::MAX, "9E20%"),
        ] {
            let format = DecimalFormat::parse(pattern).unwrap();
            assert_eq!(format.format_whole(value), expected, "{pattern} {value}");
        }
        for pattern in ["0 0", "0.#0", "0#", "0EUR", "#,##0E0", ".0E0"] {
            assert_eq!(DecimalFormat::parse(pattern), None, "{pattern}");
        }
    }
}
