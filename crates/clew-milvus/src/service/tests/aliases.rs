//! Aliases that move while others do, and while collections come and go.

use super::*;

/// The alias `x` of a collection.
fn alias_of(collection: &str) -> CreateAliasRequest {
    CreateAliasRequest {
        collection_name: collection.into(),
        alias: "x".into(),
        ..CreateAliasRequest::default()
    }
}

impl Node {
    /// Lets `x` mean another collection.
    fn move_alias(&self, collection: &str) -> Result<Status, MilvusError> {
        let moving = self.service.alter_alias(call(), alias_of(collection));
        self.runtime.block_on(moving)
    }

    /// The collection that `x` means.
    fn aliased(&self) -> String {
        let request = DescribeAliasRequest {
            alias: "x".into(),
            ..DescribeAliasRequest::default()
        };
        self.done(self.service.describe_alias(call(), request))
            .collection
    }
}

#[test]
fn an_alias_that_is_moved_twice_at_once_means_one_collection() {
    let node = Node::open(&SimDisk::new());
    for name in ["a", "b", "c"] {
        node.make(name, Vec::new());
    }
    node.done(node.service.create_alias(call(), alias_of("a")));
    for _ in 0..30 {
        let (b, c) = at_once(|| node.move_alias("b"), || node.move_alias("c"));
        b.and(c).unwrap();
        let aliases = node.service.engine().aliases();
        let holders: Vec<usize> = aliases.values().map(Vec::len).collect();
        assert_eq!(holders, [1]);
        assert!(["b", "c"].contains(&&*node.aliased()));
    }
}

#[test]
fn an_alias_is_not_moved_to_a_collection_that_is_dropped_at_the_same_time() {
    let node = Node::open(&SimDisk::new());
    node.make("a", Vec::new());
    node.done(node.service.create_alias(call(), alias_of("a")));
    for _ in 0..20 {
        node.make("b", Vec::new());
        let (moved, dropped) = at_once(|| node.move_alias("b"), || node.drop_collection("b"));
        // Whichever came first has the other one refused.
        assert_ne!(moved.is_ok(), dropped.is_ok(), "{moved:?} {dropped:?}");
        let means = if moved.is_ok() { "b" } else { "a" };
        assert_eq!(node.aliased(), means);
        if moved.is_ok() {
            node.move_alias("a").unwrap();
            node.drop_collection("b").unwrap();
        }
    }
}

#[test]
fn a_collection_that_is_made_anew_while_an_alias_moves_to_the_one_before_has_it_or_not() {
    let node = Node::open(&SimDisk::new());
    for name in ["a", "b"] {
        node.make(name, Vec::new());
    }
    node.done(node.service.create_alias(call(), alias_of("a")));
    for _ in 0..20 {
        let again = || {
            let dropped = node.drop_collection("b");
            if dropped.is_ok() {
                node.make("b", Vec::new());
            }
        };
        let (moved, ()) = at_once(|| node.move_alias("b"), again);
        let means = if moved.is_ok() { "b" } else { "a" };
        assert_eq!(node.aliased(), means, "{moved:?}");
        node.move_alias("a").unwrap();
    }
}
