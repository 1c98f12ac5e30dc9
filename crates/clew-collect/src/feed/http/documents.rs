//! Documents of a request on their way to the collector: whole objects of JSON, each on one line, which have a time and say what
//! they are of.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer::Refused;
use crate::feed::{DocumentHead, Parcel, ParcelKind};
use crate::json::push_text;
use crate::metadata::{METADATA, wrong_with_id};
use crate::parse::Civil;

/// Documents that one request may have.
pub(super) const DOCUMENTS_MAX: usize = 100_000;

/// Documents so far.
#[derive(Debug)]
pub(super) struct Documents {
    now_ms: i64,
    text: Vec<u8>,
    ends: Vec<(usize, bool)>,
    heads: Vec<DocumentHead>,
}

/// What is looked at of an object.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Known<'a> {
    #[serde(rename = "@timestamp", borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(rename = "@metadata", borrow)]
    metadata: Option<&'a RawValue>,
}

/// What a sender says beside a document.
#[derive(Debug, Default)]
pub(super) struct SenderSaid {
    /// Its name for it.
    pub(super) id: Option<String>,
    /// Members of its `@metadata`.
    pub(super) metadata: Map<String, Value>,
}

impl Documents {
    pub(super) fn new(now_ms: i64) -> Self {
        Documents {
            now_ms,
            text: Vec::new(),
            ends: Vec::new(),
            heads: Vec::new(),
        }
    }

    /// The time at which they came.
    pub(super) fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// What the collector takes of it; nothing where there is nothing.
    pub(super) fn parcel(self, feed: usize) -> Option<Parcel> {
        (!self.ends.is_empty()).then(|| Parcel {
            feed,
            sender: "".into(),
            text: self.text,
            ends: self.ends,
            kind: ParcelKind::Documents(self.heads),
            receipt: None,
            cursor: None,
        })
    }

    /// Adds an object as it was sent. What it lacks of a time and of an `event` is put in front: the time of its coming, and
    /// `event.dataset`. What it has as `@metadata` goes beside it.
    ///
    /// # Errors
    /// That it is no object of JSON.
    pub(super) fn add(
        &mut self,
        written: &str,
        dataset: &str,
        mut said: SenderSaid,
    ) -> Result<(), String> {
        let known: Known<'_> = serde_json::from_str(written).map_err(|error| error.to_string())?;
        if let Some(metadata) = known.metadata {
            let document = without(written, metadata)?;
            if let Ok(Value::Object(own)) = serde_json::from_str(metadata.get()) {
                for (name, value) in own {
                    said.metadata.entry(name).or_insert(value);
                }
            }
            let id = said.metadata.get("_id").and_then(Value::as_str);
            let id = id.filter(|id| wrong_with_id(id).is_none());
            said.id = said.id.or(id.map(str::to_owned));
            return self.add(&document, dataset, said);
        }
        let written = written.trim();
        let inside = written
            .strip_prefix('{')
            .ok_or_else(|| "a document is an object of JSON".to_owned())?;
        let time_ms = known.timestamp.and_then(time_ms);
        self.text.push(b'{');
        if known.timestamp.is_none() {
            self.push_time(self.now_ms);
        }
        if known.event.is_none() {
            self.push_member("event");
            self.text.extend_from_slice(b"{\"dataset\":");
            push_text(&mut self.text, dataset);
            self.text.push(b'}');
        }
        let is_empty = inside.trim_start().starts_with('}');
        if !self.text.ends_with(b"{") && !is_empty {
            self.text.push(b',');
        }
        // Between values line ends may stand, inside of texts they cannot.
        let inside = inside.bytes();
        self.text.extend(inside.map(|byte| {
            if matches!(byte, b'\n' | b'\r') {
                b' '
            } else {
                byte
            }
        }));
        self.end(said, time_ms, false);
        Ok(())
    }

    /// Adds a document that was made here, with everything that one has.
    pub(super) fn add_made(&mut self, document: &serde_json::Value, time_ms: i64) {
        self.text.extend_from_slice(document.to_string().as_bytes());
        self.end(SenderSaid::default(), Some(time_ms), false);
    }

