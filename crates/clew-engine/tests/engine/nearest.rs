//! What is nearest, held against plain arithmetic; and values of fields, held against the documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::{
    DistanceRange, DocPlace, Effort, EngineError, FieldValues, GroupBy, GroupField, GroupKey,
    NearestRequest, Neighbour, ProfileDetail, SearchRequest, Strategy, WantedField,
};
use clew_platform::{SimDisk, SplitMix};
use clew_query::{DerivedScope, Query, Range};
use clew_schema::{DerivedField, FieldKind, MappingSpec, VectorMapping};
use clew_vector::Space;
use serde_json::{Value, json};

use crate::harness::{DIMENSION, Node, delete, everything, knn, source, vector};

const DOCUMENTS: u64 = 120;

/// Several shards and segments, with documents that are gone.
fn filled(disk: &SimDisk) -> (Node, Vec<u64>) {
    let node = Node::with_index(disk, 3);
    let mut living = Vec::new();
    for n in 0..DOCUMENTS {
        node.put(&n.to_string(), &source(n));
        living.push(n);
        if n % 25 == 0 {
            node.refresh();
        }
    }
    node.refresh();
    for n in (0..DOCUMENTS).filter(|n| n % 7 == 0) {
        node.write_one(delete(&n.to_string())).unwrap();
    }
    living.retain(|n| n % 7 != 0);
    node.refresh();
    (node, living)
}

