//! What inputs of a completion field are told apart by: categories, and places.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::geo::GeoPoint;
use crate::plain::text_of;

/// One context of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletionContext {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ContextKind,
    /// The field of the document that has it, where the input itself has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// What a context holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ContextKind {
    /// Words.
    Category,
    /// Places, told apart by the cells of this level they lie in.
    Geo {
        /// Characters of a geohash.
        level: u32,
    },
}

/// What a suggestion asks of a context: any of these values, each with a factor on weights.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextWish {
    /// The context.
    pub name: String,
    /// What is asked for.
    pub values: Vec<WantedContext>,
}

/// A value that a suggestion asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedContext {
    /// A category or a place.
    pub value: Value,
    /// The factor on weights.
    pub boost: f32,
    /// Whether categories that begin so are asked for, too.
    pub is_beginning: bool,
    /// The level of the cell that places are to share; absent: the field's, as where it is finer.
    pub level: Option<u32>,
    /// Coarser levels, whose cell and those around it are asked for, too.
    pub around: Vec<u32>,
}

impl WantedContext {
    /// A value without more.
    pub fn new(value: Value) -> Self {
        WantedContext {
            value,
            boost: 1.0,
            is_beginning: false,
            level: None,
            around: Vec::new(),
        }
    }
}

/// The cell of a place: counted from the south-west.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a cell's number has at most 30 bits"
)]
fn cell(point: GeoPoint, level: u32) -> (i64, i64) {
    let (lon_bits, lat_bits) = ((level * 5).div_ceil(2), level * 5 / 2);
    let part = |share: f64, bits: u32| {
        let cells = 2_f64.powi(i32::try_from(bits).unwrap_or(30));
        (share * cells).floor().min(cells - 1.0) as i64
    };
    (
        part((point.lon + 180.0) / 360.0, lon_bits),
        part((point.lat + 90.0) / 180.0, lat_bits),
    )
}

/// Whether a cell is another one of the level or lies beside it.
fn touches((x, y): (i64, i64), other: (i64, i64), level: u32) -> bool {
    let around = 1_i64 << (level * 5).div_ceil(2);
    let east = (x - other.0).rem_euclid(around);
    (east <= 1 || east == around - 1) && (y - other.1).abs() <= 1
}

/// What a cell is called: its bits in turns, beginning in the east, five to a letter.
fn name_of((x, y): (i64, i64), level: u32) -> String {
    const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
    let (mut x_left, mut y_left) = ((level * 5).div_ceil(2), level * 5 / 2);
    let letters = (0..level).map(|letter| {
        let bits = (letter * 5..letter * 5 + 5).fold(0, |bits, place| {
            let (number, left) = match place % 2 {
                0 => (x, &mut x_left),
                _ => (y, &mut y_left),
            };
            *left = left.saturating_sub(1);
            (bits << 1) | usize::from((number >> *left) & 1 == 1)
        });
        char::from(LETTERS.get(bits).copied().unwrap_or(b'0'))
    });
    letters.collect()
}

impl CompletionContext {
    /// What a value of a document is called if it is one that is asked for. Places match in the field's cells and in those
    /// around them, unless coarser ones are asked for.
    pub fn found(&self, have: &Value, wanted: &WantedContext) -> Option<String> {
        match self.kind {
            ContextKind::Category => {
                let (have, asked) = (text_of(have), text_of(&wanted.value));
                let fits = match wanted.is_beginning {
                    true => have.starts_with(&asked),
                    false => have == asked,
                };
                fits.then_some(have)
            }
            ContextKind::Geo { level } => {
                let have = GeoPoint::from_json(have).ok()?;
                let asked = GeoPoint::from_json(&wanted.value).ok()?;
                let own = wanted.level.map_or(level, |wanted| wanted.min(level));
                let beside = |level| touches(cell(have, level), cell(asked, level), level);
                let fits = match wanted.around.is_empty() && own == level {
                    true => beside(level),
                    false => {
                        let mut coarser = wanted.around.iter().filter(|level| **level < own);
                        cell(have, own) == cell(asked, own) || coarser.any(|level| beside(*level))
                    }
                };
                fits.then(|| name_of(cell(have, level), level))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_match_in_their_cell_and_around_it() {
        let context = CompletionContext {
            name: "place".to_string(),
            kind: ContextKind::Geo { level: 5 },
            path: None,
        };
        let at = |lat: f64, lon: f64| json!({"lat": lat, "lon": lon});
        let found = |have: &Value, wanted: WantedContext| context.found(have, &wanted);
        let here = at(52.22, 4.53);
        let near = WantedContext::new(at(52.2263, 4.543));
        assert_eq!(found(&here, near).as_deref(), Some("u171p"));
        assert_eq!(found(&here, WantedContext::new(at(53.31, 13.24))), None);
        let (east, west) = (at(0.0, 179.999), at(0.0, -179.999));
        assert!(found(&east, WantedContext::new(west)).is_some());
    }

    #[test]
    fn coarser_cells_hold_more_places() {
        let context = CompletionContext {
            name: "place".to_string(),
            kind: ContextKind::Geo { level: 5 },
            path: None,
        };
        let have = json!({"lat": 48.5898, "lon": 5.0312});
        let wanted = |lat: f64, level: Option<u32>, around: &[u32]| {
            let wanted = WantedContext {
                level,
                around: around.to_vec(),
                ..WantedContext::new(json!({"lat": lat, "lon": 5}))
            };
            context.found(&have, &wanted)
        };
        assert_eq!(wanted(45.0, None, &[]), None);
        assert_eq!(wanted(45.1, Some(2), &[]).as_deref(), Some("u0es6"));
        assert_eq!(wanted(44.9, Some(2), &[]), None);
        assert_eq!(wanted(44.9, Some(3), &[2]).as_deref(), Some("u0es6"));
        // Only what is coarser than the cell itself.
        assert_eq!(wanted(44.9, Some(2), &[2]), None);
    }

    #[test]
    fn categories_may_only_begin_so() {
        let context = CompletionContext {
            name: "kind".to_string(),
            kind: ContextKind::Category,
            path: None,
        };
        let mut wanted = WantedContext::new(json!("bl"));
        assert_eq!(context.found(&json!("blue"), &wanted), None);
        wanted.is_beginning = true;
        assert_eq!(
            context.found(&json!("blue"), &wanted).as_deref(),
            Some("blue")
        );
    }
}
