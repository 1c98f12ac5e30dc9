//! The body of Elasticsearch's `_bulk`, and the answer to it: actions, each with its document behind it, and an item for each.

use clew_schema::percent::{Plus, decoded};
use serde_json::{Map, Value, json};

use super::answer::Refused;
use super::documents::{DOCUMENTS_MAX, Documents, SenderSaid};
use crate::metadata::{wrong_with_id, wrong_with_index};

/// What a request says of all its actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OfAll {
    pub(super) index: Option<String>,
    pub(super) pipeline: Option<String>,
    pub(super) routing: Option<String>,
}

impl OfAll {
    /// What is in the path, which names an index in front of `/_bulk`, and behind the question mark.
    pub(super) fn new(path: &str, query: Option<&str>) -> Self {
        let index = path.trim_start_matches('/').split('/').next();
        let mut of_all = OfAll {
            index: index
                .filter(|index| !index.is_empty())
                .map(|index| plain(index, Plus::IsPlus)),
            ..OfAll::default()
        };
        for pair in query.unwrap_or_default().split('&') {
            match pair.split_once('=') {
                Some(("pipeline", name)) => of_all.pipeline = Some(plain(name, Plus::IsSpace)),
                Some(("routing", name)) => of_all.routing = Some(plain(name, Plus::IsSpace)),
                _ => {}
            }
        }
        of_all
    }
}

/// A part of an address without its `%XX`; one that is written wrongly stays as it is.
fn plain(text: &str, plus: Plus) -> String {
    match decoded(text, plus) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => text.to_owned(),
    }
}

/// What was made of the actions, in their order.
#[derive(Debug, Default)]
pub(super) struct Actions {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    action: String,
    /// The index that the action or the request names.
    index: Option<String>,
    id: Option<String>,
    pipeline: Option<String>,
    routing: Option<String>,
    /// Why it was not taken.
    wrong: Option<Wrong>,
}

/// Why an action was not taken: what it is called, and in words.
#[derive(Debug)]
struct Wrong(&'static str, String);

/// What events are of whose senders name no index.
const NO_INDEX: &str = "bulk";

/// Takes a body apart. An action that is not `index` or `create`, whose index or id has no name that one can have, or whose
/// document is none, is answered as wrong; a body that is no list of actions is refused as a whole.
pub(super) fn read(
    body: &[u8],
    of_all: &OfAll,
    documents: &mut Documents,
) -> Result<Actions, Refused> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Refused::Invalid(format!("the body is not UTF-8: {error}")))?;
    let mut actions = Actions::default();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if actions.items.len() >= DOCUMENTS_MAX {
            let reason = format!("more than {DOCUMENTS_MAX} actions in a request");
            return Err(Refused::Invalid(reason));
        }
        let wrong = |reason: &str| Refused::Invalid(format!("line {}: {reason}", number + 1));
        let mut item = action(line, of_all).map_err(wrong)?;
        if item.action != "delete" {
            let (_, document) = lines
                .next()
                .ok_or_else(|| wrong("the action has no document"))?;
            if item.wrong.is_none() {
                let dataset = item.index.as_deref().unwrap_or(NO_INDEX);
                let added = documents.add(document, dataset, item.said());
                item.wrong = added
                    .err()
                    .map(|reason| Wrong("mapper_parsing", format!("failed to parse: {reason}")));
            }
        }
        actions.items.push(item);
    }
    Ok(actions)
}

/// Reads `{"create":{"_index":"i","_id":"1"}}`.
fn action(line: &str, of_all: &OfAll) -> Result<Item, &'static str> {
    let read: Map<String, Value> =
        serde_json::from_str(line).map_err(|_| "an action is an object of JSON")?;
    let mut members = read.into_iter();
    let (Some((action, mut parameters)), None) = (members.next(), members.next()) else {
        return Err("an action has one member");
    };
    let mut text = |name: &str| match parameters.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let mut item = Item {
        index: text("_index").or_else(|| of_all.index.clone()),
        id: text("_id"),
        pipeline: text("pipeline").or_else(|| of_all.pipeline.clone()),
        routing: text("routing")
            .or_else(|| text("_routing"))
            .or_else(|| of_all.routing.clone()),
        action,
        wrong: None,
    };
    item.wrong = match item.action.as_str() {
        "index" | "create" => item.wrong(),
        "update" | "delete" => {
            let reason = format!("the collector takes no [{}]", item.action);
            Some(Wrong("illegal_argument", reason))
        }
        _ => return Err("an action is index, create, update or delete"),
    };
    Ok(item)
}

