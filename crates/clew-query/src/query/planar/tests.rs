use super::*;

/// A collection whose parts cannot be taken together.
const OVER_EACH_OTHER: &str =
    "GEOMETRYCOLLECTION (POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0)), POLYGON ((1 1, 3 1, 3 3, 1 3, 1 1)))";

fn relates(one: &str, relation: PlanarRelation, other: &str) -> Option<bool> {
    let [one, other] = [one, other].map(|text| PlanarShape::read(text).unwrap());
    one.relates(relation, &other)
}

#[test]
fn shapes_lie_to_each_other_as_their_points_do() {
    use PlanarRelation::*;
    let square = "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))";
    for (one, other, holding) in [
        (square, "POINT (5 5)", vec![Contains, Intersects]),
        (square, "POINT (10 5)", vec![Touches, Intersects]),
        (square, "POINT (11 5)", vec![]),
        ("POINT (5 5)", square, vec![Intersects, Within]),
        (square, "LINESTRING (-5 5, 5 5)", vec![Crosses, Intersects]),
        (
            square,
            "POLYGON ((5 5, 15 5, 15 15, 5 15, 5 5))",
            vec![Overlaps, Intersects],
        ),
        (
            square,
            "POLYGON ((10 10, 10 0, 0 0, 0 10, 10 10))",
            vec![Equals, Contains, Intersects, Within],
        ),
        (
            "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (2 2, 7 2, 7 7, 2 7, 2 2))",
            "POINT (4 4)",
            vec![],
        ),
        (
            "LINESTRING (0 0, 4 4)",
            "LINESTRING (0 4, 4 0)",
            vec![Crosses, Intersects],
        ),
        // Far outside of what degrees are.
        (
            "POINT (1000 -2000)",
            "POINT (1000 -2000)",
            vec![Equals, Contains, Intersects, Within],
        ),
    ] {
        for relation in [
            Equals, Touches, Overlaps, Crosses, Contains, Intersects, Within,
        ] {
            let want = Some(holding.contains(&relation));
            assert_eq!(
                relates(one, relation, other),
                want,
                "{one} {relation:?} {other}"
            );
        }
    }
}

#[test]
fn of_what_is_no_shape_by_its_edges_little_is_known() {
    let bow = "POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))";
    let several = OVER_EACH_OTHER;
    for shape in [bow, several] {
        let known = |relation| relates(shape, relation, "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0))");
        assert_eq!(known(PlanarRelation::Overlaps), None, "{shape}");
        assert_eq!(known(PlanarRelation::Contains), None, "{shape}");
        assert_eq!(known(PlanarRelation::Intersects), Some(true), "{shape}");
    }
    let valid = PlanarCheck::of(&ShapeTest::IsValid).unwrap();
    assert_eq!(valid.holds(bow), Some(false));
    assert_eq!(valid.holds(several), Some(true));
    assert_eq!(valid.holds("no shape"), None);
}

#[test]
fn collections_whose_parts_lie_apart_are_held_against_others_as_one_shape() {
    use PlanarRelation::{Contains, Crosses, Equals, Overlaps, Touches};
    let square = "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0))";
    // What lies in the area or on the line is not looked at.
    let area = "GEOMETRYCOLLECTION (POINT (1 1), POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0)), LINESTRING (0 0, 2 2))";
    let line = "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 0)), LINESTRING (0 0, 2 0))";
    let areas =
        "GEOMETRYCOLLECTION (POLYGON ((0 0, 1 0, 1 1, 0 0)), POLYGON ((2 2, 3 2, 3 3, 2 2)))";
    for (one, relation, other, want) in [
        (area, Equals, square, Some(true)),
        (area, Contains, areas, Some(true)),
        (
            area,
            Overlaps,
            "POLYGON ((1 1, 5 1, 5 5, 1 5, 1 1))",
            Some(true),
        ),
        (
            area,
            Touches,
            "POLYGON ((3 0, 5 0, 5 3, 3 3, 3 0))",
            Some(true),
        ),
        (area, Touches, "POINT (3 1)", Some(true)),
        (line, Equals, "LINESTRING (0 0, 1 0, 2 0)", Some(true)),
        (line, Crosses, "LINESTRING (1 -1, 1 1)", Some(true)),
        (line, Touches, "LINESTRING (2 0, 3 3)", Some(true)),
        (line, Overlaps, "LINESTRING (1 0, 3 0)", Some(true)),
        (line, Touches, "POINT (1 0)", Some(false)),
        (
            areas,
            Equals,
            "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((2 2, 3 2, 3 3, 2 2)))",
            Some(true),
        ),
        (
            areas,
            Overlaps,
            "POLYGON ((0 0, 1 0, 1 1, 0 0))",
            Some(false),
        ),
        (
            areas,
            Overlaps,
            "POLYGON ((0.5 0, 5 0, 5 1, 0.5 1, 0.5 0))",
            Some(true),
        ),
    ] {
        assert_eq!(
            relates(one, relation, other),
            want,
            "{one} {relation:?} {other}"
        );
    }
}

#[test]
fn collections_of_points_and_of_several_kinds_are_held_against_others() {
    use PlanarRelation::{Contains, Crosses, Equals, Touches, Within};
    let square = "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0))";
    let mixed = "GEOMETRYCOLLECTION (POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0)), LINESTRING (5 5, 6 6), POINT (9 9))";
    let leaves = "GEOMETRYCOLLECTION (POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0)), LINESTRING (1 1, 6 6))";
    for (one, relation, other, want) in [
        (
            "GEOMETRYCOLLECTION (POINT (1 1), POINT (7 7))",
            Crosses,
            square,
            Some(true),
        ),
        (
            "GEOMETRYCOLLECTION (POINT (1 1), POINT (2 2))",
            Equals,
            "MULTIPOINT (2 2, 1 1)",
            Some(true),
        ),
        (mixed, Equals, mixed, Some(true)),
        (mixed, Equals, square, Some(false)),
        (mixed, Contains, "MULTIPOINT (9 9, 1 1)", Some(true)),
        (square, Within, mixed, Some(true)),
        (leaves, Touches, square, None),
        (OVER_EACH_OTHER, Equals, square, None),
    ] {
        assert_eq!(
            relates(one, relation, other),
            want,
            "{one} {relation:?} {other}"
        );
    }
}

