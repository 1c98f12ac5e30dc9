//! Functions of Java's classes of numbers and truth values that look at their bits: whole numbers of 32 and 64 bits, with
//! and without a sign, and the bits of fractions.

use super::members;
use super::statics;
use super::value::ScriptValue;
use crate::error::{ScriptError, ScriptErrorKind};

/// Functions by class and name, with how many arguments they take.
const FUNCTIONS: &[(&str, usize)] = &[
    ("Boolean.compare", 2),
    ("Boolean.hashCode", 1),
    ("Boolean.logicalAnd", 2),
    ("Boolean.logicalOr", 2),
    ("Boolean.logicalXor", 2),
    ("Byte.compare", 2),
    ("Byte.hashCode", 1),
    ("Byte.toUnsignedInt", 1),
    ("Byte.toUnsignedLong", 1),
    ("Double.doubleToLongBits", 1),
    ("Double.hashCode", 1),
    ("Double.isFinite", 1),
    ("Double.longBitsToDouble", 1),
    ("Float.floatToIntBits", 1),
    ("Float.intBitsToFloat", 1),
    ("Float.isFinite", 1),
    ("Float.isNaN", 1),
    ("Integer.compareUnsigned", 2),
    ("Integer.decode", 1),
    ("Integer.divideUnsigned", 2),
    ("Integer.hashCode", 1),
    ("Integer.highestOneBit", 1),
    ("Integer.lowestOneBit", 1),
    ("Integer.numberOfLeadingZeros", 1),
    ("Integer.numberOfTrailingZeros", 1),
    ("Integer.remainderUnsigned", 2),
    ("Integer.reverse", 1),
    ("Integer.reverseBytes", 1),
    ("Integer.rotateLeft", 2),
    ("Integer.rotateRight", 2),
    ("Integer.toOctalString", 1),
    ("Integer.toUnsignedLong", 1),
    ("Integer.toUnsignedString", 1),
    ("Long.compareUnsigned", 2),
    ("Long.decode", 1),
    ("Long.divideUnsigned", 2),
    ("Long.hashCode", 1),
    ("Long.highestOneBit", 1),
    ("Long.lowestOneBit", 1),
    ("Long.numberOfLeadingZeros", 1),
    ("Long.numberOfTrailingZeros", 1),
    ("Long.remainderUnsigned", 2),
    ("Long.reverse", 1),
    ("Long.reverseBytes", 1),
    ("Long.rotateLeft", 2),
    ("Long.rotateRight", 2),
    ("Long.toOctalString", 1),
    ("Long.toUnsignedString", 1),
    ("Math.IEEEremainder", 2),
    ("Math.copySign", 2),
    ("Math.nextDown", 1),
    ("Math.nextUp", 1),
    ("Math.scalb", 2),
    ("Math.ulp", 1),
    ("Objects.hashCode", 1),
    ("Short.compare", 2),
    ("Short.hashCode", 1),
    ("Short.toUnsignedInt", 1),
    ("Short.toUnsignedLong", 1),
];

/// Powers of two beyond this are no numbers, or zero, whatever they are multiplied by.
const SCALE_MAX: i64 = 2_200;

/// The function that a class has under a name.
pub(super) fn known(class: &str, name: &str, arguments: usize) -> Option<&'static str> {
    statics::in_table(FUNCTIONS, (class, name), arguments)
}

/// What such a function makes of its arguments; `None` where it is another one.
pub(super) fn call<'a>(
    name: &str,
    values: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let Some((class, function)) = name.split_once('.') else {
        return Ok(None);
    };
    match (class, function, values) {
        (_, "hashCode", [value]) => members::code_of(value).map(Some),
        ("Boolean", _, [a, b]) => of_truths(function, a.want_truth()?, b.want_truth()?),
        ("Byte" | "Short", "compare", [a, b]) => {
            let apart = a.want_whole()?.saturating_sub(b.want_whole()?);
            Ok(Some(ScriptValue::Whole(apart)))
        }
        ("Byte", _, [a]) => Ok(Some(ScriptValue::Whole(a.want_whole()? & 0xFF))),
        ("Short", _, [a]) => Ok(Some(ScriptValue::Whole(a.want_whole()? & 0xFFFF))),
        ("Integer" | "Long", "decode", [text]) => decoded(text.want_text()?).map(Some),
        ("Integer", ..) => of_whole(Width::Int, function, values),
        ("Long", ..) => of_whole(Width::Long, function, values),
        ("Double" | "Float", _, [a]) => of_fraction(name, a),
        ("Math", _, [a]) => of_neighbours(function, a.want_number()?),
        ("Math", "scalb", [a, power]) => {
            let power = power.want_whole()?.clamp(-SCALE_MAX, SCALE_MAX);
            let power = i32::try_from(power).unwrap_or(0);
            // In two steps, as a power by itself may be beyond all numbers.
            let half = power / 2;
            let scaled = a.want_number()? * 2_f64.powi(half) * 2_f64.powi(power - half);
            Ok(Some(ScriptValue::Float(scaled)))
        }
        ("Math", _, [a, b]) => {
            let (a, b) = (a.want_number()?, b.want_number()?);
            Ok(Some(ScriptValue::Float(match function {
                "copySign" => a.copysign(b),
                _ => a - b * (a / b).round_ties_even(),
            })))
        }
        _ => Ok(None),
    }
}

fn of_truths<'a>(function: &str, a: bool, b: bool) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match function {
        "compare" => ScriptValue::Whole(a.cmp(&b) as i64),
        "logicalAnd" => ScriptValue::Bool(a && b),
        "logicalOr" => ScriptValue::Bool(a || b),
        "logicalXor" => ScriptValue::Bool(a != b),
        _ => return Ok(None),
    }))
}