fn squared(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The documents by their distance from a vector.
fn ranked(living: &[u64], query: &[f32]) -> Vec<(f32, String)> {
    let mut ranked: Vec<(f32, String)> = living
        .iter()
        .map(|n| (squared(query, &vector(*n)), n.to_string()))
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked
}

fn request(node: &Node, probes: Vec<Vec<f32>>) -> NearestRequest {
    let pinned = node.engine.pin(&[node.index()]).unwrap();
    NearestRequest::new(pinned, "v", probes)
}

fn nearest(node: &Node, request: NearestRequest) -> Result<Vec<Vec<Neighbour>>, EngineError> {
    node.block_on(node.engine.nearest(request))
        .map(|response| response.neighbours)
}

fn ids(hits: &[Neighbour]) -> Vec<&str> {
    hits.iter().map(|hit| hit.id.as_str()).collect()
}

fn told(ranked: &[(f32, String)]) -> Vec<&str> {
    ranked.iter().map(|(_, id)| id.as_str()).collect()
}

#[test]
fn the_nearest_of_all_shards_are_found_for_each_vector() {
    let (node, living) = filled(&SimDisk::new());
    let probes: Vec<Vec<f32>> = (0..40).map(|n| vector(1000 + n)).collect();
    let found = nearest(
        &node,
        NearestRequest {
            limit: 9,
            offset: 3,
            ..request(&node, probes.clone())
        },
    )
    .unwrap();
    assert_eq!(found.len(), probes.len());
    for (probe, hits) in probes.iter().zip(&found) {
        let want = ranked(&living, probe);
        assert_eq!(ids(hits), told(&want[3..12]));
        for (hit, (distance, _)) in hits.iter().zip(&want[3..]) {
            assert!(
                (hit.distance - distance).abs() <= 1e-3 * distance,
                "{hit:?} is not at {distance}"
            );
        }
    }
}

#[test]
fn filters_and_ranges_leave_as_many_as_there_are() {
    let (node, living) = filled(&SimDisk::new());
    let probe = vector(5000);
    let mut below = Range::new("n");
    below.lt = Some(json!(40));
    let filtered: Vec<u64> = living.iter().copied().filter(|n| *n < 40).collect();
    let asked = NearestRequest {
        limit: 100,
        filter: Some(Query::Range(below)),
        ..request(&node, vec![probe.clone()])
    };
    assert_eq!(
        ids(&nearest(&node, asked).unwrap()[0]),
        told(&ranked(&filtered, &probe))
    );
    let want = ranked(&living, &probe);
    for exact in [false, true] {
        let range = DistanceRange {
            below: want[30].0,
            from: Some(want[10].0),
        };
        let effort = Effort {
            exact,
            ..Effort::default()
        };
        let asked = NearestRequest {
            limit: 100,
            range: Some(range),
            effort,
            ..request(&node, vec![probe.clone()])
        };
        assert_eq!(ids(&nearest(&node, asked).unwrap()[0]), told(&want[10..30]));
    }
}

#[test]
fn groups_are_filled_with_their_nearest() {
    let (node, living) = filled(&SimDisk::new());
    let probe = vector(7000);
    let want = ranked(&living, &probe);
    let mut groups: Vec<(u64, Vec<&str>)> = Vec::new();
    for (_, id) in &want {
        let tag = id.parse::<u64>().unwrap() % 5;
        match groups.iter_mut().find(|(own, _)| *own == tag) {
            Some((_, hits)) if hits.len() < 3 => hits.push(id),
            Some(_) => {}
            None => groups.push((tag, vec![id])),
        }
    }
    let group = GroupBy {
        fields: vec![grouped_by("tag")],
        size: 3,
        strict: true,
    };
    let asked = NearestRequest {
        limit: 3,
        offset: 1,
        group: Some(group),
        ..request(&node, vec![probe])
    };
    let found = nearest(&node, asked).unwrap().remove(0);
    let mut seen: BTreeMap<GroupKey, Vec<&str>> = BTreeMap::new();
    for hit in &found {
        seen.entry(hit.group.clone().unwrap())
            .or_default()
            .push(&hit.id);
    }
    let want: BTreeMap<GroupKey, Vec<&str>> = groups[1..4]
        .iter()
        .map(|(tag, hits)| (GroupKey::Text(format!("t{tag}")), hits.clone()))
        .collect();
    assert_eq!(seen, want);
    let number = GroupBy {
        fields: vec![grouped_by("n")],
        size: 1,
        strict: false,
    };
    let asked = NearestRequest {
        limit: 4,
        group: Some(number),
        ..request(&node, vec![vector(7000)])
    };
    assert_eq!(nearest(&node, asked).unwrap()[0].len(), 4);
}

#[test]
fn hits_of_a_group_by_two_fields_have_both_values_in_common() {
    let (node, living) = filled(&SimDisk::new());
    let want = ranked(&living, &vector(7000));
    let group = GroupBy {
        fields: vec![grouped_by("tag"), grouped_by("n")],
        size: 2,
        strict: false,
    };
    let asked = NearestRequest {
        limit: 6,
        group: Some(group),
        ..request(&node, vec![vector(7000)])
    };
    let found = nearest(&node, asked).unwrap().remove(0);
    // Numbers are different everywhere, so that each group is one document.
    assert_eq!(ids(&found), told(&want[..6]));
    for hit in &found {
        let number: i64 = hit.id.parse().unwrap();
        let key = hit.group.as_ref().unwrap();
        let tag = GroupKey::Text(format!("t{}", number % 5));
        assert_eq!(key.of_field(0), Some(&tag));
        assert_eq!(key.of_field(1), Some(&GroupKey::Integer(number)));
        assert_eq!(key.of_field(2), None);
    }
}

fn grouped_by(path: &str) -> GroupField {
    GroupField {
        path: path.to_string(),
        inside: None,
        missing: GroupKey::Missing,
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (node, _) = filled(&SimDisk::new());
    let wrong = [
        request(&node, vec![vec![1.0; DIMENSION + 1]]),
        NearestRequest {
            limit: 0,
            ..request(&node, vec![vector(1)])
        },
        NearestRequest {
            offset: 16_384,
            ..request(&node, vec![vector(1)])
        },
        NearestRequest {
            field: "tag".to_string(),
            ..request(&node, vec![vector(1)])
        },
    ];
    for asked in wrong {
        let refused = nearest(&node, asked).unwrap_err();
        assert!(
            matches!(refused, EngineError::InvalidRequest { .. }),
            "{refused}"
        );
    }
    let unmapped = NearestRequest {
        field: "nothing".to_string(),
        ..request(&node, vec![vector(1)])
    };
    assert_eq!(nearest(&node, unmapped).unwrap(), [vec![]]);
}

/// Gives the field `v` another space, as a later mapping does.
fn give_space(node: &Node, space: Space) {
    let mapping = node.index().mapping();
    let FieldKind::Vector(before) = mapping.field("v").unwrap().kind.clone() else {
        panic!("v is a vector");
    };
    let mut column = before.column;
    column.space = space;
    let spec = MappingSpec {
        columns: vec![("v".to_string(), VectorMapping { column, ..before })],
        ..MappingSpec::default()
    };
    node.engine
        .put_mapping(&everything(), &node.index(), spec)
        .unwrap();
}

#[test]
fn a_field_that_gets_another_space_is_searched_in_it_before_and_after_it_is_written_anew() {
    let disk = SimDisk::new();
    let (node, living) = filled(&disk);
    give_space(&node, Space::InnerProduct);
    let probe = vector(9000);
    let product = |n: &u64| -> f32 { probe.iter().zip(vector(*n)).map(|(a, b)| a * b).sum() };
    let mut want = living.clone();
    want.sort_by(|a, b| product(b).total_cmp(&product(a)));
    let want: Vec<String> = want.iter().take(10).map(ToString::to_string).collect();
    let check = |node: &Node| {
        let found = nearest(node, request(node, vec![probe.clone()])).unwrap();
        assert_eq!(ids(&found[0]), want);
        // Neighbours that OpenSearch's clause finds are in the same space.
        let knn = clew_query::KnnQuery {
            field: "v".to_string(),
            vector: probe.clone(),
            k: Some(10),
            ef_search: None,
            probes: None,
            target_recall: None,
            oversample: None,
            expand_nested: false,
            ignore_unmapped: false,
            filter: None,
            min_score: None,
            max_distance: None,
            boost: 1.0,
        };
        let hits = node.hits(Query::Knn(knn), 10);
        let hits: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(hits, want);
    };
    check(&node);
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert_eq!(node.index().rows_to_rewrite(), 0);
    check(&node);
    node.engine.close().unwrap();
    drop(node);
    check(&Node::open(&disk).unwrap());
}

#[test]
fn what_was_written_after_a_field_got_another_space_is_searched_in_it_after_a_crash() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    give_space(&node, Space::InnerProduct);
    for n in 0..30 {
        node.put(&n.to_string(), &source(n));
    }
    // No flush: all of it is read from the log again.
    let node = Node::open(&disk.crashed(1)).unwrap();
    let probe = vector(9000);
    let product = |n: &u64| -> f32 { probe.iter().zip(vector(*n)).map(|(a, b)| a * b).sum() };
    let mut want: Vec<u64> = (0..30).collect();
    want.sort_by(|a, b| product(b).total_cmp(&product(a)));
    let want: Vec<String> = want.iter().take(10).map(ToString::to_string).collect();
    let found = nearest(&node, request(&node, vec![probe.clone()])).unwrap();
    assert_eq!(ids(&found[0]), want);
}

#[test]
fn columns_hold_what_documents_do() {
    let (node, living) = filled(&SimDisk::new());
    let pinned = node.engine.pin(&[node.index()]).unwrap();
    let mut asked: Vec<String> = living.iter().rev().map(ToString::to_string).collect();
    asked.push("gone".to_string());
    let places = node.block_on(node.engine.places(&pinned, &asked)).unwrap();
    assert_eq!(places.last(), Some(&None));
    let places: Vec<DocPlace> = places.into_iter().flatten().collect();
    assert_eq!(places.len(), living.len());
    let wanted = [
        WantedField::Typed("n".into()),
        WantedField::Typed("tag".into()),
        WantedField::Typed("v".into()),
        WantedField::Typed("text".into()),
        WantedField::Json("n".into()),
        WantedField::Typed("nothing".into()),
    ];
    let read = node
        .block_on(node.engine.columns(&pinned, &places, &wanted))
        .unwrap();
    let [
        FieldValues::Integers(numbers),
        FieldValues::Texts(tags),
        FieldValues::Vectors(vectors),
        FieldValues::Json(texts),
        FieldValues::Json(again),
        FieldValues::Json(nothing),
    ] = &read.fields[..]
    else {
        panic!("other kinds of values: {:?}", read.fields);
    };
    for (at, n) in living.iter().rev().enumerate() {
        let document = source(*n);
        let json = |value: &Option<Box<serde_json::value::RawValue>>| -> Value {
            value.as_ref().map_or(Value::Null, |json| {
                serde_json::from_str(json.get()).unwrap()
            })
        };
        assert_eq!(pinned.id_at(places[at]).unwrap(), n.to_string());
        assert_eq!(numbers[at].map(Value::from), Some(document["n"].clone()));
        assert_eq!(tags[at].as_deref(), document["tag"].as_str());
        assert_eq!(vectors[at].as_ref(), Some(&vector(*n)));
        assert_eq!(json(&texts[at]), document["text"]);
        assert_eq!(json(&again[at]), document["n"]);
        assert!(nothing[at].is_none());
    }
    let ids = pinned.ids_at(places.iter().copied()).unwrap();
    assert_eq!(ids, asked[..living.len()]);
    let elsewhere = Node::with_index(&SimDisk::new(), 1);
    let other = elsewhere.engine.pin(&[elsewhere.index()]).unwrap();
    let refused = elsewhere.block_on(elsewhere.engine.columns(&other, &places, &wanted));
    assert!(matches!(
        refused.unwrap_err(),
        EngineError::InvalidRequest { .. }
    ));
}

/// All pages, of so many hits each.
fn paged(node: &Node, request: NearestRequest, size: usize) -> Vec<Neighbour> {
    let engine = &node.engine;
    let pages = node.block_on(engine.nearest_pages(request)).unwrap();
    let mut all = Vec::new();
    loop {
        let hits = node.block_on(engine.next_page(&pages, size)).unwrap();
        assert!(hits.is_sorted_by(|a, b| a.distance <= b.distance));
        let is_last = hits.len() < size;
        all.extend(hits);
        if is_last {
            let none = node.block_on(engine.next_page(&pages, size)).unwrap();
            assert_eq!(none, []);
            return all;
        }
    }
}

#[test]
fn pages_have_every_document_once_in_the_order_of_one_search() {
    let (node, living) = filled(&SimDisk::new());
    let probe = vector(8000);
    let want = ranked(&living, &probe);
    for size in [1, 7, 50, 1_000] {
        let found = paged(&node, request(&node, vec![probe.clone()]), size);
        assert_eq!(ids(&found), told(&want), "pages of {size}");
    }
    let mut below = Range::new("n");
    below.lt = Some(json!(60));
    let filtered: Vec<u64> = living.iter().copied().filter(|n| *n < 60).collect();
    let want = ranked(&filtered, &probe);
    let asked = NearestRequest {
        filter: Some(Query::Range(below)),
        range: Some(DistanceRange {
            below: want[40].0,
            from: Some(want[3].0),
        }),
        ..request(&node, vec![probe])
    };
    assert_eq!(ids(&paged(&node, asked, 6)), told(&want[3..40]));
}

#[test]
fn pages_see_what_was_pinned_whatever_happens_meanwhile_and_equal_distances_come_once() {
    let node = Node::with_index(&SimDisk::new(), 2);
    for n in 0..90 {
        // Thirty documents at each of three distances.
        let mut same = source(n);
        same["v"] = json!(vector(n % 3));
        node.put(&n.to_string(), &same);
        if n % 20 == 0 {
            node.refresh();
        }
    }
    node.refresh();
    let engine = &node.engine;
    let asked = request(&node, vec![vector(1)]);
    let pages = node.block_on(engine.nearest_pages(asked)).unwrap();
    let mut seen = Vec::new();
    for page in 0..13 {
        let hits = node.block_on(engine.next_page(&pages, 7)).unwrap();
        assert_eq!(hits.len(), if page < 12 { 7 } else { 6 });
        seen.extend(hits.into_iter().map(|hit| hit.id));
        node.write_one(delete(&(page * 5).to_string())).unwrap();
        node.put(&format!("new{page}"), &source(1));
        node.refresh();
        node.engine.force_merge(&node.index(), 1).unwrap();
    }
    assert!(
        seen[..30]
            .iter()
            .all(|id| id.parse::<u64>().unwrap() % 3 == 1)
    );
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (90, 90));
}

