//! Sort keys over one segment's columns.
//!
//! Every value becomes a [`Slot`]: a pair of numbers whose natural order is the order of hits, so
//! that documents compare without looking at types. Strings are compared by their place in the
//! segment's dictionary and only turned back into text for those that survive.

use std::cmp::Ordering;
use std::net::Ipv6Addr;

use clew_query::{
    GeoDistanceKey, Missing, Order, QueryError, SortKey, SortMode, SortValue, unless_stopped,
};
use clew_schema::{FloatKind, geo::GeoPoint};
use tantivy::columnar::{StrColumn, TermOrdHit};
use tantivy::{DocId, SegmentReader, f64_to_u64, i64_to_u64, u64_to_f64, u64_to_i64};

use super::key_source::{KeySource, points, scripted, source};
use super::missing_value::missing_of;
use super::nested_sort::Objects;
use super::sort_number::SortNumber;
use super::sort_place::{cut, float, floor_unsigned, narrow, score_at, score_place, whole};
use crate::snapshot::Snapshot;

/// Before the values, among them, or after them; and where.
pub type Slot = (u8, u128);

const BEFORE: Slot = (0, 0);
const AFTER: Slot = (2, 0);

/// So many origins of distances hold up nobody.
const FEW_ORIGINS: usize = 64;

/// One key over one segment.
pub struct KeyCursor {
    pub(super) source: KeySource,
    pub(super) order: Order,
    pub(super) mode: SortMode,
    missing: Missing,
    /// The nested objects whose values count instead of the document's own.
    pub(super) objects: Option<Objects>,
}

impl KeyCursor {
    pub(crate) fn open(
        key: &SortKey,
        snapshot: &Snapshot,
        reader: &SegmentReader,
        base: u64,
    ) -> Result<Self, QueryError> {
        let order = key.order();
        let by_order = match order {
            Order::Asc => SortMode::Min,
            Order::Desc => SortMode::Max,
        };
        let (source, mode, missing) = match key {
            SortKey::Score { .. } => (KeySource::Score, by_order, Missing::Last),
            SortKey::Doc { .. } => (KeySource::Doc { base }, by_order, Missing::Last),
            SortKey::Script(key) => {
                let source = scripted(snapshot, reader, key)?;
                (source, by_order, Missing::Last)
            }
            SortKey::GeoDistance(key) => {
                let column = points(snapshot, reader, key)?;
                let mode = key.mode.unwrap_or(by_order);
                (
                    KeySource::Distance(column, key.clone()),
                    mode,
                    Missing::Last,
                )
            }
            SortKey::Field {
                path,
                missing,
                mode,
                unmapped,
                numeric,
                ..
            } => {
                let field = (path.as_str(), *numeric);
                let source = source(snapshot, reader, field, unmapped)?;
                let mode = mode.unwrap_or(by_order);
                let folds = matches!(mode, SortMode::Sum | SortMode::Avg | SortMode::Median);
                if folds && source.has_no_numbers() {
                    return Err(QueryError::unmapped(
                        "we only support AVG, MEDIAN and SUM on number based fields",
                    ));
                }
                let missing = missing_of(snapshot, field, (&source, unmapped), (missing, order))?;
                (source, mode, missing)
            }
        };
        Ok(KeyCursor {
            source,
            order,
            mode,
            missing,
            objects: None,
        })
    }

    /// The same over the values of a document's objects.
    pub(super) fn about(self, objects: Objects) -> Self {
        KeyCursor {
            objects: Some(objects),
            ..self
        }
    }

    /// The same, where what has no value is not shown to have one.
    pub(super) fn bare(self) -> Self {
        KeyCursor {
            missing: Missing::Last,
            ..self
        }
    }

    /// Whether slots of several segments can be compared.
    pub(super) fn is_global(&self) -> bool {
        !matches!(
            self.source,
            KeySource::Text(_)
                | KeySource::Leaf(_)
                | KeySource::Ids(_)
                | KeySource::ScriptText(..)
                | KeySource::Absent
        )
    }

