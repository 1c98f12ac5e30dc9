//! Sort keys and the values documents are ordered by.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::net::Ipv6Addr;

use crate::query::{Query, Script};
use clew_schema::geo::{DistanceUnit, GeoPoint};

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// The smallest.
    Asc,
    /// The largest.
    Desc,
}

impl Order {
    fn apply(self, ordering: Ordering) -> Ordering {
        match self {
            Order::Asc => ordering,
            Order::Desc => ordering.reverse(),
        }
    }
}

/// Where documents without a value go.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum Missing {
    /// Before all others.
    First,
    /// After all others.
    #[default]
    Last,
    /// Where this value would be.
    Value(SortValue),
}

/// What a field that is not mapped is to an order.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Unmapped {
    /// An error.
    #[default]
    Refused,
    /// A field of which no document has a value.
    Empty,
    /// The same of whole numbers of 32 bits, the outermost of which documents are shown to have.
    Int,
    /// The same of those of 64 bits.
    Long,
    /// The same of those without a sign.
    Unsigned,
    /// The same of numbers with fractions.
    Float,
    /// A field of this type, which there is not.
    OfNoType(String),
    /// A field of a type by which nothing is ordered, and why.
    WithoutOrder(String),
}

impl Unmapped {
    /// The least or the greatest number of the field, which a document without one is shown to have; `None` where its
    /// values would be no numbers.
    pub fn outermost(&self, least: bool) -> Option<SortValue> {
        let ends = |low: i64, high: i64| SortValue::I64(if least { low } else { high });
        match self {
            Unmapped::Refused
            | Unmapped::Empty
            | Unmapped::OfNoType(_)
            | Unmapped::WithoutOrder(_) => None,
            Unmapped::Int => Some(ends(i32::MIN.into(), i32::MAX.into())),
            Unmapped::Long => Some(ends(i64::MIN, i64::MAX)),
            Unmapped::Unsigned => Some(SortValue::U64(if least { u64::MIN } else { u64::MAX })),
            Unmapped::Float => Some(SortValue::F64(if least {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            })),
        }
    }
}

/// Which of a document's several values counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortMode {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Their mean; of whole numbers the nearest one.
    Avg,
    /// Their sum.
    Sum,
    /// The one in the middle, or the mean of the two there.
    Median,
}

/// The distance that documents are ordered by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeoDistanceKey {
    /// Path of a field of points.
    pub path: String,
    /// Distances are to each of these; which one counts, as of several points, is up to the mode.
    #[serde(with = "crate::forms::geo_points")]
    pub origins: Vec<GeoPoint>,
    /// What the distances are shown in.
    #[serde(with = "crate::forms::distance_unit")]
    pub unit: DistanceUnit,
    /// Which end comes first.
    pub order: Order,
    /// Which of several distances counts.
    pub mode: Option<SortMode>,
    /// Whether the earth is taken for flat between two points.
    #[serde(default)]
    pub on_plane: bool,
    /// Whether a field that is not mapped counts as missing instead of being an error.
    pub unmapped_ok: bool,
}

/// What numbers are ordered as, whatever the types of their fields are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortNumeric {
    /// Whole numbers: fractions are cut off.
    Long,
    /// Floating-point numbers.
    Double,
    /// Dates in milliseconds.
    Date,
    /// Dates in nanoseconds.
    DateNanos,
}

/// What a script makes that documents are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptSort {
    /// Numbers.
    #[default]
    Number,
    /// Texts.
    Text,
}

/// What a script makes of documents, which they are ordered by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptKey {
    /// The script.
    pub script: Script,
    /// What it makes.
    #[serde(default)]
    pub kind: ScriptSort,
    /// Which end comes first.
    pub order: Order,
}

/// The nested objects whose values a document is ordered by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestedSort {
    /// Their path.
    pub path: String,
    /// Which of them count.
    pub filter: Option<Query>,
    /// How many of a document's at most, in their order.
    pub max_children: Option<usize>,
    /// Objects inside these, which are the ones that are meant.
    pub inner: Option<Box<NestedSort>>,
}

impl NestedSort {
    /// All objects of a path.
    pub fn new(path: impl Into<String>) -> Self {
        NestedSort {
            path: path.into(),
            filter: None,
            max_children: None,
            inner: None,
        }
    }
}

/// One criterion of the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SortKey {
    /// The score.
    Score {
        /// Which end comes first.
        order: Order,
    },
    /// The order of the index.
    Doc {
        /// Which end comes first.
        order: Order,
    },
    /// A field's value.
    Field {
        /// Field path.
        path: String,
        /// Which end comes first.
        order: Order,
        /// Where documents without a value go.
        missing: Missing,
        /// Which of several values counts; by default the smallest ascending, else the largest.
        mode: Option<SortMode>,
        /// What it is where it is not mapped.
        unmapped: Unmapped,
        /// The nested objects whose values count, where these are not the document's own.
        nested: Option<Box<NestedSort>>,
        /// What its numbers are ordered as, where that is not their own type.
        #[serde(default)]
        numeric: Option<SortNumeric>,
    },
    /// How far away points are; documents without any are infinitely far.
    GeoDistance(GeoDistanceKey),
    /// What a script makes of the document.
    Script(Box<ScriptKey>),
}

