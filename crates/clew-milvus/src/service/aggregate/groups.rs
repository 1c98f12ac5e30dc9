//! The groups of the rows that were seen, and what is known of each.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use clew_engine::{FieldValues, Hit};
use clew_platform::{Reservation, sorted_while_wanted};
use clew_query::QueryError;
use jiff::tz::TimeZone;

use super::super::cell::{Cell, column};
use super::{Aggregate, Grouping, Operator, Shown};
use crate::collection::{DataType, Field};
use crate::error::{MilvusError, Result};
use crate::incoming::Refused;
use crate::proto::FieldData;
use crate::rows::told_column;

/// What all groups may take: their keys, and what is known of them.
const GROUP_BYTES_MAX: usize = 64 << 20;
/// What a group takes beside those.
const GROUP_BYTES: usize = size_of::<Vec<Key>>() + size_of::<Vec<Known>>();

/// What a group is told by; those without a value come last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Integer(i64),
    Text(String),
    Null,
}

impl Key {
    fn of(cell: Option<&Cell>) -> Key {
        match cell {
            Some(Cell::Integer(number)) => Key::Integer(*number),
            Some(Cell::Text(text)) => Key::Text(text.clone()),
            Some(Cell::Float(_) | Cell::Other) | None => Key::Null,
        }
    }

    fn value(&self) -> Option<&Key> {
        Some(self).filter(|key| **key != Key::Null)
    }

    fn bytes(&self) -> usize {
        match self {
            Key::Text(text) => size_of::<Key>() + text.len(),
            Key::Integer(_) | Key::Null => size_of::<Key>(),
        }
    }
}

/// What is known of the values of one group.
#[derive(Clone, Debug, Default)]
pub(in crate::service) struct Known {
    count: i64,
    whole: i128,
    real: f64,
    least: Option<Cell>,
    greatest: Option<Cell>,
}

impl Known {
    #[allow(
        clippy::cast_precision_loss,
        reason = "an average is told in double precision"
    )]
    pub(in crate::service) fn add(&mut self, cell: &Cell) {
        self.count += 1;
        match cell {
            Cell::Integer(number) => {
                self.whole += i128::from(*number);
                self.real += *number as f64;
            }
            Cell::Float(number) => self.real += number,
            Cell::Text(_) | Cell::Other => {}
        }
        if self.least.as_ref().is_none_or(|least| cell < least) {
            self.least = Some(cell.clone());
        }
        if self
            .greatest
            .as_ref()
            .is_none_or(|greatest| cell > greatest)
        {
            self.greatest = Some(cell.clone());
        }
    }

    /// What the texts take that are kept.
    fn text_bytes(&self) -> usize {
        let kept = [&self.least, &self.greatest].into_iter().flatten();
        kept.map(|cell| match cell {
            Cell::Text(text) => text.len(),
            Cell::Integer(_) | Cell::Float(_) | Cell::Other => 0,
        })
        .sum()
    }

    /// What an operator makes of it; nothing of no values, but for their number.
    #[allow(
        clippy::cast_precision_loss,
        reason = "an average is told in double precision"
    )]
    pub(in crate::service) fn result(&self, operator: Operator, is_whole: bool) -> Option<Cell> {
        if operator == Operator::Count {
            return Some(Cell::Integer(self.count));
        }
        if self.count == 0 {
            return None;
        }
        match operator {
            // What does not fit is not told, rather than told wrong.
            Operator::Sum if is_whole => i64::try_from(self.whole).ok().map(Cell::Integer),
            Operator::Sum => Some(Cell::Float(self.real)),
            Operator::Avg if is_whole => Some(Cell::Float(self.whole as f64 / self.count as f64)),
            Operator::Avg => Some(Cell::Float(self.real / self.count as f64)),
            Operator::Min => self.least.clone(),
            Operator::Max => self.greatest.clone(),
            Operator::Count => None,
        }
    }
}

/// The groups of the rows that were seen.
pub(super) struct Groups<'g> {
    grouping: &'g Grouping,
    all: BTreeMap<Vec<Key>, Vec<Known>>,
    memory: Reservation,
}

