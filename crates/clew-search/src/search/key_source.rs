//! What a key of an order is read from in one segment.

use std::net::Ipv6Addr;
use std::ops::Range;
use std::sync::Arc;

use clew_query::{
    GeoDistanceKey, QueryError, ScriptKey, ScriptPurpose, ScriptSort, SortNumeric, Unmapped,
    refusal_of_text,
};
use clew_schema::{FieldKind, FloatKind, MappedField, PATHS_AND_VALUES};
use tantivy::columnar::{Column, StrColumn, TermOrdHit};
use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader};

use super::missing_value::SortedField;
use super::script_texts::Texts;
use crate::query::{CompiledScript, OpenScript, prefix_end};
use crate::segments::{DocumentRows, Ids};
use crate::snapshot::{INDEX_FIELD, SEQ_NO_FIELD, Snapshot};

/// Where the values of a key are.
pub(super) enum KeySource {
    Score,
    Doc {
        base: u64,
    },
    Whole(Column<i64>),
    Unsigned(Column<u64>),
    Float(Column<f64>, FloatKind),
    /// Dates in another unit than they are kept in.
    Dates(Column<i64>, DateUnit),
    /// Whole numbers as floating-point ones.
    AsFloat(Column<i64>),
    /// Floating-point numbers without their fractions.
    AsWhole(Column<f64>),
    /// Every document has this one.
    Same(String),
    Text(StrColumn),
    /// Of one leaf of an object, in the column that has those of all: texts that begin with its path.
    Leaf(LeafTexts),
    /// Of the documents themselves.
    Ids(Arc<Ids>),
    /// The numbers of their last changes, in the rows of a segment.
    SeqNo(Arc<dyn DocumentRows>, SegmentId),
    Address(Column<Ipv6Addr>),
    /// Points, and what their distances are from; no column where no document has any.
    Distance(Option<Column<u64>>, GeoDistanceKey),
    /// The number that a script makes of each document.
    Script(OpenScript),
    /// The text that a script makes of each document, and those that it made so far.
    ScriptText(OpenScript, Texts),
    /// No document of this segment has a value.
    Absent,
}

impl KeySource {
    /// Whether its values are texts, ids or addresses.
    pub(super) fn has_no_numbers(&self) -> bool {
        matches!(
            self,
            KeySource::Text(_)
                | KeySource::Leaf(_)
                | KeySource::Ids(_)
                | KeySource::Address(_)
                | KeySource::Same(_)
        )
    }
}

/// The texts of a column that begin alike.
pub(super) struct LeafTexts {
    pub(super) column: StrColumn,
    /// What they begin with, which is not part of what they are.
    pub(super) beginning: String,
    pub(super) ords: Range<u64>,
}

impl LeafTexts {
    /// Those of a leaf of a `flat_object`; `None` where no document of the segment has any of its leaves.
    fn open(
        snapshot: &Snapshot,
        reader: &SegmentReader,
        (flat, path): (&MappedField, &str),
    ) -> Result<Option<Self>, QueryError> {
        let mapping = &snapshot.mapping;
        let all = mapping.field(&format!("{}.{PATHS_AND_VALUES}", flat.path));
        let Some(all) = all.filter(|all| snapshot.searchable(all).is_some()) else {
            return Ok(None);
        };
        let Some(column) = reader.fast_fields().str(&all.column())? else {
            return Ok(None);
        };
        // An alias of the object may stand in front.
        let beginning = format!("{}=", mapping.resolve(path));
        let start = first_from(&column, beginning.as_bytes())?;
        let end = match prefix_end(beginning.as_bytes()) {
            Some(end) => first_from(&column, &end)?,
            None => u64::MAX,
        };
        Ok(Some(LeafTexts {
            column,
            beginning,
            ords: start..end,
        }))
    }

    /// The numbers of a document's texts.
    pub(super) fn of(&self, doc: DocId) -> impl Iterator<Item = u64> + '_ {
        let ords = self.column.ords().values_for_doc(doc);
        ords.filter(move |ord| self.ords.contains(ord))
    }
}

/// The number of the first text of a column that is not before this one.
fn first_from(column: &StrColumn, text: &[u8]) -> Result<u64, QueryError> {
    Ok(match column.dictionary().term_ord_or_next(text)? {
        TermOrdHit::Exact(ord) | TermOrdHit::Next(ord) => ord,
    })
}

