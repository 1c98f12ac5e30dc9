//! Expressions over rows: names become places once, then every row is looked at.

use std::cmp::Ordering;

use serde_json::Value;

use crate::error::SqlError;
use crate::fields::SqlType;
use crate::functions;
use crate::functions::Function;
use crate::functions::cast::{cast, cast_type, float};
use crate::functions::like::like;
use crate::functions::regexes::Matcher;
use crate::functions::time;
use crate::statement::expr::{AGGREGATES, Call, Expr, Logic, Op, RELEVANCE};
use crate::table::Columns;

/// An expression whose columns are places of a row.
#[derive(Debug)]
pub(crate) enum Bound {
    Literal(Value),
    Place(usize),
    Binary(Op, SqlType, Box<Bound>, Box<Bound>),
    Logic(Logic, Vec<Bound>),
    Not(Box<Bound>),
    IsNull(Box<Bound>),
    In(Box<Bound>, Vec<Bound>),
    Apply(&'static Function, Vec<Bound>),
    Cast(SqlType, Box<Bound>),
    Match(Matcher, Box<Bound>),
}

/// Finds columns and functions, and the type of what comes out.
pub(crate) fn bind(expr: &Expr, columns: &Columns) -> Result<(Bound, SqlType), SqlError> {
    let boxed = |expr: &Expr| bind(expr, columns).map(|(bound, kind)| (Box::new(bound), kind));
    Ok(match expr {
        Expr::Literal(value) => (Bound::Literal(value.clone()), type_of(value)),
        Expr::Column(name) => {
            let place = columns.place(name)?;
            (Bound::Place(place), columns.kind(place))
        }
        Expr::Star => return Err(SqlError::semantic("* cannot be used here")),
        Expr::Binary(op, left, right) => {
            let ((mut left, left_kind), (mut right, right_kind)) = (boxed(left)?, boxed(right)?);
            if let Some((function, [first, second])) = shifted(*op, left_kind, right_kind) {
                if left_kind == SqlType::Interval {
                    std::mem::swap(&mut left, &mut right);
                }
                let kind = (function.kind)(&[first, second]);
                return Ok((Bound::Apply(function, vec![*left, *right]), kind));
            }
            let kind = binary_type(*op, left_kind, right_kind)?;
            if left_kind.is_moment() {
                right = beside_time(right, right_kind);
            } else if right_kind.is_moment() {
                left = beside_time(left, left_kind);
            }
            match (left_kind, right_kind) {
                (SqlType::Boolean, SqlType::Keyword) => right = beside_truth(right),
                (SqlType::Keyword, SqlType::Boolean) => left = beside_truth(left),
                _ => {}
            }
            (Bound::Binary(*op, kind, left, right), kind)
        }
        Expr::Logic(logic, parts) => {
            let parts: Result<Vec<Bound>, SqlError> = parts
                .iter()
                .map(|part| bind(part, columns).map(|(bound, _)| bound))
                .collect();
            (Bound::Logic(*logic, parts?), SqlType::Boolean)
        }
        Expr::Not(part) => (Bound::Not(boxed(part)?.0), SqlType::Boolean),
        Expr::IsNull(part) => (Bound::IsNull(boxed(part)?.0), SqlType::Boolean),
        Expr::In(part, list) => {
            let (part, kind) = boxed(part)?;
            let mut bound = Vec::with_capacity(list.len());
            for item in list {
                let (mut item, _) = bind(item, columns)?;
                if kind.is_moment() {
                    as_time(&mut item);
                }
                bound.push(item);
            }
            (Bound::In(part, bound), SqlType::Boolean)
        }
        Expr::Call(call) => return called(call, columns),
    })
}

fn called(call: &Call, columns: &Columns) -> Result<(Bound, SqlType), SqlError> {
    let name = call.name.as_str();
    if RELEVANCE.contains(&name) {
        return Err(SqlError::semantic(format!(
            "the function [{name}] can only be used where an index is searched, before other \
             commands, and together with conditions that a search can answer"
        )));
    }
    if name == "nested" {
        return Err(SqlError::semantic(
            "the function [nested] can only be used where an index is searched, and where columns are shown",
        ));
    }
    if AGGREGATES.contains(&name) {
        return Err(SqlError::semantic(format!(
            "the aggregate [{name}] cannot be used here"
        )));
    }
    apply(name, &call.args, columns)
}

fn apply(name: &str, args: &[Expr], columns: &Columns) -> Result<(Bound, SqlType), SqlError> {
    if let ("cast", [value, Expr::Literal(Value::String(kind))]) = (name, args) {
        let kind = cast_type(kind)
            .ok_or_else(|| SqlError::semantic(format!("there is no type [{kind}] to cast to")))?;
        let (bound, _) = bind(value, columns)?;
        return Ok((Bound::Cast(kind, Box::new(bound)), kind));
    }
    if let Some((of, rest)) = args.split_first() {
        let constants: Option<Vec<Value>> = rest.iter().map(Expr::constant).collect();
        if let Some(matcher) = Matcher::of(name, &constants.unwrap_or_default())? {
            let kind = match &matcher {
                Matcher::Fits(_) => SqlType::Boolean,
                Matcher::Group { .. } | Matcher::Removed(_) => SqlType::Keyword,
                Matcher::Grok(_) => SqlType::Object,
            };
            let (of, _) = bind(of, columns)?;
            return Ok((Bound::Match(matcher, Box::new(of)), kind));
        }
    }
    let function = functions::find(name)
        .ok_or_else(|| SqlError::semantic(format!("unsupported function name: {name}")))?;
    if !function.args.contains(&args.len()) {
        return Err(SqlError::semantic(format!(
            "{name} function expected {} to {} arguments, but got {}",
            function.args.start(),
            function.args.end(),
            args.len()
        )));
    }
    if let ("span", [_, Expr::Literal(Value::String(width))]) = (name, args)
        && time::fixed_millis(width).is_none()
    {
        return Err(SqlError::semantic(format!(
            "a span of [{width}] can only group the documents of an index by one of its fields"
        )));
    }
    let mut bound = Vec::with_capacity(args.len());
    let mut kinds = Vec::with_capacity(args.len());
    for arg in args {
        let (arg, kind) = bind(arg, columns)?;
        bound.push(arg);
        kinds.push(kind);
    }
    let kind = (function.kind)(&kinds);
    check_time(name, args, function)?;
    if bound.is_empty() && name != "rand" {
        // The moment of a statement is the same for all of its rows.
        return Ok((Bound::Literal((function.run)(&[])), kind));
    }
    if name == "typeof" {
        let name = kinds.first().map_or("UNDEFINED", |kind| kind.name());
        return Ok((Bound::Literal(name.to_ascii_uppercase().into()), kind));
    }
    let applied = Bound::Apply(function, bound);
    let adds = matches!(name, "date_add" | "adddate" | "date_sub" | "subdate");
    if adds && kind.is_moment() {
        // A text that is a date alone is a moment here.
        return Ok((Bound::Cast(kind, Box::new(applied)), kind));
    }
    Ok((applied, kind))
}

/// Refuses a text that is no time where it is written as one.
fn check_time(name: &str, args: &[Expr], function: &Function) -> Result<(), SqlError> {
    let format = match name {
        "date" => "yyyy-MM-dd",
        "time" => "HH:mm:ss[.SSSSSSSSS]",
        "timestamp" => "yyyy-MM-dd HH:mm:ss[.SSSSSSSSS]",
        _ => return Ok(()),
    };
    let [Expr::Literal(text @ Value::String(written))] = args else {
        return Ok(());
    };
    if (function.run)(std::slice::from_ref(text)).is_null() {
        return Err(SqlError::semantic(format!(
            "{name}:{written} in unsupported format, please use '{format}'"
        )));
    }
    Ok(())
}

/// The function that makes another time of a time and an interval, and the types that it takes.
fn shifted(op: Op, left: SqlType, right: SqlType) -> Option<(&'static Function, [SqlType; 2])> {
    let (name, kinds) = match (op, left, right) {
        (Op::Add, SqlType::Interval, time) => ("date_add", [time, left]),
        (Op::Add, time, SqlType::Interval) => ("date_add", [time, right]),
        (Op::Subtract, time, SqlType::Interval) => ("date_sub", [time, right]),
        _ => return None,
    };
    functions::find(name).map(|function| (function, kinds))
}

/// What is compared with a time is one, too.
fn beside_time(mut bound: Box<Bound>, kind: SqlType) -> Box<Bound> {
    match kind {
        SqlType::Date | SqlType::Time => Box::new(Bound::Cast(SqlType::Timestamp, bound)),
        _ => {
            as_time(&mut bound);
            bound
        }
    }
}

/// A text that is compared with true or false is one of them, too.
fn beside_truth(bound: Box<Bound>) -> Box<Bound> {
    Box::new(Bound::Cast(SqlType::Boolean, bound))
}

/// A literal beside a time is one, too.
fn as_time(bound: &mut Bound) {
    if let Bound::Literal(Value::String(text)) = bound
        && let Some(shown) = time::shown(text)
    {
        *text = shown;
    }
}

fn type_of(value: &Value) -> SqlType {
    match value {
        Value::Bool(_) => SqlType::Boolean,
        Value::Number(number) => match number.as_i64() {
            Some(whole) if i32::try_from(whole).is_ok() => SqlType::Integer,
            Some(_) => SqlType::Long,
            None => SqlType::Double,
        },
        Value::String(_) => SqlType::Keyword,
        _ => SqlType::Undefined,
    }
}

fn binary_type(op: Op, left: SqlType, right: SqlType) -> Result<SqlType, SqlError> {
    if !op.is_arithmetic() {
        return Ok(SqlType::Boolean);
    }
    let is_operand = |kind: SqlType| kind.is_number() || kind == SqlType::Undefined;
    if !is_operand(left) || !is_operand(right) {
        return Err(SqlError::semantic(format!(
            "arithmetic expected numbers, but got [{}, {}]",
            left.name(),
            right.name()
        )));
    }
    Ok(left.max(right))
}

impl Bound {
    /// The value for a row.
    pub(crate) fn value(&self, row: &[Value]) -> Value {
        match self {
            Bound::Literal(value) => value.clone(),
            Bound::Place(place) => row.get(*place).cloned().unwrap_or(Value::Null),
            Bound::Binary(op, kind, left, right) => {
                binary(*op, *kind, &left.value(row), &right.value(row))
            }
            Bound::Logic(logic, parts) => joined(*logic, parts, row),
            Bound::Not(part) => match part.value(row) {
                Value::Bool(truth) => Value::Bool(!truth),
                _ => Value::Null,
            },
            Bound::IsNull(part) => part.value(row).is_null().into(),
            Bound::In(part, list) => is_in(&part.value(row), list, row),
            Bound::Apply(function, args) => {
                let args: Vec<Value> = args.iter().map(|arg| arg.value(row)).collect();
                (function.run)(&args)
            }
            Bound::Cast(kind, part) => cast(*kind, &part.value(row)),
            Bound::Match(matcher, part) => matcher.value(&part.value(row)),
        }
    }

