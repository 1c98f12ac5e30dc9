//! The life of a build: it shows how far it is, ends when told to, and goes on where it was.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use clew_vector::{
    BuildPhase, BuildProgress, BuildStatus, BuildWatch, Column, ColumnBuilder, ColumnOptions,
    GraphChoice, HnswOptions, ImageOptions, LeftOff, Savepoint, Scratch, SearchRequest, Space,
    VectorError, WriteSavepoint,
};

const ROWS: u32 = 4_000;

fn builder(options: ColumnOptions, rows: u32) -> ColumnBuilder {
    let mut state = 1_u32;
    let mut builder = ColumnBuilder::with_room(options, rows as usize).unwrap();
    for doc in 0..rows {
        let vector: Vec<f32> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 16) as u16)
        })
        .take(options.dimension)
        .collect();
        builder.push(doc, &vector).unwrap();
    }
    builder
}

fn options(dimension: usize) -> ColumnOptions {
    ColumnOptions {
        hnsw: HnswOptions {
            m: 8,
            ef_construction: 40,
        },
        ..ColumnOptions::new(dimension, Space::L2)
    }
}

fn how(threads: usize) -> ImageOptions {
    ImageOptions {
        graph: GraphChoice::Always,
        seed: 5,
        threads,
    }
}

/// Saves whenever asked, and cancels the build once it has saved often enough.
#[derive(Debug, Default)]
struct Shelf {
    kept: Mutex<Option<Vec<u8>>>,
    progress: Arc<BuildProgress>,
    cancel_at: usize,
    stores: AtomicUsize,
    refused: Mutex<Option<&'static str>>,
    resumed: AtomicUsize,
    /// How far the build was when it saved.
    seen: Mutex<Vec<BuildStatus>>,
}

impl Savepoint for Shelf {
    fn is_due(&self) -> bool {
        true
    }
    fn store(&self, write: WriteSavepoint<'_>) {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        *self.kept.lock().unwrap() = Some(bytes);
        self.seen.lock().unwrap().push(self.progress.status());
        if self.stores.fetch_add(1, Ordering::Relaxed) + 1 == self.cancel_at {
            self.progress.cancel();
        }
    }
    fn load(&self) -> Option<Box<dyn Deref<Target = [u8]>>> {
        let kept = self.kept.lock().unwrap().clone()?;
        Some(Box::new(kept))
    }
    fn refuse(&self, reason: &'static str) {
        *self.refused.lock().unwrap() = Some(reason);
    }
    fn resumed(&self, rows: usize) {
        self.resumed.store(rows, Ordering::Relaxed);
    }
}

/// Builds with a shelf; `cancel_at` 0 lets the build end.
fn build(
    (builder, threads): (ColumnBuilder, usize),
    kept: Option<Vec<u8>>,
    cancel_at: usize,
) -> (Result<Vec<u8>, VectorError>, Arc<Shelf>) {
    let progress = Arc::new(BuildProgress::default());
    let shelf = Arc::new(Shelf {
        kept: Mutex::new(kept),
        progress: progress.clone(),
        cancel_at,
        ..Shelf::default()
    });
    let watch = BuildWatch {
        progress,
        savepoint: Some(shelf.clone()),
    };
    let mut image = Vec::new();
    let built = builder.watched_by(watch).write(how(threads), &mut image);
    (built.map(|()| image), shelf)
}

fn is_cancelled<T>(built: &Result<T, VectorError>) -> bool {
    matches!(built, Err(VectorError::Cancelled))
}

