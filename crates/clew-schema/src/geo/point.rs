//! A point, and the number that stands for it in a column.

/// A place on the earth, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeoPoint {
    /// From -90 to 90.
    pub lat: f64,
    /// From -180 to 180.
    pub lon: f64,
}

/// Steps of 32 bits over the whole range.
const STEPS: f64 = 4_294_967_296.0;
pub(super) const LAT_STEP: f64 = 180.0 / STEPS;
pub(super) const LON_STEP: f64 = 360.0 / STEPS;

impl GeoPoint {
    /// The number that stands for it in a column: latitude in the upper half.
    #[inline]
    pub fn encode(self) -> u64 {
        u64::from(step(self.lat, LAT_STEP)) << 32 | u64::from(step(self.lon, LON_STEP))
    }

    /// The point that a number stands for.
    #[inline]
    pub fn decode(number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
        GeoPoint {
            lat: f64::from(i32::from_be_bytes([a, b, c, d])) * LAT_STEP,
            lon: f64::from(i32::from_be_bytes([e, f, g, h])) * LON_STEP,
        }
    }

    /// The steps that it falls on: of longitude, and of latitude.
    pub(super) fn steps(self) -> (i32, i32) {
        let [lon, lat] = [step(self.lon, LON_STEP), step(self.lat, LAT_STEP)];
        (lon.cast_signed(), lat.cast_signed())
    }

    /// The number of the point on steps of longitude and of latitude.
    pub(super) fn code_of_steps((lon, lat): (i32, i32)) -> u64 {
        u64::from(lat.cast_unsigned()) << 32 | u64::from(lon.cast_unsigned())
    }

    /// The point as a column keeps it.
    pub fn quantized(self) -> Self {
        Self::decode(self.encode())
    }

    /// The first point that a column can keep that lies neither south nor west of this one; the last one where there is none.
    pub fn quantized_up(self) -> Self {
        let up = |low: f64, asked: f64, (size, end): (f64, f64)| {
            if low < asked && low + size < end {
                low + size
            } else {
                low
            }
        };
        let low = self.quantized();
        GeoPoint {
            lat: up(low.lat, self.lat, (LAT_STEP, 90.0)),
            lon: up(low.lon, self.lon, (LON_STEP, 180.0)),
        }
    }

    /// Whether both degrees are in their range.
    ///
    /// # Errors
    /// Which of them is not.
    pub fn checked(self) -> Result<Self, String> {
        if !(-90.0..=90.0).contains(&self.lat) {
            return Err(format!("illegal latitude value [{:?}]", self.lat));
        }
        if !(-180.0..=180.0).contains(&self.lon) {
            return Err(format!("illegal longitude value [{:?}]", self.lon));
        }
        Ok(self)
    }
}

/// The step a number of degrees falls on; the greatest value falls on the last step.
fn step(degrees: f64, size: f64) -> u32 {
    let steps = (degrees / size).floor();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the conversion saturates, which is what the last step is for"
    )]
    let steps = steps as i32;
    u32::from_be_bytes(steps.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_points_to_a_centimetre() {
        let cases = [
            (0.0, 0.0),
            (52.3760, 4.894),
            (-33.9, 151.2),
            (90.0, 180.0),
            (-90.0, -180.0),
        ];
        for (lat, lon) in cases {
            let back = GeoPoint { lat, lon }.quantized();
            assert!((back.lat - lat).abs() <= LAT_STEP, "{back:?}");
            assert!((back.lon - lon).abs() <= LON_STEP, "{back:?}");
            assert_eq!(back, back.quantized(), "a second time changes nothing");
        }
    }

    #[test]
    fn degrees_outside_are_named() {
        let wrong = GeoPoint {
            lat: 91.0,
            lon: 0.0,
        };
        assert_eq!(
            wrong.checked().unwrap_err(),
            "illegal latitude value [91.0]"
        );
        let wrong = GeoPoint {
            lat: 9.0,
            lon: -181.0,
        };
        assert_eq!(
            wrong.checked().unwrap_err(),
            "illegal longitude value [-181.0]"
        );
    }
}
