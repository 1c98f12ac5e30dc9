//! What a `_bulk` reply says about each action. A reply that is not exactly one well-formed item
//! per action is no reply: to guess here would be to lose events.

use serde::Deserialize;
use serde_json::value::RawValue;

/// What to do about one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Acked,
    Duplicate,
    Retry,
    Rejected { status: u16, reason: String },
}

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    items: Vec<Item<'a>>,
}

/// Whichever of both was asked for.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, alias = "index")]
    create: Outcome<'a>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    status: u16,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Reads the reply to a request of `sent` actions.
pub(crate) fn fates(reply: &[u8], sent: usize) -> Result<Vec<Fate>, String> {
    let reply: Reply<'_> =
        serde_json::from_slice(reply).map_err(|error| format!("not a bulk reply: {error}"))?;
    if reply.items.len() != sent {
        return Err(format!(
            "{} items in the reply to {sent} actions",
            reply.items.len()
        ));
    }
    Ok(reply.items.iter().map(|item| fate(&item.create)).collect())
}

fn fate(outcome: &Outcome<'_>) -> Fate {
    match outcome.status {
        200..300 => Fate::Acked,
        409 => Fate::Duplicate,
        429 => Fate::Retry,
        400..500 => Fate::Rejected {
            status: outcome.status,
            reason: shortened(outcome.error.map_or("", RawValue::get)),
        },
        _ => Fate::Retry,
    }
}

/// A reason cut to a length that fits a log line.
pub(crate) fn shortened(text: &str) -> String {
    const REASON_CHARS_MAX: usize = 300;
    let end = text
        .char_indices()
        .nth(REASON_CHARS_MAX)
        .map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_fate() {
        let reply = |status: u16| {
            format!(
                r#"{{"took":1,"items":[{{"create":{{"_id":"x","status":{status},"error":{{"type":"t"}}}}}}]}}"#
            )
        };
        let rejected = |status| Fate::Rejected {
            status,
            reason: r#"{"type":"t"}"#.to_owned(),
        };
        let check = |status, fate: Fate| {
            assert_eq!(
                fates(reply(status).as_bytes(), 1),
                Ok(vec![fate]),
                "{status}"
            );
        };
        check(200, Fate::Acked);
        check(201, Fate::Acked);
        check(409, Fate::Duplicate);
        check(429, Fate::Retry);
        check(500, Fate::Retry);
        check(503, Fate::Retry);
        check(302, Fate::Retry);
        check(400, rejected(400));
        check(404, rejected(404));
        check(413, rejected(413));
    }

    #[test]
    fn replies_that_do_not_answer_every_action_are_broken() {
        for reply in [
            "",
            "{}",
            r#"{"items":[]}"#,
            r#"{"items":[{"create":{"status":201}},{"create":{"status":201}}]}"#,
            r#"{"items":[{"update":{"status":201}}]}"#,
            r#"{"items":[{"create":{}}]}"#,
            r#"{"items":[{"create":{"status":201}}"#,
            "<html>",
        ] {
            assert!(fates(reply.as_bytes(), 1).is_err(), "{reply}");
        }
    }
}
