//! What an index with a field of sparse vectors should hold and find, by plain arithmetic.

use std::collections::BTreeMap;

use clew_engine::{
    Action, DistanceRange, DocPlace, Effort, FieldValues, GroupBy, GroupField, GroupKey,
    NearestRequest, Neighbour, OpType, UpdateSpec, WantedField, WriteOperation,
};
use clew_platform::SimDisk;
use clew_query::{Query, Range, SparseVector};
use clew_schema::{FieldId, VectorValue};
use clew_vector::SparseEntry;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Node, delete, json_of, operation, update};

pub(super) type Vector = Vec<SparseEntry>;

/// What an index of so many shards should have, by id.
pub(super) struct Model {
    disk: SimDisk,
    pub(super) node: Option<Node>,
    /// Numbers and vectors.
    pub(super) rows: BTreeMap<u64, (u64, Option<Vector>)>,
}

pub(super) fn entry(dimension: u32, weight: f32) -> SparseEntry {
    SparseEntry { dimension, weight }
}

pub(super) fn create(disk: &SimDisk, shards: u32) -> Node {
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "n": {"type": "long"},
        "tag": {"type": "keyword"},
        "s": {"type": "sparse_vector"},
        "parts": {"type": "nested", "properties": {"s": {"type": "sparse_vector"}}},
    }}));
    Node::with_mapping(disk, shards, mapping)
}

pub(super) fn field(node: &Node) -> FieldId {
    node.index().mapping().field("s").unwrap().id
}

pub(super) fn beside(node: &Node, vector: &Vector) -> Vec<(FieldId, VectorValue)> {
    vec![(field(node), vector.clone().into())]
}

pub(super) fn put(node: &Node, id: u64, n: u64, vector: Option<&Vector>) -> WriteOperation {
    let source = json!({"n": n, "tag": format!("t{}", n % 4)}).to_string();
    let action = Action::Index {
        source: source.into(),
        vectors: vector.map_or_else(Vec::new, |vector| beside(node, vector)),
        op_type: OpType::Index,
    };
    operation(Some(&id.to_string()), action)
}

/// Another vector, and nothing else.
pub(super) fn put_vector(node: &Node, id: u64, vector: &Vector) -> WriteOperation {
    let spec = UpdateSpec {
        doc: Some("{}".into()),
        vectors: beside(node, vector),
        doc_as_upsert: true,
        ..UpdateSpec::default()
    };
    operation(Some(&id.to_string()), Action::Update(spec))
}

/// As documents have it.
pub(super) fn written(vector: &Vector) -> Value {
    let weights = vector
        .iter()
        .map(|entry| (entry.dimension.to_string(), json!(entry.weight)));
    Value::Object(weights.collect())
}

pub(super) fn product(probe: &[SparseEntry], vector: &[SparseEntry]) -> f32 {
    let shared = probe.iter().flat_map(|wanted| {
        let same = vector
            .iter()
            .filter(|own| own.dimension == wanted.dimension);
        same.map(|own| f64::from(wanted.weight) * f64::from(own.weight))
    });
    shared.sum::<f64>() as f32
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Put(u64, u64, Option<Vector>),
    PutVector(u64, Vector),
    PutNumber(u64, u64),
    Delete(u64),
    Refresh,
    Flush,
    Merge,
    Restart,
    Crash,
}

pub(super) fn vectors() -> impl Strategy<Value = Vector> {
    // Few weights, so that some products are the same.
    let weight = prop_oneof![
        (1..8_u16).prop_map(|n| f32::from(n) / 4.0),
        0.0..3.0_f32,
        Just(0.0)
    ];
    let dimension = prop_oneof![0..12_u32, Just(u32::MAX - 1)];
    let entries = prop::collection::btree_map(dimension, weight, 0..8);
    entries.prop_map(|entries| entries.into_iter().map(|(d, w)| entry(d, w)).collect())
}

pub(super) fn steps() -> impl Strategy<Value = Step> {
    let id = 0..40_u64;
    prop_oneof![
        12 => (id.clone(), 0..100_u64, prop::option::weighted(0.9, vectors()))
            .prop_map(|(id, n, vector)| Step::Put(id, n, vector)),
        4 => (id.clone(), vectors()).prop_map(|(id, vector)| Step::PutVector(id, vector)),
        3 => (id.clone(), 0..100_u64).prop_map(|(id, n)| Step::PutNumber(id, n)),
        4 => id.prop_map(Step::Delete),
        3 => Just(Step::Refresh),
        1 => Just(Step::Flush),
        1 => Just(Step::Merge),
        1 => Just(Step::Restart),
        1 => Just(Step::Crash),
    ]
}