    /// Whether a row is one of those that are asked for.
    pub(crate) fn is_true(&self, row: &[Value]) -> bool {
        self.value(row) == Value::Bool(true)
    }
}

/// What is not known may be either: the others decide, or it is not known.
fn joined(logic: Logic, parts: &[Bound], row: &[Value]) -> Value {
    let decides = logic == Logic::Or;
    let mut result = Value::Bool(!decides);
    for part in parts {
        match part.value(row) {
            Value::Bool(truth) if truth == decides => return Value::Bool(decides),
            Value::Bool(_) => {}
            _ => result = Value::Null,
        }
    }
    result
}

fn is_in(value: &Value, list: &[Bound], row: &[Value]) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    let is_same = |item: &Bound| compare(value, &item.value(row)) == Some(Ordering::Equal);
    list.iter().any(is_same).into()
}

fn binary(op: Op, kind: SqlType, left: &Value, right: &Value) -> Value {
    if left.is_null() || right.is_null() {
        return Value::Null;
    }
    if op.is_arithmetic() {
        return arithmetic(op, kind, left, right);
    }
    if op == Op::Like {
        return match (left.as_str(), right.as_str()) {
            (Some(text), Some(pattern)) => like(text, pattern).into(),
            _ => Value::Null,
        };
    }
    let Some(order) = compare(left, right) else {
        return Value::Null;
    };
    let truth = match op {
        Op::Equal => order.is_eq(),
        Op::Unequal => order.is_ne(),
        Op::Less => order.is_lt(),
        Op::LessOrEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        _ => order.is_ge(),
    };
    truth.into()
}