impl Actions {
    /// The answer once everything that could be taken is delivered.
    pub(super) fn answer(self, took_ms: u128) -> Value {
        let errors = self.items.iter().any(|item| item.wrong.is_some());
        let items: Vec<Value> = self.items.into_iter().map(Item::answer).collect();
        json!({"took": took_ms, "errors": errors, "items": items})
    }
}

impl Item {
    /// What is wrong with its index or its id.
    fn wrong(&self) -> Option<Wrong> {
        if let Some(index) = &self.index
            && let Some(reason) = wrong_with_index(index)
        {
            let reason = format!("Invalid index name [{index}], {reason}");
            return Some(Wrong("invalid_index_name", reason));
        }
        let reason = wrong_with_id(self.id.as_ref()?)?;
        Some(Wrong("illegal_argument", reason))
    }

    /// What goes with its document.
    fn said(&self) -> SenderSaid {
        let members = [
            ("_index", &self.index),
            ("_id", &self.id),
            ("pipeline", &self.pipeline),
            ("routing", &self.routing),
        ];
        let member = |(name, value): (&str, &Option<String>)| {
            let value = value.clone()?;
            Some((name.to_owned(), Value::String(value)))
        };
        let mut metadata: Map<String, Value> = members.into_iter().filter_map(member).collect();
        metadata.insert("op_type".to_owned(), self.action.as_str().into());
        SenderSaid {
            id: self.id.clone(),
            metadata,
        }
    }

    fn answer(self) -> Value {
        let mut outcome = Map::new();
        let index = self.index.unwrap_or_else(|| NO_INDEX.to_owned());
        outcome.insert("_index".to_owned(), index.into());
        // Where the sender gives none, the collector's is not told.
        outcome.extend(self.id.map(|id| ("_id".to_owned(), id.into())));
        match self.wrong {
            None => outcome.extend([
                ("result".to_owned(), "created".into()),
                ("status".to_owned(), 201.into()),
            ]),
            Some(Wrong(kind, reason)) => outcome.extend([
                ("status".to_owned(), 400.into()),
                ("error".to_owned(), cause(kind, &reason)),
            ]),
        }
        Value::Object(Map::from_iter([(self.action, Value::Object(outcome))]))
    }
}

