use clew_vector::{Hit, SearchProfile, Strategy};

use super::*;

impl Depth {
    fn shared_out(self, rows: &[usize]) -> Vec<Self> {
        let all = rows.iter().sum();
        rows.iter().map(|&rows| self.of_part(rows, all)).collect()
    }

    /// Parts of a graph each that have as many rows.
    fn parts(self, count: usize) -> Vec<PartDepth> {
        let depths = self.shared_out(&vec![1; count]).into_iter();
        let part = |depth| PartDepth {
            depth,
            has_graph: true,
            is_bounded: false,
        };
        depths.map(part).collect()
    }
}

#[test]
fn a_part_keeps_its_share_and_a_reserve() {
    let whole = Depth::new(10, 64);
    assert_eq!(whole.shared_out(&[5]), [whole]);
    assert_eq!(whole.shared_out(&[5, 0]), [whole, Depth::new(3, 3)]);
    assert_eq!(whole.shared_out(&[7; 18]), [Depth::new(10, 11); 18]);
    assert_eq!(whole.shared_out(&[7; 2]), [Depth::new(10, 47); 2]);
    // Many hits are shared out as candidates are.
    let many = Depth::new(1000, 1000).shared_out(&[1; 10]);
    assert_eq!(many, [Depth::new(123, 123); 10]);
}

#[test]
fn a_part_with_more_than_its_share_of_the_nearest_is_searched_again() {
    let whole = Depth::new(10, 64);
    let short = |depth: Depth, found: &[&'static [f32]]| {
        let part = |scores: &&'static [f32]| SearchedPart {
            whole,
            depth,
            scores,
        };
        let parts: Vec<SearchedPart<'_>> = found.iter().map(part).collect();
        short_parts(&parts, 10)
    };
    let part = Depth::new(10, 11);
    let far = &[0.1; 10];
    let three = &[0.9, 0.9, 0.9, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2];
    let seven = &[0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.2, 0.2, 0.2];
    assert_eq!(short(part, &[three, far, seven]), [(2, whole)]);
    // As deep as it has of the nearest.
    let four = &[0.9, 0.9, 0.9, 0.9, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2];
    let two = &[0.8, 0.8, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1];
    let deeper = Depth::new(10, 52);
    assert_eq!(short(part, &[four, two, two, two]), [(0, deeper)]);
    assert_eq!(short(part, &[far, &[0.9; 10]]), [(1, whole)]);
    // What has fewer than it was asked for has no more.
    assert_eq!(short(part, &[far, &[0.9; 9]]), []);
    // Deep enough for what it has, and as deep as the whole.
    assert_eq!(short(Depth::new(10, 47), &[three, seven]), []);
    assert_eq!(short(whole, &[far, &[0.9; 10]]), []);
    // All hits of a part are among the nearest.
    let threes: &[&[f32]] = &[&[0.9; 3], &[0.5; 3], &[0.3; 3], &[0.1; 3]];
    let all = [(0, whole), (1, whole), (2, whole)];
    assert_eq!(short(Depth::new(3, 60), threes), all);
}

#[test]
fn parts_find_what_the_whole_does_wherever_the_nearest_lie() {
    const ROWS: usize = 2_000;
    let whole = Depth::new(100, 100);
    for parts in [1, 2, 18] {
        // Row n lies at distance n. A search finds the nearest of its part.
        let by_chance = |row: usize| row * 7919 % parts;
        let in_order = |row: usize| row * parts / ROWS;
        for part_of in [&by_chance as &dyn Fn(usize) -> usize, &in_order] {
            let mut kept = 0;
            let found = search_parts((whole, &whole.parts(parts)), (1, &[]), |part, questions| {
                let depth = questions[0].depth;
                kept += depth.candidates;
                let rows = (0_u16..)
                    .take(ROWS)
                    .filter(|&row| part_of(row.into()) == part);
                let hits = rows.take(depth.hits).map(|row| Hit {
                    doc: row.into(),
                    distance: row.into(),
                    score: 0.0,
                });
                let outcome = SearchOutcome {
                    hits: hits.collect(),
                    strategy: Strategy::Graph,
                    distances: 0,
                    profile: SearchProfile::default(),
                };
                Ok::<_, ()>(vec![outcome])
            });
            let found = found.unwrap().into_iter().flatten();
            let mut docs: Vec<u32> = found
                .flat_map(|found| found.hits)
                .map(|hit| hit.doc)
                .collect();
            docs.sort_unstable();
            assert!(docs.iter().copied().take(100).eq(0..100), "{parts} parts");
            assert!(
                kept <= 10 * whole.candidates,
                "{kept} candidates of {parts} parts"
            );
        }
    }
}
