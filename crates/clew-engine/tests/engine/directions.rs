//! Vectors at the edge of what a column holds: whatever was acknowledged can be applied, merged and read back, whatever
//! space its field gets.

use bytes::Bytes;
use clew_engine::{Action, EngineError, IndexSettings, NearestRequest, OpType, WriteOperation};
use clew_platform::SimDisk;
use clew_schema::{FieldKind, FieldSpec, Mapping, MappingSpec, VectorMapping};
use clew_vector::{ColumnOptions, Element, Space};
use serde_json::json;

use crate::harness::{Node, everything, index, knn, operation};

/// Lengths that columns hold, and some that they do not.
const NUMBERS: [f32; 12] = [
    0.0, -0.0, 1e-45, 1e-30, 1e-20, 1e-9, 1.0, 65_504.0, 70_000.0, 6.4e18, 1e20, 3.39e38,
];
const ELEMENTS: [Element; 3] = [Element::F32, Element::F16, Element::Bf16];

fn column(element: Element, space: Space) -> ColumnOptions {
    ColumnOptions {
        element,
        ..ColumnOptions::new(2, space)
    }
}

fn node(disk: &SimDisk, element: Element) -> Node {
    let kind = FieldKind::Vector(VectorMapping::new(column(element, Space::L2)));
    let spec = MappingSpec::default().with(FieldSpec::new("v", kind));
    Node::with_mapping(disk, 1, Mapping::from_spec(spec).unwrap())
}

fn beside(node: &Node, id: &str, vector: &[f32]) -> WriteOperation {
    let field = node.index().mapping().field("v").unwrap().id;
    let action = Action::Index {
        source: Bytes::from_static(b"{}"),
        vectors: vec![(field, vector.to_vec().into())],
        op_type: OpType::Index,
    };
    operation(Some(id), action)
}

/// Writes every length as numbers and as digits; the ids of those that were taken.
fn write_all(node: &Node, round: usize) -> Vec<String> {
    let mut taken = Vec::new();
    for (at, number) in NUMBERS.into_iter().enumerate() {
        let vector = [number, 0.0];
        let id = |way: &str| format!("{way}-{round}-{at}");
        let ways = [
            beside(node, &id("beside"), &vector),
            index(&id("within"), &json!({ "v": vector })),
        ];
        for way in ways {
            let id = way.id.clone().unwrap();
            match node.write_one(way) {
                Ok(_) => taken.push(id),
                Err(EngineError::Document { .. }) => {}
                Err(other) => panic!("{id}: {other}"),
            }
        }
    }
    taken
}

fn found(node: &Node, k: usize) -> Vec<String> {
    let pinned = node.engine.pin(&[node.index()]).unwrap();
    let request = NearestRequest {
        limit: k,
        ..NearestRequest::new(pinned, "v", vec![vec![1.0, 1.0]])
    };
    let found = node.block_on(node.engine.nearest(request)).unwrap();
    let mut ids: Vec<String> = found.neighbours[0]
        .iter()
        .map(|hit| hit.id.clone())
        .collect();
    ids.sort();
    ids
}

#[test]
fn what_was_acknowledged_is_applied_and_merged_in_every_space() {
    for element in ELEMENTS {
        let disk = SimDisk::new();
        let node = node(&disk, element);
        let mut taken = write_all(&node, 0);
        node.refresh();
        taken.extend(write_all(&node, 1));
        let spec = MappingSpec {
            columns: vec![(
                "v".to_string(),
                VectorMapping::new(column(element, Space::Cosine)),
            )],
            ..MappingSpec::default()
        };
        node.engine
            .put_mapping(&everything(), &node.index(), spec)
            .unwrap();
        taken.extend(write_all(&node, 2));
        taken.sort();
        node.refresh();
        let check = |node: &Node| {
            assert_eq!(node.index().stats().failed_shards, 0, "{element:?}");
            assert_eq!(found(node, 200), taken, "{element:?}");
        };
        check(&node);
        // Without a flush: all of it is read from the log, under the mapping as it is now.
        drop(node);
        let node = Node::open(&disk).unwrap();
        check(&node);
        node.engine.force_merge(&node.index(), 1).unwrap();
        assert_eq!(node.index().rows_to_rewrite(), 0);
        check(&node);
        node.engine.close().unwrap();
        drop(node);
        check(&Node::open(&disk).unwrap());
    }
}

#[test]
fn a_field_of_directions_takes_none_without_unless_it_says_so() {
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "v": {"type": "knn_vector", "dimension": 2, "space_type": "cosinesimil"},
    }}));
    let node = Node::open(&SimDisk::new()).unwrap();
    node.engine
        .create_index(&everything(), "docs", IndexSettings::default(), mapping)
        .unwrap();
    let write = |vector: [f32; 2]| node.write_one(index("a", &json!({ "v": vector })));
    let refused = write([0.0, 0.0]).unwrap_err();
    let reason = "zero vector is not supported when space type is [cosinesimil]";
    assert!(
        std::error::Error::source(&refused).is_some_and(|source| {
            source.to_string().contains(reason)
                || std::error::Error::source(source)
                    .is_some_and(|cause| cause.to_string() == reason)
        }),
        "{refused:?}"
    );
    assert!(write([1e30, 0.0]).is_err());
    write([1.0, 0.0]).unwrap();
    node.refresh();
    let request = node.search_request(knn(vec![0.0, 0.0], 1, None), 1);
    let answer = node.run(request);
    assert!(answer.is_err() || !answer.unwrap().failures.is_empty());
    assert_eq!(node.index().stats().failed_shards, 0);
}
