//! Columns whose structure is chosen by what searches cost: whichever it is, they answer as the graph that was asked for.
//!
//! Which one is faster depends on the machine, so what is asserted of lists is asserted of a column that has kept them,
//! and most is asserted of either.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, Element, Filter, GraphChoice, ImageOptions, Method,
    Scratch, SearchRequest, Space,
};

use crate::lists::{clustered, docs, exact};

const DIMENSION: usize = 48;
/// More than the bytes from which on a column has a structure.
const COUNT: usize = 16_000;
const HOW: ImageOptions = ImageOptions {
    graph: GraphChoice::WhenWorthIt,
    seed: 5,
    threads: 1,
};

fn options(exact_structure: bool) -> ColumnOptions {
    ColumnOptions {
        exact_structure,
        ..ColumnOptions::new(DIMENSION, Space::L2)
    }
}

fn builder(options: ColumnOptions, rows: &[Vec<f32>]) -> ColumnBuilder {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, row) in (0_u32..).zip(rows) {
        builder.push(doc, row).unwrap();
    }
    builder
}

fn column(options: ColumnOptions, rows: &[Vec<f32>]) -> Column<Vec<u8>> {
    let mut image = Vec::new();
    builder(options, rows).write(HOW, &mut image).unwrap();
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    column
}

/// Vectors, queries, and the column that was free to choose.
type Shared = (Vec<Vec<f32>>, Vec<Vec<f32>>, Column<Vec<u8>>);

fn shared() -> &'static Shared {
    static SHARED: LazyLock<Shared> = LazyLock::new(|| {
        let (rows, queries) = clustered(COUNT, DIMENSION, 3);
        let column = column(options(false), &rows);
        (rows, queries, column)
    });
    &SHARED
}

fn recall<'a>(
    column: &Column<Vec<u8>>,
    queries: &'a [Vec<f32>],
    how: impl Fn(&mut SearchRequest<'a>),
) -> f64 {
    let (mut found, mut wanted) = (0, 0);
    for query in queries {
        let mut request = SearchRequest::new(query, 10);
        how(&mut request);
        let hits = docs(&column.search(&request, &mut Scratch::default()).unwrap());
        let truth = docs(&exact(column, &request));
        wanted += truth.len();
        found += truth.iter().filter(|doc| hits.contains(doc)).count();
    }
    found as f64 / wanted as f64
}

#[test]
fn the_cheaper_structure_is_kept_and_what_was_asked_for_is_remembered() {
    let (_, _, column) = shared();
    let choice = column.choice().unwrap();
    assert_eq!(column.options(), &options(false));
    assert_eq!(choice.rows as usize, COUNT);
    assert!(choice.graph_ns > 0.0 && choice.lists_ns > 0.0, "{choice:?}");
    assert_eq!(column.has_lists(), choice.is_for_lists());
    assert_eq!(column.has_graph(), !choice.is_for_lists());
}

#[test]
fn whoever_insists_gets_what_is_named() {
    let (rows, ..) = shared();
    let named = column(options(true), rows);
    assert!(named.has_graph() && named.choice().is_none());
    assert!(named.options().exact_structure);
    // Documents of several vectors are not found by lists, and bits have none.
    let several = ColumnOptions {
        multi: true,
        ..options(false)
    };
    let several = column(several, rows);
    assert!(several.has_graph() && several.choice().is_none());
    let bits = ColumnOptions {
        element: Element::Bit,
        ..ColumnOptions::new(8, Space::Hamming)
    };
    let rows: Vec<Vec<f32>> = rows[..64].iter().map(|_| vec![1.0]).collect();
    assert!(column(bits, &rows).choice().is_none());
}

