//! What frequent words add to scores is read beside the searches and changes nothing that they find.

use clew_engine::IndexSettings;
use clew_platform::SimDisk;
use clew_query::Query;
use serde_json::{Value, json};

use crate::harness::{Node, everything, index};

const COUNT: u64 = 5_000;

/// Two frequent words, more or less often, among rare ones.
fn document(n: u64) -> Value {
    let draw = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let often = "often ".repeat(draw as usize % 4);
    let also = "also ".repeat((draw / 4) as usize % 3);
    let rare = format!("rare{} ", draw % 997).repeat((draw / 16) as usize % 9);
    json!({"text": format!("{often}{also}{rare}")})
}

fn found(node: &Node, text: &str) -> Vec<(String, u32)> {
    let hits = node.hits(Query::matches("text", text), 10).into_iter();
    hits.map(|hit| (hit.id, hit.score.unwrap().to_bits()))
        .collect()
}

#[test]
fn impacts_are_read_after_the_first_search_and_live_with_their_segment() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    let settings = IndexSettings {
        refresh_interval: None,
        ..IndexSettings::default()
    };
    let mapping = json!({"properties": {"text": {"type": "text"}}});
    let mapping = clew_opensearch_mapping::mapping(mapping);
    node.engine
        .create_index(&everything(), "docs", settings, mapping)
        .unwrap();
    let fill = |from: u64, to: u64| {
        let operations = (from..to).map(|n| index(&n.to_string(), &document(n)));
        let written = node.write(operations.collect()).unwrap();
        assert!(written.iter().all(Result::is_ok));
        node.refresh();
    };
    let bytes = || node.index().stats().impacts_bytes;
    // A search asks for them, once it knows the field's average length, and a thread that nobody waits for reads them.
    let read = |docs: u64| {
        let is_there = |_| {
            found(&node, "often");
            bytes() == 2 * docs
        };
        (0..1_000_000).any(is_there)
    };
    fill(0, COUNT);
    assert_eq!(bytes(), 0);
    assert!(found(&node, "unheardof").is_empty());
    let texts = ["often also", "also often rare5", "often", "rare7 also"];
    let wanted = texts.map(|text| found(&node, text));
    assert!(wanted.iter().all(|hits| hits.len() == 10));
    assert!(read(COUNT));
    assert_eq!(texts.map(|text| found(&node, text)), wanted);
    // A small segment has none, and leaves those of the large one where they are.
    fill(COUNT, COUNT + 10);
    assert_eq!(bytes(), 2 * COUNT);
    let wanted = texts.map(|text| found(&node, text));
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert_eq!(bytes(), 0);
    assert_eq!(texts.map(|text| found(&node, text)), wanted);
    assert!(read(COUNT + 10));
    assert_eq!(texts.map(|text| found(&node, text)), wanted);
}
