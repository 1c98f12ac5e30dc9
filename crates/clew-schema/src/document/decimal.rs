//! Decimal digits to `f32`. Vectors arrive as tens of kilobytes of digits, so this is where the
//! time of loading them goes: one pass checks the form and gathers the digits eight at a time.
//!
//! The number is computed in `f64` first. That is exact enough to know the nearest `f32`, except
//! when it lies next to the middle between two of them; then the slow, exact way decides.

/// Powers of ten that an `f64` holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Digits of which every number fits an `u64`.
const DIGITS_MAX: usize = 19;

/// Why digits are no value of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalError {
    /// Not in the form of a JSON number.
    Form,
    /// Larger than any `f32`.
    Overflow,
}

/// Reads the JSON number that starts at `at`; the value and the place behind it.
pub(super) fn read_f32(bytes: &[u8], at: usize) -> Result<(f32, usize), DecimalError> {
    let negative = bytes.get(at) == Some(&b'-');
    let whole_at = at + usize::from(negative);
    let (mut mantissa, mut end) = digits(bytes, whole_at, 0);
    let mut digit_count = end - whole_at;
    if digit_count == 0 || (digit_count > 1 && bytes[whole_at] == b'0') {
        return Err(DecimalError::Form);
    }
    let mut exponent: i64 = 0;
    if bytes.get(end) == Some(&b'.') {
        let fraction_at = end + 1;
        (mantissa, end) = digits(bytes, fraction_at, mantissa);
        let fraction = end - fraction_at;
        if fraction == 0 {
            return Err(DecimalError::Form);
        }
        digit_count += fraction;
        exponent = -i64::try_from(fraction).unwrap_or(i64::MAX);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let (written, after) = read_exponent(bytes, end + 1)?;
        exponent = exponent.saturating_add(written);
        end = after;
    }
    if bytes
        .get(end)
        .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.')
    {
        return Err(DecimalError::Form);
    }
    if digit_count > DIGITS_MAX {
        digit_count -= leading_zeros(&bytes[whole_at..end]);
    }
    let value = if digit_count <= DIGITS_MAX {
        nearest(mantissa, exponent)
    } else {
        None
    };
    match value {
        Some(value) => Ok((if negative { -value } else { value }, end)),
        None => exact(&bytes[at..end]).map(|value| (value, end)),
    }
}

/// Reads a text that is one number.
pub(super) fn whole_f32(text: &str) -> Result<f32, DecimalError> {
    match read_f32(text.as_bytes(), 0)? {
        (value, end) if end == text.len() => Ok(value),
        _ => Err(DecimalError::Form),
    }
}

/// Appends the digits from `at` on to a number, which wraps around if there are too many.
fn digits(bytes: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = bytes
        .get(at..at + 8)
        .and_then(|b| <[u8; 8]>::try_from(b).ok())
    {
        let Some(value) = eight_digits(u64::from_le_bytes(eight)) else {
            break;
        };
        number = number.wrapping_mul(100_000_000).wrapping_add(value);
        at += 8;
    }
    while let Some(digit) = bytes
        .get(at)
        .map(|b| b.wrapping_sub(b'0'))
        .filter(|d| *d < 10)
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// Eight ASCII digits, the first in the lowest byte, as a number.
fn eight_digits(text: u64) -> Option<u64> {
    let values = text ^ 0x3030_3030_3030_3030;
    // A byte above 9 carries into its high half when 0x76 is added, or has one already.
    if (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // Neighbours join to pairs, pairs to fours, fours to eight.
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// Digits that do not count towards those that an `u64` can hold.
fn leading_zeros(number: &[u8]) -> usize {
    let leading = number.iter().take_while(|b| matches!(b, b'0' | b'.'));
    leading.filter(|b| **b == b'0').count()
}

fn read_exponent(bytes: &[u8], at: usize) -> Result<(i64, usize), DecimalError> {
    let negative = bytes.get(at) == Some(&b'-');
    let start = at + usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
    let length = bytes[start.min(bytes.len())..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    if length == 0 {
        return Err(DecimalError::Form);
    }
    let value = bytes[start..start + length].iter().fold(0i64, |n, b| {
        n.saturating_mul(10).saturating_add(i64::from(b - b'0'))
    });
    Ok((if negative { -value } else { value }, start + length))
}

/// The nearest `f32` to `mantissa * 10^exponent`, where that is beyond doubt.
fn nearest(mantissa: u64, exponent: i64) -> Option<f32> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let power = *TENS.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
    #[allow(
        clippy::cast_precision_loss,
        reason = "the error is half a unit in the last place, which the check below allows for"
    )]
    let mantissa = mantissa as f64;
    let value = if exponent < 0 {
        mantissa / power
    } else {
        mantissa * power
    };
    // Two roundings so far: at most one unit off, give or take. Only within two units of the middle
    // between two `f32` could a third rounding go the wrong way. Below the smallest normal `f32`
    // the middles lie elsewhere.
    const MIDDLE: u64 = 1 << 28;
    let low = value.to_bits() & ((1 << 29) - 1);
    let is_normal = value >= f64::from(f32::MIN_POSITIVE) && value < f64::from(f32::MAX);
    if !is_normal || low.abs_diff(MIDDLE) <= 2 {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest is what is wanted"
    )]
    let value = value as f32;
    Some(value)
}

#[cold]
fn exact(text: &[u8]) -> Result<f32, DecimalError> {
    let value: f32 = fast_float2::parse(text).map_err(|_| DecimalError::Form)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(DecimalError::Overflow)
    }
}

#[cfg(test)]
mod tests;