impl Model {
    pub(super) fn new(shards: u32) -> Model {
        let disk = SimDisk::new();
        let node = Some(create(&disk, shards));
        Model {
            disk,
            node,
            rows: BTreeMap::new(),
        }
    }

    pub(super) fn node(&self) -> &Node {
        self.node.as_ref().unwrap()
    }

    pub(super) fn take(&mut self, step: Step) {
        let node = self.node();
        match step {
            Step::Put(id, n, vector) => {
                node.write_one(put(node, id, n, vector.as_ref())).unwrap();
                self.rows.insert(id, (n, vector));
            }
            Step::PutVector(id, vector) => {
                if self.rows.contains_key(&id) {
                    node.write_one(put_vector(node, id, &vector)).unwrap();
                    self.rows.get_mut(&id).unwrap().1 = Some(vector);
                }
            }
            Step::PutNumber(id, n) => {
                if let Some(row) = self.rows.get_mut(&id) {
                    let change = json!({"n": n, "tag": format!("t{}", n % 4)});
                    self.node
                        .as_ref()
                        .unwrap()
                        .write_one(update(&id.to_string(), &change))
                        .unwrap();
                    row.0 = n;
                }
            }
            Step::Delete(id) => {
                node.write_one(delete(&id.to_string())).unwrap();
                self.rows.remove(&id);
            }
            Step::Refresh => node.refresh(),
            Step::Flush => node.engine.flush(&node.index()).unwrap(),
            Step::Merge => node.engine.force_merge(&node.index(), 1).unwrap(),
            Step::Restart => {
                node.engine.close().unwrap();
                self.node = None;
                self.node = Some(Node::open(&self.disk).unwrap());
            }
            Step::Crash => {
                self.node = None;
                self.disk = self.disk.crashed(7);
                self.node = Some(Node::open(&self.disk).unwrap());
            }
        }
    }

    /// Rows with what they have in common with a probe, best first.
    fn ranked(&self, probe: &[SparseEntry], passes: impl Fn(u64) -> bool) -> Vec<(f32, u64)> {
        let rows = self.rows.iter().filter(|(_, (n, _))| passes(*n));
        let rows = rows.filter_map(|(id, (_, vector))| {
            let score = product(probe, vector.as_ref()?);
            (score > 0.0).then_some((score, *id))
        });
        let mut ranked: Vec<(f32, u64)> = rows.collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked
    }

    pub(super) fn request(&self, probes: Vec<Vector>) -> NearestRequest {
        let pinned = self.node().engine.pin(&[self.node().index()]).unwrap();
        NearestRequest::new(pinned, "s", probes)
    }

    pub(super) fn nearest(&self, request: &NearestRequest) -> Vec<Vec<Neighbour>> {
        let found = self
            .node()
            .block_on(self.node().engine.nearest(request.clone()));
        found.unwrap().neighbours
    }

    /// The scores are those wanted, each the one of its row; rows of equal scores stand by where they lie.
    fn check(&self, probe: &[SparseEntry], hits: &[Neighbour], wanted: &[(f32, u64)]) {
        let scores: Vec<f32> = hits.iter().map(|hit| -hit.distance).collect();
        let expected: Vec<f32> = wanted.iter().map(|(score, _)| *score).collect();
        assert_eq!(scores, expected);
        for hit in hits {
            let row = &self.rows[&hit.id.parse::<u64>().unwrap()];
            assert_eq!(-hit.distance, product(probe, row.1.as_ref().unwrap()));
        }
        assert!(hits.is_sorted_by(|a, b| (a.distance, a.place) < (b.distance, b.place)));
    }

    pub(super) fn check_all(&self, probes: &[Vector]) {
        self.node().refresh();
        let page = NearestRequest {
            limit: 6,
            offset: 2,
            ..self.request(probes.to_vec())
        };
        let found = self.nearest(&page);
        assert_eq!(found.len(), probes.len());
        for (probe, hits) in probes.iter().zip(&found) {
            let all = self.ranked(probe, |_| true);
            let wanted = all.get(2..8.min(all.len())).unwrap_or_default();
            self.check(probe, hits, wanted);
            self.check_filtered(probe);
            self.check_range(probe, &all);
            self.check_groups(probe, &all);
            self.check_query(probe, &all);
        }
    }

    fn check_filtered(&self, probe: &Vector) {
        let mut below = Range::new("n");
        below.lt = Some(json!(40));
        let asked = NearestRequest {
            limit: 50,
            filter: Some(Query::Range(below)),
            ..self.request(vec![probe.clone()])
        };
        let hits = self.nearest(&asked).remove(0);
        self.check(probe, &hits, &self.ranked(probe, |n| n < 40));
    }

