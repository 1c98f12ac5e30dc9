//! Word of changes of what names mean, once they have taken effect.

use clew_engine::{
    Alias, AliasAction, CatalogChange, IndexSettings, IndexState, NamesWatch, Purpose,
    SettingsChange,
};
use clew_platform::SimDisk;

use crate::harness::*;

/// Whether the watch has heard of something; what it has heard is heard.
fn heard(node: &Node, watch: &mut NamesWatch) -> bool {
    node.block_on(async {
        tokio::select! {
            biased;
            changed = watch.changed() => changed.is_ok(),
            () = std::future::ready(()) => false,
        }
    })
}

#[test]
fn each_change_of_what_names_mean_is_heard_of_and_nothing_else() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let mut watch = node.engine.watch_names();
    let access = everything();
    assert!(!heard(&node, &mut watch), "what was before");
    node.put("1", &source(1));
    assert!(!heard(&node, &mut watch), "a document changes no name");
    let make = |name: &str| {
        let made = node
            .engine
            .create_index(&access, name, IndexSettings::default(), mapping());
        made.unwrap();
    };
    let set_state = |state| {
        let opened = node.opened("docs", Purpose::Change).unwrap();
        node.engine.set_index_state(&[opened], state).unwrap();
    };
    let change_aliases = |action| {
        let changed = node.engine.change_aliases(&access, vec![action]);
        changed.unwrap();
    };
    let steps: [(&str, &dyn Fn()); 7] = [
        ("made", &|| make("other")),
        ("closed", &|| set_state(IndexState::Closed)),
        ("opened", &|| set_state(IndexState::Open)),
        ("aliased", &|| {
            change_aliases(AliasAction::Add {
                index: "docs".into(),
                name: "a".into(),
                alias: Alias::default(),
            });
        }),
        ("other settings", &|| {
            let index = node.index();
            let changes = vec![CatalogChange::Settings {
                index: "docs".into(),
                uuid: index.uuid().to_string(),
                change: SettingsChange::new(|settings| Ok(settings.clone())),
                blocks_alone: false,
            }];
            node.engine.change_catalog(&access, changes).unwrap();
        }),
        ("renamed", &|| {
            let renamed = node.engine.rename_index(&access, "docs", "papers");
            renamed.unwrap();
        }),
        ("deleted", &|| {
            change_aliases(AliasAction::RemoveIndex {
                index: "papers".into(),
            });
        }),
    ];
    for (what, step) in steps {
        step();
        assert!(heard(&node, &mut watch), "{what}");
        assert!(!heard(&node, &mut watch), "{what}, heard twice");
    }
}
