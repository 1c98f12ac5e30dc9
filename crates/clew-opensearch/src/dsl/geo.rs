//! Queries on points and shapes: near a point, in a rectangle, in a polygon, in a shape.

use clew_query::{GeoQuery, IndexedShape, Query};
use clew_schema::geo::{DistanceUnit, GeoArea, GeoPoint, GeoRelation, ShapeRules, parse_distance};
use serde_json::Value;

use super::object::{Parameters, plain};
use super::{DslError, DslErrorKind, named, number_in};
use crate::http::place::{Spot, token};

/// What is said of a field beside where its points must be.
struct Common {
    boost: f32,
    ignore_unmapped: bool,
    /// Whether wrong degrees are brought into range instead of refused.
    lenient: bool,
}

fn common(parameters: &mut Parameters<'_>) -> Result<Common, DslError> {
    let boost = parameters.boost()?;
    let ignore_unmapped = parameters.flag("ignore_unmapped")?.unwrap_or(false);
    Ok(Common {
        boost,
        ignore_unmapped,
        lenient: is_lenient(parameters)?,
    })
}

/// `validation_method`: whether wrong degrees are brought into range instead of refused.
pub(super) fn is_lenient(parameters: &mut Parameters<'_>) -> Result<bool, DslError> {
    match parameters.text("validation_method")?.as_deref() {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("strict") => Ok(false),
        Some(text)
            if text.eq_ignore_ascii_case("coerce")
                || text.eq_ignore_ascii_case("ignore_malformed") =>
        {
            Ok(true)
        }
        Some(other) => Err(DslError::illegal(format!(
            "operator needs to be either [COERCE, IGNORE_MALFORMED, STRICT], but not [{other}]"
        ))),
    }
}

/// The one parameter that is left: a field and where its points must be.
fn field<'a>(parameters: &mut Parameters<'a>) -> Result<(&'a str, &'a Value), DslError> {
    let query = parameters.query();
    let Some(found) = parameters.take_any() else {
        return Err(match query {
            "geo_bounding_box" => DslError::of(
                DslErrorKind::Malformed,
                "failed to parse [geo_bounding_box] query. bounding box not provided",
            ),
            "geo_polygon" => DslError::illegal("fieldName must not be null"),
            "geo_shape" => DslError::illegal("fieldName is required"),
            _ => DslError::illegal("fieldName must not be null or empty"),
        });
    };
    match parameters.take_any() {
        Some((second, value)) => Err(unexpected(query, second, value)),
        None => Ok(found),
    }
}

/// The refusal of a name that is neither a parameter's nor the field's.
fn unexpected(query: &str, name: &str, value: &Value) -> DslError {
    let reason = format!("failed to parse [{query}] query. unexpected field [{name}]");
    DslError::parsing(reason).at(Spot::start_of(value))
}

/// A point whose degrees are in range.
fn point(query: &str, value: &Value, common: &Common) -> Result<GeoPoint, DslError> {
    let point = GeoPoint::from_json(value)
        .map_err(|reason| DslError::parsing(format!("failed to parse [{query}]: {reason}")))?;
    let point = if common.lenient {
        in_range(point)
    } else {
        point
    };
    point
        .checked()
        .map_err(|reason| DslError::illegal(format!("{reason} for [{query}]")))
}

/// The same place in degrees that are in range: who goes on over a pole comes down on the other side of the earth.
pub(super) fn in_range(point: GeoPoint) -> GeoPoint {
    let GeoPoint { mut lat, mut lon } = point;
    if !(-90.0..=90.0).contains(&lat) {
        lat = wrapped(lat);
        if !(-90.0..=90.0).contains(&lat) {
            lat = 180.0_f64.copysign(lat) - lat;
            lon += 180.0;
        }
    }
    GeoPoint {
        lat,
        lon: wrapped(lon),
    }
}

