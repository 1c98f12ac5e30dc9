//! Shapes as text (well-known text): `POINT (lon lat)`, `POLYGON`, `BBOX` and their plurals.

use serde_json::{Value, json};

use super::area::GeoArea;
use super::point::GeoPoint;

/// Brackets inside brackets.
const DEPTH_MAX: usize = 4;
/// Collections inside each other.
const COLLECTIONS_MAX: usize = 16;

/// Numbers in brackets.
enum Nested {
    Numbers(Vec<f64>),
    Lists(Vec<Nested>),
}

impl GeoArea {
    /// Reads well-known text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_wkt(text: &str) -> Result<Self, String> {
        let wrong = || format!("Unknown geometry type or malformed text [{text}]");
        let open = text.find('(').ok_or_else(wrong)?;
        let name = text[..open].trim().to_ascii_uppercase();
        let mut rest = &text[open..];
        let nested = nested(&mut rest, 0).ok_or_else(wrong)?;
        if !rest.trim().is_empty() {
            return Err(wrong());
        }
        let area = match (name.as_str(), &nested) {
            ("POINT", Nested::Lists(points)) => match &points[..] {
                [one] => point(one).map(GeoArea::Point),
                _ => None,
            },
            ("MULTIPOINT", Nested::Lists(points)) => points
                .iter()
                .map(|one| point(one).map(GeoArea::Point))
                .collect::<Option<Vec<_>>>()
                .map(GeoArea::Union),
            ("POLYGON", rings) => polygon(rings),
            ("MULTIPOLYGON", Nested::Lists(polygons)) => polygons
                .iter()
                .map(polygon)
                .collect::<Option<Vec<_>>>()
                .map(GeoArea::Union),
            ("BBOX" | "ENVELOPE", Nested::Lists(numbers)) => rectangle(numbers),
            _ => None,
        };
        area.ok_or_else(wrong)
    }
}

/// The GeoJSON of well-known text, whose points are still to be checked; `None` of an empty shape.
///
/// # Errors
/// What is wrong with it.
pub(super) fn as_geojson(text: &str) -> Result<Option<Value>, String> {
    let mut rest = text;
    let found = geojson(&mut rest, 0)?;
    match rest.trim().is_empty() {
        true => Ok(found),
        false => Err(malformed(text)),
    }
}

fn malformed(text: &str) -> String {
    let shown: String = text.chars().take(64).collect();
    format!("malformed well-known text [{shown}]")
}

/// The shape at the beginning of a text, which is passed over.
fn geojson(rest: &mut &str, depth: usize) -> Result<Option<Value>, String> {
    let text = *rest;
    let start = text.trim_start();
    let end = start.find(|c: char| !c.is_ascii_alphanumeric());
    let (name, behind) = start.split_at(end.unwrap_or(start.len()));
    let name = name.to_ascii_lowercase();
    let kind = match name.as_str() {
        "" => return Err(malformed(text)),
        "point" | "multipoint" | "linestring" | "multilinestring" | "polygon" | "multipolygon"
        | "geometrycollection" => name.as_str(),
        "bbox" => "envelope",
        "circle" => return Err("circle geometry is not supported".to_string()),
        other => return Err(format!("Unknown geometry type: {other}")),
    };
    let behind = behind.trim_start();
    if let Some(word) = behind.get(..5)
        && word.eq_ignore_ascii_case("empty")
    {
        *rest = behind.get(5..).unwrap_or_default();
        return Ok(None);
    }
    *rest = behind;
    if kind == "geometrycollection" {
        let geometries = collection(rest, depth)?;
        return Ok(Some(json!({"type": kind, "geometries": geometries})));
    }
    let nested = nested(rest, 0).ok_or_else(|| malformed(text))?;
    let coordinates = coordinates(kind, nested).ok_or_else(|| malformed(text))?;
    Ok(Some(json!({"type": kind, "coordinates": coordinates})))
}

