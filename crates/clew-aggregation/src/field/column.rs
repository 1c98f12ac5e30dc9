//! Reads a segment's column in blocks. Every type is read as the `u64` that tantivy stores, which
//! keeps the values' order; what a number means is looked up once per bucket, not per document.

use std::cell::RefCell;
use std::net::Ipv6Addr;
use std::sync::Arc;

use clew_platform::sorted_while_wanted;
use clew_query::AggError;
use clew_schema::Span;
use tantivy::SegmentReader;
use tantivy::columnar::column_values::CompactSpaceU64Accessor;
use tantivy::columnar::{BytesColumn, Column, ColumnType, MonotonicallyMappableToU64};

use crate::field::ids::{ID_FIELD, IdRanks};
use crate::field::made::Made;
use crate::field::missing::widened;
use crate::field::shapes::{ShapePart, Shapes};
use crate::field::texts::Texts;
use crate::field::{ValueKind, ValuePlan};
use crate::limits::Account;
use crate::value::key::Key;

const NANOS_PER_MS: i64 = 1_000_000;

/// Changes of clocks are known between these for values that may lie anywhere, as those of ranges without an end and of
/// scripts may: from the beginning of 1900 to that of 2100.
pub(crate) const CLOCKS_FROM_MS: i64 = -2_208_988_800_000;
pub(crate) const CLOCKS_TO_MS: i64 = 4_102_444_800_000;

/// How many keys are read before what they take is booked.
pub(super) const KEYS_AT_ONCE: usize = 1_024;

/// A segment's values of one source.
pub(crate) struct ValueColumn {
    pub(super) column: Option<Column<u64>>,
    pub(super) decoder: Decoder,
    /// Stands in for documents without a value.
    pub(super) missing: Option<u64>,
    /// What `missing` means when it is not one of the column's own values.
    pub(super) foreign: Option<(u64, Key)>,
    /// The script that makes the values, where there is no column of them.
    pub(super) made: Option<Box<Made>>,
}

pub(super) enum Decoder {
    Integer,
    Unsigned,
    /// Nanoseconds, read as milliseconds.
    Nanos,
    Float,
    Text(Option<BytesColumn>),
    Address(Option<Arc<CompactSpaceU64Accessor>>),
    Ranges(Option<BytesColumn>),
    Shapes(Option<Shapes>),
    Ids(IdRanks),
    /// Texts that a script made.
    Made(RefCell<Texts>),
}

impl ValueColumn {
    /// Opens the column behind a source; segments older than the field have none.
    pub(crate) fn open(reader: &SegmentReader, plan: &ValuePlan) -> Result<Self, AggError> {
        if let Some(made) = &plan.made {
            return Self::of_script(reader, plan, made);
        }
        Self::open_column(reader, plan).map_err(|source| AggError::Column {
            field: plan.field.clone(),
            source,
        })
    }

