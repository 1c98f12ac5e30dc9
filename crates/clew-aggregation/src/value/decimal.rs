//! Patterns of numbers: `0.00`, `#,##0.###`, `0.0%`, `0.##E0`, with text around them.

use std::fmt::LowerExp;

/// A pattern, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    /// What stands around negative numbers instead of a sign and the above.
    negative: Option<(String, String)>,
    /// By what numbers are multiplied: 100 for percents.
    times: u16,
    counts: Counts,
    /// How many digits a power of ten has at least that numbers are shown with; none without.
    power_min: usize,
}

/// How many digits a pattern wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    whole_min: usize,
    /// Of a number with a power of ten: with fewer that must be there, powers are multiples of it.
    whole_max: usize,
    fraction_min: usize,
    fraction_max: usize,
    /// Digits between separators; none without.
    group: Option<usize>,
    /// Whether there is a point without a fraction behind it, too.
    always_point: bool,
}

/// No pattern shows more digits behind the point.
const FRACTION_MAX: usize = 340;
/// What a pattern wants that says nothing at all.
const COUNTS_OF_NONE: Counts = Counts {
    whole_min: 0,
    whole_max: 0,
    fraction_min: 0,
    fraction_max: FRACTION_MAX,
    group: Some(3),
    always_point: false,
};
/// How the refusal of a pattern begins in which signs of digits stand where none can be.
const MALFORMED: &str = "Malformed pattern";