/// `(…)`: shapes between commas.
fn collection(rest: &mut &str, depth: usize) -> Result<Vec<Value>, String> {
    let text = *rest;
    if depth >= COLLECTIONS_MAX {
        return Err(format!(
            "a geometry collection may be nested at most [{COLLECTIONS_MAX}] deep"
        ));
    }
    *rest = text.strip_prefix('(').ok_or_else(|| malformed(text))?;
    let mut found = Vec::new();
    loop {
        found.extend(geojson(rest, depth + 1)?);
        let behind = rest.trim_start();
        if let Some(behind) = behind.strip_prefix(')') {
            *rest = behind;
            return Ok(found);
        }
        *rest = behind.strip_prefix(',').ok_or_else(|| malformed(text))?;
    }
}

/// What GeoJSON has under `coordinates`.
fn coordinates(kind: &str, nested: Nested) -> Option<Value> {
    let Nested::Lists(mut lists) = nested else {
        return None;
    };
    match kind {
        "point" if lists.len() == 1 => lists.pop().map(Nested::into_json),
        "point" => None,
        // Each point may stand in brackets of its own.
        "multipoint" => {
            let points = lists.into_iter().map(|one| match one {
                Nested::Lists(mut inner) if inner.len() == 1 => inner.pop(),
                other => Some(other),
            });
            let points: Option<Vec<Nested>> = points.collect();
            Some(points?.into_iter().map(Nested::into_json).collect())
        }
        "envelope" => {
            let [left, right, top, bottom] = sides(&lists)?;
            Some(json!([[left, top], [right, bottom]]))
        }
        _ => Some(Nested::Lists(lists).into_json()),
    }
}

impl Nested {
    fn into_json(self) -> Value {
        match self {
            Nested::Numbers(numbers) => Value::from(numbers),
            Nested::Lists(lists) => lists.into_iter().map(Nested::into_json).collect(),
        }
    }
}

/// `(…)`: lists of numbers between commas, or brackets again.
fn nested(rest: &mut &str, depth: usize) -> Option<Nested> {
    if depth > DEPTH_MAX {
        return None;
    }
    *rest = rest.trim_start().strip_prefix('(')?;
    let mut lists = Vec::new();
    loop {
        *rest = rest.trim_start();
        if rest.starts_with('(') {
            lists.push(nested(rest, depth + 1)?);
        } else {
            let end = rest.find([',', ')', '('])?;
            let numbers: Option<Vec<f64>> = rest[..end]
                .split_whitespace()
                .map(|number| number.parse().ok())
                .collect();
            lists.push(Nested::Numbers(numbers?));
            *rest = &rest[end..];
        }
        *rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix(')') {
            *rest = behind;
            return Some(Nested::Lists(lists));
        }
        *rest = rest.strip_prefix(',')?;
    }
}

fn point(nested: &Nested) -> Option<GeoPoint> {
    match nested {
        Nested::Numbers(numbers) => match numbers[..] {
            [lon, lat] | [lon, lat, _] => GeoPoint { lat, lon }.checked().ok(),
            _ => None,
        },
        Nested::Lists(lists) => match &lists[..] {
            [one @ Nested::Numbers(_)] => point(one),
            _ => None,
        },
    }
}

fn polygon(nested: &Nested) -> Option<GeoArea> {
    let Nested::Lists(rings) = nested else {
        return None;
    };
    let mut rings = rings.iter().map(|ring| match ring {
        Nested::Lists(points) => points.iter().map(point).collect::<Option<Vec<_>>>(),
        Nested::Numbers(_) => None,
    });
    let outer = rings.next()??;
    let holes = rings.collect::<Option<Vec<_>>>()?;
    GeoArea::polygon(outer, holes).ok()
}

/// `(left, right, top, bottom)`.
fn rectangle(numbers: &[Nested]) -> Option<GeoArea> {
    let [left, right, top, bottom] = sides(numbers)?;
    GeoArea::rectangle([top, left, bottom, right]).ok()
}

/// Four numbers that stand by themselves.
fn sides(numbers: &[Nested]) -> Option<[f64; 4]> {
    let numbers = numbers.iter().map(|one| match one {
        Nested::Numbers(number) => match number[..] {
            [number] => Some(number),
            _ => None,
        },
        Nested::Lists(_) => None,
    });
    let numbers: Option<Vec<f64>> = numbers.collect();
    numbers?.try_into().ok()
}
