//! Points and areas as JSON has them.

use serde_json::Value;

use super::area::GeoArea;
use super::point::GeoPoint;

/// Points of one ring.
const RING_POINTS_MAX: usize = 10_000;

const BASE32: &str = "0123456789bcdefghjkmnpqrstuvwxyz";

fn number(value: &Value, name: &str) -> Result<f64, String> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| format!("{name} must be a number"))
}

/// The sides of a geohash's cell: `[top, left, bottom, right]` in degrees.
fn cell(hash: &str) -> Result<[f64; 4], String> {
    if hash.is_empty() {
        return Err("empty geohash".to_string());
    }
    if hash.len() > 12 {
        return Err(format!("unsupported symbol in geohash [{hash}]"));
    }
    let (mut south, mut west) = (-90.0, -180.0);
    let (mut height, mut width) = (180.0, 360.0);
    let mut is_lon = true;
    for symbol in hash.chars() {
        let bits = BASE32
            .find(symbol.to_ascii_lowercase())
            .ok_or_else(|| format!("unsupported symbol [{symbol}] in geohash [{hash}]"))?;
        for bit in (0..5).rev() {
            let (start, size) = if is_lon {
                (&mut west, &mut width)
            } else {
                (&mut south, &mut height)
            };
            *size /= 2.0;
            if bits >> bit & 1 == 1 {
                *start += *size;
            }
            is_lon = !is_lon;
        }
    }
    Ok([south + height, west, south, west + width])
}

impl GeoPoint {
    /// Reads a point in any of its forms: an object of `lat` and `lon`, GeoJSON, `[lon, lat]`,
    /// `"lat,lon"`, `"POINT (lon lat)"`, a geohash.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(object) => {
                if let (Some(kind), Some(Value::Array(coordinates))) =
                    (object.get("type"), object.get("coordinates"))
                {
                    if !kind
                        .as_str()
                        .is_some_and(|k| k.eq_ignore_ascii_case("point"))
                    {
                        return Err(format!("type [{kind}] must be [Point]"));
                    }
                    return Self::from_coordinates(coordinates);
                }
                if let Some(name) = object
                    .keys()
                    .find(|name| !matches!(name.as_str(), "lat" | "lon" | "z" | "geohash"))
                {
                    return Err(format!(
                        "field must be either [lat|lon], [x|y], or [geohash], but got [{name}]"
                    ));
                }
                if let Some(Value::String(hash)) = object.get("geohash") {
                    return Self::from_geohash(hash);
                }
                let lat = object.get("lat").ok_or("field [lat] missing")?;
                let lon = object.get("lon").ok_or("field [lon] missing")?;
                Ok(GeoPoint {
                    lat: number(lat, "latitude")?,
                    lon: number(lon, "longitude")?,
                })
            }
            Value::Array(coordinates) => Self::from_coordinates(coordinates),
            Value::String(text) => Self::from_text(text),
            _ => Err("geo_point expected".to_string()),
        }
    }

    fn from_coordinates(coordinates: &[Value]) -> Result<Self, String> {
        match coordinates {
            [lon, lat] | [lon, lat, _] => Ok(GeoPoint {
                lat: number(lat, "latitude")?,
                lon: number(lon, "longitude")?,
            }),
            [] | [_] => Err("geo_point array must have two or three values".to_string()),
            _ => Err("[geo_point] field type does not accept more than 3 values".to_string()),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        if text.to_ascii_uppercase().contains("POINT") {
            return match GeoArea::from_wkt(text) {
                Ok(GeoArea::Point(point)) => Ok(point),
                _ => Err(format!("Invalid WKT format [{text}]")),
            };
        }
        if !text.contains(',') {
            return Self::from_geohash(text);
        }
        let mut parts = text.split(',').map(str::trim);
        let lat = parts.next().unwrap_or_default();
        let lon = parts.next().unwrap_or_default();
        if parts.count() > 1 {
            return Err(format!(
                "failed to parse [{text}], expected 2 or 3 coordinates but found more"
            ));
        }
        let read = |part: &str, name: &str| {
            part.parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .ok_or_else(|| format!("{name} must be a number"))
        };
        Ok(GeoPoint {
            lat: read(lat, "latitude")?,
            lon: read(lon, "longitude")?,
        })
    }

    /// The sides of the cell that a point names where it is written as a geohash, `[top, left, bottom, right]` in degrees;
    /// `None` of points written otherwise.
    ///
    /// # Errors
    /// What is wrong with the geohash.
    pub fn cell_from_json(value: &Value) -> Result<Option<[f64; 4]>, String> {
        let hash = match value {
            Value::String(text) => Some(text)
                .filter(|text| !text.contains(',') && !text.to_ascii_uppercase().contains("POINT")),
            Value::Object(object) => match object.get("geohash") {
                Some(Value::String(hash)) => Some(hash),
                _ => None,
            },
            _ => None,
        };
        hash.map(String::as_str).map(cell).transpose()
    }

    /// The south-western corner of a geohash's cell.
    fn from_geohash(hash: &str) -> Result<Self, String> {
        let [_, lon, lat, _] = cell(hash)?;
        Ok(GeoPoint { lat, lon })
    }

    /// Reads one point or an array of points; an array of numbers is one point.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn many_from_json(value: &Value) -> Result<Vec<Self>, String> {
        match value {
            Value::Array(values) if !values.iter().any(Value::is_number) => {
                values.iter().map(Self::from_json).collect()
            }
            one => Ok(vec![Self::from_json(one)?]),
        }
    }
}