#[test]
fn collections_and_rings_that_cross_lie_within_what_all_of_them_lies_in() {
    let square = "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0))";
    let large = "POLYGON ((-1 -1, 5 -1, 5 5, -1 5, -1 -1))";
    // Between the wings of the bow, where its rings do not go.
    let hollow =
        "POLYGON ((-1 -1, 5 -1, 5 5, -1 5, -1 -1), (1.9 3, 2.1 3, 2.1 3.2, 1.9 3.2, 1.9 3))";
    let bow = "POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))";
    let bows = "MULTIPOLYGON (((0 0, 4 4, 4 0, 0 4, 0 0)), ((2 3, 2.2 3, 2.1 3.3, 2 3)))";
    let several = "GEOMETRYCOLLECTION (POINT (1 1), LINESTRING (0 0, 2 2))";
    let beside_inside = format!("GEOMETRYCOLLECTION ({bow}, POINT (4.5 4.5))");
    let beside_outside = format!("GEOMETRYCOLLECTION ({bow}, POINT (2 3.1))");
    for (one, other, want) in [
        (several, square, Some(true)),
        (
            "GEOMETRYCOLLECTION (POINT (0 0), POINT (1 1))",
            square,
            Some(true),
        ),
        (
            "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 1)))",
            square,
            Some(true),
        ),
        (
            "GEOMETRYCOLLECTION (POINT (1 1), POINT (2 9))",
            square,
            Some(false),
        ),
        // Along the edge, with nothing inside.
        (
            "GEOMETRYCOLLECTION (POINT (0 0), LINESTRING (0 0, 3 0))",
            square,
            Some(false),
        ),
        (bow, square, Some(false)),
        (bow, large, Some(true)),
        (bows, large, Some(true)),
        (bow, hollow, None),
        (bow, "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))", Some(true)),
        (beside_inside.as_str(), large, Some(true)),
        (beside_outside.as_str(), hollow, Some(false)),
        // Parts of a collection would have to be taken together.
        ("POLYGON ((1 1, 2 1, 2 2, 1 1))", OVER_EACH_OTHER, None),
        ("POLYGON ((1 1, 2 1, 2 2, 1 1))", several, Some(false)),
    ] {
        assert_eq!(
            relates(one, PlanarRelation::Within, other),
            want,
            "{one} in {other}"
        );
        assert_eq!(
            relates(other, PlanarRelation::Contains, one),
            want,
            "{other} around {one}"
        );
    }
}

#[test]
fn texts_are_written_in_one_way() {
    for (text, want) in [
        ("point(1.50 -2)", "POINT (1.5 -2)"),
        ("POLYGON((0 0,1 0,1 1))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
        ("MULTIPOINT ((1 2), (3 4))", "MULTIPOINT (1 2, 3 4)"),
        (
            "MULTILINESTRING((0 0,1e2 1))",
            "MULTILINESTRING ((0 0, 100 1))",
        ),
        (
            "MultiPolygon (((0 0, 1 0, 1 1, 0 0)))",
            "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))",
        ),
        (
            " GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1)) ",
            "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))",
        ),
    ] {
        let shape = PlanarShape::read(text).unwrap();
        assert_eq!(shape.text(), want, "{text}");
        let again = PlanarShape::read(want).unwrap();
        assert_eq!(again.text(), want);
    }
}

#[test]
fn what_is_no_text_of_a_shape_is_refused() {
    let deep = format!(
        "{}POINT (1 2){}",
        "GEOMETRYCOLLECTION (".repeat(20),
        ")".repeat(20)
    );
    let long = format!("LINESTRING (0 0{})", ", 1 1".repeat(TEXT_BYTES_MAX / 5));
    for wrong in [
        "",
        "POINT",
        "POINT (1)",
        "POINT (1 2",
        "POINT (1 2))",
        "POINT (1 2) POINT (3 4)",
        "POINT (1 2)\0 POINT (3 4)",
        "POINT (x y)",
        "POINT (1e300 2)",
        "POINT (1e999 2)",
        "POINT EMPTY",
        "GEOMETRYCOLLECTION (POINT EMPTY)",
        "POINT Z (1 2 3)",
        "CIRCLE (1 2 3)",
        &deep,
        &long,
    ] {
        let start: String = wrong.chars().take(40).collect();
        assert!(PlanarShape::read(wrong).is_err(), "{start}");
    }
}

#[test]
fn metres_are_along_the_sphere_between_points() {
    let near = |metres: f64| ShapeTest::Near {
        x: 0.0,
        y: 0.0,
        metres,
    };
    for (shape, metres) in [
        ("POINT (0 1)", 111_194.926),
        ("POINT (180 0)", 20_015_086.796),
        ("LINESTRING (1 -1, 1 1)", 111_320.0),
        ("POLYGON ((-1 -1, 1 -1, 1 1, -1 1, -1 -1))", 0.0),
    ] {
        for (by, want) in [(-0.01, false), (0.01, true)] {
            let check = PlanarCheck::of(&near(metres + by)).unwrap();
            assert_eq!(check.holds(shape), Some(want), "{shape} {by}");
        }
    }
}