impl SortKey {
    /// A field in this order, missing values last.
    pub fn field(path: impl Into<String>, order: Order) -> Self {
        SortKey::Field {
            path: path.into(),
            order,
            missing: Missing::Last,
            mode: None,
            unmapped: Unmapped::Refused,
            nested: None,
            numeric: None,
        }
    }

    /// Visits every query that says which nested objects count; each may be replaced.
    ///
    /// # Errors
    /// The first that `visit` has.
    pub fn for_each_query_mut<E>(
        &mut self,
        visit: &mut dyn FnMut(&mut Query) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = match self {
            SortKey::Field { nested, .. } => nested.as_mut(),
            SortKey::GeoDistance(_)
            | SortKey::Script(_)
            | SortKey::Score { .. }
            | SortKey::Doc { .. } => None,
        };
        while let Some(nested) = next {
            if let Some(query) = &mut nested.filter {
                query.for_each_mut(visit)?;
            }
            next = nested.inner.as_mut();
        }
        Ok(())
    }

    /// The direction.
    pub fn order(&self) -> Order {
        match self {
            SortKey::Score { order } | SortKey::Doc { order } | SortKey::Field { order, .. } => {
                *order
            }
            SortKey::GeoDistance(key) => key.order,
            SortKey::Script(key) => key.order,
        }
    }

    /// Which of two values comes first under this key.
    pub fn compare(&self, a: &SortValue, b: &SortValue) -> Ordering {
        let missing = match self {
            SortKey::Field { missing, .. } => missing,
            _ => &Missing::Last,
        };
        let (a, b) = match missing {
            Missing::Value(value) => (a.or(value), b.or(value)),
            _ => (a, b),
        };
        let null_first = matches!(missing, Missing::First);
        match (a == &SortValue::Null, b == &SortValue::Null) {
            (true, true) => Ordering::Equal,
            (true, false) if null_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if null_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.order().apply(a.cmp(b)),
        }
    }
}

/// What a document is ordered by under one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SortValue {
    /// It has no value.
    Null,
    /// A score.
    Score(f32),
    /// A whole number, a date in milliseconds, a truth value as 0 or 1, or a place.
    I64(i64),
    /// A whole number without a sign.
    U64(u64),
    /// A floating-point number.
    F64(f64),
    /// A floating-point number of a field of less precision.
    F32(f32),
    /// A keyword.
    Str(String),
    /// An address; IPv4 mapped into IPv6.
    Ip(Ipv6Addr),
}

impl SortValue {
    fn or<'a>(&'a self, other: &'a SortValue) -> &'a SortValue {
        if matches!(self, SortValue::Null) {
            other
        } else {
            self
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            SortValue::Score(number) | SortValue::F32(number) => Some(f64::from(*number)),
            #[allow(
                clippy::cast_precision_loss,
                reason = "only compared with a float, which has no more precision"
            )]
            SortValue::U64(number) => Some(*number as f64),
            SortValue::F64(number) => Some(*number),
            #[allow(
                clippy::cast_precision_loss,
                reason = "only compared with a float, which has no more precision"
            )]
            SortValue::I64(number) => Some(*number as f64),
            _ => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            SortValue::Null => 0,
            SortValue::Score(_)
            | SortValue::I64(_)
            | SortValue::U64(_)
            | SortValue::F64(_)
            | SortValue::F32(_) => 1,
            SortValue::Str(_) => 2,
            SortValue::Ip(_) => 3,
        }
    }
}

impl Eq for SortValue {}

impl PartialOrd for SortValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A total order: null, numbers by value, strings by bytes, addresses.
impl Ord for SortValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (SortValue::I64(a), SortValue::I64(b)) => a.cmp(b),
            (SortValue::U64(a), SortValue::U64(b)) => a.cmp(b),
            (SortValue::I64(a), SortValue::U64(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (SortValue::U64(a), SortValue::I64(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (SortValue::Str(a), SortValue::Str(b)) => a.cmp(b),
            (SortValue::Ip(a), SortValue::Ip(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }
}

/// The order of two rows of values under several keys.
pub fn compare_rows(keys: &[SortKey], a: &[SortValue], b: &[SortValue]) -> Ordering {
    keys.iter()
        .zip(a.iter().zip(b))
        .map(|(key, (a, b))| key.compare(a, b))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}
