//! Patterns of numbers: `0.00`, `#,##0.###`, `0.0%`, with text around them.

/// A pattern, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    whole_min: usize,
    fraction_min: usize,
    fraction_max: usize,
    /// Digits between separators; none without.
    group: Option<usize>,
    percent: bool,
}

/// No pattern shows more digits behind the point.
const FRACTION_MAX: usize = 340;

impl DecimalFormat {
    /// Understands a pattern; `None` when it has no digits or misplaced signs. An empty one shows numbers as they are.
    pub fn parse(pattern: &str) -> Option<Self> {
        // A second pattern for negative numbers changes nothing but their sign.
        let pattern = pattern.split(';').next()?;
        let is_digit = |c: char| matches!(c, '#' | '0' | ',' | '.');
        let start = match pattern {
            "" => 0,
            _ => pattern.find(is_digit)?,
        };
        let rest = &pattern[start..];
        let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let (digits, suffix) = rest.split_at(end);
        if suffix.contains(is_digit) {
            return None;
        }
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let misplaced = fraction.contains(['.', ','])
            || fraction.trim_start_matches('0').contains('0')
            || whole.replace(',', "").trim_start_matches('#').contains('#')
            || fraction.len() > FRACTION_MAX;
        if misplaced {
            return None;
        }
        let prefix = &pattern[..start];
        Some(DecimalFormat {
            prefix: prefix.replace('\'', ""),
            suffix: suffix.replace('\'', ""),
            whole_min: whole.matches('0').count(),
            fraction_min: fraction.matches('0').count(),
            fraction_max: match pattern {
                "" => FRACTION_MAX,
                _ => fraction.len(),
            },
            group: whole
                .rfind(',')
                .map(|at| whole.len() - at - 1)
                .filter(|length| *length > 0),
            percent: suffix.contains('%') || prefix.contains('%'),
        })
    }

    /// A number's text; halves are rounded to even digits.
    pub fn format(&self, value: f64) -> String {
        if value.is_nan() {
            return "NaN".to_string();
        }
        let value = if self.percent { value * 100.0 } else { value };
        let sign = if value.is_sign_negative() && value != 0.0 {
            "-"
        } else {
            ""
        };
        if value.is_infinite() {
            return format!("{sign}{}∞{}", self.prefix, self.suffix);
        }
        // The digits that tell a number from others, unless fewer are wanted.
        let shortest = value.abs().to_string();
        let digits = shortest
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let text = match digits <= self.fraction_max {
            true => shortest,
            false => format!("{:.*}", self.fraction_max, value.abs()),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
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
        format!(
            "{sign}{}{whole}{point}{fraction}{}",
            self.prefix, self.suffix
        )
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
            ("0.00##################", 0.1, "0.10"),
        ] {
            let format = DecimalFormat::parse(pattern).unwrap();
            assert_eq!(format.format(value), expected, "{pattern} {value}");
        }
        for pattern in ["abc", "0.#0", "0#"] {
            assert_eq!(DecimalFormat::parse(pattern), None, "{pattern}");
        }
    }
}
