//! Numbers of one type as places in the order of another.

use clew_query::SortValue;

/// Scores by their bits, which order like the floats they are once the sign is turned.
pub(super) fn score_place(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 1 {
        !bits
    } else {
        bits | 1 << 31
    }
}

pub(super) fn score_at(place: u64) -> f32 {
    let place = u32::try_from(place).unwrap_or(u32::MAX);
    f32::from_bits(if place >> 31 == 1 {
        place & !(1 << 31)
    } else {
        !place
    })
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "scores are 32 bits wide: this was one before it was printed"
)]
pub(super) fn narrow(score: f64) -> f32 {
    score as f32
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, which keeps the order"
)]
fn floor(number: f64) -> i64 {
    number.floor() as i64
}

/// A number without its fraction.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, which keeps the order"
)]
pub(super) fn cut(number: f64) -> i64 {
    number as i64
}

/// The whole number that a value is compared as with whole numbers.
pub(super) fn whole(value: &SortValue) -> i64 {
    match value {
        SortValue::I64(number) => *number,
        SortValue::U64(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        SortValue::F64(number) => floor(*number),
        _ => 0,
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "compared with a column of floats, which has no more precision"
)]
pub(super) fn float(number: i64) -> f64 {
    number as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, which keeps the order"
)]
pub(super) fn floor_unsigned(number: f64) -> u64 {
    number.floor() as u64
}
