//! Numbers by chance: those that OpenSearch draws from a seed, a shard's name and number, and what a document has. The same come
//! again for as long as these stay what they are.

use clew_platform::{java_hash, murmur3_32};
use clew_query::ScriptValue;
use clew_schema::{fraction_text, geo::GeoPoint};
use tantivy::columnar::Column;
use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader};

use super::columns::{OpenColumn, ScriptColumn, id_of};
use crate::snapshot::Snapshot;

/// Bits that are drawn, which a score holds.
const DRAWN: u32 = (1 << 24) - 1;

/// What a shard brings to what is drawn for its documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lots {
    salt: u32,
    /// The number of each segment's first document among those of the shard.
    starts: Vec<(SegmentId, u32)>,
}

impl Lots {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut next = 0_u32;
        let starts = snapshot.readers.iter().map(|reader| {
            let start = next;
            next = next.saturating_add(reader.max_doc());
            (reader.segment_id(), start)
        });
        Lots {
            starts: starts.collect(),
            salt: java_hash(snapshot.index_name().unwrap_or_default()) << 10 | snapshot.shard(),
        }
    }

    /// The same of a segment.
    pub(super) fn in_segment(&self, segment: SegmentId) -> SegmentLots {
        let mut starts = self.starts.iter();
        let start = starts.find(|(own, _)| *own == segment);
        SegmentLots {
            salt: self.salt,
            start: start.map_or(0, |(_, start)| *start),
        }
    }
}

/// What a segment brings to what is drawn for its documents.
#[derive(Clone, Copy)]
pub(super) struct SegmentLots {
    salt: u32,
    /// The number of its first document among those of the shard.
    start: u32,
}

impl SegmentLots {
    /// What a seed and these bytes decide; where there are none, the seed alone. From 0 up to, but not, 1.
    fn drawn(self, seed: i32, decides: Option<&[u8]>) -> f64 {
        // The hash of nothing is its last step alone, which the seed goes through.
        let salted = murmur3_32(&[], seed.cast_unsigned() ^ self.salt);
        let hash = decides.map_or(salted, |bytes| murmur3_32(bytes, salted));
        f64::from(hash & DRAWN) / f64::from(DRAWN + 1)
    }

    /// What a seed and a text decide, or the place of a document.
    pub(super) fn draw(self, seed: i32, decides: Option<&str>, doc: DocId) -> f64 {
        let number;
        let text: &str = match decides {
            Some(text) => text,
            None => {
                number = self.start.saturating_add(doc).to_string();
                &number
            }
        };
        self.drawn(seed, Some(text.as_bytes()))
    }
}

/// A function that draws numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    pub(crate) lots: Lots,
    pub(crate) seed: i32,
    /// Where the values are that decide; `None` where a document's place does.
    pub(crate) decides: Option<ScriptColumn>,
}

impl Chance {
    pub(super) fn open(&self, reader: &SegmentReader) -> tantivy::Result<OpenChance> {
        let decides = self.decides.as_ref().map(|column| column.open(reader));
        Ok(OpenChance {
            lots: self.lots.in_segment(reader.segment_id()),
            seed: self.seed,
            decides: decides.transpose()?,
        })
    }
}

/// The same over one segment.
pub(super) struct OpenChance {
    lots: SegmentLots,
    seed: i32,
    decides: Option<OpenColumn>,
}

impl OpenChance {
    pub(super) fn value(&self, doc: DocId) -> f64 {
        match &self.decides {
            None => self.lots.draw(self.seed, None, doc),
            Some(column) => self.lots.drawn(self.seed, bytes_of(column, doc).as_deref()),
        }
    }
}

/// The first of a document's values as the bytes that Lucene's columns have of it.
fn bytes_of(column: &OpenColumn, doc: DocId) -> Option<Vec<u8>> {
    let text = match column {
        OpenColumn::Whole(column) | OpenColumn::Truth(column) | OpenColumn::Millis(column) => {
            first(column.as_ref()?, doc)?.to_string()
        }
        OpenColumn::Nanos(column) => {
            let nanos = first(column.as_ref()?, doc)?;
            nanos.div_euclid(1_000_000).to_string()
        }
        OpenColumn::Unsigned(column) => first(column.as_ref()?, doc)?.to_string(),
        OpenColumn::Float(column) => fraction_text(first(column.as_ref()?, doc)?),
        OpenColumn::Text(column) => {
            let column = column.as_ref()?;
            let place = column.ords().values_for_doc(doc).min()?;
            let mut word = Vec::new();
            column.ord_to_bytes(place, &mut word).ok()?;
            return Some(word);
        }
        OpenColumn::Address(column) => {
            return Some(first(column.as_ref()?, doc)?.octets().to_vec());
        }
        OpenColumn::Points(column) => {
            let point = GeoPoint::decode(first(column.as_ref()?, doc)?);
            ScriptValue::Point(point).shown().into_owned()
        }
        OpenColumn::Same(value) => value.clone()?,
        OpenColumn::Ids(ids) => id_of(ids.as_ref()?, doc).ok()??,
        OpenColumn::Changes(changes, segment) => changes.of(*segment, doc).ok()??.to_string(),
        OpenColumn::Vector(_) | OpenColumn::Given | OpenColumn::None => return None,
    };
    Some(text.into_bytes())
}

/// The smallest of a document's values.
fn first<V>(column: &Column<V>, doc: DocId) -> Option<V>
where
    V: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static,
{
    let values = column.values_for_doc(doc);
    values.reduce(|least, value| if value < least { value } else { least })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_what_opensearch_draws() {
        let lots = |name: &str, shard: u32| SegmentLots {
            salt: java_hash(name) << 10 | shard,
            start: 0,
        };
        for (index, shard, seed, decides, drawn) in [
            ("n-1", 0, 3, "21", 0.218_541_38),
            ("n-1", 0, 7, "49", 0.994_150_7),
            ("n-3", 1, 7, "15", 0.974_372_74),
            ("n-3", 2, 7, "11", 0.940_288_66),
        ] {
            let found = lots(index, shard).drawn(seed, Some(decides.as_bytes()));
            assert!((found - drawn).abs() < 1e-7, "{index} {decides}: {found}");
        }
    }
}
