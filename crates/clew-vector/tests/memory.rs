//! What a build is said to need, beside what an allocator counts. A program of its own, since the
//! allocator counts for all threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::alloc::System;
use std::io::sink;

use clew_platform::{PeakAllocator, live_bytes, peak_bytes, restart_peak};
use clew_vector::{
    CodeBits, ColumnBuilder, ColumnOptions, Element, GraphChoice, HnswOptions, ImageOptions,
    IvfOptions, ListCodes, Method, Space, memory_needed,
};

#[global_allocator]
static ALLOCATOR: PeakAllocator<System> = PeakAllocator(System);

fn vectors(options: &ColumnOptions, rows: usize) -> Vec<Vec<f32>> {
    let mut state = 1_u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 25) as u8) - 64.0
    };
    let numbers = options.element.numbers(options.dimension);
    std::iter::repeat_with(|| std::iter::repeat_with(&mut number).take(numbers).collect())
        .take(rows)
        .collect()
}

fn check(options: ColumnOptions, rows: usize, (graph, threads): (GraphChoice, usize)) {
    let vectors = vectors(&options, rows);
    let before = live_bytes();
    restart_peak();
    let mut builder = ColumnBuilder::with_room(options, rows).unwrap();
    for (doc, vector) in (0_u32..).zip(&vectors) {
        builder.push(doc, vector).unwrap();
    }
    let how = ImageOptions {
        graph,
        seed: 1,
        threads,
    };
    builder.write(how, &mut sink()).unwrap();
    let taken = (peak_bytes() - before) as f64;
    let needed = memory_needed(&options, rows, graph) as f64;
    let ratio = needed / taken;
    assert!(
        (1.0..1.15).contains(&ratio),
        "{ratio}: {needed} and not {taken} bytes for {options:?}, {graph:?}"
    );
}

/// One test, so that no other one allocates meanwhile.
#[test]
fn a_build_takes_what_it_is_said_to_need() {
    let hnsw = |m| HnswOptions {
        m,
        ef_construction: 16,
    };
    let plain = ColumnOptions {
        hnsw: hnsw(16),
        ..ColumnOptions::new(128, Space::L2)
    };
    let rows = 12_000;
    for threads in [1, 2] {
        check(plain, rows, (GraphChoice::Always, threads));
    }
    check(plain, rows, (GraphChoice::Never, 1));
    // A graph and lists beside it.
    check(plain, rows, (GraphChoice::WhenWorthIt, 1));
    let others = [
        ColumnOptions {
            hnsw: hnsw(8),
            space: Space::Cosine,
            ..plain
        },
        ColumnOptions {
            element: Element::F16,
            code_bits: CodeBits::Eight,
            ..plain
        },
        ColumnOptions {
            element: Element::I8,
            code_bits: CodeBits::One,
            ..plain
        },
        ColumnOptions {
            hnsw: hnsw(32),
            ..ColumnOptions::new(16, Space::L2)
        },
    ];
    let lists = |codes| ColumnOptions {
        method: Method::Lists(IvfOptions { lists: 0, codes }),
        ..plain
    };
    for options in [lists(ListCodes::Chosen), lists(ListCodes::Product)] {
        check(options, rows, (GraphChoice::Always, 1));
    }
    for options in others {
        check(options, rows, (GraphChoice::Always, 1));
    }
}
