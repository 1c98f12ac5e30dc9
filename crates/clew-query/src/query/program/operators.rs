//! What operators make of values.

use super::ScriptLanguage;
use super::containers::Kind;
use super::tree::{Operator, Type};
use super::value::ScriptValue;
use crate::error::{ScriptError, ScriptErrorKind};

/// What an operator makes of two values.
pub(super) fn apply<'a>(
    operator: Operator,
    language: ScriptLanguage,
    left: &ScriptValue<'a>,
    right: &ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    match operator {
        Operator::Equal => return Ok(ScriptValue::Bool(is_same(left, right))),
        Operator::NotEqual => return Ok(ScriptValue::Bool(!is_same(left, right))),
        Operator::Add
            if matches!(left, ScriptValue::Text(_)) || matches!(right, ScriptValue::Text(_)) =>
        {
            return ScriptValue::made(format!("{}{}", left.shown(), right.shown()));
        }
        _ => {}
    }
    if let (ScriptValue::Char(_), _) | (_, ScriptValue::Char(_)) = (left, right) {
        let [left, right] = [left, right].map(|value| match value {
            ScriptValue::Char(unit) => ScriptValue::Whole(i64::from(*unit)),
            other => other.clone(),
        });
        return apply(operator, language, &left, &right);
    }
    if let (ScriptValue::Bool(left), ScriptValue::Bool(right)) = (left, right) {
        match operator {
            Operator::BitAnd => return Ok(ScriptValue::Bool(left & right)),
            Operator::BitOr => return Ok(ScriptValue::Bool(left | right)),
            Operator::BitXor => return Ok(ScriptValue::Bool(left ^ right)),
            _ => {}
        }
    }
    if let (ScriptValue::Whole(left), ScriptValue::Whole(right)) = (left, right) {
        return whole(operator, language, *left, *right);
    }
    let (Some(a), Some(b)) = (lenient(left, language), lenient(right, language)) else {
        if matches!(left, ScriptValue::Null) || matches!(right, ScriptValue::Null) {
            return Err(ScriptError::null(operator.sign()));
        }
        return Err(refused(operator, left, right));
    };
    Ok(match operator {
        Operator::Add => ScriptValue::Float(a + b),
        Operator::Subtract => ScriptValue::Float(a - b),
        Operator::Multiply => ScriptValue::Float(a * b),
        Operator::Divide => ScriptValue::Float(a / b),
        Operator::Remainder => ScriptValue::Float(a % b),
        Operator::Less => ScriptValue::Bool(a < b),
        Operator::LessEqual => ScriptValue::Bool(a <= b),
        Operator::Greater => ScriptValue::Bool(a > b),
        Operator::GreaterEqual => ScriptValue::Bool(a >= b),
        _ if language == ScriptLanguage::Expression => {
            return whole(operator, language, cut(a), cut(b));
        }
        _ => return Err(refused(operator, left, right)),
    })
}

/// What an operator makes of two whole numbers of 32 bits: another one, which wraps. `None` where they are none.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of 32 bits wrap, as Java's do"
)]
pub(super) fn of_ints<'a>(
    operator: Operator,
    left: &ScriptValue<'a>,
    right: &ScriptValue<'a>,
) -> Option<ScriptValue<'a>> {
    let (left, right) = (
        left.want_whole().ok()? as i32,
        right.want_whole().ok()? as i32,
    );
    let made = match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        // What is divided by zero is told elsewhere.
        Operator::Divide if right != 0 => left.wrapping_div(right),
        Operator::ShiftLeft => left.wrapping_shl(right as u32),
        Operator::ShiftRight => left.wrapping_shr(right as u32),
        Operator::ShiftRightUnsigned => (left as u32).wrapping_shr(right as u32) as i32,
        _ => return None,
    };
    Some(ScriptValue::Whole(i64::from(made)))
}

fn refused(operator: Operator, left: &ScriptValue<'_>, right: &ScriptValue<'_>) -> ScriptError {
    ScriptError::cast(format!(
        "Cannot apply [{}] operation to types [{}] and [{}].",
        operator.sign(),
        left.type_name(),
        right.type_name()
    ))
}

