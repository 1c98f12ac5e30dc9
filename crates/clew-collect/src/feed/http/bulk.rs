//! The body of Elasticsearch's `_bulk`, and the answer to it: actions, each with its document behind it, and an item for each.

use serde_json::{Map, Value, json};

use super::answer::Refused;
use super::documents::{DOCUMENTS_MAX, Documents};

/// What was made of the actions, in their order.
#[derive(Debug, Default)]
pub(super) struct Actions {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    action: String,
    index: String,
    id: Option<String>,
    /// Why it was not taken.
    wrong: Option<String>,
}

/// Takes a body apart. An action that is not `index` or `create`, or whose document is none, is answered as wrong; a body that
/// is no list of actions is refused as a whole.
pub(super) fn read(
    body: &[u8],
    index: Option<&str>,
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
        let mut item = action(line, index).map_err(wrong)?;
        if item.action != "delete" {
            let (_, document) = lines
                .next()
                .ok_or_else(|| wrong("the action has no document"))?;
            if item.wrong.is_none() {
                // An `index` may be sent again to change a document, which events do not: each is another.
                let id = item.id.clone().filter(|_| item.action == "create");
                item.wrong = documents.add(document, &item.index, id).err();
            }
        }
        actions.items.push(item);
    }
    Ok(actions)
}

/// Reads `{"create":{"_index":"i","_id":"1"}}`.
fn action(line: &str, index: Option<&str>) -> Result<Item, &'static str> {
    let read: Map<String, Value> =
        serde_json::from_str(line).map_err(|_| "an action is an object of JSON")?;
    let mut members = read.into_iter();
    let (Some((action, mut parameters)), None) = (members.next(), members.next()) else {
        return Err("an action has one member");
    };
    let wrong = match action.as_str() {
        "index" | "create" => None,
        "update" | "delete" => Some(format!("the collector takes no [{action}]")),
        _ => return Err("an action is index, create, update or delete"),
    };
    let mut text = |name: &str| match parameters.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let own = text("_index");
    Ok(Item {
        id: text("_id"),
        index: own
            .or(index.map(str::to_owned))
            .unwrap_or_else(|| "bulk".to_owned()),
        action,
        wrong,
    })
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
    fn answer(self) -> Value {
        let mut outcome = Map::new();
        outcome.insert("_index".to_owned(), self.index.into());
        // Where the sender gives none, the collector's is not told.
        outcome.extend(self.id.map(|id| ("_id".to_owned(), id.into())));
        match self.wrong {
            None => outcome.extend([
                ("result".to_owned(), "created".into()),
                ("status".to_owned(), 201.into()),
            ]),
            Some(reason) => outcome.extend([
                ("status".to_owned(), 400.into()),
                (
                    "error".to_owned(),
                    json!({"type": "refused", "reason": reason}),
                ),
            ]),
        }
        Value::Object(Map::from_iter([(self.action, Value::Object(outcome))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let actions = read(body.as_bytes(), Some("path"), &mut documents).unwrap();
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
    fn what_is_no_list_of_actions_is_refused_with_its_line() {
        let check = |body: &str, expected: &str| {
            let refused = read(body.as_bytes(), None, &mut Documents::new(0)).unwrap_err();
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