/// The same degree of a circle, between -180 and 180.
fn wrapped(degrees: f64) -> f64 {
    if (-180.0..=180.0).contains(&degrees) {
        return degrees;
    }
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

/// A point whose degrees stand each in a parameter of its own (`place.lat`, `place.lon`), and the field that it is of.
/// What is not given is 0, as in OpenSearch.
fn apart<'a>(
    parameters: &mut Parameters<'a>,
    common: &Common,
) -> Result<Option<(&'a str, GeoPoint)>, DslError> {
    let mut point = GeoPoint { lat: 0.0, lon: 0.0 };
    let mut of = None;
    while let Some((name, value)) = parameters.first() {
        let (field, side) = match name.rsplit_once('.') {
            Some((field, "lat")) if is_single(value) => (field, &mut point.lat),
            Some((field, "lon")) if is_single(value) => (field, &mut point.lon),
            _ => break,
        };
        *side = number_in(value)?.ok_or_else(|| DslError::not_numeric(value))?;
        of = Some(field);
        parameters.take_any();
    }
    let Some(field) = of else {
        return Ok(None);
    };
    let point = if common.lenient {
        in_range(point)
    } else {
        point
    };
    let point = point.checked();
    point
        .map(|point| Some((field, point)))
        .map_err(|reason| DslError::illegal(format!("{reason} for [geo_distance]")))
}