impl DecimalFormat {
    /// Understands a pattern. One without digits is text before whole numbers, and an empty one shows numbers as they are, by
    /// thousands.
    ///
    /// # Errors
    /// In Java's words, what is wrong with it.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        let wrong = |what: String| format!("{what} \"{pattern}\"");
        let (half, negative) = Half::read(pattern).map_err(wrong)?;
        // The digits of a second pattern, which is for negative numbers, say nothing.
        let negative = negative.strip_prefix(';').filter(|rest| !rest.is_empty());
        let negative = match negative.map(Half::read).transpose().map_err(wrong)? {
            Some((_, rest)) if !rest.is_empty() => return Err(wrong(unquoted(';'))),
            negative => negative.map(|(half, _)| (half.prefix, half.suffix)),
        };
        let counts = match pattern {
            "" => COUNTS_OF_NONE,
            _ => Counts::of(&half.digits).map_err(|what| wrong(what.to_string()))?,
        };
        Ok(DecimalFormat {
            negative: negative
                .filter(|(before, after)| (before, after) != (&half.prefix, &half.suffix)),
            prefix: half.prefix,
            suffix: half.suffix,
            times: half.times,
            counts,
            power_min: half.power_min,
        })
    }

    /// A number's text; halves are rounded to even digits.
    pub fn format(&self, value: f64) -> String {
        if value.is_nan() {
            return "NaN".to_string();
        }
        let value = value * f64::from(self.times);
        let is_negative = value.is_sign_negative();
        if value.is_infinite() {
            return self.around(is_negative, "∞");
        }
        if self.power_min > 0 {
            // Of whole numbers Java takes a half for more than one here.
            let rounded = match value.fract() == 0.0 {
                true => value.abs().next_up(),
                false => value.abs(),
            };
            return self.around(is_negative, &self.with_power(value.abs(), rounded));
        }
        // The digits that tell a number from others, unless fewer are wanted.
        let shortest = digits_of(value.abs());
        let digits = shortest
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let text = match digits <= self.counts.fraction_max {
            true => shortest,
            false => format!("{:.*}", self.counts.fraction_max, value.abs()),
        };
        self.around(is_negative, &self.filled(&text))
    }

    /// A whole number's text, with all its digits.
    pub fn format_whole(&self, value: i64) -> String {
        let whole = u128::from(value.unsigned_abs()) * u128::from(self.times);
        let shown = match self.power_min {
            0 => self.filled(&whole.to_string()),
            _ => self.with_power(whole, whole),
        };
        self.around(value < 0, &shown)
    }

    /// A number of no sign as digits and a power of ten, and what is rounded where it has too many digits.
    fn with_power(&self, value: impl LowerExp, rounded: impl LowerExp) -> String {
        let counts = &self.counts;
        let digits_max = (counts.whole_max + counts.fraction_max).max(1);
        let split = |text: &str| {
            let (digits, ten) = text.split_once('e').unwrap_or((text, "0"));
            let digits = digits.replace('.', "").trim_end_matches('0').to_string();
            (digits, ten.parse().unwrap_or(0_i32))
        };
        let mut found = split(&format!("{value:e}"));
        if found.0.len() > digits_max {
            found = split(&format!("{rounded:.*e}", digits_max - 1));
        }
        let (digits, ten) = found;
        let signed = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        // The place of the point among the digits, where all of them stand behind it without a power.
        let point = ten + 1;
        let repeat = signed(counts.whole_max);
        let (ten, whole) = if counts.whole_max > counts.whole_min.max(1) {
            let beyond = if point >= 1 {
                point - 1
            } else {
                point - repeat
            };
            (beyond / repeat * repeat, 1)
        } else {
            (point - signed(counts.whole_min), counts.whole_min)
        };
        let (ten, whole) = match digits.is_empty() {
            true => (0, whole),
            false => (ten, usize::try_from(point - ten).unwrap_or(0)),
        };
        let count = whole
            .max(counts.whole_min + counts.fraction_min)
            .max(digits.len());
        let mut text = format!("{digits:0<count$}");
        if count > whole {
            text.insert(whole, '.');
        }
        let sign = if ten < 0 { "-" } else { "" };
        let width = self.power_min;
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
        let counts = &self.counts;
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let fraction = format!("{fraction:0<width$}", width = counts.fraction_min);
        let whole = whole.trim_start_matches('0');
        let whole = format!("{whole:0>width$}", width = counts.whole_min);
        let whole = if whole.is_empty() && fraction.is_empty() {
            "0".to_string()
        } else {
            self.grouped(&whole)
        };
        let has_point = counts.always_point || !fraction.is_empty();
        let point = if has_point { "." } else { "" };
        format!("{whole}{point}{fraction}")
    }

    fn grouped(&self, whole: &str) -> String {
        let Some(group) = self.counts.group else {
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

/// Whether a character stands for digits, or between them.
fn is_digit(sign: char) -> bool {
    matches!(sign, '#' | '0' | ',' | '.')
}

fn unquoted(sign: char) -> String {
    format!("Unquoted special character '{sign}' in pattern")
}

/// A pattern for numbers of one sign.
#[derive(Default)]
struct Half {
    prefix: String,
    /// The signs of digits, wherever they stand.
    digits: String,
    power_min: usize,
    suffix: String,
    times: u16,
}

impl Half {
    /// Reads a pattern up to its end, or to the sign that another one follows.
    fn read(pattern: &str) -> Result<(Self, &str), String> {
        let mut half = Half {
            times: 1,
            ..Half::default()
        };
        let (prefix, mut rest) = half.text(pattern)?;
        half.prefix = prefix;
        if rest.starts_with(';') {
            return Err(unquoted(';'));
        }
        while rest.starts_with(is_digit) {
            let end = rest.find(|sign| !is_digit(sign)).unwrap_or(rest.len());
            let (digits, behind) = rest.split_at(end);
            half.digits.push_str(digits);
            rest = behind;
            if let Some(power) = rest.strip_prefix('E') {
                rest = power.trim_start_matches('0');
                half.power_min = power.len() - rest.len();
                let is_any = (1..=FRACTION_MAX).contains(&half.power_min);
                if !is_any || !half.digits.contains(['#', '0']) {
                    return Err("Malformed exponential pattern".to_string());
                }
            }
            let (text, behind) = half.text(rest)?;
            half.suffix.push_str(&text);
            rest = behind;
        }
        Ok((half, rest))
    }

    /// Text as far as it goes, and what follows it. What is quoted means itself.
    fn text<'p>(&mut self, rest: &'p str) -> Result<(String, &'p str), String> {
        let mut text = String::new();
        let mut quoted = false;
        let mut signs = rest.char_indices().peekable();
        while let Some((at, sign)) = signs.next() {
            let mut doubled = || signs.next_if(|(_, next)| *next == sign).is_some();
            match sign {
                '\'' if doubled() => text.push('\''),
                '\'' => quoted = !quoted,
                sign if quoted => text.push(sign),
                ';' => return Ok((text, rest.split_at(at).1)),
                sign if is_digit(sign) => return Ok((text, rest.split_at(at).1)),
                '%' | '‰' => {
                    if self.times != 1 {
                        return Err("Too many percent/per mille characters in pattern".to_string());
                    }
                    self.times = if sign == '%' { 100 } else { 1000 };
                    text.push(sign);
                }
                // The code of no country's currency.
                '¤' if doubled() => text.push_str("XXX"),
                sign => text.push(sign),
            }
        }
        match quoted {
            true => Err(MALFORMED.to_string()),
            false => Ok((text, "")),
        }
    }
}

impl Counts {
    /// What the signs of digits of a pattern ask for.
    fn of(signs: &str) -> Result<Self, &'static str> {
        if signs.matches('.').count() > 1 {
            return Err("Multiple decimal separators in pattern");
        }
        let has_point = signs.contains('.');
        let (whole, fraction) = signs.split_once('.').unwrap_or((signs, ""));
        let digits = signs.replace([',', '.'], "");
        let optional = digits.trim_start_matches('#');
        let behind = optional.trim_start_matches('0');
        if behind.contains('0') {
            return Err("Unexpected '0' in pattern");
        }
        let point = whole.len() - whole.matches(',').count();
        let (mut left, mut zeros) = (digits.len() - optional.len(), optional.len() - behind.len());
        // Without a digit that must be there the one before the point is: `##.##` is `#0.##`, and `.##` is `.0#`.
        if has_point && zeros == 0 && left > 0 {
            (left, zeros) = (point.max(1) - 1, 1);
        }
        let group = whole.rfind(',').map(|at| whole.len() - at - 1);
        let is_misplaced = match has_point {
            true => point < left || point > left + zeros,
            false => !behind.is_empty(),
        };
        if is_misplaced || fraction.contains(',') || group == Some(0) || digits.len() > FRACTION_MAX
        {
            return Err(MALFORMED);
        }
        let whole_min = if has_point { point - left } else { zeros };
        Ok(Counts {
            whole_min,
            whole_max: left + whole_min,
            fraction_min: if has_point { left + zeros - point } else { 0 },
            fraction_max: if has_point { digits.len() - point } else { 0 },
            group,
            always_point: has_point && (point == 0 || point == digits.len()),
        })
    }
}

#[cfg(test)]
mod tests;
