//! Scores changed by functions of a document, as they are asked for: weights, field values, decay with distance, chance.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::curve::{DecayShape, FieldModifier};
use super::program::Script;
use super::tree::Query;

/// A query whose score is changed by functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionScore {
    /// What must match.
    pub query: Box<Query>,
    /// The functions.
    pub functions: Vec<ScoreFunction>,
    /// How their values are joined.
    pub score_mode: ScoreMode,
    /// How what came of it changes the query's score.
    pub boost_mode: BoostMode,
    /// The functions give no more than this.
    pub max_boost: f32,
    /// Documents that score less do not match.
    pub min_score: Option<f32>,
    /// Factor on the query's score.
    pub boost: f32,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreFunction {
    /// Only for these documents.
    pub filter: Option<Query>,
    /// Factor on its value.
    pub weight: Option<f32>,
    /// The function itself.
    pub kind: FunctionKind,
}

/// What a function computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FunctionKind {
    /// One.
    Constant,
    /// A number of the document.
    FieldValue {
        /// Field path.
        field: String,
        /// Factor on the field's value.
        factor: f64,
        /// What is done with it then.
        modifier: FieldModifier,
        /// What stands for a missing value; absent: a document without one is an error.
        missing: Option<f64>,
    },
    /// Chance, the same one for the same seed and value in a shard.
    Random {
        /// The seed, of which 32 bits count ([`seed_of`]); absent: another one for each search.
        seed: Option<i64>,
        /// Path of a field whose value decides together with the seed; absent: the document's place.
        field: Option<String>,
    },
    /// Less the farther a value is from an origin.
    Decay(Box<Decay>),
    /// What a script makes of the document and its score.
    Script(Box<Script>),
    /// One where a script holds of the document, else nothing.
    Test(Box<Script>),
}

/// The 32 bits of a seed that count: a number that has more is hashed as Java hashes it.
pub fn seed_of(seed: i64) -> i32 {
    i32::try_from(seed).unwrap_or_else(|_| {
        let bits = seed.cast_unsigned();
        let [first, second] = [bits, bits >> 32].map(|half| half & u64::from(u32::MAX));
        u32::try_from(first ^ second)
            .unwrap_or_default()
            .cast_signed()
    })
}

impl FunctionKind {
    /// The script that it is.
    pub fn script(&self) -> Option<&Script> {
        match self {
            FunctionKind::Script(script) | FunctionKind::Test(script) => Some(script),
            FunctionKind::Constant
            | FunctionKind::FieldValue { .. }
            | FunctionKind::Random { .. }
            | FunctionKind::Decay(_) => None,
        }
    }
}

/// How a score falls with the distance from an origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decay {
    /// Field path: a number, a date or a point.
    pub field: String,
    /// The curve.
    pub shape: DecayShape,
    /// Where it is highest; dates may leave it out, which means now.
    pub origin: Option<Value>,
    /// The distance (beyond the offset) at which the value is `decay`.
    pub scale: Value,
    /// Up to this distance the value is 1.
    pub offset: Option<Value>,
    /// The value at the scale.
    pub decay: f64,
    /// Which of several distances counts.
    pub mode: ValueMode,
}

/// Which of a document's several values counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ValueMode {
    /// The smallest.
    #[default]
    Min,
    /// The largest.
    Max,
    /// Their mean.
    Avg,
    /// Their sum.
    Sum,
}

impl ValueMode {
    /// The value that counts; `None` when there is none.
    #[allow(clippy::cast_precision_loss, reason = "a document has few values")]
    pub fn pick(self, values: impl Iterator<Item = f64>) -> Option<f64> {
        let mut count = 0_u32;
        let mut sum = 0.0;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            count += 1;
            sum += value;
            least = least.min(value);
            most = most.max(value);
        }
        (count > 0).then(|| match self {
            ValueMode::Min => least,
            ValueMode::Max => most,
            ValueMode::Sum => sum,
            ValueMode::Avg => sum / f64::from(count),
        })
    }
}

/// How the values of several functions are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ScoreMode {
    /// Their product.
    #[default]
    Multiply,
    /// Their sum.
    Sum,
    /// Their mean, by weight.
    Avg,
    /// The first one whose filter matches.
    First,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// How the functions' value changes a query's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum BoostMode {
    /// Their product.
    #[default]
    Multiply,
    /// The functions' value alone.
    Replace,
    /// Their sum.
    Sum,
    /// Their mean.
    Avg,
    /// The larger.
    Max,
    /// The smaller.
    Min,
}

impl BoostMode {
    /// The query's score and the value of its functions, joined.
    #[inline]
    pub fn join(self, score: f64, value: f64) -> f64 {
        match self {
            BoostMode::Multiply => score * value,
            BoostMode::Replace => value,
            BoostMode::Sum => score + value,
            BoostMode::Avg => (score + value) / 2.0,
            BoostMode::Max => score.max(value),
            BoostMode::Min => score.min(value),
        }
    }
}