/// What dates become.
#[derive(Clone, Copy)]
pub(super) enum DateUnit {
    Millis,
    Nanos,
}

impl DateUnit {
    /// A date of the other unit.
    pub(super) fn of(self, date: i64) -> i64 {
        match self {
            DateUnit::Millis => date.div_euclid(NANOS_OF_MILLI),
            DateUnit::Nanos => date.saturating_mul(NANOS_OF_MILLI),
        }
    }
}

const NANOS_OF_MILLI: i64 = 1_000_000;

/// That of a script.
pub(super) fn scripted(
    snapshot: &Snapshot,
    reader: &SegmentReader,
    key: &ScriptKey,
) -> Result<KeySource, QueryError> {
    let mapping = &snapshot.mapping;
    let compiled = CompiledScript::new(&key.script, ScriptPurpose::Order, mapping, (Vec::new(), 0));
    let open = OpenScript::new(Arc::new(compiled.over(snapshot)?), reader)?;
    Ok(match key.kind {
        ScriptSort::Number => KeySource::Script(open),
        ScriptSort::Text => KeySource::ScriptText(open, Texts::default()),
    })
}

/// The column of points that distances are measured to.
pub(super) fn points(
    snapshot: &Snapshot,
    reader: &SegmentReader,
    key: &GeoDistanceKey,
) -> Result<Option<Column<u64>>, QueryError> {
    match snapshot.mapping.field(&key.path) {
        Some(mapped) if matches!(mapped.kind, FieldKind::GeoPoint) => {
            Ok(snapshot.columns().of(reader, &mapped.column())?)
        }
        Some(mapped) => Err(QueryError::illegal(format!(
            "Expected geo_point type on field [{}], but got [{}]",
            key.path,
            mapped.kind.type_name()
        ))),
        None if key.unmapped_ok => Ok(None),
        None => Err(QueryError::illegal(format!(
            "failed to find mapper for [{}] for geo distance based sort",
            key.path
        ))),
    }
}

/// That of a field, whose numbers may be wanted as those of another type; none where no document of the segment has a
/// value.
pub(super) fn source(
    snapshot: &Snapshot,
    reader: &SegmentReader,
    (path, numeric): SortedField<'_>,
    unmapped: &Unmapped,
) -> Result<KeySource, QueryError> {
    let found = of_field(snapshot, reader, path, unmapped)?;
    let Some((mapped, numeric)) = snapshot.mapping.field(path).zip(numeric) else {
        return Ok(found);
    };
    match is_numeric(&mapped.kind) {
        true => Ok(converted(found, &mapped.kind, numeric)),
        false => Err(QueryError::illegal(format!(
            "[numeric_type] option cannot be set on a non-numeric field, got {}",
            mapped.kind.type_name()
        ))),
    }
}

