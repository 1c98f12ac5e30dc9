use serde_json::json;

use super::*;

fn kept() -> ShapeRules {
    ShapeRules {
        read_for: ShapeUse::Kept,
        ..ShapeRules::asked()
    }
}

fn read(value: &Value) -> Result<Option<GeoArea>, String> {
    GeoArea::shape_from_json(value, kept())
}

#[test]
fn both_notations_say_the_same() {
    let pairs = [
        (
            json!({"type": "Point", "coordinates": [1, 2, 3]}),
            "point(1 2 3)",
        ),
        (
            json!({"type": "multipoint", "coordinates": [[1, 2], [3, 4]]}),
            "MULTIPOINT (1 2, 3 4)",
        ),
        (
            json!({"type": "multipoint", "coordinates": [[1, 2], [3, 4]]}),
            "MULTIPOINT ((1 2), (3 4))",
        ),
        (
            json!({"type": "linestring", "coordinates": [[1, 2], [3, 4]]}),
            "LINESTRING (1 2, 3 4)",
        ),
        (
            json!({"type": "polygon", "coordinates": [[[0, 0], [9, 0], [9, 9], [0, 0]], [[4, 1], [5, 1], [5, 2], [4, 1]]]}),
            "POLYGON ((0 0, 9 0, 9 9, 0 0), (4 1, 5 1, 5 2, 4 1))",
        ),
        (
            json!({"type": "MultiPolygon", "coordinates": [[[[0, 0], [9, 0], [9, 9], [0, 0]]]]}),
            "MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0)))",
        ),
        (
            json!({"type": "multilinestring", "coordinates": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]}),
            "MULTILINESTRING ((1 2, 3 4), (5 6, 7 8))",
        ),
        (
            json!({"type": "envelope", "coordinates": [[0, 10], [20, 5]]}),
            "BBOX (0, 20, 10, 5)",
        ),
        (
            json!({"type": "geometrycollection", "geometries": [
                {"type": "point", "coordinates": [1, 2]},
                {"type": "linestring", "coordinates": [[1, 2], [3, 4]]},
            ]}),
            "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (1 2, 3 4))",
        ),
    ];
    for (object, text) in pairs {
        let have = read(&object).unwrap_or_else(|cause| panic!("{object}: {cause}"));
        assert!(have.is_some(), "{object}");
        assert_eq!(Ok(have), read(&Value::from(text)), "{text}");
    }
    assert_eq!(read(&json!("POINT EMPTY")), Ok(None));
    assert_eq!(read(&json!([])), Ok(None));
    assert!(matches!(
        read(&json!(["POINT (1 2)", null, {"type": "point", "coordinates": [3, 4]}])),
        Ok(Some(GeoArea::Union(two))) if two.len() == 2
    ));
}

#[test]
fn what_is_no_shape_is_said() {
    let typed = |kind: &str, coordinates: Value| json!({"type": kind, "coordinates": coordinates});
    let cases = [
        (json!(1), "shape must be an object"),
        (json!({}), "Required [type]"),
        (json!({"type": "point"}), "coordinates not included"),
        (json!({"type": "Nope"}), "unknown geo_shape [Nope]"),
        (typed("foo", json!([1, 2])), "unknown geo_shape [foo]"),
        (
            typed("point", json!([1])),
            "geo coordinates must be numbers",
        ),
        (
            typed("point", json!(["1", "2"])),
            "geo coordinates must be numbers",
        ),
        (
            typed("point", json!([[1, 2]])),
            "expected a single points but got a list",
        ),
        (
            typed("point", json!([1, 2, 3, 4])),
            "greater than 3 dimensions",
        ),
        (typed("linestring", json!([[1, 2]])), "not enough points"),
        (
            typed("linestring", json!([1, 2])),
            "expected a list of points",
        ),
        (
            typed("linestring", json!([[0, 0], [0, 91]])),
            "invalid latitude 91.0",
        ),
        (
            typed("polygon", json!([[[0, 0], [1, 0], [1, 1]]])),
            "must close itself",
        ),
        (typed("polygon", json!([])), "must have a ring"),
        (typed("multipoint", json!([])), "cannot be null or empty"),
        (
            typed("envelope", json!([[0, 0], [10, 10]])),
            "max y cannot be less",
        ),
        (
            typed("envelope", json!([[0, 0]])),
            "invalid number of points [1]",
        ),
        (
            typed("envelope", json!([[0, 10], [190, 0]])),
            "invalid longitude 190.0",
        ),
        (
            json!({"type": "circle", "coordinates": [1, 2], "radius": "1m"}),
            "circle geometry is not supported",
        ),
        (
            json!({"type": "geometrycollection"}),
            "geometries not included",
        ),
        (json!("x"), "Unknown geometry type: x"),
        (json!("POINT (a b)"), "malformed"),
    ];
    for (value, reason) in cases {
        let have = read(&value).unwrap_err();
        assert!(have.contains(reason), "{value}: {have}");
    }
}

#[test]
fn heights_depths_and_numbers_of_points_are_limited() {
    let point = json!({"type": "point", "coordinates": [1, 2, 3]});
    let many = vec![json!([1, 2]); POINTS_MAX + 1];
    let many = json!({"type": "linestring", "coordinates": many});
    assert!(read(&many).unwrap_err().contains("at most [100000] points"));
    let mut deep = point.clone();
    for _ in 0..40 {
        deep = json!({"type": "geometrycollection", "geometries": [deep]});
    }
    assert!(read(&deep).unwrap_err().contains("nested"));
    let high = ShapeRules {
        ignores_height: false,
        ..kept()
    };
    assert!(GeoArea::shape_from_json(&point, high).is_err());
}

#[test]
fn the_direction_of_a_wide_ring_says_where_it_lies() {
    let ring = json!([[[170, 0], [-170, 0], [-170, 10], [170, 10], [170, 0]]]);
    let behind = |rules: ShapeRules, orientation: Option<&str>| {
        let mut shape = json!({"type": "polygon", "coordinates": ring});
        if let Some(orientation) = orientation {
            shape["orientation"] = json!(orientation);
        }
        let area = GeoArea::shape_from_json(&shape, rules).unwrap();
        matches!(area, Some(GeoArea::Union(_)))
    };
    assert!(behind(kept(), None));
    assert!(!behind(kept(), Some("left")));
    let clockwise = ShapeRules {
        clockwise: true,
        ..kept()
    };
    assert!(!behind(clockwise, None));
    assert!(behind(clockwise, Some("ccw")));
}

#[test]
fn points_beyond_the_map_are_brought_back() {
    let cases = [
        ((181.0, 0.0), (-179.0, 0.0)),
        ((541.0, 0.0), (-179.0, 0.0)),
        ((0.0, 91.0), (180.0, 89.0)),
        ((200.0, 0.0), (-160.0, 0.0)),
        ((-180.0, -90.0), (-180.0, -90.0)),
    ];
    for ((lon, lat), (to_lon, to_lat)) in cases {
        let value = json!({"type": "point", "coordinates": [lon, lat]});
        let point = GeoPoint {
            lat: to_lat,
            lon: to_lon,
        };
        assert_eq!(read(&value), Ok(Some(GeoArea::Point(point))), "{value}");
        let asked = GeoArea::shape_from_json(&value, ShapeRules::asked());
        assert_eq!(asked.is_err(), (lon, lat) != (to_lon, to_lat), "{value}");
    }
}
