use super::super::shape::shape_values;
use super::*;

fn square(from: f64, to: f64) -> GeoArea {
    GeoArea::Rectangle {
        top: to,
        left: from,
        bottom: from,
        right: to,
    }
}

fn ring(from: f64, to: f64) -> Vec<GeoPoint> {
    let corners = [(from, from), (from, to), (to, to), (to, from)];
    corners.map(|(lat, lon)| GeoPoint { lat, lon }).to_vec()
}

fn line(points: &[(f64, f64)]) -> GeoArea {
    let points = points.iter().map(|&(lon, lat)| GeoPoint { lat, lon });
    GeoArea::Line(points.collect())
}

fn point(lon: f64, lat: f64) -> GeoArea {
    GeoArea::Point(GeoPoint { lat, lon })
}

/// Which of the relations hold: intersects, within, contains.
fn check(document: &GeoArea, asked: &GeoArea, wanted: [bool; 3]) {
    let values = shape_values(document);
    let value = values.first().unwrap();
    let relates = |relation| {
        AskedShape::new(asked, relation)
            .is_ok_and(|asked| asked.judge(value, &mut || false) == Some(true))
    };
    let found = [
        GeoRelation::Intersects,
        GeoRelation::Within,
        GeoRelation::Contains,
    ]
    .map(relates);
    assert_eq!(found, wanted, "{document:?} {asked:?}");
    assert_eq!(
        relates(GeoRelation::Disjoint),
        !wanted[0],
        "{document:?} {asked:?}"
    );
}

#[test]
fn shapes_relate_as_in_lucene() {
    let frame = GeoArea::Polygon {
        outer: ring(-10.0, 10.0),
        holes: vec![ring(-5.0, 5.0)],
    };
    let both = GeoArea::Union(vec![square(0.0, 1.0), square(20.0, 21.0)]);
    let cases = [
        (square(0.0, 10.0), square(2.0, 3.0), [true, false, true]),
        (square(2.0, 3.0), square(0.0, 10.0), [true, true, false]),
        (square(0.0, 4.0), square(2.0, 6.0), [true, false, false]),
        (square(0.0, 4.0), square(5.0, 6.0), [false, false, false]),
        (square(0.0, 4.0), square(0.0, 4.0), [true, true, false]),
        (square(-2.0, 2.0), frame.clone(), [false, false, false]),
        (square(-7.0, 7.0), frame.clone(), [true, false, false]),
        (square(6.0, 7.0), frame.clone(), [true, true, false]),
        (frame.clone(), square(6.0, 7.0), [true, false, true]),
        (frame.clone(), square(-7.0, 7.0), [true, false, false]),
        (frame, point(0.0, 0.0), [false, false, false]),
        (both.clone(), square(-1.0, 30.0), [true, true, false]),
        (both.clone(), square(-1.0, 10.0), [true, false, false]),
        (both, point(20.5, 20.5), [true, false, true]),
        (point(5.0, 5.0), point(5.0, 5.0), [true, true, true]),
        (point(5.0, 5.0), square(0.0, 10.0), [true, true, false]),
        (
            line(&[(0.0, 0.0), (8.0, 8.0)]),
            square(-1.0, 9.0),
            [true, true, false],
        ),
        (
            line(&[(0.0, 0.0), (8.0, 8.0)]),
            square(2.0, 4.0),
            [true, false, false],
        ),
        (
            square(-1.0, 9.0),
            line(&[(0.0, 0.0), (8.0, 8.0)]),
            [true, false, true],
        ),
        (
            square(2.0, 4.0),
            line(&[(0.0, 0.0), (8.0, 8.0)]),
            [true, false, false],
        ),
    ];
    for (document, asked, wanted) in &cases {
        check(document, asked, *wanted);
    }
}

#[test]
fn circles_reach_over_edges() {
    let circle = |lon, metres| GeoArea::Circle {
        center: GeoPoint { lat: 5.0, lon },
        metres,
    };
    let cases = [
        (circle(5.0, 1e5), [true, false, true]),
        (circle(5.0, 1e6), [true, true, false]),
        (circle(12.0, 3e5), [true, false, false]),
        (circle(12.0, 2e5), [false, false, false]),
        (circle(-12.0, 1e5), [false, false, false]),
    ];
    for (circle, wanted) in &cases {
        check(&square(0.0, 10.0), circle, *wanted);
    }
}

#[test]
fn what_crosses_the_date_line_is_found_on_both_sides() {
    let across = GeoArea::Rectangle {
        top: 10.0,
        left: 170.0,
        bottom: 0.0,
        right: -170.0,
    };
    for (lon, wanted) in [(175.0, true), (-175.0, true), (0.0, false)] {
        check(&across, &point(lon, 5.0), [wanted, false, wanted]);
        check(&point(lon, 5.0), &across, [wanted, wanted, false]);
    }
}

#[test]
fn bytes_of_no_shape_match_nothing() {
    let asked = AskedShape::new(&square(0.0, 1.0), GeoRelation::Disjoint).unwrap();
    for bytes in [&b""[..], b"abc", &[0; 17], &[0; 30]] {
        assert!(!asked.relates(bytes, &mut || false), "{bytes:?}");
    }
}