/// That of a field; none where no document of the segment has a value.
fn of_field(
    snapshot: &Snapshot,
    reader: &SegmentReader,
    path: &str,
    unmapped: &Unmapped,
) -> Result<KeySource, QueryError> {
    let Some(mapped) = snapshot.mapping.field(path) else {
        if path == "_id" {
            return Ok(KeySource::Ids(snapshot.ids(reader)?));
        }
        if let Some(rows) = snapshot.rows().filter(|_| path == SEQ_NO_FIELD) {
            return Ok(KeySource::SeqNo(rows.clone(), reader.segment_id()));
        }
        if let Some(name) = snapshot.index_name().filter(|_| path == INDEX_FIELD) {
            return Ok(KeySource::Same(name.to_string()));
        }
        if let Some(flat) = snapshot.mapping.flat_above(path) {
            let found = LeafTexts::open(snapshot, reader, (flat, path))?;
            return Ok(found.map_or(KeySource::Absent, KeySource::Leaf));
        }
        return match unmapped {
            Unmapped::Refused => Err(QueryError::unmapped(format!(
                "No mapping found for [{path}] in order to sort on"
            ))),
            Unmapped::WithoutOrder(reason) => Err(QueryError::illegal(reason.as_str())),
            Unmapped::OfNoType(name) => Err(QueryError::illegal(format!(
                "No mapper found for type [{name}]"
            ))),
            _ => Ok(KeySource::Absent),
        };
    };
    if let Some(reason) = refusal(mapped, path) {
        return Err(QueryError::illegal(reason));
    }
    let (columns, numbers) = (reader.fast_fields(), snapshot.columns());
    let name = mapped.column();
    let known = snapshot.searchable(mapped).is_some();
    let found = match &mapped.kind {
        FieldKind::Text { .. } => columns.str(&name)?.map(KeySource::Text),
        FieldKind::Constant { value } => value.clone().map(KeySource::Same),
        _ if !known => None,
        FieldKind::Unsigned => numbers.of(reader, &name)?.map(KeySource::Unsigned),
        FieldKind::Keyword { .. } => columns.str(&name)?.map(KeySource::Text),
        FieldKind::Integer(_)
        | FieldKind::Boolean
        | FieldKind::Date { .. }
        | FieldKind::DateNanos { .. } => numbers.of(reader, &name)?.map(KeySource::Whole),
        FieldKind::Float(kind) => numbers
            .of(reader, &name)?
            .map(|column| KeySource::Float(column, *kind)),
        FieldKind::Ip => columns
            .column_opt::<Ipv6Addr>(&name)?
            .map(KeySource::Address),
        // They were refused.
        FieldKind::GeoPoint
        | FieldKind::GeoShape
        | FieldKind::Vector(_)
        | FieldKind::SparseVector
        | FieldKind::Binary { .. }
        | FieldKind::Range { .. }
        | FieldKind::Percolator
        | FieldKind::Completion(_)
        | FieldKind::RankFeatures
        | FieldKind::Flat => None,
    };
    Ok(found.unwrap_or(KeySource::Absent))
}

/// Why hits are not ordered by a field; `None` where they are.
fn refusal(mapped: &MappedField, path: &str) -> Option<String> {
    let of = mapped.kind.type_name();
    if let Some(reason) = mapped.refusal_without_column() {
        return Some(reason);
    }
    Some(match &mapped.kind {
        FieldKind::Text { .. } if !mapped.has_fielddata() => refusal_of_text(path),
        FieldKind::GeoPoint | FieldKind::GeoShape => format!(
            "can't sort on {of} field without using specific sorting feature, like geo_distance"
        ),
        FieldKind::Vector(_) | FieldKind::SparseVector => {
            format!("cannot sort on the {of} field [{path}]")
        }
        FieldKind::Binary { doc_values: true } | FieldKind::Range { .. } => {
            "can't sort on binary field".to_string()
        }
        FieldKind::Binary { .. } | FieldKind::Percolator | FieldKind::Completion(_) => {
            format!("Fielddata is not supported on field [{path}] of type [{of}]")
        }
        FieldKind::RankFeatures | FieldKind::Float(FloatKind::RankFeature) => {
            format!("[{of}] fields do not support sorting, scripting or aggregating")
        }
        _ => return mapped.refusal_of_root(),
    })
}

/// Whether the values of a kind are numbers.
pub(super) fn is_numeric(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Integer(_)
            | FieldKind::Unsigned
            | FieldKind::Float(_)
            | FieldKind::Boolean
            | FieldKind::Date { .. }
            | FieldKind::DateNanos { .. }
    )
}

/// Numbers of a kind as those of another type; numbers without a sign stay what they are.
fn converted(source: KeySource, kind: &FieldKind, numeric: SortNumeric) -> KeySource {
    match (source, numeric) {
        (KeySource::Whole(column), SortNumeric::Double) => KeySource::AsFloat(column),
        (KeySource::Whole(column), SortNumeric::Date)
            if matches!(kind, FieldKind::DateNanos { .. }) =>
        {
            KeySource::Dates(column, DateUnit::Millis)
        }
        (KeySource::Whole(column), SortNumeric::DateNanos)
            if matches!(kind, FieldKind::Date { .. }) =>
        {
            KeySource::Dates(column, DateUnit::Nanos)
        }
        (
            KeySource::Float(column, _),
            SortNumeric::Long | SortNumeric::Date | SortNumeric::DateNanos,
        ) => KeySource::AsWhole(column),
        (source, _) => source,
    }
}
