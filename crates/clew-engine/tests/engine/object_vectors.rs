//! Vectors of nested objects that come beside their documents: held against plain arithmetic while documents are
//! written, replaced and deleted, segments merged, and the node started again.

use std::collections::BTreeMap;

use bytes::Bytes;
use clew_engine::{
    Action, Effort, FieldValues, NearestRequest, Neighbour, ObjectHits, OpType, Pinned,
    WantedField, WriteOperation,
};
use clew_platform::SimDisk;
use clew_query::{Query, Range};
use clew_schema::{
    FieldKind, FieldSpec, IntegerKind, Mapping, MappingPart, MappingSpec, NestedSettings,
    NestingSpec, ObjectSpec, VectorMapping,
};
use clew_vector::{ColumnOptions, Space};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Node, delete, operation, update};

const DIMENSION: usize = 3;

type Vectors = Vec<Vec<f32>>;

fn mapping(space: Space) -> Mapping {
    let nested = MappingPart::Object(ObjectSpec {
        path: "o".into(),
        dynamic: None,
        enabled: None,
        nesting: NestingSpec::Nested(NestedSettings::default()),
    });
    let vectors = VectorMapping {
        directionless: true,
        ..VectorMapping::new(ColumnOptions::new(DIMENSION, space))
    };
    let mut spec = MappingSpec {
        parts: vec![nested],
        ..MappingSpec::default()
    };
    let long = || FieldKind::Integer(IntegerKind::Long);
    for (path, kind) in [
        ("n", long()),
        ("o.at", long()),
        ("o.v", FieldKind::Vector(vectors)),
    ] {
        spec = spec.with(FieldSpec::new(path, kind));
    }
    Mapping::from_spec(spec).unwrap()
}

fn put(node: &Node, n: usize, vectors: &[Vec<f32>]) -> WriteOperation {
    let field = node.index().mapping().field("o.v").unwrap().id;
    let objects: Vec<Value> = (0..vectors.len()).map(|at| json!({ "at": at })).collect();
    let source = Bytes::from(json!({"n": n, "o": objects}).to_string());
    let action = Action::Index {
        source,
        vectors: vec![(field, vectors.concat().into())],
        op_type: OpType::Index,
    };
    operation(Some(&n.to_string()), action)
}

/// A distance as the engine has it.
fn distance(space: Space, a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let dot: f64 = pairs().map(|(a, b)| a * b).sum();
    let norm = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    match space {
        Space::L2 => pairs().map(|(a, b)| (a - b).powi(2)).sum(),
        Space::Cosine if norm(a) * norm(b) == 0.0 => 0.0,
        Space::Cosine => -dot / norm(a) / norm(b),
        _ => -dot,
    }
}

fn max_sim(space: Space, probe: &[Vec<f32>], objects: &[Vec<f32>]) -> f64 {
    let best = |one: &Vec<f32>| {
        let distances = objects.iter().map(|object| distance(space, one, object));
        distances.fold(f64::INFINITY, f64::min)
    };
    probe.iter().map(best).sum()
}

fn nearest(node: &Node, request: NearestRequest) -> Vec<Neighbour> {
    let answer = node.block_on(node.engine.nearest(request)).unwrap();
    answer.neighbours.into_iter().next().unwrap()
}

/// Everything that is found is right, and all of it is found.
fn check(node: &Node, space: Space, documents: &BTreeMap<usize, Vectors>, probe: &[Vec<f32>]) {
    node.refresh();
    let pinned = node.engine.pin(&[node.index()]).unwrap();
    let few = {
        let mut range = Range::new("n");
        range.lt = Some(json!(7));
        Query::Range(range)
    };
    for (exact, filter) in [(true, None), (false, None), (false, Some(few))] {
        let passes = |n: usize| filter.is_none() || n < 7;
        let mut want: Vec<(f64, usize)> = documents
            .iter()
            .filter(|(n, objects)| passes(**n) && !objects.is_empty())
            .map(|(n, objects)| (max_sim(space, probe, objects), *n))
            .collect();
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        let request = NearestRequest {
            objects: ObjectHits::MaxSim,
            filter: filter.clone(),
            limit: 100,
            effort: Effort {
                exact,
                ..Effort::default()
            },
            ..NearestRequest::new(pinned.clone(), "o.v", vec![probe.concat()])
        };
        let found = nearest(node, request);
        assert_eq!(found.len(), want.len());
        for (hit, (distance, _)) in found.iter().zip(&want) {
            let n: usize = hit.id.parse().unwrap();
            let own = max_sim(space, probe, &documents[&n]);
            assert!(
                (f64::from(hit.distance) - own).abs() < 1e-3,
                "{hit:?} at {own}"
            );
            assert!(
                (f64::from(hit.distance) - distance).abs() < 1e-3,
                "{hit:?} at {distance}"
            );
            assert_eq!(hit.object, None);
        }
        // Each object by itself.
        let base = if space == Space::Cosine { 1.0 } else { 0.0 };
        let mut want: Vec<(f64, usize, usize)> = Vec::new();
        for (n, objects) in documents.iter().filter(|(n, _)| passes(**n)) {
            for (at, object) in objects.iter().enumerate() {
                want.push((base + distance(space, &probe[0], object), *n, at));
            }
        }
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        let request = NearestRequest {
            filter,
            limit: 1_000,
            ..NearestRequest::new(pinned.clone(), "o.v", vec![probe[0].clone()])
        };
        let found = nearest(node, request);
        assert_eq!(found.len(), want.len());
        for (hit, (wanted, ..)) in found.iter().zip(&want) {
            let object = &documents[&hit.id.parse().unwrap()][hit.object.unwrap()];
            let own = base + distance(space, &probe[0], object);
            assert!(
                (f64::from(hit.distance) - own).abs() < 1e-3,
                "{hit:?} at {own}"
            );
            assert!(
                (f64::from(hit.distance) - wanted).abs() < 1e-3,
                "{hit:?} at {wanted}"
            );
        }
    }
    check_parts(node, &pinned, documents, &probe[0]);
}

