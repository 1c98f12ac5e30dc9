//! Columns drawn at random, beside a search that measures everything.

use proptest::prelude::*;

use super::*;
use crate::header::{HEADER_BYTES, seal};

fn a_space() -> impl Strategy<Value = Space> {
    prop::sample::select(vec![Space::L2, Space::Cosine, Space::InnerProduct])
}

fn a_column() -> impl Strategy<Value = (usize, Space, Vec<(u32, Vec<f32>)>)> {
    (1_usize..20, a_space(), 1_u32..4).prop_flat_map(|(dimension, space, gap)| {
        let number = (1_u16..1_000).prop_map(|hundredths| f32::from(hundredths) / 100.0);
        let vector = prop::collection::vec(number, dimension);
        let rows = prop::collection::vec((0..gap, vector), 0..60);
        rows.prop_map(move |rows| {
            let mut doc = 0;
            let rows = rows.into_iter().map(|(skip, vector)| {
                let own = doc + skip;
                doc = own + 1;
                (own, vector)
            });
            (dimension, space, rows.collect())
        })
    })
}

fn distance(space: Space, a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(x, y)| (f64::from(*x), f64::from(*y)));
    let dot: f64 = pairs().map(|(x, y)| x * y).sum();
    let squares = pairs().fold((0.0, 0.0), |(p, q), (x, y)| (p + x * x, q + y * y));
    match space {
        Space::L2 => pairs().map(|(x, y)| (x - y) * (x - y)).sum(),
        Space::Cosine => 1.0 - dot / (squares.0 * squares.1).sqrt(),
        Space::InnerProduct => -dot,
        Space::Hamming | Space::Jaccard | Space::MinHash8 | Space::MinHash32 | Space::MinHash64 => {
            unreachable!("not drawn")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_was_pushed_comes_back_and_is_ranked_by_distance(
        (dimension, space, rows) in a_column(),
        odd_only in any::<bool>(),
        k in 0_usize..70,
    ) {
        let column = Column::open(image(options(dimension, space), &rows)).unwrap();
        column.verify().unwrap();
        prop_assert_eq!(column.options(), &options(dimension, space));
        prop_assert_eq!(column.docs().collect::<Vec<_>>(), rows.iter().map(|(doc, _)| *doc).collect::<Vec<_>>());
        for (doc, vector) in &rows {
            let kept = column.vector(*doc).unwrap();
            prop_assert_eq!(kept.as_deref(), Some(vector.as_slice()));
        }
        let bits = [0xAAAA_AAAA_AAAA_AAAA; 4];
        let filter = odd_only.then_some(Filter { bits: &bits, count: 128 });
        let query = vec![1.0; dimension];
        let request = SearchRequest {
            ef_search: 10,
            filter,
            ..SearchRequest::new(&query, k)
        };
        let outcome = column.search(&request, &mut Scratch::default()).unwrap();
        let mut expected: Vec<_> = rows
            .iter()
            .filter(|(doc, _)| !odd_only || doc % 2 == 1)
            .map(|(_, vector)| distance(space, &query, vector))
            .collect();
        expected.sort_by(f64::total_cmp);
        expected.truncate(k);
        prop_assert_eq!(outcome.hits.len(), expected.len());
        for (hit, expected) in outcome.hits.iter().zip(expected) {
            let gap = (f64::from(hit.distance) - expected).abs();
            prop_assert!(gap <= 1e-4 * (1.0 + expected.abs()), "{} for {expected}", hit.distance);
        }
    }

    #[test]
    fn damaged_images_never_panic(
        (dimension, space, rows) in a_column(),
        damage in prop::collection::vec((0_usize..600, any::<u8>()), 1..8),
        keep in prop::option::of(0_usize..5_000),
        sealed in any::<bool>(),
    ) {
        let mut bytes = image(options(dimension, space), &rows);
        for (at, value) in damage {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        bytes.truncate(keep.unwrap_or(usize::MAX));
        if sealed {
            seal(&mut bytes, HEADER_BYTES);
        }
        if let Ok(column) = Column::open(bytes) {
            let _ = use_column(&column);
        }
    }

    #[test]
    fn noise_is_not_a_column(bytes in prop::collection::vec(any::<u8>(), 0..1_000)) {
        prop_assert!(Column::open(bytes).is_err());
    }
}
