//! How lists are built and merged, and of what they are not.

use clew_vector::{
    ColumnBuilder, ColumnOptions, Element, ErrorKind, ImageOptions, IvfOptions, LISTS_MAX,
    ListCodes, Method, Space,
};

use super::{HOW, builder, clustered, image, open, options, recall, requests};

#[test]
fn the_same_seed_gives_the_same_image_on_any_number_of_threads() {
    let (rows, _) = clustered(3_000, 64, 8);
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let options = options(64, Space::Cosine, codes);
        let write = |how: ImageOptions| {
            let mut image = Vec::new();
            builder(options, &rows).write(how, &mut image).unwrap();
            image
        };
        let one = write(HOW);
        assert!(one == write(HOW), "{codes:?}");
        assert!(
            one == write(ImageOptions { threads: 3, ..HOW }),
            "{codes:?}"
        );
        assert!(one != write(ImageOptions { seed: 12, ..HOW }), "{codes:?}");
    }
}

#[test]
fn a_merge_keeps_lists_that_fit_and_forms_others_that_do_not() {
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let (rows, queries) = clustered(9_000, 64, 9);
        let options = options(64, Space::L2, codes);
        let base = open(image(options, &rows[..6_000]));
        let merge = |rows: &[Vec<f32>], how: ImageOptions, new_doc: &dyn Fn(u32) -> Option<u32>| {
            let mut image = Vec::new();
            let from = (&base, new_doc);
            builder(options, rows)
                .write_from(how, from, &mut image)
                .unwrap();
            open(image)
        };
        let other_seed = ImageOptions { seed: 99, ..HOW };

        // Everything is kept, so the seed has nothing to decide: only the header names it.
        let mut same = Vec::new();
        let from = (&base, &Some as &dyn Fn(u32) -> Option<u32>);
        let again = builder(options, &rows[..6_000]);
        again.write_from(other_seed, from, &mut same).unwrap();
        assert!(
            same[448..] == image(options, &rows[..6_000])[448..],
            "{codes:?}"
        );

        // Some are gone, others come.
        let rest = &rows[1_000..];
        let merged = merge(rest, other_seed, &|doc| doc.checked_sub(1_000));
        let found = recall(&merged, requests(&queries, None));
        assert!(found > 0.9, "{codes:?} after a merge: {found}");

        // Quite other vectors: what was learned is thrown away.
        let (strangers, queries) = clustered(6_000, 64, 1_234);
        let far: Vec<Vec<f32>> = strangers
            .iter()
            .map(|row| row.iter().map(|x| 5.0 * x + 3.0).collect())
            .collect();
        let anew = merge(&far, HOW, &|_| None);
        let mut fresh = Vec::new();
        builder(options, &far).write(HOW, &mut fresh).unwrap();
        assert_eq!(anew.len(), 6_000);
        let moved: Vec<Vec<f32>> = queries
            .iter()
            .map(|row| row.iter().map(|x| 5.0 * x + 3.0).collect())
            .collect();
        let (kept, new) = (
            recall(&anew, requests(&moved, None)),
            recall(&open(fresh), requests(&moved, None)),
        );
        assert!((kept - new).abs() < 1e-9, "{kept} {new}");
    }
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    let refused = |options: ColumnOptions, message: &str| {
        let error = ColumnBuilder::new(options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), message);
    };
    refused(
        ColumnOptions {
            element: Element::Bit,
            ..options(64, Space::Hamming, ListCodes::Chosen)
        },
        "vectors of type binary cannot be put into inverted lists",
    );
    refused(
        ColumnOptions {
            method: Method::Lists(IvfOptions {
                lists: LISTS_MAX + 1,
                codes: ListCodes::Chosen,
            }),
            ..ColumnOptions::new(64, Space::L2)
        },
        "lists is 262145, must be from 0 to 262144",
    );
}

/// Written when lists had codes of signs only: 600 vectors of 8 dimensions around 20 centres, which got codes of two
/// dimensions since.
#[test]
fn lists_of_signs_of_short_vectors_are_read_and_a_merge_codes_them_anew() {
    let old = open(include_bytes!("../fixtures/lists-of-signs.vec").to_vec());
    assert_eq!(old.list_centres(), None, "nothing names its centres");
    let rows: Vec<Vec<f32>> = (0..600)
        .map(|row| old.vector(row).unwrap().unwrap().into_owned())
        .collect();
    let queries: Vec<Vec<f32>> = rows.iter().step_by(25).cloned().collect();
    let many = || requests(&queries, Some(20));
    assert!(recall(&old, many()) > 0.95);
    let options = options(8, Space::L2, ListCodes::Chosen);
    let mut merged = Vec::new();
    let from = (&old, &Some as &dyn Fn(u32) -> Option<u32>);
    builder(options, &rows)
        .write_from(HOW, from, &mut merged)
        .unwrap();
    assert_eq!(
        merged,
        image(options, &rows),
        "nothing of the signs is kept"
    );
    assert!(recall(&open(merged), many()) > 0.95);
}