#[test]
fn pages_do_not_keep_the_filters_that_they_were_asked_with() {
    let (node, living) = filled(&SimDisk::new());
    let fields: Arc<[DerivedField]> = Vec::new().into();
    let filter = Query::Derived(DerivedScope {
        fields: fields.clone(),
        query: Box::new(Query::match_all()),
    });
    let asked = NearestRequest {
        filter: Some(filter),
        ..request(&node, vec![vector(1)])
    };
    let pages = node.block_on(node.engine.nearest_pages(asked)).unwrap();
    assert_eq!(Arc::strong_count(&fields), 1);
    let hits = node.block_on(node.engine.next_page(&pages, 1_000)).unwrap();
    assert_eq!(hits.len(), living.len());
}

#[test]
fn pages_are_booked_and_refused_where_they_make_no_sense() {
    let (node, _) = filled(&SimDisk::new());
    let used = || {
        let memory = node.engine.memory();
        memory.figures(clew_platform::MemoryPurpose::Searches).used
    };
    let before = used();
    let asked = request(&node, vec![vector(1)]);
    let pages = node.block_on(node.engine.nearest_pages(asked)).unwrap();
    let first = node.block_on(node.engine.next_page(&pages, 5)).unwrap();
    assert!(used() > before);
    for limit in [0, 16_385] {
        let refused = node.block_on(node.engine.next_page(&pages, limit));
        assert!(matches!(refused, Err(EngineError::InvalidRequest { .. })));
    }
    // What is refused is not lost.
    let second = node.block_on(node.engine.next_page(&pages, 5)).unwrap();
    let both = NearestRequest {
        limit: 10,
        ..request(&node, vec![vector(1)])
    };
    assert_eq!([first, second].concat(), nearest(&node, both).unwrap()[0]);
    drop(pages);
    assert_eq!(used(), before);
    let several = request(&node, vec![vector(1), vector(2)]);
    let skipping = NearestRequest {
        offset: 3,
        ..request(&node, vec![vector(1)])
    };
    for wrong in [several, skipping] {
        let refused = node.block_on(node.engine.nearest_pages(wrong));
        assert!(matches!(refused, Err(EngineError::InvalidRequest { .. })));
    }
}

