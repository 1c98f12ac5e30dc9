//! Moments in expressions become numbers before anything is made of them: those that a field's column has.
//!
//! A length of time that is added to a field, or taken from it, is moved to the other side of the comparison, where it
//! meets a moment; months and years count from that.

use jiff::Span;
use jiff::tz::TimeZone;

use super::ExprError;
use super::tree::{Expr, Kind, Operator};
use crate::collection::{Collection, DataType};
use crate::instant::{instant_text, parse_instant, parse_interval, shifted};

/// An expression without moments and lengths of time; `None` where it has none. Moments that say no offset are in `zone`, or
/// in the collection's.
///
/// # Errors
/// For what is no moment or no length of time, and where they stand beside no field that has moments.
pub(super) fn resolved(
    expr: &Expr,
    collection: &Collection,
    zone: Option<&TimeZone>,
) -> Result<Option<Expr>, ExprError> {
    if !expr.any(&|one| matches!(one.kind, Kind::Instant(_) | Kind::Interval(_))) {
        return Ok(None);
    }
    let zone = zone.cloned().unwrap_or_else(|| collection.zone());
    let mut expr = expr.clone();
    let mut left = vec![&mut expr];
    while let Some(one) = left.pop() {
        resolve(one, (collection, &zone))?;
        left.extend(one.children_mut());
    }
    Ok(Some(expr))
}

/// Resolves one part; those inside it are looked at after it.
fn resolve(expr: &mut Expr, (collection, zone): (&Collection, &TimeZone)) -> Result<(), ExprError> {
    let at = expr.at;
    match &mut expr.kind {
        Kind::Instant(text) => expr.kind = Kind::Integer(micros(at, text, zone)?),
        Kind::Interval(_) => return Err(stray(at)),
        Kind::Binary(operator, left, right) if operator.is_comparison() => {
            meet(left, right, zone)?;
            meet(right, left, zone)?;
            check(left, right, collection)?;
            check(right, left, collection)?;
        }
        _ => {}
    }
    Ok(())
}

/// Refuses a moment that is compared with something else than a field of moments.
fn check(value: &Expr, moment: &Expr, collection: &Collection) -> Result<(), ExprError> {
    let is_moments = |name: &str| {
        let field = collection.field(name);
        field.is_ok_and(|field| field.data_type == DataType::Timestamptz)
    };
    match (&moment.kind, &value.kind) {
        (Kind::Instant(_), Kind::Path(path)) if path.steps.is_empty() && is_moments(&path.name) => {
            Ok(())
        }
        (Kind::Instant(_), _) => Err(ExprError::at(
            moment.at,
            "ISO is compared with a timestamptz field, from which INTERVAL may be taken, or added to it",
        )),
        _ => Ok(()),
    }
}

/// Moves the length of time beside a value to the moment that it is compared with.
fn meet(value: &mut Expr, moment: &mut Expr, zone: &TimeZone) -> Result<(), ExprError> {
    let Kind::Instant(text) = &moment.kind else {
        return Ok(());
    };
    let Kind::Binary(operator @ (Operator::Add | Operator::Subtract), field, length) = &value.kind
    else {
        return Ok(());
    };
    let Kind::Interval(length_text) = &length.kind else {
        return Ok(());
    };
    let length: Span = parse_interval(length_text).ok_or_else(|| {
        let what = format!("invalid ISO 8601 duration: '{length_text}'");
        ExprError::at(length.at, what)
    })?;
    let back = match operator {
        Operator::Add => -length,
        _ => length,
    };
    let from = micros(moment.at, text, zone)?;
    let meets = shifted(from, back)
        .ok_or_else(|| ExprError::at(moment.at, "the moment lies outside the years 0 to 9999"))?;
    moment.kind = Kind::Instant(instant_text(meets, &TimeZone::UTC));
    let field = (**field).clone();
    *value = field;
    Ok(())
}

fn micros(at: usize, text: &str, zone: &TimeZone) -> Result<i64, ExprError> {
    let wrong = |_| ExprError::at(at, format!("can not convert compare string: {text}"));
    parse_instant(text, zone).map_err(wrong)
}

fn stray(at: usize) -> ExprError {
    ExprError::at(
        at,
        "INTERVAL is added to a timestamptz field, or taken from one, that is compared with ISO",
    )
}