/// A number, which in expressions everything is.
pub(super) fn lenient(value: &ScriptValue<'_>, language: ScriptLanguage) -> Option<f64> {
    match (value, language) {
        (ScriptValue::Bool(truth), ScriptLanguage::Expression) => Some(f64::from(u8::from(*truth))),
        (ScriptValue::Date(millis), ScriptLanguage::Expression) => {
            ScriptValue::Whole(*millis).number()
        }
        (value, _) => value.number(),
    }
}

/// Whether something holds, which in expressions is what every number but zero does.
pub(super) fn holds(
    value: &ScriptValue<'_>,
    language: ScriptLanguage,
) -> Result<bool, ScriptError> {
    match (value, language) {
        (ScriptValue::Whole(number), ScriptLanguage::Expression) => Ok(*number != 0),
        (ScriptValue::Float(number), ScriptLanguage::Expression) => Ok(*number != 0.0),
        (value, _) => value.want_truth(),
    }
}

fn whole<'a>(
    operator: Operator,
    language: ScriptLanguage,
    left: i64,
    right: i64,
) -> Result<ScriptValue<'a>, ScriptError> {
    let by_zero = || ScriptError::new(ScriptErrorKind::Arithmetic, "/ by zero");
    let steps = || u32::try_from(right.rem_euclid(64)).unwrap_or(0);
    Ok(match operator {
        Operator::Less => ScriptValue::Bool(left < right),
        Operator::LessEqual => ScriptValue::Bool(left <= right),
        Operator::Greater => ScriptValue::Bool(left > right),
        Operator::GreaterEqual => ScriptValue::Bool(left >= right),
        Operator::Equal => ScriptValue::Bool(left == right),
        Operator::NotEqual => ScriptValue::Bool(left != right),
        Operator::Find | Operator::Match => {
            let (left, right) = (ScriptValue::Whole(left), ScriptValue::Whole(right));
            return Err(refused(operator, &left, &right));
        }
        Operator::Divide | Operator::Remainder if language == ScriptLanguage::Expression => {
            let (left, right) = (ScriptValue::Whole(left), ScriptValue::Whole(right));
            let (a, b) = (left.want_number()?, right.want_number()?);
            ScriptValue::Float(match operator {
                Operator::Divide => a / b,
                _ => a % b,
            })
        }
        Operator::Divide | Operator::Remainder if right == 0 => return Err(by_zero()),
        Operator::Add => ScriptValue::Whole(left.wrapping_add(right)),
        Operator::Subtract => ScriptValue::Whole(left.wrapping_sub(right)),
        Operator::Multiply => ScriptValue::Whole(left.wrapping_mul(right)),
        Operator::Divide => ScriptValue::Whole(left.wrapping_div(right)),
        Operator::Remainder => ScriptValue::Whole(left.wrapping_rem(right)),
        Operator::BitAnd => ScriptValue::Whole(left & right),
        Operator::BitOr => ScriptValue::Whole(left | right),
        Operator::BitXor => ScriptValue::Whole(left ^ right),
        Operator::ShiftLeft => ScriptValue::Whole(left.wrapping_shl(steps())),
        Operator::ShiftRight => ScriptValue::Whole(left.wrapping_shr(steps())),
        Operator::ShiftRightUnsigned => {
            let bits = u64::from_ne_bytes(left.to_ne_bytes()).wrapping_shr(steps());
            ScriptValue::Whole(i64::from_ne_bytes(bits.to_ne_bytes()))
        }
    })
}

/// Values that are compared at most to tell whether two lists or maps are the same.
const COMPARED_MAX: usize = 1 << 20;

/// Whether two values are the same; numbers are whatever their types. Lists and maps of more values than
/// [`COMPARED_MAX`] are not, but for those that are one.
pub(super) fn is_same<'a>(left: &ScriptValue<'a>, right: &ScriptValue<'a>) -> bool {
    compared(left, right).0
}

/// The same, and how many values of lists and maps that took.
pub(super) fn compared<'a>(left: &ScriptValue<'a>, right: &ScriptValue<'a>) -> (bool, usize) {
    let mut left_over = COMPARED_MAX;
    let same = same_within(left, right, &mut left_over);
    (same, COMPARED_MAX - left_over)
}