impl GeoArea {
    /// A polygon.
    ///
    /// # Errors
    /// When a ring is no ring.
    pub fn polygon(outer: Vec<GeoPoint>, holes: Vec<Vec<GeoPoint>>) -> Result<Self, String> {
        for ring in std::iter::once(&outer).chain(&holes) {
            if ring.len() < 3 {
                return Err("too few points defined for geo_polygon query".to_string());
            }
            if ring.len() > RING_POINTS_MAX {
                return Err(format!(
                    "a ring may have at most {RING_POINTS_MAX} points, got [{}]",
                    ring.len()
                ));
            }
        }
        Ok(GeoArea::Polygon { outer, holes })
    }

    /// A rectangle of `[top, left, bottom, right]`.
    ///
    /// # Errors
    /// When a side is out of range or the top lies below the bottom.
    pub fn rectangle([top, left, bottom, right]: [f64; 4]) -> Result<Self, String> {
        GeoPoint {
            lat: top,
            lon: left,
        }
        .checked()?;
        GeoPoint {
            lat: bottom,
            lon: right,
        }
        .checked()?;
        if top < bottom {
            return Err(format!(
                "top is below bottom corner: {top:?} vs. {bottom:?}"
            ));
        }
        Ok(GeoArea::Rectangle {
            top,
            left,
            bottom,
            right,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_of_a_point_is_read() {
        let forms = [
            json!({ "lat": 41.12, "lon": -71.34 }),
            json!({ "lat": "41.12", "lon": "-71.34" }),
            json!({ "type": "Point", "coordinates": [-71.34, 41.12] }),
            json!([-71.34, 41.12]),
            json!([-71.34, 41.12, 8.0]),
            json!("41.12,-71.34"),
            json!("41.12, -71.34"),
            json!("POINT (-71.34 41.12)"),
        ];
        for form in forms {
            let point = GeoPoint::from_json(&form).unwrap_or_else(|e| panic!("{form}: {e}"));
            assert_eq!((point.lat, point.lon), (41.12, -71.34), "{form}");
        }
        let cell = GeoPoint::from_json(&json!("drm3btev3e86")).unwrap();
        assert!((cell.lat - 41.12).abs() < 1e-4 && (cell.lon + 71.34).abs() < 1e-4);
        let many = GeoPoint::many_from_json(&json!([[1.0, 2.0], "3,4"])).unwrap();
        assert_eq!(many.len(), 2);
        assert_eq!(
            GeoPoint::many_from_json(&json!([1.0, 2.0])).unwrap().len(),
            1
        );
    }

    #[test]
    fn geohashes_name_cells() {
        let cell = Some([78.75, 22.5, 73.125, 33.75]);
        for value in [json!("ut"), json!({"geohash": "UT"})] {
            assert_eq!(GeoPoint::cell_from_json(&value), Ok(cell), "{value}");
        }
        for value in [json!("75,28"), json!("POINT (28 75)"), json!([28, 75])] {
            assert_eq!(GeoPoint::cell_from_json(&value), Ok(None), "{value}");
        }
        let corner = GeoPoint::from_json(&json!("ut")).unwrap();
        assert_eq!((corner.lat, corner.lon), (73.125, 22.5));
    }

    #[test]
    fn what_is_no_point_is_said() {
        let cases = [
            (json!({ "lat": 1 }), "field [lon] missing"),
            (json!({ "lat": "x", "lon": 1 }), "latitude must be a number"),
            (json!("1,b"), "longitude must be a number"),
            (json!("c!"), "unsupported symbol [!] in geohash [c!]"),
            (json!(true), "geo_point expected"),
        ];
        for (value, reason) in cases {
            assert_eq!(GeoPoint::from_json(&value).unwrap_err(), reason, "{value}");
        }
    }

    #[test]
    fn text_that_is_no_area_is_refused() {
        for wrong in [
            "POLYGON ((0 0, 1 1",
            "CIRCLE (1 2)",
            "POINT (1)",
            "POLYGON ((0 0))",
        ] {
            assert!(GeoArea::from_wkt(wrong).is_err(), "{wrong}");
        }
    }
}