fn is_single(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn query(field: &str, area: GeoArea, common: &Common) -> Query {
    Query::Geo(related(field, area, common))
}

fn related(field: &str, area: GeoArea, common: &Common) -> GeoQuery {
    GeoQuery {
        field: field.to_string(),
        area,
        indexed: None,
        relation: GeoRelation::Intersects,
        ignore_unmapped: common.ignore_unmapped,
        boost: common.boost,
    }
}

/// Reads whether distances are to be measured on a plane, and not along the earth.
pub(super) fn is_on_plane(parameters: &mut Parameters<'_>) -> Result<bool, DslError> {
    let Some(name) = parameters.text("distance_type")? else {
        return Ok(false);
    };
    match name.to_ascii_lowercase().as_str() {
        "arc" => Ok(false),
        "plane" => Ok(true),
        _ => Err(DslError::illegal(format!("No geo distance for [{name}]"))),
    }
}

pub(super) fn geo_distance(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("geo_distance", body)?;
    let common = common(&mut parameters)?;
    // A query finds the same either way.
    is_on_plane(&mut parameters)?;
    let unit = unit(&mut parameters)?;
    let distance = parameters
        .text("distance")?
        .ok_or_else(|| DslError::parsing("geo_distance requires 'distance' to be specified"))?;
    let metres = parse_distance(&distance, unit).map_err(DslError::of_length)?;
    if metres <= 0.0 {
        return Err(DslError::illegal(
            "distance must be greater than zero".to_string(),
        ));
    }
    let (name, center) = match apart(&mut parameters, &common)? {
        Some(found) => {
            if let Some((second, value)) = parameters.first() {
                return Err(unexpected("geo_distance", second, value));
            }
            found
        }
        None => {
            let (name, value) = field(&mut parameters)?;
            (name, point("geo_distance", value, &common)?)
        }
    };
    Ok(query(name, GeoArea::Circle { center, metres }, &common))
}

/// `unit`, metres where nothing is said.
pub(super) fn unit(parameters: &mut Parameters<'_>) -> Result<DistanceUnit, DslError> {
    match parameters.text("unit")? {
        None => Ok(DistanceUnit::metres()),
        Some(name) => DistanceUnit::parse(&name).map_err(DslError::illegal),
    }
}

pub(super) fn geo_bounding_box(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("geo_bounding_box", body)?;
    let common = common(&mut parameters)?;
    parameters.ignore(&["type"]);
    let (name, value) = field(&mut parameters)?;
    if !value.is_object() {
        return Err(unexpected("geo_bounding_box", name, value));
    }
    let mut sides = Parameters::new("geo_bounding_box", value)?;
    if let Some(area) = written_box(&mut sides)? {
        sides.finish()?;
        return Ok(query(name, area, &common));
    }
    let found = rectangle(sides, &common)?;
    let area = GeoArea::rectangle(found).map_err(DslError::illegal)?;
    Ok(query(name, area, &common))
}

/// A box by its sides, as aggregations have it too: `[top, left, bottom, right]`.
pub(crate) fn bounding_box(value: &Value) -> Result<[f64; 4], DslError> {
    let common = Common {
        boost: 1.0,
        ignore_unmapped: false,
        lenient: false,
    };
    let mut sides = Parameters::new("bounds", value)?;
    if let Some(GeoArea::Rectangle {
        top,
        left,
        bottom,
        right,
    }) = written_box(&mut sides)?
    {
        sides.finish()?;
        return Ok([top, left, bottom, right]);
    }
    rectangle(sides, &common)
}

/// The box that is given as well-known text, where it is.
fn written_box(sides: &mut Parameters<'_>) -> Result<Option<GeoArea>, DslError> {
    let Some(text) = sides.text("wkt")? else {
        return Ok(None);
    };
    match GeoArea::from_wkt(&text).map_err(DslError::parsing)? {
        area @ GeoArea::Rectangle { .. } => Ok(Some(area)),
        _ => Err(DslError::parsing(format!(
            "failed to parse WKT bounding box. [{text}] found. expected [ENVELOPE]"
        ))),
    }
}

/// `[top, left, bottom, right]`, from two corners or from four sides.
fn rectangle(mut sides: Parameters<'_>, common: &Common) -> Result<[f64; 4], DslError> {
    let mut found: [Option<f64>; 4] = [None; 4];
    for (names, [lat, lon]) in [
        (["top_left", "topLeft"], [0, 1]),
        (["bottom_right", "bottomRight"], [2, 3]),
        (["top_right", "topRight"], [0, 3]),
        (["bottom_left", "bottomLeft"], [2, 1]),
    ] {
        for name in names {
            if let Some(written) = sides.take(name) {
                let corner = point("geo_bounding_box", written, common)?;
                // Of a geohash it is the corner of its cell that lies outermost.
                let cell = GeoPoint::cell_from_json(written).map_err(DslError::parsing)?;
                found[lat] = Some(cell.map_or(corner.lat, |cell| cell[lat]));
                found[lon] = Some(cell.map_or(corner.lon, |cell| cell[lon]));
            }
        }
    }
    for (name, place) in ["top", "left", "bottom", "right"].into_iter().zip(0..) {
        if let Some(value) = sides.take(name) {
            let degrees: Option<f64> = plain(value).parse().ok();
            found[place] = Some(degrees.ok_or_else(|| {
                DslError::parsing(format!(
                    "failed to parse bounding box: [{name}] is no number"
                ))
            })?);
        }
    }
    if let Some((name, _)) = sides.first() {
        let reason = format!(
            "failed to parse [geo_bounding_box] query. [failed to parse bounding box. unexpected \
             field [{name}]]"
        );
        return Err(DslError::of(DslErrorKind::Malformed, reason));
    }
    // A side that is missing is no number.
    let names = [
        "top latitude",
        "left longitude",
        "bottom latitude",
        "right longitude",
    ];
    let mut sides = [0.0; 4];
    for ((side, found), name) in sides.iter_mut().zip(found).zip(names) {
        *side = found.ok_or_else(|| DslError::illegal(format!("{name} is invalid: NaN")))?;
    }
    Ok(match common.lenient {
        true => sides_in_range(sides),
        false => sides,
    })
}

/// The sides of a box in degrees that are in range; one all around the earth stays so.
fn sides_in_range([top, left, bottom, right]: [f64; 4]) -> [f64; 4] {
    let first = in_range(GeoPoint {
        lat: top,
        lon: left,
    });
    let second = in_range(GeoPoint {
        lat: bottom,
        lon: right,
    });
    let is_around = right > left && (right - left) % 360.0 == 0.0;
    let [left, right] = match is_around {
        true => [-180.0, 180.0],
        false => [first.lon, second.lon],
    };
    [first.lat, left, second.lat, right]
}

pub(super) fn geo_polygon(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("geo_polygon", body)?;
    let common = common(&mut parameters)?;
    let (name, value) = field(&mut parameters)?;
    let mut inner = Parameters::new("geo_polygon", value)?;
    let points = inner.take("points");
    if let Some((name, value)) = inner.first() {
        let found = token(value);
        let reason =
            format!("[geo_polygon] query does not support token type [{found}] under [{name}]");
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    }
    let Some(Value::Array(points)) = points else {
        return Err(DslError::parsing("no points defined for geo_polygon query"));
    };
    if points.is_empty() {
        return Err(DslError::illegal("polygon must not be null or empty"));
    }
    let points = points
        .iter()
        .map(|value| point("geo_polygon", value, &common))
        .collect::<Result<Vec<_>, _>>()?;
    let area = GeoArea::polygon(points, Vec::new()).map_err(DslError::illegal)?;
    Ok(query(name, area, &common))
}

pub(super) fn geo_shape(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("geo_shape", body)?;
    // It only filters, unless it is given a weight.
    let boost = parameters.float("boost")?.unwrap_or(0.0);
    let common = common(&mut parameters)?;
    let (name, value) = field(&mut parameters)?;
    let mut inner = Parameters::new("geo_shape", value)?;
    let shape = inner.take("shape");
    let indexed = inner.take("indexed_shape");
    let relation = match inner.text("relation")? {
        None => GeoRelation::Intersects,
        Some(text) => match text.to_ascii_lowercase().as_str() {
            "intersects" => GeoRelation::Intersects,
            "within" => GeoRelation::Within,
            "disjoint" => GeoRelation::Disjoint,
            "contains" => GeoRelation::Contains,
            _ => {
                let reason = format!("Unknown shape operation [{text} ]");
                return Err(inner.of_last(DslError::parsing(reason)));
            }
        },
    };
    inner.ignore(&["strategy"]);
    if let Some((name, value)) = inner.first() {
        let reason = format!("query does not support [{name}]");
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    }
    let (area, indexed) = match (shape, indexed) {
        (Some(shape), _) => (shape_area(shape)?, None),
        (None, Some(indexed)) => (GeoArea::Union(Vec::new()), Some(indexed_shape(indexed)?)),
        (None, None) => return Err(no_shape()),
    };
    Ok(Query::Geo(GeoQuery {
        relation,
        indexed,
        boost,
        ..related(name, area, &common)
    }))
}

fn no_shape() -> DslError {
    DslError::illegal("either shape or indexedShapeId is required")
}

/// A shape that is asked for: GeoJSON or well-known text.
pub(crate) fn shape_area(value: &Value) -> Result<GeoArea, DslError> {
    if value.is_null() {
        return Err(no_shape());
    }
    let refused = |reason: String| match reason.starts_with("invalid l") {
        // That a latitude or a longitude is beyond those there are.
        true => DslError::found_by_shards(reason),
        false => DslError::illegal(reason),
    };
    GeoArea::shape_from_json(value, ShapeRules::asked())
        .map_err(refused)?
        .ok_or_else(no_shape)
}

/// The name of a document that has a shape, and where in it the shape is.
fn indexed_shape(value: &Value) -> Result<IndexedShape, DslError> {
    let Value::Object(object) = value else {
        return Err(DslError::parsing(
            "[geo_shape] expected an object under [indexed_shape]",
        ));
    };
    let mut document = named::document(object, &named::PLAIN).ok_or_else(no_shape)?;
    document.index.get_or_insert_with(|| "shapes".to_string());
    Ok(IndexedShape {
        document,
        path: object
            .get("path")
            .map_or_else(|| "shape".to_string(), plain),
    })
}