#[test]
fn small_shards_answer_a_clause_as_when_it_is_compiled_and_collected() {
    let (node, living) = filled(&SimDisk::new());
    // Two more at one place: those of equal scores come in one order.
    node.put("a", &source(1));
    node.put("b", &source(1));
    node.refresh();
    let mut below = Range::new("n");
    below.lt = Some(json!(60));
    let few = Query::Range(below);
    for (k, size, boost) in [
        (1, 1, 1.0),
        (5, 5, 2.5),
        (40, 10, 1.0),
        (10, 40, 0.5),
        (500, 500, 1.0),
    ] {
        for (probe, filter) in [
            (1, None),
            (1, Some(&few)),
            (3_000, None),
            (3_000, Some(&few)),
        ] {
            let mut query = knn(vector(probe), k, filter.cloned());
            if let Query::Knn(clause) = &mut query {
                clause.boost = boost;
            }
            let run = |profile| {
                let request = node.search_request(query.clone(), size);
                let found = node.run(SearchRequest { profile, ..request }).unwrap();
                let hits = found.hits.iter();
                let hits: Vec<_> = hits.map(|hit| (hit.id.clone(), hit.score)).collect();
                (hits, found.total, found.max_score, found.timed_out)
            };
            let collected = run(ProfileDetail::Everything);
            assert_eq!(run(ProfileDetail::Nothing), collected, "{k} {size}");
            assert_eq!(run(ProfileDetail::Phases), collected, "{k} {size}");
            assert!(!collected.0.is_empty() && collected.0.len() <= living.len() + 2);
        }
    }
}

