//! Serialized forms of what requests hold of `clew-schema`, which has none itself.

use clew_schema::RangeRelation;
use clew_schema::geo::{GeoArea, GeoPoint, GeoRelation};
use serde::{Deserialize, Serialize};

/// [`RangeRelation`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "RangeRelation")]
pub(crate) enum RangeRelationForm {
    Intersects,
    Contains,
    Within,
}

/// [`GeoRelation`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "GeoRelation")]
pub(crate) enum GeoRelationForm {
    Intersects,
    Within,
    Disjoint,
    Contains,
}

/// [`GeoPoint`]: latitude and longitude.
#[derive(Serialize, Deserialize)]
struct PointForm(f64, f64);

impl From<&GeoPoint> for PointForm {
    fn from(point: &GeoPoint) -> Self {
        PointForm(point.lat, point.lon)
    }
}

impl From<PointForm> for GeoPoint {
    fn from(PointForm(lat, lon): PointForm) -> Self {
        GeoPoint { lat, lon }
    }
}

fn forms_of(points: &[GeoPoint]) -> Vec<PointForm> {
    points.iter().map(PointForm::from).collect()
}

fn points_of(forms: Vec<PointForm>) -> Vec<GeoPoint> {
    forms.into_iter().map(GeoPoint::from).collect()
}

/// [`GeoArea`].
#[derive(Serialize, Deserialize)]
enum AreaForm {
    Circle {
        center: PointForm,
        metres: f64,
    },
    Rectangle {
        top: f64,
        left: f64,
        bottom: f64,
        right: f64,
    },
    Polygon {
        outer: Vec<PointForm>,
        holes: Vec<Vec<PointForm>>,
    },
    Line(Vec<PointForm>),
    Point(PointForm),
    Union(Vec<AreaForm>),
}

impl From<&GeoArea> for AreaForm {
    fn from(area: &GeoArea) -> Self {
        match area {
            GeoArea::Circle { center, metres } => AreaForm::Circle {
                center: center.into(),
                metres: *metres,
            },
            GeoArea::Rectangle {
                top,
                left,
                bottom,
                right,
            } => AreaForm::Rectangle {
                top: *top,
                left: *left,
                bottom: *bottom,
                right: *right,
            },
            GeoArea::Polygon { outer, holes } => AreaForm::Polygon {
                outer: forms_of(outer),
                holes: holes.iter().map(|hole| forms_of(hole)).collect(),
            },
            GeoArea::Line(points) => AreaForm::Line(forms_of(points)),
            GeoArea::Point(point) => AreaForm::Point(point.into()),
            GeoArea::Union(areas) => AreaForm::Union(areas.iter().map(AreaForm::from).collect()),
        }
    }
}

impl From<AreaForm> for GeoArea {
    fn from(form: AreaForm) -> Self {
        match form {
            AreaForm::Circle { center, metres } => GeoArea::Circle {
                center: center.into(),
                metres,
            },
            AreaForm::Rectangle {
                top,
                left,
                bottom,
                right,
            } => GeoArea::Rectangle {
                top,
                left,
                bottom,
                right,
            },
            AreaForm::Polygon { outer, holes } => GeoArea::Polygon {
                outer: points_of(outer),
                holes: holes.into_iter().map(points_of).collect(),
            },
            AreaForm::Line(points) => GeoArea::Line(points_of(points)),
            AreaForm::Point(point) => GeoArea::Point(point.into()),
            AreaForm::Union(areas) => {
                GeoArea::Union(areas.into_iter().map(GeoArea::from).collect())
            }
        }
    }
}

pub(crate) mod geo_area {
    use clew_schema::geo::GeoArea;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::AreaForm;

    pub(crate) fn serialize<S: Serializer>(area: &GeoArea, out: S) -> Result<S::Ok, S::Error> {
        AreaForm::from(area).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<GeoArea, D::Error> {
        AreaForm::deserialize(input).map(GeoArea::from)
    }
}

pub(crate) mod geo_points {
    use clew_schema::geo::GeoPoint;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{forms_of, points_of};

    pub(crate) fn serialize<S: Serializer>(points: &[GeoPoint], out: S) -> Result<S::Ok, S::Error> {
        forms_of(points).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Vec<GeoPoint>, D::Error> {
        Vec::deserialize(input).map(points_of)
    }
}

/// A unit is written as its length in metres, which must be that of a unit there is.
pub(crate) mod distance_unit {
    use clew_schema::geo::DistanceUnit;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// One name for each length.
    const NAMES: [&str; 9] = ["m", "km", "mi", "nmi", "yd", "ft", "in", "cm", "mm"];

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes what it writes by reference"
    )]
    pub(crate) fn serialize<S: Serializer>(unit: &DistanceUnit, out: S) -> Result<S::Ok, S::Error> {
        unit.to_metres(1.0).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<DistanceUnit, D::Error> {
        let metres = f64::deserialize(input)?;
        let units = NAMES
            .iter()
            .filter_map(|name| DistanceUnit::parse(name).ok());
        let mut same = units.filter(|unit| unit.to_metres(1.0).to_bits() == metres.to_bits());
        same.next()
            .ok_or_else(|| D::Error::custom(format!("no unit is [{metres}] metres long")))
    }
}