    /// Where a document stands in the order of this key.
    ///
    /// # Errors
    /// What a script that makes the key fails for, or that the request is over.
    pub fn slot(&self, doc: DocId, score: f32) -> Result<Slot, QueryError> {
        let place = match &self.source {
            KeySource::Score => Some(u128::from(score_place(score))),
            KeySource::Doc { base } => Some(u128::from(base + u64::from(doc))),
            KeySource::Whole(column) => self
                .pick_number(self.rows(doc).flat_map(|row| column.values_for_doc(row)))
                .map(|value| u128::from(i64_to_u64(value))),
            KeySource::Unsigned(column) => self
                .pick_number(self.rows(doc).flat_map(|row| column.values_for_doc(row)))
                .map(u128::from),
            KeySource::Same(_) => Some(1),
            KeySource::Float(column, _) => self
                .pick_number(self.rows(doc).flat_map(|row| column.values_for_doc(row)))
                .map(|value| u128::from(f64_to_u64(value))),
            KeySource::Dates(column, unit) => {
                let dates = self.rows(doc).flat_map(|row| column.values_for_doc(row));
                self.pick_number(dates.map(|date| unit.of(date)))
                    .map(|value| u128::from(i64_to_u64(value)))
            }
            KeySource::AsFloat(column) => {
                let numbers = self.rows(doc).flat_map(|row| column.values_for_doc(row));
                self.pick_number(numbers.map(float))
                    .map(|value| u128::from(f64_to_u64(value)))
            }
            KeySource::AsWhole(column) => {
                let numbers = self.rows(doc).flat_map(|row| column.values_for_doc(row));
                self.pick_number(numbers.map(cut))
                    .map(|value| u128::from(i64_to_u64(value)))
            }
            KeySource::Text(column) => self
                .pick(
                    self.rows(doc)
                        .flat_map(|row| column.ords().values_for_doc(row)),
                )
                .map(|ord| 2 * u128::from(ord) + 1),
            KeySource::Leaf(texts) => self
                .pick(self.rows(doc).flat_map(|row| texts.of(row)))
                .map(|ord| 2 * u128::from(ord) + 1),
            KeySource::Ids(ids) => ids.rank(doc).map(|rank| 2 * u128::from(rank) + 1),
            KeySource::SeqNo(rows, segment) => change_place(rows.seq_no(*segment, doc)?),
            KeySource::Address(column) => self
                .pick(self.rows(doc).flat_map(|row| column.values_for_doc(row)))
                .map(Ipv6Addr::to_bits),
            KeySource::Distance(column, key) => {
                if key.origins.len() > FEW_ORIGINS {
                    unless_stopped()?;
                }
                let codes = column.iter().flat_map(|column| column.values_for_doc(doc));
                let each = codes.flat_map(|code| distances(key, GeoPoint::decode(code)));
                let far = self.pick_number(each);
                Some(u128::from(f64_to_u64(far.unwrap_or(f64::INFINITY))))
            }
            KeySource::ScriptText(script, texts) => {
                unless_stopped()?;
                let text = script.text(doc, f64::from(score));
                let text = text.map_err(QueryError::Script)?;
                text.map(|text| texts.place(&text)).transpose()?
            }
            KeySource::Script(script) => {
                // It may take long, and a block of documents has many.
                unless_stopped()?;
                let number = script.checked(doc, f64::from(score));
                Some(u128::from(f64_to_u64(number.map_err(QueryError::Script)?)))
            }
            KeySource::Absent => None,
        };
        match place {
            Some(place) => Ok(self.ordered(place)),
            None => self.missing_slot(),
        }
    }

    /// Whether texts that a script made have to be given other places.
    pub(super) fn is_crowded(&self) -> bool {
        matches!(&self.source, KeySource::ScriptText(_, texts) if texts.is_crowded())
    }

    /// Gives the texts of these slots other places, and up all others; the slots that come of it.
    pub(super) fn spread(&self, slots: &[Slot]) -> Vec<Slot> {
        let KeySource::ScriptText(_, texts) = &self.source else {
            return slots.to_vec();
        };
        let place = |slot: Slot| self.ordered(slot.1).1;
        let there = slots.iter().filter(|slot| slot.0 == 1);
        let moved = texts.spread(there.map(|slot| place(*slot)).collect());
        let spread = slots.iter().map(|slot| match moved.get(&place(*slot)) {
            Some(place) if slot.0 == 1 => self.ordered(*place),
            _ => *slot,
        });
        spread.collect()
    }

