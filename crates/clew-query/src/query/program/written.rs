//! `String.format`: values in a text, each as its place there says, and base64.

use super::value::{ScriptValue, TEXT_BYTES_MAX};
use crate::error::{ScriptError, ScriptErrorKind};

/// What a place says about its value: `%-8.2f`.
struct Place {
    flags: String,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

/// A text with values in their places.
pub(super) fn formatted<'a>(
    format: &str,
    values: &ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let items = values
        .items()
        .ok_or_else(|| values.no_cast("java.lang.Object[]"))?;
    let mut out = String::new();
    let (mut rest, mut next) = (format, 0);
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        let (place, given, behind) = read(behind)?;
        rest = behind;
        match place.conversion {
            '%' => out.push('%'),
            'n' => out.push('\n'),
            _ => {
                let at = given.unwrap_or_else(|| {
                    next += 1;
                    next
                });
                let value = at.checked_sub(1).and_then(|at| items.get(at));
                let value = value.ok_or_else(|| {
                    ScriptError::argument(format!("Format specifier '%{}'", place.conversion))
                })?;
                out.push_str(&place.fill(&place.told(value)?));
            }
        }
        if out.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    out.push_str(rest);
    ScriptValue::made(out)
}

/// What stands behind a `%`: the place, the number of the value that it names, and the rest of the text.
fn read(text: &str) -> Result<(Place, Option<usize>, &str), ScriptError> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = text;
    let mut given = None;
    let count = digits(rest);
    if let Some(behind) = rest.get(count..).and_then(|rest| rest.strip_prefix('$')) {
        given = rest
            .get(..count)
            .and_then(|number| number.parse::<usize>().ok());
        rest = behind;
    }
    let flags = rest.find(|letter: char| !"-+ 0,(#".contains(letter));
    let (flags, behind) = rest.split_at(flags.unwrap_or(rest.len()));
    let (width, behind) = behind.split_at(digits(behind));
    let (precision, behind) = match behind.strip_prefix('.') {
        Some(behind) => {
            let (precision, behind) = behind.split_at(digits(behind));
            (precision.parse::<usize>().ok(), behind)
        }
        None => (None, behind),
    };
    let unknown = || ScriptError::argument(format!("Conversion = '%{text}'"));
    let conversion = behind.chars().next().ok_or_else(unknown)?;
    let place = Place {
        flags: flags.to_string(),
        // No text may become as long.
        width: width.parse::<usize>().unwrap_or(0).min(TEXT_BYTES_MAX + 1),
        precision: precision.map(|digits| digits.min(1_000)),
        conversion,
    };
    let behind = behind.get(conversion.len_utf8()..).unwrap_or_default();
    Ok((place, given, behind))
}

impl Place {
    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// A value as it stands here, before it is made wider.
    fn told(&self, value: &ScriptValue<'_>) -> Result<String, ScriptError> {
        let unfit =
            || ScriptError::argument(format!("{} != {}", self.conversion, value.type_name()));
        if *value == ScriptValue::Null && !matches!(self.conversion, 'b' | 'B') {
            return Ok("null".to_string());
        }
        let told = match self.conversion.to_ascii_lowercase() {
            's' => {
                let shown = value.shown();
                let letters = self.precision.unwrap_or(usize::MAX);
                shown.chars().take(letters).collect()
            }
            'd' => match value {
                ScriptValue::Whole(number) => self.signed(
                    *number < 0,
                    &self.grouped(&number.unsigned_abs().to_string()),
                ),
                _ => return Err(unfit()),
            },
            'x' => match value {
                ScriptValue::Whole(number) if i32::try_from(*number).is_ok() => {
                    format!("{:x}", number & i64::from(u32::MAX))
                }
                ScriptValue::Whole(number) => format!("{number:x}"),
                _ => return Err(unfit()),
            },
            'o' => match value {
                ScriptValue::Whole(number) => format!("{number:o}"),
                _ => return Err(unfit()),
            },
            'f' | 'e' => match value {
                ScriptValue::Float(number) => self.fraction(*number),
                _ => return Err(unfit()),
            },
            'b' => match value {
                ScriptValue::Null => "false".to_string(),
                ScriptValue::Bool(truth) => truth.to_string(),
                _ => "true".to_string(),
            },
            'c' => match value {
                ScriptValue::Char(_) => value.shown().into_owned(),
                ScriptValue::Whole(code) => {
                    let letter = u32::try_from(*code).ok().and_then(char::from_u32);
                    letter.ok_or_else(unfit)?.to_string()
                }
                _ => return Err(unfit()),
            },
            other => {
                let reason = format!("Conversion = '{other}'");
                return Err(ScriptError::new(ScriptErrorKind::Argument, reason));
            }
        };
        Ok(match self.conversion.is_ascii_uppercase() {
            true => told.to_uppercase(),
            false => told,
        })
    }

