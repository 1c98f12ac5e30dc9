//! How many shards a node may have.

use clew_engine::{EngineError, IndexSettings, IndexState, Purpose};
use clew_platform::SimDisk;

use crate::harness::{Node, everything, mapping};

fn create(node: &Node, name: &str, shards: u32) -> Result<(), EngineError> {
    let settings = IndexSettings {
        shards,
        ..IndexSettings::default()
    };
    let made = node
        .engine
        .create_index(&everything(), name, settings, mapping());
    made.map(drop)
}

fn set_state(node: &Node, name: &str, state: IndexState) -> Result<(), EngineError> {
    let index = node.opened(name, Purpose::Change).unwrap();
    node.engine.set_index_state(&[index], state).map(drop)
}

#[test]
fn more_shards_than_there_may_be_are_neither_made_nor_opened() {
    let node = Node::open(&SimDisk::new()).unwrap();
    node.engine.set_shards_max(Some(5));
    create(&node, "a", 3).unwrap();
    create(&node, "b", 2).unwrap();
    let refused = create(&node, "c", 1).unwrap_err();
    assert!(
        matches!(
            refused,
            EngineError::TooManyShards {
                adds: 1,
                there: 5,
                max: 5
            }
        ),
        "{refused}"
    );
    let taken = create(&node, "a", 9).unwrap_err();
    assert!(matches!(taken, EngineError::IndexExists { .. }), "{taken}");
    set_state(&node, "a", IndexState::Closed).unwrap();
    create(&node, "c", 3).unwrap();
    let refused = set_state(&node, "a", IndexState::Open).unwrap_err();
    assert!(
        matches!(refused, EngineError::TooManyShards { adds: 3, .. }),
        "{refused}"
    );
    node.engine.delete_index(&everything(), "c").unwrap();
    set_state(&node, "a", IndexState::Open).unwrap();
    // Without a figure the memory bounds them.
    node.engine.set_shards_max(None);
    create(&node, "c", 9).unwrap();
}