/// How many bits a whole number has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Int,
    Long,
}

impl Width {
    fn bits(self) -> u32 {
        match self {
            Width::Int => 32,
            Width::Long => 64,
        }
    }

    /// The bits of a number, without those that it does not have.
    fn of(self, value: &ScriptValue<'_>) -> Result<u64, ScriptError> {
        let bits = u64::from_ne_bytes(value.want_whole()?.to_ne_bytes());
        Ok(self.cut(bits))
    }

    fn cut(self, bits: u64) -> u64 {
        bits & (u64::MAX >> (64 - self.bits()))
    }

    /// The number that bits stand for, whose highest is its sign.
    fn signed<'a>(self, bits: u64) -> ScriptValue<'a> {
        let unused = 64 - self.bits();
        let shifted = i64::from_ne_bytes((bits << unused).to_ne_bytes());
        ScriptValue::Whole(shifted >> unused)
    }

    fn rotated(self, bits: u64, by: u32) -> u64 {
        match by % self.bits() {
            0 => bits,
            by => self.cut(bits << by) | (bits >> (self.bits() - by)),
        }
    }
}

fn of_whole<'a>(
    width: Width,
    function: &str,
    values: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let (bits, other) = match values {
        [one] => (width.of(one)?, 0),
        [one, other] => (width.of(one)?, width.of(other)?),
        _ => return Ok(None),
    };
    let unused = 64 - width.bits();
    let count = |count: u32| Ok(Some(ScriptValue::Whole(i64::from(count))));
    let by_zero = || ScriptError::new(ScriptErrorKind::Arithmetic, "/ by zero");
    let turns = u32::try_from(other % u64::from(width.bits())).unwrap_or(0);
    let made = match function {
        "compareUnsigned" => return Ok(Some(ScriptValue::Whole(bits.cmp(&other) as i64))),
        "toOctalString" => return ScriptValue::made(format!("{bits:o}")).map(Some),
        "toUnsignedString" => return ScriptValue::made(bits.to_string()).map(Some),
        "toUnsignedLong" => return Ok(Some(Width::Long.signed(bits))),
        "numberOfLeadingZeros" => return count(bits.leading_zeros() - unused),
        "numberOfTrailingZeros" => return count(bits.trailing_zeros().min(width.bits())),
        "divideUnsigned" => bits.checked_div(other).ok_or_else(by_zero)?,
        "remainderUnsigned" => bits.checked_rem(other).ok_or_else(by_zero)?,
        "highestOneBit" if bits == 0 => 0,
        "highestOneBit" => 1_u64 << (63 - bits.leading_zeros()),
        "lowestOneBit" => bits & bits.wrapping_neg(),
        "reverse" => bits.reverse_bits() >> unused,
        "reverseBytes" => bits.swap_bytes() >> unused,
        "rotateLeft" => width.rotated(bits, turns),
        "rotateRight" => width.rotated(bits, width.bits() - turns),
        _ => return Ok(None),
    };
    Ok(Some(width.signed(made)))
}

/// A whole number in tens, or as its beginning says in sixteens or eights.
fn decoded<'a>(text: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let (is_below, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut signs = ["0x", "0X", "#"].into_iter();
    let sixteens = signs.find_map(|sign| digits.strip_prefix(sign));
    let (digits, radix) = match (sixteens, digits.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(eights)) if !eights.is_empty() => (eights, 8),
        _ => (digits, 10),
    };
    // Of two signs none is one of the number.
    let size = match digits.starts_with(['-', '+']) {
        true => None,
        false => i128::from_str_radix(digits, radix).ok(),
    };
    let signed = size.map(|size| if is_below { -size } else { size });
    let number = signed.and_then(|signed| i64::try_from(signed).ok());
    let number = number.ok_or_else(|| ScriptError::not_a_number(text))?;
    Ok(ScriptValue::Whole(number))
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the bits of a number of 32 are asked for"
)]
fn of_fraction<'a>(
    name: &str,
    value: &ScriptValue<'a>,
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match name {
        "Double.isFinite" | "Float.isFinite" => ScriptValue::Bool(value.want_number()?.is_finite()),
        "Float.isNaN" => ScriptValue::Bool(value.want_number()?.is_nan()),
        "Double.doubleToLongBits" => {
            let bits = value.want_number()?.to_bits();
            ScriptValue::Whole(i64::from_ne_bytes(bits.to_ne_bytes()))
        }
        "Double.longBitsToDouble" => ScriptValue::Float(f64::from_bits(Width::Long.of(value)?)),
        "Float.floatToIntBits" => {
            let bits = (value.want_number()? as f32).to_bits();
            Width::Int.signed(u64::from(bits))
        }
        "Float.intBitsToFloat" => {
            let bits = u32::try_from(Width::Int.of(value)?).unwrap_or(0);
            ScriptValue::Float(f64::from(f32::from_bits(bits)))
        }
        _ => return Ok(None),
    }))
}

/// The numbers beside one, and how far off they are.
fn of_neighbours<'a>(function: &str, number: f64) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let size = number.abs();
    Ok(Some(ScriptValue::Float(match function {
        "nextUp" => number.next_up(),
        "nextDown" => number.next_down(),
        "ulp" if size.is_finite() && size == f64::MAX => size - size.next_down(),
        "ulp" if size.is_finite() => size.next_up() - size,
        "ulp" => size,
        _ => return Ok(None),
    })))
}