    /// Adds a text that should have been a document: it is kept as a message, and marked.
    pub(super) fn add_broken(&mut self, text: &str, dataset: &str) {
        self.text.push(b'{');
        self.push_time(self.now_ms);
        self.push_member("message");
        push_text(&mut self.text, text);
        self.push_member("event");
        self.text.extend_from_slice(b"{\"dataset\":");
        push_text(&mut self.text, dataset);
        self.text.extend_from_slice(b",\"parse_error\":true}}");
        self.end(SenderSaid::default(), None, true);
    }

    fn push_member(&mut self, name: &str) {
        if !self.text.ends_with(b"{") {
            self.text.push(b',');
        }
        push_text(&mut self.text, name);
        self.text.push(b':');
    }

    fn push_time(&mut self, ms: i64) {
        self.push_member("@timestamp");
        self.text.push(b'"');
        Civil::from_utc_ms(ms).push_iso(&mut self.text);
        self.text.push(b'"');
    }

    fn end(&mut self, said: SenderSaid, time_ms: Option<i64>, is_broken: bool) {
        self.ends.push((self.text.len(), false));
        let metadata = said.metadata;
        self.heads.push(DocumentHead {
            id: said.id.map(String::into_boxed_str),
            metadata: (!metadata.is_empty()).then(|| Value::Object(metadata).to_string().into()),
            time_ms: time_ms.unwrap_or(self.now_ms),
            is_broken,
        });
    }
}

/// An object without its `@metadata`, whose value stands in it. Everything else stays as it is written.
fn without(written: &str, metadata: &RawValue) -> Result<String, String> {
    let start = metadata.get().as_ptr().addr() - written.as_ptr().addr();
    let behind = written[start + metadata.get().len()..].trim_start();
    let before = written[..start].trim_end().strip_suffix(':');
    let before = before.and_then(|before| before.trim_end().strip_suffix("\"@metadata\""));
    if let Some(before) = before {
        let before = before.trim_end();
        return Ok(match behind.strip_prefix(',') {
            Some(behind) => format!("{before}{behind}"),
            None => format!("{}{behind}", before.strip_suffix(',').unwrap_or(before)),
        });
    }
    // Its name is written with escapes.
    let mut members: Map<String, Value> =
        serde_json::from_str(written).map_err(|error| error.to_string())?;
    members.shift_remove(METADATA);
    Ok(Value::Object(members).to_string())
}

/// The time that a value says: a text, or milliseconds since the epoch.
fn time_ms(value: &RawValue) -> Option<i64> {
    let written = value.get();
    match written.strip_prefix('"') {
        Some(text) => {
            let time: Timestamp = text.strip_suffix('"')?.parse().ok()?;
            Some(time.as_millisecond())
        }
        None => written.parse().ok(),
    }
}

/// Takes JSON as it is posted: a list of objects, one object, or an object on each line, of which those that are none are kept
/// as messages.
pub(super) fn read_json(body: &[u8], documents: &mut Documents) -> Result<(), Refused> {
    const DATASET: &str = "json";
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let too_many = || Refused::Invalid(format!("more than {DOCUMENTS_MAX} documents in a request"));
    if text.starts_with('[') {
        let invalid =
            |error: String| Refused::Invalid(format!("the list is not of objects: {error}"));
        let items: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if items.len() > DOCUMENTS_MAX {
            return Err(too_many());
        }
        for item in items {
            let added = documents.add(item.get(), DATASET, SenderSaid::default());
            added.map_err(invalid)?;
        }
        return Ok(());
    }
    // One object that was written on several lines is no object line by line.
    if text.contains('\n') && documents.add(text, DATASET, SenderSaid::default()).is_ok() {
        return Ok(());
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for (number, line) in lines.enumerate() {
        if number >= DOCUMENTS_MAX {
            return Err(too_many());
        }
        if documents.add(line, DATASET, SenderSaid::default()).is_err() {
            documents.add_broken(line, DATASET);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