#[test]
fn more_effort_finds_more_and_a_target_is_met() {
    let (rows, queries, free) = shared();
    let graph = column(options(true), rows);
    let with = |column, ef| recall(column, queries, |request| request.ef_search = ef);
    let mut last = 0.0;
    for ef in [10, 40, 160] {
        let found = with(free, ef);
        assert!(found >= last - 0.01, "ef {ef}: {found} after {last}");
        // An effort means what it means for a graph.
        assert!(found > with(&graph, ef) - 0.06, "ef {ef}: {found}");
        last = found;
    }
    for target in [0.9, 0.95, 0.99] {
        let found = recall(free, queries, |request| {
            request.target_recall = Some(target)
        });
        assert!(found > f64::from(target) - 0.03, "{target}: {found}");
    }
}

#[test]
fn filters_pages_and_groups_go_through_whatever_is_there() {
    let (_, queries, column) = shared();
    let mut bits = vec![0_u64; COUNT.div_ceil(64)];
    for doc in (0..COUNT).step_by(7) {
        bits[doc / 64] |= 1 << (doc % 64);
    }
    let filter = Filter {
        bits: &bits,
        count: COUNT.div_ceil(7),
    };
    let filtered = recall(column, queries, |request| request.filter = Some(filter));
    assert!(filtered > 0.9, "{filtered}");

    let request = SearchRequest::new(&queries[0], 20);
    let mut pages = column.pages(&request).unwrap();
    let mut seen = Vec::new();
    while !pages.is_done() {
        let page = column.next_page(&mut pages, 20 + seen.len(), &mut Scratch::default());
        seen.extend(docs(&page.unwrap()));
    }
    let all: BTreeSet<u32> = seen.iter().copied().collect();
    assert_eq!((seen.len(), all.len()), (COUNT, COUNT));
    let truth = docs(&exact(column, &SearchRequest::new(&queries[0], 100)));
    let found = truth.iter().filter(|doc| seen[..100].contains(doc)).count();
    assert!(found >= 90, "{found} of the 100 nearest came first");
}

#[test]
fn a_merge_goes_on_from_what_was_chosen_until_the_column_has_grown() {
    let (rows, queries, column) = shared();
    let (more, _) = clustered(2 * COUNT, DIMENSION, 4);
    let merged = |extra: &[Vec<f32>]| {
        let all: Vec<Vec<f32>> = rows.iter().chain(extra).cloned().collect();
        let mut image = Vec::new();
        builder(options(false), &all)
            .write_from(HOW, (column, &Some), &mut image)
            .unwrap();
        Column::open(image).unwrap()
    };
    let grown = merged(&more[..COUNT / 4]);
    grown.verify().unwrap();
    assert_eq!(grown.choice(), column.choice(), "nothing was measured anew");
    assert_eq!(grown.has_lists(), column.has_lists());
    assert_eq!(grown.options().method, Method::Graph);
    let before = recall(column, queries, |_| {});
    let after = recall(&grown, queries, |_| {});
    assert!(after > before - 0.03, "{after} after {before}");
}

/// A few clusters, each of more rows than are asked for: what is near is in more lists than one.
#[test]
fn many_hits_are_found_as_well_as_few() {
    let (all, queries) = clustered(12_500, 512, 9);
    let of_few = |at: usize| at * 7 % 40 < 8;
    let rows: Vec<Vec<f32>> = (0..)
        .zip(&all)
        .filter(|(at, _)| of_few(*at))
        .map(|(_, row)| row.clone())
        .collect();
    let queries = (12_500..).zip(&queries).filter(|(at, _)| of_few(*at));
    let queries: Vec<Vec<f32>> = queries.map(|(_, query)| query.clone()).collect();
    let options = ColumnOptions::new(512, Space::L2);
    let column = column(options, &rows);
    for k in [10, 30, 100, 200] {
        let (mut found, mut wanted) = (0_u32, 0_u32);
        for query in &queries {
            let request = SearchRequest::new(query, k);
            let hits = docs(&column.search(&request, &mut Scratch::default()).unwrap());
            for doc in docs(&exact(&column, &request)) {
                wanted += 1;
                found += u32::from(hits.contains(&doc));
            }
        }
        let share = f64::from(found) / f64::from(wanted);
        assert!(share > 0.9, "{share} of {k}: {:?}", column.choice());
    }
}