/// Share of the ten nearest that walks find.
fn recall(image: Vec<u8>) -> f64 {
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    let (mut found, mut scratch) = (0, Scratch::default());
    // Threads build another graph each time: of a hundred queries, chance alone may miss two in a hundred more.
    let queries: Vec<u32> = (0..ROWS).step_by(4).collect();
    for &doc in &queries {
        let query = column.vector(doc).unwrap().unwrap().to_vec();
        let request = SearchRequest {
            ef_search: 40,
            ..SearchRequest::new(&query, 10)
        };
        let exact = SearchRequest {
            exact: true,
            ..request
        };
        let docs = |request, scratch: &mut Scratch| -> Vec<u32> {
            let hits = column.search(request, scratch).unwrap().hits;
            hits.iter().map(|hit| hit.doc).collect()
        };
        let truth = docs(&exact, &mut scratch);
        let hits = docs(&request, &mut scratch);
        found += hits.iter().filter(|&doc| truth.contains(doc)).count();
    }
    found as f64 / (10 * queries.len()) as f64
}

#[test]
fn an_interrupted_build_on_one_thread_ends_with_the_very_same_image() {
    for dimension in [16, 96] {
        let make = || builder(options(dimension), ROWS);
        let mut whole = Vec::new();
        make().write(how(1), &mut whole).unwrap();
        let (cut, shelf) = build((make(), 1), None, 20);
        assert!(is_cancelled(&cut));
        let kept = shelf.kept.lock().unwrap().take();
        // And once more, later.
        let (cut, shelf) = build((make(), 1), kept, 10);
        assert!(is_cancelled(&cut));
        let first = shelf.resumed.load(Ordering::Relaxed);
        assert!((1_024..3_000).contains(&first), "{first}");
        let kept = shelf.kept.lock().unwrap().take();
        let (image, shelf) = build((make(), 1), kept, 0);
        assert!(shelf.resumed.load(Ordering::Relaxed) > first);
        assert!(image.unwrap() == whole, "{dimension}");
    }
}

#[test]
fn an_interrupted_build_on_several_threads_finds_as_much() {
    let make = || builder(options(96), ROWS);
    let mut whole = Vec::new();
    make().write(how(1), &mut whole).unwrap();
    let (cut, shelf) = build((make(), 3), None, 8);
    assert!(is_cancelled(&cut));
    let kept = shelf.kept.lock().unwrap().take();
    let (image, shelf) = build((make(), 2), kept, 0);
    assert!(shelf.resumed.load(Ordering::Relaxed) > 1_024);
    let (resumed, whole) = (recall(image.unwrap()), recall(whole));
    assert!(resumed > whole - 0.02, "{resumed} against {whole}");
}

#[test]
fn a_merge_that_starts_from_a_graph_goes_on_too() {
    let mut base = Vec::new();
    builder(options(96), 2_000)
        .write(how(1), &mut base)
        .unwrap();
    let base = Column::open(base).unwrap();
    let merge = |kept, cancel_at| {
        let progress = Arc::new(BuildProgress::default());
        let shelf = Arc::new(Shelf {
            kept: Mutex::new(kept),
            progress: progress.clone(),
            cancel_at,
            ..Shelf::default()
        });
        let watch = BuildWatch {
            progress,
            savepoint: Some(shelf.clone()),
        };
        let mut image = Vec::new();
        let new_doc = |doc: u32| Some(doc);
        let builder = builder(options(96), ROWS).watched_by(watch);
        let built = builder.write_from(how(1), (&base, &new_doc), &mut image);
        (built.map(|()| image), shelf)
    };
    let (whole, _) = merge(None, 0);
    let (cut, shelf) = merge(None, 30);
    assert!(is_cancelled(&cut));
    let kept = shelf.kept.lock().unwrap().take();
    let (image, shelf) = merge(kept.clone(), 0);
    assert!(shelf.resumed.load(Ordering::Relaxed) > 1_024);
    assert!(image.unwrap() == whole.unwrap());
    // Without the graph that it started from, it is another build.
    let (image, shelf) = build((builder(options(96), ROWS), 1), kept, 0);
    image.unwrap();
    assert_eq!(
        *shelf.refused.lock().unwrap(),
        Some("it is of other vectors")
    );
}