    fn open_column(reader: &SegmentReader, plan: &ValuePlan) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let numbers = |wanted: ColumnType| -> tantivy::Result<Option<Column<u64>>> {
            let Some(name) = &plan.column else {
                return Ok(None);
            };
            Ok(fast
                .u64_lenient_for_type(Some(&[wanted]), name)?
                .map(|(column, _)| column))
        };
        let bytes = || match &plan.column {
            Some(name) => fast.bytes(name),
            None => Ok(None),
        };
        let (column, decoder) = match plan.kind {
            ValueKind::Long | ValueKind::Boolean | ValueKind::Date | ValueKind::Unmapped => {
                (numbers(ColumnType::I64)?, Decoder::Integer)
            }
            ValueKind::DateNanos => (numbers(ColumnType::I64)?, Decoder::Nanos),
            ValueKind::Unsigned | ValueKind::Geo => (numbers(ColumnType::U64)?, Decoder::Unsigned),
            ValueKind::Double => {
                let own = numbers(ColumnType::F64)?;
                let whole = match own {
                    Some(_) => None,
                    None => numbers(ColumnType::I64)?,
                };
                (own.or(whole.map(widened)), Decoder::Float)
            }
            ValueKind::Keyword if plan.column.as_deref() == Some(ID_FIELD) => {
                let (column, ranks) = IdRanks::read(reader)?;
                (Some(column), Decoder::Ids(ranks))
            }
            ValueKind::Keyword => {
                let text: Option<BytesColumn> = match &plan.column {
                    Some(name) => fast.str(name)?.map(BytesColumn::from),
                    None => None,
                };
                let ords = text.as_ref().map(|text| text.ords().clone());
                (ords, Decoder::Text(text))
            }
            ValueKind::Range(_) | ValueKind::Bytes => {
                let ranges = bytes()?;
                let ords = ranges.as_ref().map(|ranges| ranges.ords().clone());
                (ords, Decoder::Ranges(ranges))
            }
            kind @ (ValueKind::Shape | ValueKind::Corners | ValueKind::Outlines) => {
                let shapes = bytes()?;
                let ords = shapes.as_ref().map(|shapes| shapes.ords().clone());
                let shapes = shapes.map(|column| Shapes::new(column, ShapePart::of(kind)));
                (ords, Decoder::Shapes(shapes))
            }
            ValueKind::Ip => {
                let column = numbers(ColumnType::IpAddr)?;
                let space = column
                    .as_ref()
                    .and_then(|column| column.values.clone().downcast_arc().ok());
                (column, Decoder::Address(space))
            }
        };
        let mut opened = ValueColumn {
            column,
            decoder,
            missing: None,
            foreign: None,
            made: None,
        };
        if let Some(key) = &plan.missing {
            opened.set_missing(key)?;
        }
        Ok(opened)
    }

    pub(super) fn set_missing(&mut self, key: &Key) -> tantivy::Result<()> {
        let own = self.encode(key)?;
        let value = own.unwrap_or_else(|| {
            let beyond = match &self.decoder {
                Decoder::Text(Some(text)) => text.num_terms() as u64,
                _ => self
                    .column
                    .as_ref()
                    .map_or(0, |c| c.max_value().saturating_add(1)),
            };
            self.foreign = Some((beyond, key.clone()));
            beyond
        });
        self.missing = Some(value);
        Ok(())
    }

    /// What stands in for missing values and no document of the segment has, with the number that it goes by here.
    pub(crate) fn stand_in(&self) -> Option<(u64, &Key)> {
        self.foreign.as_ref().map(|(raw, key)| (*raw, key))
    }

    /// The number behind a key, also where it only stands in for missing values.
    pub(crate) fn raw_of(&self, key: &Key) -> tantivy::Result<Option<u64>> {
        let foreign = self.foreign.as_ref().filter(|(_, own)| own == key);
        match foreign {
            Some((raw, _)) => Ok(Some(*raw)),
            None => self.encode(key),
        }
    }

    /// The number behind a key; `None` when this segment's column cannot hold it.
    pub(super) fn encode(&self, key: &Key) -> tantivy::Result<Option<u64>> {
        Ok(match (&self.decoder, key) {
            (Decoder::Integer, Key::I64(value)) => Some(value.to_u64()),
            (Decoder::Nanos, Key::I64(value)) => Some(value.saturating_mul(NANOS_PER_MS).to_u64()),
            (Decoder::Unsigned, Key::U64(value)) => Some(*value),
            (Decoder::Float, Key::F64(value)) => Some(value.to_u64()),
            (Decoder::Text(Some(text)), Key::Str(key)) => {
                text.dictionary().term_ord(key.as_bytes())?
            }
            (Decoder::Ids(ids), Key::Str(key)) => ids.raw_of(key)?,
            (Decoder::Made(_), _) => self.made_raw(key),
            (Decoder::Address(Some(space)), Key::Ip(address)) => {
                use tantivy::columnar::column_values::CompactHit;
                match space.u128_to_next_compact(u128::from(*address)) {
                    CompactHit::Exact(compact) => Some(u64::from(compact)),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The number behind a key that a script made.
    pub(super) fn made_raw(&self, key: &Key) -> Option<u64> {
        match (&self.decoder, key) {
            (Decoder::Made(texts), Key::Str(text)) => Some(texts.borrow_mut().number(text)),
            (Decoder::Float, Key::F64(value)) => Some(value.to_u64()),
            (Decoder::Integer, Key::I64(value)) => Some(value.to_u64()),
            _ => None,
        }
    }

    /// Whether there is nothing to read at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.column.is_none() && self.missing.is_none() && self.made.is_none()
    }

    /// Whether a script makes the values, of which nothing is known before it runs.
    pub(crate) fn is_made(&self) -> bool {
        self.made.is_some()
    }

    /// The least and the greatest number that can be read, not necessarily present; none where a script makes them.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        if self.is_made() {
            return None;
        }
        let column = self
            .column
            .as_ref()
            .filter(|column| column.values.num_vals() > 0)
            .map(|column| (column.min_value(), column.max_value()));
        match (column, self.missing) {
            (Some((min, max)), Some(missing)) => Some((min.min(missing), max.max(missing))),
            (None, Some(missing)) => Some((missing, missing)),
            (column, None) => column,
        }
    }

    /// Between which moments changes of clocks have to be known, in milliseconds since the epoch.
    pub(crate) fn instants(&self) -> Option<(i64, i64)> {
        if self.is_made() {
            return Some((CLOCKS_FROM_MS, CLOCKS_TO_MS));
        }
        let (min, max) = self.range()?;
        Some((self.instant(min), self.instant(max)))
    }

    /// A number as a floating-point value; only for numeric kinds.
    #[allow(
        clippy::cast_precision_loss,
        reason = "metrics compute in floating point, as their clients expect"
    )]
    pub(crate) fn number(&self, raw: u64) -> f64 {
        match self.decoder {
            Decoder::Float => f64::from_u64(raw),
            Decoder::Unsigned => raw as f64,
            Decoder::Nanos => i64::from_u64(raw).div_euclid(NANOS_PER_MS) as f64,
            Decoder::Integer
            | Decoder::Text(_)
            | Decoder::Address(_)
            | Decoder::Ranges(_)
            | Decoder::Shapes(_)
            | Decoder::Ids(_)
            | Decoder::Made(_) => i64::from_u64(raw) as f64,
        }
    }

    /// A number as milliseconds since the epoch; fractions of floating-point columns are dropped.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the fraction is dropped, and the cast saturates"
    )]
    pub(crate) fn instant(&self, raw: u64) -> i64 {
        match self.decoder {
            Decoder::Float => f64::from_u64(raw) as i64,
            Decoder::Unsigned => i64::try_from(raw).unwrap_or(i64::MAX),
            Decoder::Nanos => i64::from_u64(raw).div_euclid(NANOS_PER_MS),
            Decoder::Integer
            | Decoder::Text(_)
            | Decoder::Address(_)
            | Decoder::Ranges(_)
            | Decoder::Shapes(_)
            | Decoder::Ids(_)
            | Decoder::Made(_) => i64::from_u64(raw),
        }
    }

    /// The range behind a number; only for ranges. Each is looked up in the segment's dictionary.
    pub(crate) fn span(&self, raw: u64) -> std::io::Result<Option<Span>> {
        let Decoder::Ranges(Some(ranges)) = &self.decoder else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let found = ranges.ord_to_bytes(raw, &mut bytes)?;
        Ok(found.then(|| Span::from_bytes(&bytes)).flatten())
    }

    /// The keys of numbers that are sorted and distinct.
    pub(crate) fn keys(&self, sorted: &[u64]) -> std::io::Result<Vec<Key>> {
        let foreign = self.foreign.as_ref();
        let own = match foreign {
            Some((beyond, _)) if sorted.last() == Some(beyond) => &sorted[..sorted.len() - 1],
            _ => sorted,
        };
        let mut keys = Vec::with_capacity(sorted.len());
        match &self.decoder {
            Decoder::Integer => keys.extend(own.iter().map(|raw| Key::I64(i64::from_u64(*raw)))),
            Decoder::Unsigned => keys.extend(own.iter().map(|raw| Key::U64(*raw))),
            Decoder::Nanos => {
                let ms = |raw: &u64| i64::from_u64(*raw).div_euclid(NANOS_PER_MS);
                keys.extend(own.iter().map(|raw| Key::I64(ms(raw))));
            }
            Decoder::Float => keys.extend(own.iter().map(|raw| Key::F64(f64::from_u64(*raw)))),
            Decoder::Text(text) => {
                if let Some(text) = text {
                    let found = text.dictionary().sorted_ords_to_term_cb(own, |bytes| {
                        keys.push(Key::Str(String::from_utf8_lossy(bytes).into()));
                    })?;
                    if !found {
                        return Err(std::io::ErrorKind::InvalidData.into());
                    }
                }
            }
            Decoder::Made(texts) => {
                let texts = texts.borrow();
                keys.extend(own.iter().map(|raw| Key::Str(texts.text(*raw).into())));
            }
            Decoder::Ids(ids) => {
                for raw in own {
                    keys.push(ids.key(*raw)?);
                }
            }
            Decoder::Ranges(ranges) => keys_of_bytes(ranges.as_ref(), own, &mut keys)?,
            Decoder::Shapes(shapes) => {
                let column = shapes.as_ref().map(Shapes::column);
                keys_of_bytes(column, own, &mut keys)?;
            }
            Decoder::Address(space) => {
                if let Some(space) = space {
                    keys.extend(own.iter().map(|raw| {
                        let compact = u32::try_from(*raw).expect("compact space is 32 bits");
                        Key::Ip(Ipv6Addr::from(space.compact_to_u128(compact)))
                    }));
                }
            }
        }
        if own.len() < sorted.len() {
            keys.extend(foreign.map(|(_, key)| key.clone()));
        }
        Ok(keys)
    }

    /// Hands over the keys of numbers that are sorted and distinct, of which only few are there at once.
    pub(crate) fn each_key(
        &self,
        field: &str,
        sorted: &[u64],
        mut take: impl FnMut(Key) -> Result<(), AggError>,
    ) -> Result<(), AggError> {
        for some in sorted.chunks(KEYS_AT_ONCE) {
            let keys = self.keys(some).map_err(|source| AggError::Column {
                field: field.to_string(),
                source: source.into(),
            })?;
            keys.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    /// The keys of numbers that are sorted and distinct, booked as they come.
    pub(crate) fn booked_keys(
        &self,
        field: &str,
        sorted: &[u64],
        account: &mut Account,
    ) -> Result<Vec<Key>, AggError> {
        account.charge_keys(sorted.len())?;
        let mut keys = Vec::with_capacity(sorted.len());
        self.each_key(field, sorted, |key| {
            account.charge(key.heap_bytes())?;
            keys.push(key);
            Ok(())
        })?;
        Ok(keys)
    }

    /// How many values [`ValueColumn::all`] looks through.
    pub(crate) fn values_max(&self) -> usize {
        match (&self.decoder, &self.column) {
            (Decoder::Text(Some(text)), _) => text.num_terms(),
            (_, Some(column)) => column.values.num_vals() as usize,
            (_, None) => 0,
        }
    }

    /// Each distinct value of the segment, sorted: also of documents that did not match. None once nobody wants them.
    pub(crate) fn all(&self) -> Vec<u64> {
        let mut all: Vec<u64> = match (&self.decoder, &self.column) {
            (Decoder::Text(Some(text)), _) => (0..text.num_terms() as u64).collect(),
            (_, Some(column)) => {
                let values = column.values.iter().collect();
                sorted_while_wanted(values, u64::cmp).unwrap_or_default()
            }
            (_, None) => Vec::new(),
        };
        all.extend(self.missing);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The least number that stands for an address or one behind it; `None` behind all of them.
    pub(crate) fn first_from(&self, address: Ipv6Addr) -> Option<u64> {
        use tantivy::columnar::column_values::CompactHit;
        let Decoder::Address(Some(space)) = &self.decoder else {
            return None;
        };
        match space.u128_to_next_compact(u128::from(address)) {
            CompactHit::Exact(compact) | CompactHit::Next(compact) => Some(u64::from(compact)),
            CompactHit::AfterLast => None,
        }
    }
}

/// The keys of ranges and shapes: they are told apart by their bytes, and never shown.
fn keys_of_bytes(
    column: Option<&BytesColumn>,
    ords: &[u64],
    keys: &mut Vec<Key>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    for ord in ords {
        if let Some(column) = column {
            column.ord_to_bytes(*ord, &mut bytes)?;
        }
        let letters: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        keys.push(Key::Str(letters.into()));
    }
    Ok(())
}
