//! Shrunken copies.

use super::*;

#[test]
fn a_shrunken_copy_takes_the_aliases() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let shrink = json!({"percentage_of_source_shards": 0.8, "switch_aliases": true,
        "target_index_name_template": {"source": "small-{{ctx.index}}"}});
    node.put_policy("small", only(json!([{ "shrink": shrink }, {"delete": {}}])))
        .unwrap();
    let settings = json!({"number_of_shards": 4});
    node.create(
        "book",
        json!({"settings": settings, "aliases": {"read": {}}}),
    );
    node.write("book", 20);
    node.add("book", "small");
    node.run();
    node.run();
    let message = "Shrink finished successfully: [small-book] [index=book]";
    assert_eq!(node.message("book"), message);
    let copy = node.index("small-book");
    assert_eq!((copy.settings().shards, copy.stats().docs), (2, 20));
    assert!(copy.settings().blocks.is_empty());
    assert!(copy.aliases().contains_key("read"));
    node.run();
    assert_eq!(node.names(), ["small-book"]);
}

#[test]
fn a_shrink_that_power_cuts_anywhere_loses_no_document() {
    let mut changes_until_cut = 1;
    loop {
        let disk = SimDisk::new();
        let node = Node::open(&disk).unwrap();
        let shrink = json!({"num_new_shards": 1,
            "target_index_name_template": {"source": "small-{{ctx.index}}"}});
        // What is not in the copy is gone with the source.
        node.put_policy("small", only(json!([{ "shrink": shrink }, {"delete": {}}])))
            .unwrap();
        node.create("book", json!({"settings": {"number_of_shards": 2}}));
        node.write("book", 5);
        node.add("book", "small");
        node.run();
        let (node, is_whole) = node.run_into_power_cut(&disk, changes_until_cut);
        for _ in 0..6 {
            node.run();
        }
        assert_eq!(
            node.names(),
            ["small-book"],
            "cut after {changes_until_cut}"
        );
        node.done("POST /small-book/_refresh", Value::Null);
        let copy = node.index("small-book");
        assert_eq!(copy.stats().docs, 5, "cut after {changes_until_cut}");
        assert!(!clew_opensearch::wing::is_unfinished(copy.index()));
        if is_whole {
            break;
        }
        changes_until_cut += 1;
    }
    assert!(
        changes_until_cut > 3,
        "the shrink changed the disk at several points"
    );
}
