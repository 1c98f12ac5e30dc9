//! Shards of several indexes may have a field in different types, or not at all. Here their counts
//! are brought to one type before they are merged.

use clew_query::AggError;

use crate::counted::Partial;
use crate::field::ValueKind;
use crate::tree::{Op, Plan};
use crate::value::key::{Key, KeyTable};

/// Makes two shards' results of one request mean the same.
///
/// # Errors
/// [`AggError::Invalid`] when a field is text in one of them and a number in the other.
pub(crate) fn unify(
    (mine, my_partials): (&mut [Plan], &mut [Partial]),
    (theirs, their_partials): (&[Plan], &mut [Partial]),
) -> Result<(), AggError> {
    let plans = mine.iter_mut().zip(theirs);
    let partials = my_partials.iter_mut().zip(their_partials);
    for ((mine, theirs), (my_partial, their_partial)) in plans.zip(partials) {
        if let (Op::Bucket(mine), Op::Bucket(theirs)) = (&mut mine.op, &theirs.op) {
            mine.adopt(theirs);
        }
        if let Some(common) = common_kind(mine, theirs)? {
            map_keys(my_partial, common);
            map_keys(their_partial, common);
            mine.values.kind = common;
        }
        if let (Partial::Buckets(my_buckets), Partial::Buckets(their_buckets)) =
            (my_partial, their_partial)
        {
            unify(
                (&mut mine.subs, &mut my_buckets.subs),
                (&theirs.subs, &mut their_buckets.subs),
            )?;
        }
    }
    Ok(())
}

/// The type that both can be read as, where keys have to change for that.
fn common_kind(mine: &mut Plan, theirs: &Plan) -> Result<Option<ValueKind>, AggError> {
    let kinds = (mine.values.kind, theirs.values.kind);
    if mine.values.adopt(&theirs.values) || kinds.0 == kinds.1 {
        return Ok(None);
    }
    let has_values_for_keys = match &mine.op {
        Op::Bucket(bucket) => bucket.as_bucket().has_values_for_keys(),
        Op::Metric(_) => false,
    };
    if kinds.1 == ValueKind::Unmapped || !has_values_for_keys {
        return Ok(None);
    }
    let is = |wanted: &[ValueKind]| wanted.contains(&kinds.0) && wanted.contains(&kinds.1);
    let whole = [
        ValueKind::Long,
        ValueKind::Boolean,
        ValueKind::Date,
        ValueKind::DateNanos,
    ];
    if is(&whole) {
        return Ok(None);
    }
    if is(&[ValueKind::Long, ValueKind::Unsigned]) {
        return Ok(Some(ValueKind::Unsigned));
    }
    if is(&[ValueKind::Long, ValueKind::Unsigned, ValueKind::Double]) {
        return Ok(Some(ValueKind::Double));
    }
    // Also what stands in for addresses in an index without the field is a text.
    if is(&[ValueKind::Keyword, ValueKind::Ip]) {
        return Ok(Some(ValueKind::Keyword));
    }
    Err(AggError::invalid(format!(
        "Merging/Reducing the aggregations failed when computing the aggregation [{}] because the \
         field you gave in the aggregation query existed as two different types in two different \
         indices",
        mine.name
    )))
}

fn map_keys(partial: &mut Partial, kind: ValueKind) {
    let Partial::Buckets(buckets) = partial else {
        return;
    };
    for table in [&mut buckets.table, &mut buckets.universe] {
        let (parents, keys) = std::mem::take(table).into_parts();
        let keys = keys.into_iter().map(|key| converted(key, kind)).collect();
        *table = KeyTable::of_distinct(parents, keys);
    }
}

/// A key as one of the common type. Whole numbers stay signed as long as they can, so that equal
/// ones are equal.
#[allow(
    clippy::cast_precision_loss,
    reason = "numbers that meet fractions are compared as such"
)]
fn converted(key: Key, kind: ValueKind) -> Key {
    match (key, kind) {
        (Key::I64(value), ValueKind::Double) => Key::F64(value as f64),
        (Key::U64(value), ValueKind::Double) => Key::F64(value as f64),
        (Key::U64(value), ValueKind::Unsigned) => {
            i64::try_from(value).map_or(Key::U64(value), Key::I64)
        }
        (key @ Key::Ip(_), ValueKind::Keyword) => Key::Str(key.to_string().into()),
        (key, _) => key,
    }
}
