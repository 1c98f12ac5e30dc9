//! Rows of two sources beside and below each other, and of objects inside of rows: what joins, unions and nested objects mean.

use std::collections::{BTreeMap, BTreeSet};

use clew_opensearch::wing::RequestMemory;
use serde_json::Value;

use crate::error::SqlError;
use crate::fields::SqlType;
use crate::functions::cast::shown;
use crate::stages::budget::{Budget, Walk};
use crate::stages::eval::{Bound, bind};
use crate::stages::members::part_of;
use crate::stages::rows::key_of;
use crate::statement::plan::{Combine, Combining, Join, JoinKind, Rows, Unnest};
use crate::table::{Column, Columns, Row, Table};

/// Pairs of rows that one join looks at.
const PAIRS_MAX: usize = 1_000_000;
/// What a row takes in the table of keys, beside its key.
const ENTRY_BYTES: usize = 64;

/// The rows of a stage that were made before it.
pub(crate) fn made(rows: &Rows) -> Result<&Table, SqlError> {
    match rows {
        Rows::Made(table) => Ok(table),
        Rows::Of(_) => Err(SqlError::semantic("the rows of a join are not there yet")),
    }
}

/// Each row with each of the others that it belongs to; the others are found by a table of their keys.
///
/// # Errors
/// A column that there is not, more pairs than one join may look at, or rows that take too much memory.
pub(crate) fn joined(table: Table, join: &Join, memory: &RequestMemory) -> Result<Table, SqlError> {
    let others = made(&join.rows)?;
    let (mut keys, mut other_keys) = (Vec::new(), Vec::new());
    for (key, other) in &join.keys {
        keys.push(bind(key, &table.columns)?.0);
        other_keys.push(bind(other, &others.columns)?.0);
    }
    let width = table.columns.0.len();
    let columns = beside(table.columns, &others.columns);
    let condition = match &join.condition {
        Some(condition) => Some(bind(condition, &columns)?.0),
        None => None,
    };
    let places = if table.rows.is_empty() {
        BTreeMap::new()
    } else {
        places(others, &other_keys, memory)?
    };
    let mut pairs = Pairs {
        join,
        others,
        condition,
        looked_at: 0,
        matched: BTreeSet::new(),
        rows: Vec::new(),
        budget: Budget::of(memory),
        walk: Walk::begin(),
    };
    for mut row in table.rows {
        pairs.walk.step()?;
        let found = key(&keys, &row).and_then(|key| places.get(&key));
        let is_alone = !pairs.pair(&row, found.map_or(&[][..], Vec::as_slice))?;
        let stays = if is_alone {
            join.kind.keeps_left()
        } else {
            join.kind == JoinKind::Semi
        };
        if stays {
            row.resize(columns.0.len(), Value::Null);
            pairs.add(row)?;
        }
    }
    if join.kind.keeps_right() {
        pairs.add_others_alone(width)?;
    }
    let mut table = Table {
        columns,
        rows: pairs.rows,
    };
    if join.kind.shows_left() {
        table.columns.0.truncate(width);
        table.rows.iter_mut().for_each(|row| row.truncate(width));
    }
    Ok(table)
}

/// The rows of a join in the making.
struct Pairs<'a> {
    join: &'a Join,
    others: &'a Table,
    condition: Option<Bound>,
    /// How many there were so far, whether they belong together or not.
    looked_at: usize,
    /// The places of the others that were found to belong to a row, where the rest of them is wanted.
    matched: BTreeSet<usize>,
    rows: Vec<Row>,
    budget: Budget<'a>,
    walk: Walk,
}

impl Pairs<'_> {
    /// Adds a row with each of the others at these places that belongs to it, and tells whether there is one. Where only the
    /// rows so far are shown, the first is enough, and nothing is added.
    fn pair(&mut self, row: &[Value], places: &[usize]) -> Result<bool, SqlError> {
        let mut is_paired = false;
        for place in places {
            self.looked_at += 1;
            if self.looked_at > PAIRS_MAX {
                return Err(SqlError::semantic(format!(
                    "a join would look at more than {PAIRS_MAX} pairs of rows"
                )));
            }
            self.walk.step()?;
            let other = self.others.rows.get(*place).into_iter().flatten();
            let pair: Row = row.iter().chain(other).cloned().collect();
            let condition = self.condition.as_ref();
            if condition.is_some_and(|holds| !holds.is_true(&pair)) {
                continue;
            }
            is_paired = true;
            if self.join.kind.shows_left() {
                break;
            }
            if self.join.kind.keeps_right() {
                self.matched.insert(*place);
            }
            self.add(pair)?;
        }
        Ok(is_paired)
    }

    /// Adds the others that belong to no row, behind so many empty columns.
    fn add_others_alone(&mut self, width: usize) -> Result<(), SqlError> {
        for (place, other) in self.others.rows.iter().enumerate() {
            self.walk.step()?;
            if self.matched.contains(&place) {
                continue;
            }
            let mut row: Row = vec![Value::Null; width];
            row.extend(other.iter().cloned());
            self.add(row)?;
        }
        Ok(())
    }

    fn add(&mut self, row: Row) -> Result<(), SqlError> {
        self.budget.spend_row(&row)?;
        self.rows.push(row);
        Ok(())
    }
}