    fn check_range(&self, probe: &Vector, all: &[(f32, u64)]) {
        let (Some(greatest), Some(least)) = (all.get(all.len() / 4), all.get(all.len() * 3 / 4))
        else {
            return;
        };
        for (limit, drop_ratio) in [(50, 0.0), (3, 0.0), (50, 0.9)] {
            let asked = NearestRequest {
                limit,
                range: Some(DistanceRange {
                    below: -least.0,
                    from: Some(-greatest.0),
                }),
                effort: Effort {
                    drop_ratio,
                    ..Effort::default()
                },
                ..self.request(vec![probe.clone()])
            };
            let within = |(score, _): &&(f32, u64)| *score > least.0 && *score <= greatest.0;
            let wanted: Vec<(f32, u64)> = all.iter().filter(within).take(limit).copied().collect();
            self.check(probe, &self.nearest(&asked).remove(0), &wanted);
        }
    }

    fn check_groups(&self, probe: &Vector, all: &[(f32, u64)]) {
        let asked = NearestRequest {
            limit: 4,
            group: Some(GroupBy {
                fields: vec![GroupField {
                    path: "tag".to_string(),
                    inside: None,
                    missing: GroupKey::Missing,
                }],
                size: 2,
                strict: true,
            }),
            ..self.request(vec![probe.clone()])
        };
        let mut groups: BTreeMap<String, Vec<f32>> = BTreeMap::new();
        for (score, id) in all {
            let group = groups
                .entry(format!("t{}", self.rows[id].0 % 4))
                .or_default();
            if group.len() < 2 {
                group.push(*score);
            }
        }
        let mut found: BTreeMap<String, Vec<f32>> = BTreeMap::new();
        for hit in self.nearest(&asked).remove(0) {
            let Some(GroupKey::Text(tag)) = hit.group else {
                panic!("a hit without a tag");
            };
            found.entry(tag).or_default().push(-hit.distance);
        }
        assert_eq!(found, groups);
    }

    /// The clause of queries finds every document that shares a dimension.
    fn check_query(&self, probe: &Vector, all: &[(f32, u64)]) {
        let hits = self.node().hits(sparse_query("s", probe), 10_000);
        let mut found: Vec<(f32, u64)> = hits
            .iter()
            .map(|hit| (hit.score.unwrap() / 2.0, hit.id.parse().unwrap()))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        assert!(found == all, "{} of {}", found.len(), all.len());
    }

    /// Vectors are told by column and in documents as they were written.
    pub(super) fn check_values(&self) {
        let node = self.node();
        node.refresh();
        let pinned = node.engine.pin(&[node.index()]).unwrap();
        let ids: Vec<String> = self.rows.keys().map(ToString::to_string).collect();
        let places = node.block_on(node.engine.places(&pinned, &ids)).unwrap();
        let places: Vec<DocPlace> = places.into_iter().map(Option::unwrap).collect();
        let typed = [WantedField::Typed("s".into())];
        let read = node.block_on(node.engine.columns(&pinned, &places, &typed));
        let Some(FieldValues::Sparse(read)) = read.unwrap().fields.pop() else {
            panic!("the field has sparse vectors");
        };
        for ((id, (n, vector)), read) in self.rows.iter().zip(&read) {
            assert_eq!(read, vector, "{id}");
            let kept = json_of(&node.get(&id.to_string()).unwrap());
            assert_eq!(kept["n"], *n);
            let wanted = vector.as_ref().map_or(Value::Null, written);
            let numbers = |value: &Value| -> BTreeMap<String, f32> {
                let members = value.as_object().into_iter().flatten();
                let number = |(name, weight): (&String, &Value)| {
                    (name.clone(), weight.as_f64().unwrap() as f32)
                };
                members.map(number).collect()
            };
            assert_eq!(kept.get("s").is_some(), vector.is_some());
            assert_eq!(numbers(&kept["s"]), numbers(&wanted));
        }
        let with = self.rows.values().filter(|(_, vector)| vector.is_some());
        let exists = Query::Exists {
            field: "s".to_string(),
            boost: 1.0,
        };
        assert_eq!(node.ids(exists).len(), with.count());
    }
}

/// Twice the product.
pub(super) fn sparse_query(field: &str, probe: &[SparseEntry]) -> Query {
    let token = |entry: &SparseEntry| (entry.dimension.to_string(), entry.weight);
    Query::SparseVector(SparseVector {
        field: field.to_string(),
        tokens: probe.iter().map(token).collect(),
        boost: 2.0,
    })
}