#[allow(
    clippy::float_cmp,
    reason = "a script that compares numbers means just that"
)]
fn same_within<'a>(left: &ScriptValue<'a>, right: &ScriptValue<'a>, left_over: &mut usize) -> bool {
    match (left, right) {
        (ScriptValue::Whole(left), ScriptValue::Whole(right)) => left == right,
        (ScriptValue::Items(left), ScriptValue::Items(right)) if left == right => true,
        (ScriptValue::Members(left), ScriptValue::Members(right)) => {
            if left == right {
                return true;
            }
            let size = left.len();
            if size != right.len() || size > *left_over {
                return false;
            }
            *left_over -= size;
            left.all()
                .iter()
                .all(|(name, value)| match right.get(name) {
                    Some(other) => same_within(value, &other, left_over),
                    None => false,
                })
        }
        (ScriptValue::List(_) | ScriptValue::Items(_), _)
        | (_, ScriptValue::List(_) | ScriptValue::Items(_)) => {
            if left.size() != right.size() {
                return false;
            }
            let (Some(left), Some(right)) = (left.items(), right.items()) else {
                return false;
            };
            let fits = left.len() <= *left_over;
            *left_over = left_over.saturating_sub(left.len());
            fits && left.len() == right.len()
                && left
                    .iter()
                    .zip(&right)
                    .all(|(a, b)| same_within(a, b, left_over))
        }
        (ScriptValue::Null, ScriptValue::Null) => true,
        (ScriptValue::Bool(left), ScriptValue::Bool(right)) => left == right,
        (ScriptValue::Text(left), ScriptValue::Text(right)) => left == right,
        (ScriptValue::Date(left), ScriptValue::Date(right)) => left == right,
        (ScriptValue::Moment(left, _), ScriptValue::Moment(right, _))
        | (ScriptValue::Moment(left, _), ScriptValue::Date(right))
        | (ScriptValue::Date(left), ScriptValue::Moment(right, _))
        | (ScriptValue::Lapse(left), ScriptValue::Lapse(right)) => left == right,
        (ScriptValue::Point(left), ScriptValue::Point(right)) => left == right,
        (ScriptValue::Calendar(left), ScriptValue::Calendar(right)) => left == right,
        (ScriptValue::Json(left), ScriptValue::Json(right)) => left == right,
        (left, right) => match (left.number(), right.number()) {
            (Some(left), Some(right)) => left == right,
            _ => false,
        },
    }
}

/// Whether a value is of a class.
pub(super) fn is_of(value: &ScriptValue<'_>, class: &str) -> bool {
    use serde_json::Value;
    let class = match class {
        "def" => "Object",
        class => class,
    };
    match value {
        ScriptValue::Null => false,
        ScriptValue::Items(items) if items.is_set() => {
            matches!(
                class,
                "Set" | "HashSet" | "TreeSet" | "Collection" | "Iterable" | "Object"
            )
        }
        ScriptValue::Items(items) if items.kind() == Kind::Builder => {
            matches!(class, "StringBuilder" | "CharSequence" | "Object")
        }
        ScriptValue::Items(items) if matches!(items.kind(), Kind::Iterator | Kind::Optional) => {
            class == "Object"
        }
        ScriptValue::Char(_) => matches!(class, "Character" | "Object"),
        ScriptValue::List(_) | ScriptValue::Items(_) | ScriptValue::Json(Value::Array(_)) => {
            matches!(
                class,
                "List" | "AbstractList" | "ArrayList" | "Collection" | "Iterable" | "Object"
            )
        }
        ScriptValue::Members(_) | ScriptValue::Json(_) => {
            matches!(
                class,
                "Map" | "HashMap" | "LinkedHashMap" | "TreeMap" | "Object"
            )
        }
        ScriptValue::Text(_) => matches!(class, "String" | "CharSequence" | "Object"),
        ScriptValue::Bool(_) => matches!(class, "Boolean" | "Object"),
        // What JSON writes without a fraction is short where it fits, and long where it does not.
        ScriptValue::Whole(number) => match class {
            "Integer" => i32::try_from(*number).is_ok(),
            "Long" => i32::try_from(*number).is_err(),
            other => matches!(other, "Number" | "Object"),
        },
        ScriptValue::Float(_) => matches!(class, "Double" | "Number" | "Object"),
        ScriptValue::Date(_) => matches!(class, "ZonedDateTime" | "Object"),
        ScriptValue::Moment(_, clock) => clock.is_of(class),
        ScriptValue::Lapse(_) => matches!(class, "Duration" | "Object"),
        ScriptValue::Calendar(part) => {
            class == "Object" || part.type_name().ends_with(&format!(".{class}"))
        }
        ScriptValue::Point(_)
        | ScriptValue::Pattern(_)
        | ScriptValue::Matcher(_)
        | ScriptValue::Doing(_) => class == "Object",
    }
}