/// All pages of a search, of so many hits each.
fn paged(node: &Node, request: NearestRequest, size: usize) -> Vec<Neighbour> {
    let pages = node.block_on(node.engine.nearest_pages(request)).unwrap();
    let mut all = Vec::new();
    loop {
        let hits = node.block_on(node.engine.next_page(&pages, size)).unwrap();
        let is_last = hits.len() < size;
        all.extend(hits);
        if is_last {
            return all;
        }
    }
}

/// Page by page each object comes once, at the distances at which they come at once.
fn check_pages(node: &Node, request: &NearestRequest) {
    let told = |hit: Neighbour| (hit.distance, hit.id, hit.object);
    let mut once: Vec<_> = nearest(node, request.clone())
        .into_iter()
        .map(told)
        .collect();
    let mut paged: Vec<_> = paged(node, request.clone(), 7)
        .into_iter()
        .map(told)
        .collect();
    assert!(paged.is_sorted_by(|a, b| a.0 <= b.0));
    for all in [&mut once, &mut paged] {
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then((&a.1, a.2).cmp(&(&b.1, b.2))));
    }
    assert_eq!(paged, once);
}

/// Some of the objects are found alone, and what is told of documents has their vectors in it.
fn check_parts(node: &Node, pinned: &Pinned, documents: &BTreeMap<usize, Vectors>, probe: &[f32]) {
    // Only the first objects of documents.
    let mut first = Range::new("o.at");
    first.lte = Some(json!(0));
    let request = NearestRequest {
        object_filter: Some(Query::Range(first)),
        limit: 1_000,
        ..NearestRequest::new(pinned.clone(), "o.v", vec![probe.to_vec()])
    };
    check_pages(node, &request);
    check_pages(
        node,
        &NearestRequest {
            object_filter: None,
            ..request.clone()
        },
    );
    let found = nearest(node, request);
    let filled = documents.values().filter(|objects| !objects.is_empty());
    assert_eq!(found.len(), filled.count());
    assert!(found.iter().all(|hit| hit.object == Some(0)));
    let ids: Vec<String> = documents.keys().map(ToString::to_string).collect();
    let places = node.block_on(node.engine.places(pinned, &ids)).unwrap();
    let places: Vec<_> = places.into_iter().map(Option::unwrap).collect();
    let wanted = [WantedField::Typed("o.v".into())];
    let read = node.block_on(node.engine.columns(pinned, &places, &wanted));
    let read = read.unwrap();
    let FieldValues::Vectors(vectors) = &read.fields[0] else {
        panic!("vectors are vectors");
    };
    for ((n, objects), read) in documents.iter().zip(vectors) {
        assert_eq!(read.clone().unwrap_or_default(), objects.concat(), "{n}");
        check_source(node, *n, objects);
    }
}

fn check_source(node: &Node, n: usize, objects: &[Vec<f32>]) {
    let document = node.get(&n.to_string()).unwrap();
    let source: Value = serde_json::from_slice(&document.source).unwrap();
    let objects = objects.iter().enumerate();
    let objects: Vec<Value> = objects.map(|(at, v)| json!({"at": at, "v": v})).collect();
    assert_eq!(source, json!({"n": n, "o": objects}), "{n}");
}

#[derive(Clone, Debug)]
enum Step {
    Put(usize, Vectors),
    Delete(usize),
    Touch(usize),
    Refresh,
    Merge,
    Restart,
}

