//! Where something stands in the text of a request's body. Readers of bodies see values alone; what they refuse names the
//! value, and whoever has the text finds its line and column there, once and for an error only.

use clew_schema::TextPlace;
pub(crate) use clew_schema::json_token as token;
use serde_json::{Map, Value};

/// What of a value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// The name of the member that it is the value of.
    Name,
    /// Its first character.
    Start,
    /// Its last character.
    End,
}

/// A place in a body: a value of it by where that lies in memory, which is looked for and never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    address: usize,
    edge: Edge,
}

impl Spot {
    /// Where the name of a member stands that has this value.
    pub(crate) fn name_of(value: &Value) -> Self {
        Self::new(value, Edge::Name)
    }

    /// Where a value begins.
    pub(crate) fn start_of(value: &Value) -> Self {
        Self::new(value, Edge::Start)
    }

    /// Where an object or an array is closed.
    pub(crate) fn end_of(value: &Value) -> Self {
        Self::new(value, Edge::End)
    }

    /// Where a reader has come to that has read the first token of a value: the last character of that.
    pub(crate) fn first_token_of(value: &Value) -> Self {
        let edge = if value.is_object() || value.is_array() {
            Edge::Start
        } else {
            Edge::End
        };
        Self::new(value, edge)
    }

    /// Where the value begins, if it is the name of a member.
    pub(crate) fn past_name(self) -> Self {
        match self.edge {
            Edge::Name => Spot {
                edge: Edge::Start,
                ..self
            },
            Edge::Start | Edge::End => self,
        }
    }

    fn new(value: &Value, edge: Edge) -> Self {
        Spot {
            address: std::ptr::from_ref(value).addr(),
            edge,
        }
    }

    /// Line and column of the place, both from 1, in the text that the body was read from; `None` where the body
    /// has no such value. Costs a walk through the text.
    fn find(self, body: &Value, text: &[u8]) -> Option<(usize, usize)> {
        let mut walk = Walk {
            text,
            at: 0,
            wanted: self,
            found: None,
        };
        walk.value(Some(body), 0);
        walk.found.map(|at| line_and_column(text, at))
    }
}

/// The places of a body, of which errors that are within each other mostly name one.
pub(crate) struct Places<'a> {
    body: &'a Value,
    text: &'a [u8],
    last: Option<(Spot, Option<(usize, usize)>)>,
}

impl<'a> Places<'a> {
    /// The places of a body that was read from a text.
    pub(crate) fn new(body: &'a Value, text: &'a [u8]) -> Self {
        Places {
            body,
            text,
            last: None,
        }
    }

    /// Line and column of a place, as [`Spot::find`] tells them; at once for the one that was asked for last.
    pub(crate) fn find(&mut self, spot: Spot) -> Option<(usize, usize)> {
        match self.last {
            Some((last, place)) if last == spot => place,
            _ => {
                let place = spot.find(self.body, self.text);
                self.last = Some((spot, place));
                place
            }
        }
    }
}

/// Line and column of a byte of a text, both from 1.
pub(crate) fn line_and_column(text: &[u8], at: usize) -> (usize, usize) {
    let TextPlace { line, column } = TextPlace::of(text, at);
    (line, column)
}

/// The place of the quote that ends the string which begins at a quote.
pub(crate) fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// A way through a text of well-formed JSON beside the tree that was read from it. Where both are of different bodies it
/// ends all the same, and finds what both have.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    wanted: Spot,
    found: Option<usize>,
}

impl Walk<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Goes over a value whose member's name stands at `name`.
    fn value(&mut self, value: Option<&Value>, name: usize) {
        self.blanks();
        let start = self.at;
        match self.text.get(start) {
            Some(b'{') => self.members(value.and_then(Value::as_object)),
            Some(b'[') => self.items(value.and_then(Value::as_array)),
            Some(b'"') => self.at = string_end(self.text, start) + 1,
            Some(_) => self.plain(),
            None => return,
        }
        if value.is_some_and(|value| std::ptr::from_ref(value).addr() == self.wanted.address) {
            self.found = Some(match self.wanted.edge {
                Edge::Name => name,
                Edge::Start => start,
                Edge::End => self.at.saturating_sub(1),
            });
        }
    }

    /// Numbers, `true`, `false` and `null`.
    fn plain(&mut self) {
        self.at += 1;
        let goes_on = |byte: &u8| !byte.is_ascii_whitespace() && !b",]}".contains(byte);
        while self.text.get(self.at).is_some_and(goes_on) {
            self.at += 1;
        }
    }

    fn members(&mut self, object: Option<&Map<String, Value>>) {
        self.at += 1;
        while self.found.is_none() {
            self.blanks();
            match self.text.get(self.at) {
                Some(b'"') => {
                    let name = self.at;
                    let end = string_end(self.text, name);
                    let key = self.text.get(name..=end).unwrap_or_default();
                    let key = serde_json::from_slice::<String>(key).ok();
                    let member = key.and_then(|key| object?.get(&key));
                    self.at = end + 1;
                    self.blanks();
                    // The colon.
                    self.at += 1;
                    self.value(member, name);
                }
                Some(b',') => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    return;
                }
                None => return,
            }
        }
    }

    fn items(&mut self, items: Option<&Vec<Value>>) {
        let mut items = items.into_iter().flatten();
        self.at += 1;
        while self.found.is_none() {
            self.blanks();
            match self.text.get(self.at) {
                Some(b']') => {
                    self.at += 1;
                    return;
                }
                Some(b',') => self.at += 1,
                Some(_) => {
                    let start = self.at;
                    self.value(items.next(), start);
                }
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pointer: &str, (name, start, end): (usize, usize, usize)) {
        let body: Value = serde_json::from_str(text).unwrap();
        let value = body.pointer(pointer).unwrap();
        for (spot, column) in [
            (Spot::name_of(value), name),
            (Spot::start_of(value), start),
            (Spot::end_of(value), end),
        ] {
            let found = spot.find(&body, text.as_bytes());
            assert_eq!(found, Some((1, column)), "{pointer} in {text}: {spot:?}");
        }
    }

    #[test]
    fn values_are_found_where_they_stand() {
        check(r#"{"a": 1}"#, "", (1, 1, 8));
        check(r#"{"a": 1}"#, "/a", (2, 7, 7));
        check(
            r#"{"a":{"b":[1,{"c":"x"}]},"c":2}"#,
            "/a/b/1/c",
            (15, 19, 21),
        );
        check(r#"{"a":{"b":[1,{"c":"x"}]},"c":2}"#, "/a/b/1", (14, 14, 22));
        check(r#"{"a":{"b":[1,{"c":"x"}]},"c":2}"#, "/c", (26, 30, 30));
        check(r#"{"a\"}":"]\\","b" : [ ] }"#, "/b", (15, 21, 23));
    }

    #[test]
    fn lines_are_counted() {
        let text = "{\"a\":\n {\"b\":\n  true}}";
        let body: Value = serde_json::from_str(text).unwrap();
        let spot = Spot::start_of(&body["a"]["b"]);
        assert_eq!(spot.find(&body, text.as_bytes()), Some((3, 3)));
    }

    #[test]
    fn what_a_body_has_not_is_not_found() {
        let (body, other) = (serde_json::json!({"a": [1]}), Value::Null);
        for text in [
            r#"{"a":[1]}"#,
            "",
            "{",
            "[[[",
            "{\"a",
            "}",
            "{]",
            "[}",
            "{\"a\":}",
        ] {
            assert_eq!(
                Spot::start_of(&other).find(&body, text.as_bytes()),
                None,
                "{text}"
            );
        }
    }
}
