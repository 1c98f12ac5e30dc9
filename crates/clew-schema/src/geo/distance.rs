//! Distances over the ground, and the units they are written in.

use super::point::GeoPoint;

/// Metres; the mean radius that OpenSearch computes with.
const EARTH_RADIUS: f64 = 6_371_008.771_4;

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceUnit {
    metres: f64,
}

/// The units' names, longer ones before those they end with.
const UNITS: [(&str, f64); 20] = [
    ("nauticalmiles", 1852.0),
    ("centimeters", 0.01),
    ("millimeters", 0.001),
    ("kilometers", 1000.0),
    ("meters", 1.0),
    ("miles", 1609.344),
    ("yards", 0.9144),
    ("inch", 0.0254),
    ("feet", 0.3048),
    ("nmi", 1852.0),
    ("NM", 1852.0),
    ("km", 1000.0),
    ("mi", 1609.344),
    ("cm", 0.01),
    ("mm", 0.001),
    ("yd", 0.9144),
    ("ft", 0.3048),
    ("in", 0.0254),
    ("m", 1.0),
    ("", 1.0),
];

impl DistanceUnit {
    /// The unit with this name.
    ///
    /// # Errors
    /// When no unit is called so.
    pub fn parse(name: &str) -> Result<Self, String> {
        UNITS
            .iter()
            .find(|(have, _)| *have == name && !have.is_empty())
            .map(|(_, metres)| DistanceUnit { metres: *metres })
            .ok_or_else(|| format!("No distance unit match [{name}]"))
    }

    /// Metres.
    pub fn metres() -> Self {
        DistanceUnit { metres: 1.0 }
    }

    /// A length in metres, in this unit.
    pub fn of_metres(self, metres: f64) -> f64 {
        metres / self.metres
    }

    /// A length in this unit, in metres.
    pub fn to_metres(self, length: f64) -> f64 {
        length * self.metres
    }
}

/// The metres that a text like `12km` stands for; without a unit it is `usual`.
///
/// # Errors
/// When it is not a length.
pub fn parse_distance(text: &str, usual: DistanceUnit) -> Result<f64, String> {
    let text = text.trim();
    let (number, metres) = UNITS
        .iter()
        .find_map(|(name, metres)| Some((text.strip_suffix(name)?, *metres, *name)))
        .map_or((text, 1.0), |(number, metres, name)| {
            (
                number,
                if name.is_empty() {
                    usual.metres
                } else {
                    metres
                },
            )
        });
    let length: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("For input string: \"{}\"", number.trim()))?;
    if !length.is_finite() {
        return Err(format!("failed to parse distance [{text}]"));
    }
    Ok(length * metres)
}

impl GeoPoint {
    /// Metres to another point, along a great circle.
    #[inline]
    pub fn metres_to(self, other: GeoPoint) -> f64 {
        let half = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
        let across = half(self.lat, other.lat)
            + self.lat.to_radians().cos()
                * other.lat.to_radians().cos()
                * half(self.lon, other.lon);
        2.0 * EARTH_RADIUS * across.sqrt().min(1.0).asin()
    }

    /// Metres to another point as if the earth were flat between them, which is cheaper and wrong where they are far
    /// apart.
    pub fn metres_on_plane(self, other: GeoPoint) -> f64 {
        let across = (other.lon - self.lon).to_radians()
            * f64::midpoint(self.lat, other.lat).to_radians().cos();
        let up = (other.lat - self.lat).to_radians();
        across.hypot(up) * EARTH_RADIUS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_with_their_units() {
        let cases = [
            ("12km", 12_000.0),
            ("12 km", 12_000.0),
            ("1mi", 1609.344),
            ("7", 7.0),
            ("1.5nmi", 2778.0),
            ("3m", 3.0),
            ("20in", 0.508),
            ("1NM", 1852.0),
        ];
        for (text, metres) in cases {
            let have = parse_distance(text, DistanceUnit::metres()).unwrap();
            assert!((have - metres).abs() < 1e-9, "{text}: {have}");
        }
        let kilometres = DistanceUnit::parse("km").unwrap();
        assert_eq!(parse_distance("2", kilometres), Ok(2000.0));
        assert!(parse_distance("far", kilometres).is_err());
        assert!(DistanceUnit::parse("parsec").is_err());
    }

    #[test]
    fn distances_are_those_of_an_atlas() {
        let amsterdam = GeoPoint {
            lat: 52.3740,
            lon: 4.9120,
        };
        let paris = GeoPoint {
            lat: 48.8610,
            lon: 2.3360,
        };
        let kilometres = amsterdam.metres_to(paris) / 1000.0;
        assert!((425.0..435.0).contains(&kilometres), "{kilometres}");
        assert!(amsterdam.metres_to(amsterdam) < 1e-9);
    }
}