impl<'g> Groups<'g> {
    /// None yet; what they take is booked as they come.
    pub(super) fn new(grouping: &'g Grouping, memory: Reservation) -> Self {
        let mut all = BTreeMap::new();
        if grouping.is_global() {
            // Of no rows there is something to be told, too.
            all.insert(
                Vec::new(),
                vec![Known::default(); grouping.aggregates.len()],
            );
        }
        Groups {
            grouping,
            all,
            memory,
        }
    }

    /// Adds rows, of which was read what the grouping wants.
    pub(super) fn add(&mut self, hits: &[Hit], read: Vec<FieldValues>) -> Result<()> {
        let grouping = self.grouping;
        let mut read = read.into_iter();
        let mut columns = Vec::with_capacity(grouping.fields.len());
        for field in &grouping.fields {
            let ids = hits.iter().map(|hit| hit.id.as_str());
            columns.push(column(field, ids, &mut read)?);
        }
        for row in 0..hits.len() {
            let cells: Vec<Option<Cell>> = columns.iter().map(|one| Cell::of(one, row)).collect();
            let keys = grouping.keys.iter();
            let key: Vec<Key> = keys.map(|at| Key::of(cells[*at].as_ref())).collect();
            let known = match self.all.entry(key) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(new) => {
                    let keys: usize = new.key().iter().map(Key::bytes).sum();
                    let known = grouping.aggregates.len() * size_of::<Known>();
                    book(&mut self.memory, GROUP_BYTES + keys + known)?;
                    new.insert(vec![Known::default(); grouping.aggregates.len()])
                }
            };
            for (aggregate, known) in grouping.aggregates.iter().zip(known) {
                match aggregate.field {
                    None => known.count += 1,
                    Some(at) => {
                        if let Some(cell) = &cells[at] {
                            let before = known.text_bytes();
                            known.add(cell);
                            let more = known.text_bytes().saturating_sub(before);
                            book(&mut self.memory, more)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The columns of those groups that a window shows.
    pub(super) fn columns(
        self,
        (limit, offset): (Option<usize>, usize),
        zone: &TimeZone,
    ) -> Result<Vec<FieldData>> {
        let grouping = self.grouping;
        let groups: Vec<(Vec<Key>, Vec<Known>)> = self.all.into_iter().collect();
        let groups = sorted_while_wanted(groups, |(a, _), (b, _)| {
            let mut parts = grouping.order.iter();
            let compared = parts.find_map(|(at, part)| {
                let ordering = part.compare(a[*at].value(), b[*at].value());
                Some(ordering).filter(|ordering| *ordering != Ordering::Equal)
            });
            compared.unwrap_or(Ordering::Equal)
        });
        let mut groups = groups.ok_or(QueryError::Stopped)?;
        if !grouping.is_global() {
            groups.drain(..offset.min(groups.len()));
            groups.truncate(limit.unwrap_or(usize::MAX));
        }
        let told = |shown: &Shown| match *shown {
            Shown::Key(key) => {
                let field = &grouping.fields[grouping.keys[key]];
                let cells = groups.iter().map(|(keys, _)| match &keys[key] {
                    Key::Integer(number) => Some(Cell::Integer(*number)),
                    Key::Text(text) => Some(Cell::Text(text.clone())),
                    Key::Null => None,
                });
                told_column(field, values_of(field.data_type, cells), zone)
            }
            Shown::Aggregate(at) => {
                let aggregate = &grouping.aggregates[at];
                let field = aggregate.field.map(|at| &grouping.fields[at]);
                let is_whole = field.is_none_or(|field| field.data_type.is_integer());
                let cells = groups
                    .iter()
                    .map(|(_, known)| known[at].result(aggregate.operator, is_whole));
                let field = told_field(aggregate, field);
                let values = values_of(field.data_type, cells);
                told_column(&field, values, zone)
            }
        };
        grouping.shown.iter().map(told).collect()
    }
}

/// Books what groups take more.
///
/// # Errors
/// When it does not fit beside others, or is more than groups may take.
fn book(memory: &mut Reservation, bytes: usize) -> Result<()> {
    if memory.bytes().saturating_add(bytes) > GROUP_BYTES_MAX {
        return Err(MilvusError::TooLarge(format!(
            "the groups of a query take more than {GROUP_BYTES_MAX} bytes"
        )));
    }
    Ok(memory.grow(bytes).map_err(Refused::from)?)
}

/// What an aggregation is told as.
fn told_field(aggregate: &Aggregate, field: Option<&Field>) -> Field {
    let of_values = field.map_or(DataType::Int64, |field| field.data_type);
    let data_type = match aggregate.operator {
        Operator::Count => DataType::Int64,
        Operator::Sum if of_values.is_integer() => DataType::Int64,
        Operator::Sum | Operator::Avg => DataType::Double,
        Operator::Min | Operator::Max => of_values,
    };
    Field {
        nullable: aggregate.operator != Operator::Count,
        ..Field::named(&aggregate.name, data_type)
    }
}

/// Values in the shape in which a field of a type is read.
fn values_of(data_type: DataType, cells: impl Iterator<Item = Option<Cell>>) -> FieldValues {
    match data_type {
        DataType::Float | DataType::Double => FieldValues::Floats(
            cells
                .map(|cell| match cell {
                    Some(Cell::Float(number)) => Some(number),
                    _ => None,
                })
                .collect(),
        ),
        DataType::VarChar => FieldValues::Texts(
            cells
                .map(|cell| match cell {
                    Some(Cell::Text(text)) => Some(text),
                    _ => None,
                })
                .collect(),
        ),
        _ => FieldValues::Integers(
            cells
                .map(|cell| match cell {
                    Some(Cell::Integer(number)) => Some(number),
                    _ => None,
                })
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits, MemoryPurpose};

    use super::*;

    #[test]
    fn texts_that_are_kept_are_counted() {
        let mut known = Known::default();
        for (text, want) in [("bb", 4), ("a", 3), ("b", 3), ("ccc", 4)] {
            known.add(&Cell::Text(text.to_string()));
            assert_eq!(known.text_bytes(), want, "{text}");
        }
        let mut numbers = Known::default();
        numbers.add(&Cell::Integer(7));
        assert_eq!(numbers.text_bytes(), 0);
    }

    #[test]
    fn groups_are_booked_up_to_their_limit() {
        let account = MemoryAccount::new(MemoryLimits {
            searches: 1 << 20,
            ..MemoryLimits::none()
        });
        let mut memory = account.open(MemoryPurpose::Searches);
        book(&mut memory, 1000).unwrap();
        assert_eq!(account.total().used, 1000);
        let refused = |memory: &mut Reservation, bytes| book(memory, bytes).unwrap_err().code();
        assert_eq!(refused(&mut memory, 2 << 20), 3, "it can never fit");
        assert_eq!(refused(&mut memory, GROUP_BYTES_MAX), 1102);
        assert_eq!(memory.bytes(), 1000);
    }

    #[test]
    fn groups_are_put_in_order_only_for_somebody() {
        let grouping = Grouping {
            fields: vec![Field::named("n", DataType::Int64)],
            keys: vec![0],
            aggregates: Vec::new(),
            shown: vec![Shown::Key(0)],
            order: Vec::new(),
        };
        let columns = || {
            let account = MemoryAccount::new(MemoryLimits::none());
            let mut groups = Groups::new(&grouping, account.open(MemoryPurpose::Searches));
            let keys = (0..10_000).map(|number| vec![Key::Integer(number)]);
            groups.all = keys.map(|key| (key, Vec::new())).collect();
            groups.columns((None, 0), &TimeZone::UTC)
        };
        assert_eq!(columns().unwrap().len(), 1);
        let token = CancellationToken::new();
        token.cancel("the client has gone");
        let _entered = token.enter();
        assert!(columns().is_err());
    }

    #[test]
    fn of_no_values_there_is_nothing_but_their_number() {
        let mut known = Known::default();
        assert_eq!(known.result(Operator::Count, true), Some(Cell::Integer(0)));
        assert_eq!(known.result(Operator::Sum, true), None);
        for number in [3, -1, 5] {
            known.add(&Cell::Integer(number));
        }
        for (operator, want) in [
            (Operator::Count, Cell::Integer(3)),
            (Operator::Sum, Cell::Integer(7)),
            (Operator::Avg, Cell::Float(7.0 / 3.0)),
            (Operator::Min, Cell::Integer(-1)),
            (Operator::Max, Cell::Integer(5)),
        ] {
            assert_eq!(known.result(operator, true), Some(want));
        }
    }
}
