//! What is durable is acknowledged, whatever comes after it: whoever is told of an error writes again.

use clew_engine::{Access, Action, Freshness, OpType, Purpose, WriteOperation};
use clew_platform::{Disk, SimDisk};
use serde_json::{Value, json};

use super::{Node, segment_file};
use crate::documents::write_reply::{self, Refresh};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::reply::Reply;
use crate::routes::{Group, Wing, endpoint};
use crate::state::call::Call;

/// Documents that fill more blocks of a file than opening it looks at.
const DOCUMENTS: u32 = 300;

/// Writes a document of `docs`, then finds its shard damaged, which is refused from then on, and only then answers.
async fn write_and_fail(call: Call) -> Result<Reply, ApiError> {
    let refresh = Refresh::from_call(&call)?;
    let operation = WriteOperation {
        index: "docs".to_string(),
        require_alias: false,
        id: call.path("id").map(String::from),
        routing: None,
        action: Action::index(r#"{"n": 1}"#, OpType::Create),
        condition: None,
    };
    let outcome = write_reply::unacknowledged(&call, vec![operation]).await?;
    let engine = &call.api.engine;
    let docs = engine.open_exactly("docs", &call.access, Purpose::Read)?;
    let mut ids = (0..DOCUMENTS).map(|n| n.to_string());
    assert!(ids.any(|id| engine.get(&docs, &id, None, Freshness::Latest).is_err()));
    let (outcome, visibility) = write_reply::acknowledge(&call, outcome, refresh).await?;
    let written = outcome.results[0].as_ref().expect("it was written");
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    write_reply::write_members(&mut json, written, visibility);
    json.boolean_field("warned", visibility.warning().is_some());
    json.end_object();
    Ok(Reply::written(json).warned(visibility.warning()))
}

const FAILING: &[Wing] = &[Wing {
    groups: &[Group {
        class: "failing",
        params: &[&["refresh"]],
        endpoints: &[endpoint!("PUT", ["/_failing/{id}"], write_and_fail)],
    }],
    schemas: "{}",
    check_settings: None,
    background: None,
}];

/// A disk with `docs`, a block of whose sources is not what was written; nobody has read it.
fn with_damage() -> SimDisk {
    let disk = SimDisk::new();
    let node = Node::open(&disk, FAILING).unwrap();
    node.done("PUT /docs", json!({"settings": {"refresh_interval": -1}}));
    let mut random = 3_u64;
    let mut word = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        format!("{:x}", random >> 34)
    };
    let mut lines = String::new();
    for n in 0..DOCUMENTS {
        let words: Vec<String> = (0..60).map(|_| word()).collect();
        let action = json!({"index": {"_id": n.to_string()}});
        lines += &format!("{action}\n{}\n", json!({"t": words.join(" ")}));
    }
    assert_eq!(node.done("POST /docs/_bulk", lines)["errors"], false);
    node.done("POST /docs/_flush", Value::Null);
    let indices = node.api.engine.indices(&Access::everything());
    let sources = segment_file(&disk, indices[0].uuid(), (0, ".source"));
    drop((indices, node));
    let at = 100;
    let byte = disk.read(&sources).unwrap()[at] ^ 4;
    let mut file = disk.open(&sources).unwrap();
    file.write_all_at(&[byte], at as u64).unwrap();
    file.sync_data().unwrap();
    disk
}

#[test]
fn a_write_that_cannot_be_made_visible_is_acknowledged_and_says_so() {
    for refresh in ["true", "wait_for"] {
        let disk = with_damage();
        let node = Node::open(&disk, FAILING).unwrap();
        let request = format!("PUT /_failing/new?refresh={refresh}");
        let (status, answer) = node.ask(&request, Value::Null);
        assert_eq!(status, 200, "{refresh}: {answer}");
        assert_eq!(answer["result"], "created", "{refresh}");
        assert_eq!(answer["warned"], true, "{refresh}: {answer}");
        assert!(answer["forced_refresh"].is_null(), "{refresh}: {answer}");
        // What comes after it is refused before anything is written.
        let late = node.ask(&format!("PUT /docs/_doc/late?refresh={refresh}"), json!({}));
        assert_eq!(late.0, 503, "{refresh}: {}", late.1);
    }
}