    /// The rows whose values count.
    #[inline]
    fn rows(&self, doc: DocId) -> impl Iterator<Item = DocId> + '_ {
        let own = self.objects.is_none().then_some(doc);
        let objects = self.objects.iter().flat_map(move |objects| objects.of(doc));
        own.into_iter().chain(objects)
    }

    /// Whether a document has more than one value.
    pub(super) fn has_several(&self, doc: DocId) -> bool {
        match &self.source {
            KeySource::Whole(column) => column.values_for_doc(doc).nth(1).is_some(),
            KeySource::Unsigned(column) => column.values_for_doc(doc).nth(1).is_some(),
            KeySource::Float(column, _) => column.values_for_doc(doc).nth(1).is_some(),
            KeySource::Text(column) => column.ords().values_for_doc(doc).nth(1).is_some(),
            KeySource::Address(column) => column.values_for_doc(doc).nth(1).is_some(),
            _ => false,
        }
    }

    fn pick<V: Ord>(&self, values: impl Iterator<Item = V>) -> Option<V> {
        match self.mode {
            SortMode::Max => values.max(),
            // The others are refused where values are no numbers.
            SortMode::Min | SortMode::Avg | SortMode::Sum | SortMode::Median => values.min(),
        }
    }

    fn pick_number<V: SortNumber>(&self, values: impl Iterator<Item = V>) -> Option<V> {
        match self.mode {
            SortMode::Min => values.min_by(V::order),
            SortMode::Max => values.max_by(V::order),
            SortMode::Sum => {
                let mut values: Vec<V> = values.collect();
                values.sort_by(V::order);
                values.into_iter().reduce(V::plus)
            }
            SortMode::Avg => {
                let mut values: Vec<V> = values.collect();
                values.sort_by(V::order);
                (!values.is_empty()).then(|| V::mean(&values))
            }
            SortMode::Median => {
                let mut values: Vec<V> = values.collect();
                values.sort_by(V::order);
                let middle = values.len().checked_sub(1)? / 2;
                let is_odd = values.len() % 2 == 1;
                Some(V::mean(&values[middle..=middle + usize::from(!is_odd)]))
            }
        }
    }

    pub(super) fn ordered(&self, place: u128) -> Slot {
        match self.order {
            Order::Asc => (1, place),
            Order::Desc => (1, !place),
        }
    }

    pub(super) fn missing_slot(&self) -> Result<Slot, QueryError> {
        match &self.missing {
            Missing::First => Ok(BEFORE),
            Missing::Last => Ok(AFTER),
            Missing::Value(value) => self.place_of(value),
        }
    }

    /// Where the values of the hit would be that a search goes on after: one for each cursor.
    pub(super) fn slots_of(
        cursors: &[KeyCursor],
        after: Option<&[SortValue]>,
    ) -> Result<Option<Vec<Slot>>, QueryError> {
        let Some(values) = after else {
            return Ok(None);
        };
        let slots = cursors.iter().zip(values);
        let slots = slots.map(|(cursor, value)| cursor.slot_of(value));
        slots.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Where a value would be in this segment.
    pub(super) fn slot_of(&self, value: &SortValue) -> Result<Slot, QueryError> {
        match value {
            SortValue::Null => self.missing_slot(),
            value => self.place_of(value),
        }
    }

    fn place_of(&self, value: &SortValue) -> Result<Slot, QueryError> {
        let place = match (&self.source, value) {
            (KeySource::Score, SortValue::Score(score)) => u128::from(score_place(*score)),
            (KeySource::Score, SortValue::F64(score)) => u128::from(score_place(narrow(*score))),
            (KeySource::Doc { .. }, SortValue::I64(place)) => {
                u128::from(u64::try_from(*place).unwrap_or(0))
            }
            (
                KeySource::Whole(_)
                | KeySource::Dates(..)
                | KeySource::AsWhole(_)
                | KeySource::SeqNo(..),
                SortValue::I64(_) | SortValue::U64(_) | SortValue::F64(_),
            ) => u128::from(i64_to_u64(whole(value))),
            (KeySource::Unsigned(_), SortValue::U64(number)) => u128::from(*number),
            (KeySource::Unsigned(_), SortValue::I64(number)) => {
                u128::from(u64::try_from(*number).unwrap_or(0))
            }
            (KeySource::Unsigned(_), SortValue::F64(number)) => u128::from(floor_unsigned(*number)),
            (KeySource::Float(_, kind), SortValue::F64(number)) => {
                u128::from(f64_to_u64(kind.nearest(*number)))
            }
            (KeySource::Float(..), SortValue::F32(number)) => {
                u128::from(f64_to_u64(f64::from(*number)))
            }
            (KeySource::Float(..), SortValue::I64(number)) => {
                u128::from(f64_to_u64(float(*number)))
            }
            (KeySource::Same(have), SortValue::Str(text)) => match text.cmp(have) {
                Ordering::Less => 0,
                Ordering::Equal => 1,
                Ordering::Greater => 2,
            },
            (
                KeySource::Distance(..) | KeySource::Script(_) | KeySource::AsFloat(_),
                SortValue::F64(number),
            ) => u128::from(f64_to_u64(*number)),
            (
                KeySource::Distance(..) | KeySource::Script(_) | KeySource::AsFloat(_),
                SortValue::I64(number),
            ) => u128::from(f64_to_u64(float(*number))),
            (KeySource::ScriptText(_, texts), SortValue::Str(text)) => texts.place(text)?,
            (KeySource::Text(column), SortValue::Str(text)) => text_place(column, text)?,
            (KeySource::Leaf(texts), SortValue::Str(text)) => {
                text_place(&texts.column, &format!("{}{text}", texts.beginning))?
            }
            (KeySource::Ids(ids), SortValue::Str(text)) => {
                let (before, is_there) = ids.before(text)?;
                2 * u128::from(before) + u128::from(is_there)
            }
            (KeySource::Address(_), SortValue::Ip(address)) => address.to_bits(),
            // No document here has a value: only the side matters, and all are equal.
            (KeySource::Absent, SortValue::I64(number)) => u128::from(i64_to_u64(*number)),
            (KeySource::Absent, SortValue::U64(number)) => u128::from(*number),
            (KeySource::Absent, SortValue::F64(number)) => u128::from(f64_to_u64(*number)),
            (KeySource::Absent, SortValue::Ip(address)) => address.to_bits(),
            (KeySource::Absent, _) => 0,
            (_, value) => {
                return Err(QueryError::illegal(format!(
                    "[{value:?}] is not a sort value of this field"
                )));
            }
        };
        Ok(self.ordered(place))
    }

    /// The value a slot stands for.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn value(&self, slot: Slot) -> Result<SortValue, QueryError> {
        let (1, place) = slot else {
            return Ok(SortValue::Null);
        };
        let place = match self.order {
            Order::Asc => place,
            Order::Desc => !place,
        };
        let small = u64::try_from(place).unwrap_or(u64::MAX);
        Ok(match &self.source {
            KeySource::Score => SortValue::Score(score_at(small)),
            KeySource::Doc { .. } => SortValue::I64(i64::try_from(small).unwrap_or(i64::MAX)),
            KeySource::Whole(_)
            | KeySource::Dates(..)
            | KeySource::AsWhole(_)
            | KeySource::SeqNo(..) => SortValue::I64(u64_to_i64(small)),
            KeySource::Unsigned(_) => SortValue::U64(small),
            KeySource::Float(_, FloatKind::Float | FloatKind::Half | FloatKind::RankFeature) => {
                SortValue::F32(narrow(u64_to_f64(small)))
            }
            KeySource::Float(..)
            | KeySource::AsFloat(_)
            | KeySource::Distance(..)
            | KeySource::Script(_) => SortValue::F64(u64_to_f64(small)),
            KeySource::ScriptText(_, texts) => {
                texts.text(place).map_or(SortValue::Null, SortValue::Str)
            }
            KeySource::Same(text) => SortValue::Str(text.clone()),
            KeySource::Address(_) => SortValue::Ip(Ipv6Addr::from_bits(place)),
            KeySource::Text(column) if place % 2 == 1 => {
                let mut text = String::new();
                column.ord_to_str(small / 2, &mut text)?;
                SortValue::Str(text)
            }
            KeySource::Leaf(texts) if place % 2 == 1 => {
                let mut text = String::new();
                texts.column.ord_to_str(small / 2, &mut text)?;
                let own = text.strip_prefix(&texts.beginning).map(String::from);
                SortValue::Str(own.unwrap_or(text))
            }
            KeySource::Ids(ids) if place % 2 == 1 => SortValue::Str(ids.id(small / 2)?),
            KeySource::Text(_) | KeySource::Leaf(_) | KeySource::Ids(_) | KeySource::Absent => {
                match &self.missing {
                    Missing::Value(value) => value.clone(),
                    _ => SortValue::Null,
                }
            }
        })
    }
}

/// Where the number of a change is.
fn change_place(number: Option<u64>) -> Option<u128> {
    let number = i64::try_from(number?).unwrap_or(i64::MAX);
    Some(u128::from(i64_to_u64(number)))
}

/// Where a text would be among those of a column: beside it, or where it is.
fn text_place(column: &StrColumn, text: &str) -> Result<u128, QueryError> {
    Ok(match column.dictionary().term_ord_or_next(text)? {
        TermOrdHit::Exact(ord) => 2 * u128::from(ord) + 1,
        TermOrdHit::Next(ord) => 2 * u128::from(ord),
    })
}

/// From each origin, in the unit asked for.
fn distances(key: &GeoDistanceKey, point: GeoPoint) -> impl Iterator<Item = f64> {
    key.origins.iter().map(move |origin| {
        let metres = match key.on_plane {
            true => origin.metres_on_plane(point),
            false => origin.metres_to(point),
        };
        key.unit.of_metres(metres)
    })
}