/// The columns of both: of two of one name, the second has that of its source before it.
fn beside(mut columns: Columns, others: &Columns) -> Columns {
    for column in &others.0 {
        let mut column = column.clone();
        if let Some(qualified) = &column.qualified
            && columns.0.iter().any(|have| have.name == column.name)
        {
            column.name.clone_from(qualified);
        }
        columns.0.push(column);
    }
    columns
}

/// Where the rows with a key stand.
fn places(
    table: &Table,
    keys: &[Bound],
    memory: &RequestMemory,
) -> Result<BTreeMap<String, Vec<usize>>, SqlError> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut walk, mut bytes) = (Walk::begin(), 0);
    for (place, row) in table.rows.iter().enumerate() {
        walk.step()?;
        if let Some(key) = key(keys, row) {
            bytes += key.len() + ENTRY_BYTES;
            places.entry(key).or_default().push(place);
        }
    }
    memory.take(bytes)?;
    Ok(places)
}

/// What rows that belong together have in common; none where a value is not known.
fn key(keys: &[Bound], row: &[Value]) -> Option<String> {
    let mut key = String::new();
    for bound in keys {
        key.push_str(&key_part(&bound.value(row))?);
        key.push('\u{0}');
    }
    Some(key)
}

/// Numbers are the same in every type, and several values are compared by the first of them.
fn key_part(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(items) => key_part(items.first()?),
        Value::Number(number) if number.is_f64() => Some(number.as_f64()?.to_string()),
        other => Some(shown(other)),
    }
}

/// The rows with those of another SELECT.
///
/// # Errors
/// Other columns than those of the first, or rows that take too much memory.
pub(crate) fn combined(
    mut table: Table,
    combine: &Combine,
    memory: &RequestMemory,
) -> Result<Table, SqlError> {
    let others = made(&combine.rows)?;
    if table.columns.0.len() != others.columns.0.len() {
        return Err(SqlError::semantic(format!(
            "the SELECTs of a union have different numbers of columns: [{}] and [{}]",
            table.columns.0.len(),
            others.columns.0.len()
        )));
    }
    for (column, other) in table.columns.0.iter_mut().zip(&others.columns.0) {
        let are_numbers = column.kind.is_number() && other.kind.is_number();
        if are_numbers || column.kind == SqlType::Undefined {
            column.kind = column.kind.max(other.kind);
        }
    }
    let mut walk = Walk::begin();
    let mut known = BTreeSet::new();
    match combine.kind {
        Combining::All | Combining::Distinct => {
            let mut budget = Budget::of(memory);
            for row in &others.rows {
                budget.spend_row(row)?;
                table.rows.push(row.clone());
            }
        }
        Combining::Without | Combining::Common => {
            for row in &others.rows {
                walk.step()?;
                known.insert(key_of(row.iter()));
            }
        }
    }
    if combine.kind == Combining::All {
        return Ok(table);
    }
    let mut seen = BTreeSet::new();
    table.kept(|row| {
        let key = key_of(row.iter());
        let stays = match combine.kind {
            Combining::Without => !known.contains(&key),
            Combining::Common => known.contains(&key),
            Combining::All | Combining::Distinct => true,
        };
        stays && seen.insert(key)
    })
}

/// One row for each object of a column, with parts of the object as columns.
///
/// # Errors
/// A column that there is not, or rows that take too much memory.
pub(crate) fn unnested(
    table: Table,
    unnest: &Unnest,
    memory: &RequestMemory,
) -> Result<Table, SqlError> {
    let mut columns = table.columns;
    let place = columns.place(&unnest.column)?;
    let mut parts = Vec::with_capacity(unnest.parts.len());
    for part in &unnest.parts {
        let of = columns.place(&part.column)?;
        let kind = columns.kind(of);
        parts.push((of, kind, part.path.as_str()));
        columns.0.push(Column::new(&part.name, kind));
    }
    let (mut budget, mut walk) = (Budget::of(memory), Walk::begin());
    let mut rows = Vec::new();
    for mut row in table.rows {
        walk.step()?;
        // They are not copied into every row.
        let objects = match row.get_mut(place).map(Value::take) {
            Some(Value::Array(objects)) => objects,
            Some(Value::Null) | None => Vec::new(),
            Some(object) => vec![object],
        };
        for (of, ..) in &parts {
            if let Some(value) = row.get_mut(*of) {
                *value = Value::Null;
            }
        }
        let nothing = (objects.is_empty() && unnest.keeps_left).then_some(Value::Null);
        for object in objects.iter().chain(&nothing) {
            let values = parts
                .iter()
                .map(|(_, kind, path)| part_of(*kind, path, object));
            let new: Row = row.iter().cloned().chain(values).collect();
            budget.spend_row(&new)?;
            rows.push(new);
        }
    }
    Ok(Table { columns, rows })
}

#[cfg(test)]
mod tests;
