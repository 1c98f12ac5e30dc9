//! Tests of documents that no index answers: arithmetic, values inside objects and lists, comparisons of fields. They
//! are made on the document itself, with three outcomes as in SQL: what has no value is unknown, and so is what follows
//! from it.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::planar::ShapeTest;
use super::tree::Query;

/// Documents that pass a test; all of them score the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredicateQuery {
    /// Only these are tested.
    pub within: Option<Box<Query>>,
    /// What they must pass.
    pub test: Test,
    /// The score.
    pub boost: f32,
}

/// A test. It holds, does not, or is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// Always the same.
    Constant(bool),
    /// Two values beside each other. Of different kinds they cannot be compared: unknown.
    Compare(Comparison, Operand, Operand),
    /// A value that is one of some; of another kind than all of them it is unknown.
    OneOf(Operand, Vec<Value>),
    /// A list that has all, or any, of some values.
    Contains {
        /// The list.
        list: Operand,
        /// The values.
        values: Vec<Value>,
        /// Whether it must have all of them.
        all: bool,
    },
    /// A text that a pattern describes.
    Text(Operand, TextPattern),
    /// How a shape lies on a plane, which is well-known text.
    Shape(Operand, ShapeTest),
    /// Whether there is a value; never unknown.
    Exists(Operand),
    /// A value that is true.
    IsTrue(Operand),
    /// All of them.
    And(Vec<Test>),
    /// Any of them.
    Or(Vec<Test>),
    /// The opposite.
    Not(Box<Test>),
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// The same.
    Equal,
    /// Not the same.
    NotEqual,
    /// Less.
    Less,
    /// Less or the same.
    LessEqual,
    /// More.
    Greater,
    /// More or the same.
    GreaterEqual,
    /// A text that begins with the other one.
    Begins,
}

/// What describes a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPattern {
    /// `%` stands for any text, `_` for one character, a backslash takes away what the next character means.
    Like(String),
    /// A regular expression that is found anywhere in it, in the syntax of the `regex` crate. A dot stands for the end of a
    /// line, too.
    Regex(String),
}

/// A value to test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operand {
    /// A value of its own.
    Literal(Value),
    /// A value of the document: a member of it, and the way on from there. Where a single value is tested, a field's own
    /// column may stand for the member, so tests of lists as a whole are for members without one.
    Field {
        /// The member's name.
        name: String,
        /// The way into it.
        steps: Vec<FieldStep>,
    },
    /// How many elements a list has.
    Length(Box<Operand>),
    /// Two numbers made one.
    Arithmetic(Arithmetic, Box<Operand>, Box<Operand>),
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldStep {
    /// To a member of an object.
    Member(String),
    /// To an element of a list, from 0.
    Element(usize),
}

impl FieldStep {
    /// What a way leads to from a value; none where it ends before.
    pub fn lead<'v>(steps: &[FieldStep], from: &'v Value) -> Option<&'v Value> {
        steps.iter().try_fold(from, |value, step| match step {
            FieldStep::Member(name) => value.get(name),
            FieldStep::Element(number) => value.get(number),
        })
    }
}

/// How two numbers become one. Whole numbers stay whole, and wrap at 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arithmetic {
    /// Their sum.
    Add,
    /// Their difference.
    Subtract,
    /// Their product.
    Multiply,
    /// Their quotient; of whole numbers without its fraction. By zero: unknown.
    Divide,
    /// What is left of a division, with the sign of the first. By zero: unknown.
    Modulo,
    /// The first to the power of the second, never whole.
    Power,
    /// Bits that both have.
    BitAnd,
    /// Bits that one of them has.
    BitOr,
    /// Bits that one of them alone has.
    BitXor,
    /// Bits of the first moved up by the second.
    ShiftLeft,
    /// Bits of the first moved down by the second.
    ShiftRight,
}

impl Test {
    /// The tests directly inside.
    pub fn children(&self) -> &[Test] {
        match self {
            Test::And(tests) | Test::Or(tests) => tests,
            Test::Not(test) => std::slice::from_ref(test),
            _ => &[],
        }
    }
}