/// Whole numbers stay whole, and nothing can be divided by zero.
fn arithmetic(op: Op, kind: SqlType, left: &Value, right: &Value) -> Value {
    if kind.is_whole()
        && let (Some(left), Some(right)) = (left.as_i64(), right.as_i64())
    {
        let result = match op {
            Op::Add => left.checked_add(right),
            Op::Subtract => left.checked_sub(right),
            Op::Multiply => left.checked_mul(right),
            Op::Divide => left.checked_div(right),
            _ => left.checked_rem(right),
        };
        return result.map_or(Value::Null, Value::from);
    }
    let (Some(left), Some(right)) = (left.as_f64(), right.as_f64()) else {
        return Value::Null;
    };
    let result = match op {
        Op::Add => left + right,
        Op::Subtract => left - right,
        Op::Multiply => left * right,
        Op::Divide => left / right,
        _ => left % right,
    };
    float(result)
}

/// The order of two values of one kind.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Number(number), Value::String(text)) => {
            number.as_f64()?.partial_cmp(&text.trim().parse().ok()?)
        }
        (Value::String(_), Value::Number(_)) => compare(right, left).map(Ordering::reverse),
        // Several values are compared by the first of them.
        (Value::Array(items), other) => compare(items.first()?, other),
        (other, Value::Array(items)) => compare(other, items.first()?),
        _ => None,
    }
}