/// A value as a variable, or a cast, wants it; a fraction is only cut off where that was asked for.
pub(super) fn fitted<'a>(
    kind: Type,
    value: ScriptValue<'a>,
    may_cut: bool,
) -> Result<ScriptValue<'a>, ScriptError> {
    match (kind, &value) {
        (Type::Any, _)
        | (Type::Whole, ScriptValue::Whole(_))
        | (Type::Float, ScriptValue::Float(_))
        | (Type::Bool, ScriptValue::Bool(_))
        | (Type::Char, ScriptValue::Char(_))
        | (Type::Text, ScriptValue::Text(_) | ScriptValue::Null) => Ok(value),
        (Type::Whole, ScriptValue::Char(unit)) => Ok(ScriptValue::Whole(i64::from(*unit))),
        (Type::Whole, ScriptValue::Float(number)) if may_cut => {
            Ok(ScriptValue::Whole(cut(*number)))
        }
        (Type::Float, ScriptValue::Whole(_) | ScriptValue::Char(_)) => {
            Ok(ScriptValue::Float(value.want_number()?))
        }
        (Type::Text, ScriptValue::Char(_)) => ScriptValue::made(value.shown().into_owned()),
        (Type::Char, ScriptValue::Text(text)) => {
            let mut units = text.encode_utf16();
            match (units.next(), units.next()) {
                (Some(only), None) => Ok(ScriptValue::Char(only)),
                _ => Err(ScriptError::cast(
                    "cannot cast java.lang.String with length not equal to one to char",
                )),
            }
        }
        (Type::Int | Type::Short | Type::Byte | Type::Char, _) => narrowed(kind, &value, may_cut),
        (Type::Bool | Type::Whole | Type::Float | Type::Text, _) => Err(value.no_cast(kind.name())),
    }
}

/// A whole number as a variable, or a cast, with fewer bits wants it. Bits are only cut off where that was asked for.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast takes the lowest bits, as Java's does"
)]
fn narrowed<'a>(
    kind: Type,
    value: &ScriptValue<'a>,
    may_cut: bool,
) -> Result<ScriptValue<'a>, ScriptError> {
    let whole = match value {
        ScriptValue::Whole(whole) => *whole,
        ScriptValue::Char(unit) => i64::from(*unit),
        // Java goes by way of an int, which has an end.
        ScriptValue::Float(number) if may_cut => {
            let least = i64::from(i32::MIN);
            cut(*number).clamp(least, i64::from(i32::MAX))
        }
        other => return Err(other.no_cast(kind.name())),
    };
    Ok(match kind {
        Type::Char => ScriptValue::Char(whole as u16),
        Type::Byte if may_cut => ScriptValue::Whole(i64::from(whole as i8)),
        Type::Short if may_cut => ScriptValue::Whole(i64::from(whole as i16)),
        Type::Int if may_cut => ScriptValue::Whole(i64::from(whole as i32)),
        Type::Int if i32::try_from(whole).is_err() => return Err(value.no_cast(kind.name())),
        _ => ScriptValue::Whole(whole),
    })
}

/// The whole part of a number.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, as Java's does"
)]
pub(super) fn cut(number: f64) -> i64 {
    number as i64
}