/// What is wrong, as clients of Elasticsearch are told it.
pub(super) fn cause(kind: &str, reason: &str) -> Value {
    json!({"type": format!("{kind}_exception"), "reason": reason})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{DocumentHead, ParcelKind};

    #[test]
    fn every_action_has_its_item_and_what_is_right_is_taken() {
        let body = concat!(
            "{\"create\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"n\":1}\n",
            "\n",
            "{\"index\":{}}\r\n{\"n\":2}\r\n",
            "{\"delete\":{\"_id\":3}}\n",
            "{\"update\":{\"_index\":\"b\",\"_id\":\"4\"}}\n{\"doc\":{}}\n",
            "{\"index\":{\"_index\":\"b\"}}\nbroken\n",
        );
        let mut documents = Documents::new(0);
        let of_all = OfAll::new("/path", None);
        let actions = read(body.as_bytes(), &of_all, &mut documents).unwrap();
        let answer = actions.answer(7);
        assert_eq!(
            (&answer["took"], &answer["errors"]),
            (&json!(7), &json!(true))
        );
        let items = answer["items"].as_array().unwrap();
        let created = |index: &str| json!({"_index": index, "result": "created", "status": 201});
        let mut first = created("a");
        first["_id"] = json!("1");
        assert_eq!(items[0]["create"], first);
        assert_eq!(items[1], json!({"index": created("path")}));
        assert_eq!(items[2]["delete"]["status"], 400);
        assert_eq!(items[2]["delete"]["_id"], "3");
        assert_eq!(
            items[3]["update"]["error"]["reason"],
            "the collector takes no [update]"
        );
        assert_eq!(items[4]["index"]["status"], 400);
        assert_eq!(items.len(), 5);
        let parcel = documents.parcel(0).unwrap();
        let taken: Vec<Value> = parcel
            .lines()
            .map(|(line, _)| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!(taken.len(), 2);
        assert_eq!(taken[1]["event"]["dataset"], "path");
    }

    #[test]
    fn what_actions_say_goes_with_their_documents() {
        let body = concat!(
            "{\"create\":{\"_index\":\"a\",\"_id\":1,\"pipeline\":\"own\"}}\n{}\n",
            "{\"index\":{\"_routing\":\"r\"}}\n{\"@metadata\":{\"beat\":\"b\",\"_index\":\"c\"}}\n",
        );
        let of_all = OfAll::new(
            "/%3Cp-%7Bnow%7D%3E/_doc",
            Some("refresh&pipeline=a+b&routing=%zz"),
        );
        assert_eq!(of_all.index.as_deref(), Some("<p-{now}>"));
        let mut documents = Documents::new(0);
        read(body.as_bytes(), &of_all, &mut documents).unwrap();
        let ParcelKind::Documents(heads) = documents.parcel(0).unwrap().kind else {
            panic!("documents are documents");
        };
        let found: Vec<&str> = heads.iter().map(DocumentHead::metadata).collect();
        assert_eq!(
            found,
            [
                r#"{"_index":"a","_id":"1","pipeline":"own","routing":"%zz","op_type":"create"}"#,
                r#"{"_index":"<p-{now}>","pipeline":"a b","routing":"r","op_type":"index","beat":"b"}"#,
            ]
        );
        assert_eq!(heads[0].id.as_deref(), Some("1"));
        assert_eq!(OfAll::new("", None), OfAll::default());
    }

    #[test]
    fn actions_with_wrong_names_are_answered_one_by_one() {
        let long = "i".repeat(513);
        let names = [
            (
                "_index",
                "Big",
                "invalid_index_name_exception",
                "Invalid index name [Big], must be lowercase",
            ),
            (
                "_index",
                "a b",
                "invalid_index_name_exception",
                "Invalid index name [a b], must not contain the following",
            ),
            (
                "_index",
                "",
                "invalid_index_name_exception",
                "Invalid index name [], must not be empty",
            ),
            (
                "_id",
                "",
                "illegal_argument_exception",
                "if _id is specified it must not be empty",
            ),
            (
                "_id",
                &long,
                "illegal_argument_exception",
                "id is too long, must be no longer than 512 bytes but was: 513",
            ),
        ];
        let mut body = String::new();
        for (name, value, ..) in &names {
            body.push_str(&format!("{{\"index\":{{\"{name}\":\"{value}\"}}}}\n{{}}\n"));
        }
        body.push_str("{\"create\":{}}\n[]\n{\"create\":{}}\n{}\n");
        let mut documents = Documents::new(0);
        let actions = read(body.as_bytes(), &OfAll::default(), &mut documents).unwrap();
        let answer = actions.answer(1);
        for (number, (.., kind, reason)) in names.iter().enumerate() {
            let item = &answer["items"][number]["index"];
            assert_eq!(item["status"], 400);
            assert_eq!(item["error"]["type"], *kind);
            let said = item["error"]["reason"].as_str().unwrap();
            assert!(said.starts_with(reason), "{said}");
        }
        let broken = &answer["items"][5]["create"]["error"];
        assert_eq!(broken["type"], "mapper_parsing_exception");
        assert_eq!(answer["items"][6]["create"]["status"], 201);
        assert_eq!(documents.parcel(0).unwrap().ends.len(), 1);
    }

    #[test]
    fn what_is_no_list_of_actions_is_refused_with_its_line() {
        let check = |body: &str, expected: &str| {
            let of_all = OfAll::default();
            let refused = read(body.as_bytes(), &of_all, &mut Documents::new(0)).unwrap_err();
            assert_eq!(refused, Refused::Invalid(expected.to_owned()), "{body}");
        };
        check("x", "line 1: an action is an object of JSON");
        check("{}", "line 1: an action has one member");
        check(
            "\n{\"put\":{}}",
            "line 2: an action is index, create, update or delete",
        );
        check("{\"index\":{}}", "line 1: the action has no document");
    }
}