impl Operand {
    /// The value in a document; none where there is none, or it is null.
    pub fn value<'v>(&'v self, document: &'v Value) -> Option<std::borrow::Cow<'v, Value>> {
        use std::borrow::Cow;
        match self {
            Operand::Literal(value) => Some(Cow::Borrowed(value)),
            Operand::Field { name, steps } => {
                let value = FieldStep::lead(steps, document.get(name)?)?;
                (!value.is_null()).then_some(Cow::Borrowed(value))
            }
            Operand::Length(list) => {
                let list = list.value(document)?;
                let length = list.as_array()?.len();
                Some(Cow::Owned(Value::from(length)))
            }
            Operand::Arithmetic(how, left, right) => {
                let (left, right) = (left.value(document)?, right.value(document)?);
                how.of(&left, &right).map(Cow::Owned)
            }
        }
    }
}

impl Comparison {
    /// Whether it holds of two values; none where they cannot be compared.
    pub fn holds(self, left: &Value, right: &Value) -> Option<bool> {
        let order = || order(left, right);
        Some(match self {
            Comparison::Equal => order()? == Ordering::Equal,
            Comparison::NotEqual => order()? != Ordering::Equal,
            Comparison::Less => order()? == Ordering::Less,
            Comparison::LessEqual => order()? != Ordering::Greater,
            Comparison::Greater => order()? == Ordering::Greater,
            Comparison::GreaterEqual => order()? != Ordering::Less,
            Comparison::Begins => left.as_str()?.starts_with(right.as_str()?),
        })
    }
}

/// The order of two values of one kind. Lists and objects are only the same or not.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            Some(if left == right {
                Ordering::Equal
            } else {
                Ordering::Less
            })
        }
        _ => None,
    }
}

fn numbers(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(whole), None) => beside_float(whole, right.as_f64()?),
        (None, Some(whole)) => beside_float(whole, left.as_f64()?).map(Ordering::reverse),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// The order of a whole number and a float: one beyond 64 bits is beyond all whole numbers, also those that no float is.
#[allow(
    clippy::cast_precision_loss,
    reason = "within 64 bits they are compared as floats"
)]
fn beside_float(whole: i64, float: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if float >= BEYOND {
        return Some(Ordering::Less);
    }
    if float < -BEYOND {
        return Some(Ordering::Greater);
    }
    (whole as f64).partial_cmp(&float)
}

