//! Random requests out of random words: what all aggregations' specs are made of.

use clew_query::{
    DocumentName, GeoDistanceKey, GeoQuery, IndexedShape, Missing, NestedSort, Order, Query,
    SortKey, SortMode, SortNumeric, SortValue, TermsOf, Unmapped,
};
use clew_schema::geo::{DistanceUnit, GeoArea, GeoPoint, GeoRelation};
use serde_json::json;

use clew_query::aggregation::*;

/// Random words, read one after the other as whatever is wanted.
pub(super) struct Tape {
    pub(super) words: std::vec::IntoIter<u64>,
    pub(super) depth: usize,
}

impl Tape {
    pub(super) fn word(&mut self) -> u64 {
        self.words.next().unwrap_or(0)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    pub(super) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(super) fn small(&mut self) -> u32 {
        u32::try_from(self.below(1 << 32)).unwrap()
    }

    pub(super) fn size(&mut self) -> usize {
        usize::try_from(self.word()).unwrap()
    }

    pub(super) fn number(&mut self) -> f64 {
        let odd = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            0.1,
            f64::MIN_POSITIVE,
        ];
        let word = self.word();
        let place = usize::try_from(word % 8).unwrap();
        odd.get(place).copied().unwrap_or(f64::from_bits(word))
    }

    pub(super) fn text(&mut self) -> String {
        ["", "a", "Größe", "\u{0}\"", "a.b>c"][usize::try_from(self.below(5)).unwrap()].to_string()
    }

    pub(super) fn maybe<T>(&mut self, one: impl Fn(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| one(self))
    }

    pub(super) fn some<T>(&mut self, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(3)).map(|_| one(self)).collect()
    }

    pub(super) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        let place = self.below(all.len() as u64);
        all[usize::try_from(place).unwrap()].clone()
    }

    pub(super) fn scalar(&mut self) -> Scalar {
        match self.below(5) {
            0 => Scalar::Integer(self.word().cast_signed()),
            1 => Scalar::Unsigned(self.word()),
            2 => Scalar::Float(self.number()),
            3 => Scalar::Text(self.text()),
            _ => Scalar::Boolean(self.flag()),
        }
    }

    pub(super) fn source(&mut self) -> Source {
        Source {
            field: self.text(),
            script: None,
            missing: self.maybe(Tape::scalar),
            format: self.maybe(Tape::text),
            value_type: self.maybe(Tape::text),
        }
    }

    pub(super) fn point(&mut self) -> GeoPoint {
        GeoPoint {
            lat: self.number(),
            lon: self.number(),
        }
    }

    pub(super) fn query(&mut self) -> Query {
        match self.below(4) {
            0 => Query::MatchNone,
            1 => Query::term(
                "f",
                json!([1, -2, 0.5, "x", null, { "b": true, "a": u64::MAX }]),
            ),
            2 => Query::TermsOf(TermsOf {
                field: self.text(),
                document: DocumentName {
                    index: self.maybe(Tape::text),
                    id: self.text(),
                    routing: self.maybe(Tape::text),
                },
                path: self.text(),
                is_packed: self.flag(),
                boost: f32::INFINITY,
            }),
            _ => Query::Geo(GeoQuery {
                field: self.text(),
                area: GeoArea::Union(vec![
                    GeoArea::Circle {
                        center: self.point(),
                        metres: self.number(),
                    },
                    GeoArea::Polygon {
                        outer: self.some(Tape::point),
                        holes: self.some(|tape| tape.some(Tape::point)),
                    },
                    GeoArea::Rectangle {
                        top: self.number(),
                        left: self.number(),
                        bottom: self.number(),
                        right: self.number(),
                    },
                    GeoArea::Line(self.some(Tape::point)),
                    GeoArea::Point(self.point()),
                ]),
                indexed: self.maybe(|tape| IndexedShape {
                    document: DocumentName {
                        index: tape.maybe(Tape::text),
                        id: tape.text(),
                        routing: tape.maybe(Tape::text),
                    },
                    path: tape.text(),
                }),
                relation: self.of(&[GeoRelation::Contains, GeoRelation::Disjoint]),
                ignore_unmapped: self.flag(),
                boost: 1.0,
            }),
        }
    }

    pub(super) fn sort_key(&mut self) -> SortKey {
        let order = self.of(&[Order::Asc, Order::Desc]);
        let mode = self.maybe(|tape| tape.of(&[SortMode::Min, SortMode::Median]));
        match self.below(4) {
            0 => SortKey::Score { order },
            1 => SortKey::Doc { order },
            2 => SortKey::Field {
                path: self.text(),
                order,
                missing: self.of(&[
                    Missing::First,
                    Missing::Value(SortValue::F64(f64::NAN)),
                    Missing::Value(SortValue::Ip(std::net::Ipv6Addr::LOCALHOST)),
                ]),
                mode,
                unmapped: self.of(&[
                    Unmapped::Refused,
                    Unmapped::Long,
                    Unmapped::OfNoType("odd".to_string()),
                ]),
                nested: self.maybe(|tape| {
                    Box::new(NestedSort {
                        path: tape.text(),
                        filter: tape.maybe(Tape::query),
                        max_children: tape.maybe(Tape::size),
                        inner: tape.maybe(|tape| Box::new(NestedSort::new(tape.text()))),
                    })
                }),
                numeric: self.maybe(|tape| tape.of(&[SortNumeric::Date, SortNumeric::Double])),
            },
            _ => SortKey::GeoDistance(GeoDistanceKey {
                path: self.text(),
                origins: self.some(Tape::point),
                unit: DistanceUnit::parse(self.of(&["km", "inch", "NM", "m"])).unwrap(),
                order,
                mode,
                on_plane: self.flag(),
                unmapped_ok: self.flag(),
            }),
        }
    }
}