/// A vector near one of twenty corners.
fn clustered(n: u64) -> Vec<f32> {
    let mut corner = SplitMix::new(n % 20);
    let mut own = SplitMix::new(1_000 + n);
    (0..1_024)
        .map(|_| (corner.unit() + 0.5 * own.unit()) as f32)
        .collect()
}

/// Shards with a column of lists each.
fn listed(shards: u32, rows: &[Vec<f32>]) -> Node {
    let method = json!({"name": "ivf", "engine": "faiss", "space_type": "l2"});
    let field = json!({"type": "knn_vector", "dimension": 1_024, "method": method});
    let fields = json!({"properties": {"v": field, "n": {"type": "integer"}}});
    let mapping = clew_opensearch_mapping::mapping(fields);
    let node = Node::with_mapping(&SimDisk::new(), shards, mapping);
    for (n, row) in rows.iter().enumerate() {
        node.put(&n.to_string(), &json!({"v": row, "n": n}));
    }
    node.refresh();
    node.engine.force_merge(&node.index(), 1).unwrap();
    node
}

#[test]
fn shards_form_lists_around_the_same_centres_and_find_together_what_one_does() {
    const K: usize = 10;
    const ROWS: u64 = 1_300;
    let rows: Vec<Vec<f32>> = (0..ROWS).map(clustered).collect();
    let nearest_ids = |query: &[f32]| -> Vec<String> {
        let distances: Vec<f32> = rows.iter().map(|row| squared(query, row)).collect();
        let mut nearest: Vec<usize> = (0..rows.len()).collect();
        nearest.sort_by(|a, b| distances[*a].total_cmp(&distances[*b]));
        nearest[..K].iter().map(usize::to_string).collect()
    };
    let recall_of = |shards: u32| {
        let node = listed(shards, &rows);
        let segments: Vec<_> = node.index().segments().into_iter().flatten().collect();
        let columns: Vec<_> = segments.iter().flat_map(|one| &one.vectors).collect();
        assert_eq!(columns.len(), shards as usize);
        assert!(columns.iter().all(|column| column.has_lists), "{columns:?}");
        let centres = columns[0].list_centres;
        assert!(centres.is_some());
        assert!(columns.iter().all(|column| column.list_centres == centres));
        let found = (0..40).map(|n| {
            let query = clustered(ROWS + n);
            let nearest = nearest_ids(&query);
            let hits = node.hits(knn(query, K, None), K);
            hits.iter().filter(|hit| nearest.contains(&hit.id)).count()
        });
        found.sum::<usize>() as f64 / (40 * K) as f64
    };
    let (one, two) = (recall_of(1), recall_of(2));
    assert!(two >= one - 0.02, "{two}, and one shard {one}");
    assert!(one >= 0.9, "{one}");
}