fn vectors() -> impl Strategy<Value = Vectors> {
    let number = prop_oneof![4 => -8_i8..8, 1 => Just(0)].prop_map(|n| f32::from(n) / 4.0);
    prop::collection::vec(prop::collection::vec(number, DIMENSION), 0..5)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..20_usize, vectors()).prop_map(|(n, vectors)| Step::Put(n, vectors)),
        2 => (0..20_usize).prop_map(Step::Delete),
        1 => (0..20_usize).prop_map(Step::Touch),
        2 => Just(Step::Refresh),
        1 => Just(Step::Merge),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn vectors_of_objects_are_found_as_arithmetic_says(
        space in prop_oneof![Just(Space::L2), Just(Space::Cosine), Just(Space::InnerProduct)],
        steps in prop::collection::vec(step(), 1..60),
        probe in vectors().prop_filter("a probe has vectors", |probe| !probe.is_empty()),
    ) {
        let disk = SimDisk::new();
        let mut node = Node::with_mapping(&disk, 2, mapping(space));
        let mut documents: BTreeMap<usize, Vectors> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(n, vectors) => {
                    node.write_one(put(&node, n, &vectors)).unwrap();
                    // Out of the log, or the buffer, before a segment has it.
                    check_source(&node, n, &vectors);
                    documents.insert(n, vectors);
                }
                Step::Delete(n) => {
                    node.write_one(delete(&n.to_string())).unwrap();
                    documents.remove(&n);
                }
                // What is merged into the document comes with its vectors as digits.
                Step::Touch(n) if documents.contains_key(&n) => {
                    node.write_one(update(&n.to_string(), &json!({"n": n, "more": 1}))).unwrap();
                    node.write_one(put(&node, n, &documents[&n])).unwrap();
                    node.write_one(update(&n.to_string(), &json!({"n": n}))).unwrap();
                }
                Step::Touch(_) => {}
                Step::Refresh => node.refresh(),
                Step::Merge => {
                    node.refresh();
                    node.engine.force_merge(&node.index(), 1).unwrap();
                }
                Step::Restart => {
                    drop(node);
                    node = Node::open(&disk).unwrap();
                }
            }
        }
        check(&node, space, &documents, &probe);
        node.engine.force_merge(&node.index(), 1).unwrap();
        check(&node, space, &documents, &probe);
        drop(node);
        check(&Node::open(&disk).unwrap(), space, &documents, &probe);
    }
}

/// Objects of 64 numbers, compared by their products.
fn of_products() -> Mapping {
    let column = ColumnOptions::new(64, Space::InnerProduct);
    let nested = MappingPart::Object(ObjectSpec {
        path: "o".into(),
        dynamic: None,
        enabled: None,
        nesting: NestingSpec::Nested(NestedSettings::default()),
    });
    let vectors = FieldKind::Vector(VectorMapping::new(column));
    let spec = MappingSpec {
        parts: vec![nested],
        ..MappingSpec::default()
    };
    Mapping::from_spec(spec.with(FieldSpec::new("o.v", vectors))).unwrap()
}

#[test]
fn a_graph_finds_the_best_documents_among_many() {
    let disk = SimDisk::new();
    let node = Node::with_mapping(&disk, 1, of_products());
    let mut seed = 7_u64;
    let mut draw = |count: usize| -> Vectors {
        let number = |_| {
            seed = seed
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
        };
        let numbers: Vec<f32> = (0..count * 64).map(number).collect();
        numbers.chunks(64).map(<[f32]>::to_vec).collect()
    };
    let documents: Vec<Vectors> = (0..3_000).map(|n| draw(1 + n % 6)).collect();
    for (n, vectors) in documents.iter().enumerate() {
        let field = node.index().mapping().field("o.v").unwrap().id;
        let objects = vec![json!({}); vectors.len()];
        let action = Action::Index {
            source: Bytes::from(json!({ "o": objects }).to_string()),
            vectors: vec![(field, vectors.concat().into())],
            op_type: OpType::Index,
        };
        node.write_one(operation(Some(&n.to_string()), action))
            .unwrap();
    }
    node.refresh();
    node.engine.force_merge(&node.index(), 1).unwrap();
    let (mut found, mut wanted) = (0, 0);
    for _ in 0..10 {
        let probe = draw(4);
        let mut want: Vec<(f64, usize)> = documents
            .iter()
            .enumerate()
            .map(|(n, objects)| (max_sim(Space::InnerProduct, &probe, objects), n))
            .collect();
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best: Vec<String> = want[..10].iter().map(|(_, n)| n.to_string()).collect();
        let ask = |exact| {
            let pinned = node.engine.pin(&[node.index()]).unwrap();
            let request = NearestRequest {
                objects: ObjectHits::MaxSim,
                effort: Effort {
                    exact,
                    ..Effort::default()
                },
                ..NearestRequest::new(pinned, "o.v", vec![probe.concat()])
            };
            let hits = nearest(&node, request);
            hits.into_iter().map(|hit| hit.id).collect::<Vec<String>>()
        };
        assert_eq!(ask(true), best);
        wanted += best.len();
        found += ask(false).iter().filter(|id| best.contains(id)).count();
    }
    assert!(found * 100 >= wanted * 90, "{found} of {wanted}");
}
