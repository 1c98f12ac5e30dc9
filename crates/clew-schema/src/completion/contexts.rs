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
    /// Values and factors.
    pub values: Vec<(Value, f32)>,
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

impl CompletionContext {
    /// Whether a value of a document is one that is asked for. Places match in their cell and in
    /// those around it.
    pub fn fits(&self, have: &Value, wanted: &Value) -> bool {
        match self.kind {
            ContextKind::Category => text_of(have) == text_of(wanted),
            ContextKind::Geo { level } => {
                let (Ok(have), Ok(wanted)) =
                    (GeoPoint::from_json(have), GeoPoint::from_json(wanted))
                else {
                    return false;
                };
                let (a, b) = (cell(have, level), cell(wanted, level));
                let around = 1_i64 << (level * 5).div_ceil(2);
                let east = (a.0 - b.0).rem_euclid(around);
                (east <= 1 || east == around - 1) && (a.1 - b.1).abs() <= 1
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
        let here = json!({"lat": 52.22, "lon": 4.53});
        assert!(context.fits(&here, &json!({"lat": 52.2263, "lon": 4.543})));
        assert!(!context.fits(&here, &json!({"lat": 53.31, "lon": 13.24})));
        let (east, west) = (
            json!({"lat": 0, "lon": 179.999}),
            json!({"lat": 0, "lon": -179.999}),
        );
        assert!(context.fits(&east, &west));
    }
}