#[test]
fn shards_with_the_same_centres_are_searched_at_once_for_what_lives_and_passes() {
    const K: usize = 10;
    const ROWS: u64 = 1_300;
    let rows: Vec<Vec<f32>> = (0..ROWS).map(clustered).collect();
    let node = listed(2, &rows);
    let is_alive = |n: u64| !n.is_multiple_of(3);
    let query = clustered(ROWS);
    let check = |is_hit: &dyn Fn(u64) -> bool, found: &[String]| {
        let ranked = |n: u64| (squared(&query, &rows[n as usize]), n.to_string());
        let mut want: Vec<(f32, String)> = (0..ROWS).filter(|&n| is_hit(n)).map(ranked).collect();
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        want.truncate(K);
        assert_eq!(found.len(), K);
        assert!(found.iter().all(|id| is_hit(id.parse().unwrap())));
        let of_want = found.iter().filter(|id| told(&want).contains(&id.as_str()));
        assert!(of_want.count() >= K - 2, "{found:?} {want:?}");
    };
    let profiled = || {
        let request = SearchRequest {
            profile: ProfileDetail::Everything,
            ..node.search_request(knn(query.clone(), K, None), K)
        };
        let found = node.run(request).unwrap();
        // Each column has those of its hits that are among the nearest of all.
        assert_eq!(found.knn.len(), 2);
        assert!(found.knn.iter().all(|one| one.strategy == Strategy::Lists));
        let hits: usize = found.knn.iter().map(|one| one.hits).sum();
        assert_eq!(hits, K);
        assert_eq!(found.total.unwrap().value, 2 * K as u64);
        let ids = found.hits.iter().map(|hit| hit.id.clone());
        ids.collect::<Vec<String>>()
    };
    let nearest_ids = |filter: Option<Query>| {
        let asked = NearestRequest {
            filter,
            limit: K,
            ..request(&node, vec![query.clone()])
        };
        let found = nearest(&node, asked).unwrap();
        let ids = found[0].iter().map(|hit| hit.id.clone());
        ids.collect::<Vec<String>>()
    };
    check(&|_| true, &profiled());
    assert_eq!(nearest_ids(None), profiled());
    for n in (0..ROWS).filter(|&n| !is_alive(n)) {
        node.write_one(delete(&n.to_string())).unwrap();
    }
    node.refresh();
    check(&is_alive, &profiled());
    assert_eq!(nearest_ids(None), profiled());
    let mut below = Range::new("n");
    below.lt = Some(json!(900));
    let filter = Query::Range(below);
    let few = nearest_ids(Some(filter.clone()));
    check(&|n| is_alive(n) && n < 900, &few);
    let filtered = node.hits(knn(query.clone(), K, Some(filter)), K);
    let filtered: Vec<String> = filtered.into_iter().map(|hit| hit.id).collect();
    // They are those that are found for Milvus' API, at once in both shards.
    assert_eq!(filtered, few);
}