    /// A number with the digits behind its point that are wanted.
    fn fraction(&self, number: f64) -> String {
        let digits = self.precision.unwrap_or(6);
        let size = number.abs();
        let told = match self.conversion.to_ascii_lowercase() {
            'e' => powered(&format!("{size:.digits$e}")),
            _ => self.grouped(&rounded(size, digits)),
        };
        self.signed(number.is_sign_negative(), &told)
    }

    /// Digits with commas between thousands, where that is wanted.
    fn grouped(&self, digits: &str) -> String {
        if !self.has(',') {
            return digits.to_string();
        }
        let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
        let mut grouped = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped + fraction
    }

    fn signed(&self, is_below: bool, digits: &str) -> String {
        let sign = match is_below {
            true => "-",
            false if self.has('+') => "+",
            false if self.has(' ') => " ",
            false => "",
        };
        format!("{sign}{digits}")
    }

    /// A text as wide as the place.
    fn fill(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        if self.has('-') {
            return format!("{text}{}", " ".repeat(missing));
        }
        if self.has('0') {
            let signs = usize::from(text.starts_with(['-', '+', ' ']));
            let (sign, digits) = text.split_at(signs);
            return format!("{sign}{}{digits}", "0".repeat(missing));
        }
        format!("{}{text}", " ".repeat(missing))
    }
}

/// A number with so many digits behind its point. As in Java a five that is dropped counts up, by the digits that the number
/// is written with.
fn rounded(size: f64, digits: usize) -> String {
    let written = size.to_string();
    let (whole, fraction) = written.split_once('.').unwrap_or((written.as_str(), ""));
    let dropped = fraction.as_bytes().get(digits).copied();
    let kept = fraction.get(..digits);
    let (Some(dropped), Some(kept)) = (dropped, kept) else {
        return format!("{size:.digits$}");
    };
    let mut all: Vec<u8> = whole.bytes().chain(kept.bytes()).collect();
    let mut carries = dropped >= b'5';
    for digit in all.iter_mut().rev() {
        if !carries {
            break;
        }
        carries = *digit == b'9';
        *digit = if carries { b'0' } else { *digit + 1 };
    }
    if carries {
        all.insert(0, b'1');
    }
    let (whole, kept) = all.split_at(all.len() - digits);
    let [whole, kept] = [whole, kept].map(String::from_utf8_lossy);
    match digits {
        0 => whole.into_owned(),
        _ => format!("{whole}.{kept}"),
    }
}

/// A power of ten as Java writes it: with a sign, and two digits at least.
fn powered(text: &str) -> String {
    let Some((digits, power)) = text.split_once('e') else {
        return text.to_string();
    };
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    format!("{digits}e{sign}{power:0>2}")
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A text in base64.
pub(super) fn base64_of(text: &str) -> String {
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let place = usize::try_from((bits >> shift) & 63).unwrap_or(0);
            let digit = BASE64.get(place).copied().map_or('=', char::from);
            out.push(if at > three.len() { '=' } else { digit });
        }
    }
    out
}

/// The text that base64 stands for.
pub(super) fn of_base64(text: &str) -> Result<String, ScriptError> {
    let wrong = || ScriptError::argument("Illegal base64 character");
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut bytes: Vec<u8> = Vec::new();
    for digit in text.trim_end_matches('=').bytes() {
        let place = BASE64.iter().position(|known| *known == digit);
        let place = place.and_then(|place| u32::try_from(place).ok());
        bits = (bits << 6) | place.ok_or_else(wrong)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend(u8::try_from((bits >> count) & 255));
            bits &= (1 << count) - 1;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