#[test]
fn a_graph_that_was_left_off_is_gone_on_from_among_more_vectors() {
    for dimension in [16, 96] {
        let make = || builder(options(dimension), ROWS);
        let left_off = Arc::new(LeftOff::default());
        let progress = Arc::new(BuildProgress::default());
        let shelf = Shelf {
            progress: progress.clone(),
            cancel_at: 20,
            ..Shelf::default()
        };
        let watch = BuildWatch {
            progress,
            savepoint: Some(Arc::new(shelf)),
        };
        let cut = builder(options(dimension), 3_000).watched_by(watch);
        let cut = cut.leaving_off_at(left_off.clone());
        assert!(is_cancelled(&cut.write(how(1), &mut Vec::new())));
        let graph = left_off.take().unwrap();
        assert!(left_off.take().is_none());
        // 1,024 rows, and 20 shares of 64.
        let linked = graph.linked_rows();
        assert!((2_200..=2_304).contains(&linked), "{linked}");
        let (mut whole, mut image) = (Vec::new(), Vec::new());
        make().write(how(1), &mut whole).unwrap();
        // Some documents have gone meanwhile.
        let new_doc = |doc: u32| (!doc.is_multiple_of(7)).then_some(doc);
        make()
            .write_from_unfinished(how(1), (&graph, &new_doc), &mut image)
            .unwrap();
        let (resumed, found) = (recall(image), recall(whole));
        assert!(resumed > found - 0.02, "{resumed} against {found}");
        let mut other = options(dimension);
        other.hnsw.m = 12;
        let (mut anew, mut image) = (Vec::new(), Vec::new());
        builder(other, ROWS).write(how(1), &mut anew).unwrap();
        builder(other, ROWS)
            .write_from_unfinished(how(1), (&graph, &new_doc), &mut image)
            .unwrap();
        assert!(image == anew, "it is of other options: {dimension}");
    }
}

#[test]
fn what_is_damaged_or_of_other_vectors_is_not_used() {
    let make = || builder(options(16), 2_000);
    let mut whole = Vec::new();
    make().write(how(1), &mut whole).unwrap();
    let (_, shelf) = build((make(), 1), None, 3);
    let kept = shelf.kept.lock().unwrap().take().unwrap();
    let mut damaged = kept.clone();
    damaged[5_000] ^= 4;
    let (image, shelf) = build((make(), 1), Some(damaged), 0);
    assert_eq!(
        *shelf.refused.lock().unwrap(),
        Some("its checksum does not match")
    );
    assert!(image.unwrap() == whole);
    for other in [builder(options(16), 1_999), builder(options(17), 2_000)] {
        let (image, shelf) = build((other, 1), Some(kept.clone()), 0);
        image.unwrap();
        assert_eq!(
            *shelf.refused.lock().unwrap(),
            Some("it is of other vectors")
        );
    }
}

#[test]
fn progress_grows_and_a_cancelled_builder_stays_cancelled() {
    let (image, shelf) = build((builder(options(96), ROWS), 1), None, 0);
    image.unwrap();
    let seen = shelf.seen.lock().unwrap().clone();
    let rows: Vec<usize> = seen.iter().map(|status| status.rows_done).collect();
    assert!(rows.is_sorted() && rows.len() > 40, "{rows:?}");
    assert!(
        seen.iter().all(|status| {
            (status.phase, status.rows_total) == (BuildPhase::Link, ROWS as usize)
        })
    );
    assert!(*rows.last().unwrap() > ROWS as usize - 200, "{rows:?}");
    assert_eq!(shelf.progress.status().phase, BuildPhase::Idle);
    shelf.progress.cancel();
    let watch = BuildWatch {
        progress: shelf.progress.clone(),
        savepoint: None,
    };
    let again = builder(options(96), 2_000).watched_by(watch);
    let mut image = Vec::new();
    assert!(is_cancelled(&again.write(how(2), &mut image)));
    assert!(image.is_empty());
}
