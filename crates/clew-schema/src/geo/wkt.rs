//! Shapes as text (well-known text): `POINT (lon lat)`, `POLYGON`, `BBOX` and their plurals.

use super::area::GeoArea;
use super::point::GeoPoint;

/// Brackets inside brackets.
const DEPTH_MAX: usize = 4;

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
    let numbers: Option<Vec<f64>> = numbers
        .iter()
        .map(|one| match one {
            Nested::Numbers(number) => match number[..] {
                [number] => Some(number),
                _ => None,
            },
            Nested::Lists(_) => None,
        })
        .collect();
    let [left, right, top, bottom] = numbers?[..] else {
        return None;
    };
    GeoArea::rectangle([top, left, bottom, right]).ok()
}