impl Arithmetic {
    /// The number that two make; none where they make none. What whole numbers make beyond 64 bits is a float.
    #[allow(
        clippy::cast_precision_loss,
        reason = "beyond 64 bits a float is on the right side of every whole number"
    )]
    pub fn of(self, left: &Value, right: &Value) -> Option<Value> {
        if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64())
            && self != Arithmetic::Power
        {
            let whole = self.of_whole(left, right)?;
            return Some(match i64::try_from(whole) {
                Ok(whole) => whole.into(),
                Err(_) => (whole as f64).into(),
            });
        }
        let (left, right) = (left.as_f64()?, right.as_f64()?);
        let number = match self {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Multiply => left * right,
            Arithmetic::Divide => left / right,
            Arithmetic::Modulo => left % right,
            Arithmetic::Power => left.powf(right),
            Arithmetic::BitAnd
            | Arithmetic::BitOr
            | Arithmetic::BitXor
            | Arithmetic::ShiftLeft
            | Arithmetic::ShiftRight => return None,
        };
        Number::from_f64(number).map(Value::Number)
    }

    fn of_whole(self, left: i64, right: i64) -> Option<i128> {
        let bits = || u32::try_from(right).ok();
        let (wide, by) = (i128::from(left), i128::from(right));
        Some(match self {
            Arithmetic::Add => wide + by,
            Arithmetic::Subtract => wide - by,
            Arithmetic::Multiply => wide * by,
            Arithmetic::Divide if right == 0 => return None,
            Arithmetic::Divide => wide / by,
            Arithmetic::Modulo if right == 0 => return None,
            Arithmetic::Modulo => wide % by,
            Arithmetic::BitAnd => wide & by,
            Arithmetic::BitOr => wide | by,
            Arithmetic::BitXor => wide ^ by,
            Arithmetic::ShiftLeft => left.checked_shl(bits()?)?.into(),
            Arithmetic::ShiftRight => left.checked_shr(bits()?)?.into(),
            Arithmetic::Power => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_one_kind_are_compared() {
        let holds = |how: Comparison, left: Value, right: Value| how.holds(&left, &right);
        assert_eq!(holds(Comparison::Less, json!(1), json!(1.5)), Some(true));
        assert_eq!(holds(Comparison::Equal, json!(2), json!(2.0)), Some(true));
        assert_eq!(
            holds(Comparison::GreaterEqual, json!("b"), json!("a")),
            Some(true)
        );
        assert_eq!(holds(Comparison::Equal, json!("1"), json!(1)), None);
        assert_eq!(
            holds(Comparison::Begins, json!("red"), json!("re")),
            Some(true)
        );
        assert_eq!(
            holds(Comparison::Begins, json!("re"), json!("red")),
            Some(false)
        );
        assert_eq!(holds(Comparison::Begins, json!(12), json!("1")), None);
        // Beyond what a float can tell apart.
        let large = i64::MAX;
        assert_eq!(
            holds(Comparison::Less, json!(large - 1), json!(large)),
            Some(true)
        );
    }

    #[test]
    fn numbers_are_counted_with() {
        let of = |how: Arithmetic, left: Value, right: Value| how.of(&left, &right);
        assert_eq!(of(Arithmetic::Modulo, json!(-7), json!(3)), Some(json!(-1)));
        assert_eq!(of(Arithmetic::Divide, json!(7), json!(2)), Some(json!(3)));
        assert_eq!(of(Arithmetic::Divide, json!(7), json!(0)), None);
        assert_eq!(
            of(Arithmetic::Divide, json!(7.0), json!(2)),
            Some(json!(3.5))
        );
        assert_eq!(
            of(Arithmetic::Power, json!(2), json!(10)),
            Some(json!(1024.0))
        );
        assert_eq!(of(Arithmetic::Add, json!("a"), json!(1)), None);
        // Beyond 64 bits nothing comes round from the other end.
        let end = 9_223_372_036_854_775_808.0;
        for (how, left, right, want) in [
            (Arithmetic::Divide, i64::MIN, -1, end),
            (Arithmetic::Add, i64::MAX, 1, end),
            (Arithmetic::Subtract, i64::MIN, i64::MAX, -2.0 * end),
            (Arithmetic::Multiply, i64::MAX, 2, 2.0 * end),
        ] {
            assert_eq!(of(how, json!(left), json!(right)), Some(json!(want)));
        }
        assert_eq!(
            of(Arithmetic::Modulo, json!(i64::MIN), json!(-1)),
            Some(json!(0))
        );
        let beyond = Comparison::Greater.holds(&json!(end), &json!(i64::MAX));
        assert_eq!(beyond, Some(true));
    }

    #[test]
    fn a_value_is_found_on_its_way() {
        let document = json!({"a": {"b": [1, {"c": 7}]}, "n": null});
        let field = |name: &str, steps: Vec<FieldStep>| Operand::Field {
            name: name.to_string(),
            steps,
        };
        let member = |name: &str| FieldStep::Member(name.to_string());
        let deep = field("a", vec![member("b"), FieldStep::Element(1), member("c")]);
        assert_eq!(deep.value(&document).as_deref(), Some(&json!(7)));
        let length = Operand::Length(Box::new(field("a", vec![member("b")])));
        assert_eq!(length.value(&document).as_deref(), Some(&json!(2)));
        assert_eq!(field("n", Vec::new()).value(&document), None);
        assert_eq!(
            field("a", vec![FieldStep::Element(0)]).value(&document),
            None
        );
    }
}
