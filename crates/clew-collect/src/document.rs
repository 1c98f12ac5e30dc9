//! From a framed line to the JSON document and the id a sink receives. Everything that is the
//! same for all lines of a file is escaped once.

use std::borrow::Cow;

use clew_ingest::IsoTimes;

use crate::event::{EpochMillis, Event};
use crate::feed::DocumentHead;
use crate::json::{push_escaped, push_number, push_text};
use crate::line::{Line, OriginKind, Taken};
use crate::parse::{ParserName, Record, Times};
use crate::planned::{LineFacts, Planned};

/// What the documents of one file, or of one sender, share.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) place: OriginKind,
    /// The file's path or the sender's address.
    place_json: String,
    key: u64,
    /// Which of the run's plans is for its lines.
    plan: usize,
}

impl Origin {
    pub(crate) fn new(path: &str, key: u64) -> Self {
        Origin {
            place: OriginKind::File,
            place_json: json_text(path),
            key,
            plan: 0,
        }
    }

    /// Of lines that were sent from this address; empty where there is none.
    pub(crate) fn sent(address: &str, key: u64) -> Self {
        let (place, place_json) = match address {
            "" => (OriginKind::Unnamed, String::new()),
            address => (OriginKind::Sender, json_text(address)),
        };
        Origin {
            place,
            place_json,
            key,
            plan: 0,
        }
    }

    /// The same, for this of the run's plans.
    pub(crate) fn with_plan(self, plan: usize) -> Self {
        Origin { plan, ..self }
    }
}

/// A document that was sent: an object of JSON on one line.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    /// Its number among all that came to its input.
    pub(crate) number: u64,
    pub(crate) head: &'a DocumentHead,
}

/// Turns lines into events.
#[derive(Debug)]
pub(crate) struct Encoder {
    host_json: String,
    pub(crate) times: Times,
    record: Record,
    iso: IsoTimes,
    /// Whether events get ids.
    pub(crate) makes_ids: bool,
    /// By number; none where there are no processors.
    plans: Vec<Option<Planned>>,
}

impl Encoder {
    pub(crate) fn new(host: &str, times: Times) -> Self {
        Encoder {
            host_json: json_text(host),
            times,
            record: Record::default(),
            iso: IsoTimes::default(),
            makes_ids: true,
            plans: Vec::new(),
        }
    }

    /// The same, with processors after the parsers.
    pub(crate) fn with_plans(self, plans: Vec<Option<Planned>>) -> Self {
        Encoder { plans, ..self }
    }

    /// The same, where nobody reads ids perhaps.
    pub(crate) fn with_ids(self, makes_ids: bool) -> Self {
        Encoder { makes_ids, ..self }
    }

    /// All plans, by number, to be changed.
    pub(crate) fn plans_mut(&mut self) -> &mut [Option<Planned>] {
        &mut self.plans
    }

    /// The plans of the processors that there are.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &Planned> {
        self.plans.iter().flatten()
    }

    /// Fills a cleared event.
    pub(crate) fn encode(
        &mut self,
        line: &Line<'_>,
        parser: ParserName,
        origin: &Origin,
        event: &mut Event,
    ) -> Taken {
        let text = text_of(line);
        let taken = self.parse(&text, parser);
        let timestamp = self.timestamp_ms(line);
        event.timestamp = EpochMillis(timestamp);
        match self.makes_ids {
            true => {
                let key = line.message.map_or(origin.key, |message| message.key);
                event.set_id(key, line.offset, line.checksum);
            }
            false => event.id.clear(),
        }
        let Some(Some(planned)) = self.plans.get_mut(origin.plan) else {
            self.write(&text, (parser, taken), (line, origin), event);
            return taken;
        };
        let known = (&self.record, self.host_json.as_str(), timestamp);
        let given = given((line, parser, origin), known);
        let now_ms = self.times.now_ms;
        let taken = planned.encode(&text, (taken, &given), now_ms, event);
        event.timestamp = EpochMillis(planned.timestamp_ms().unwrap_or(timestamp));
        taken
    }

    /// Fills a cleared event with a document that was sent, as it is or as its processors leave it.
    pub(crate) fn encode_document(
        &mut self,
        document: &Document<'_>,
        origin: &Origin,
        event: &mut Event,
    ) -> Taken {
        let Document { text, number, head } = document;
        match &head.id {
            Some(id) => {
                event.id.clear();
                event.id.push_str(id);
            }
            None => event.set_id(origin.key, *number, crc32c::crc32c(text.as_bytes())),
        }
        event.timestamp = EpochMillis(head.time_ms);
        let taken = match head.is_broken {
            true => Taken::AsPlain,
            false => Taken::ByItsParser,
        };
        let Some(Some(planned)) = self.plans.get_mut(origin.plan) else {
            event.document.extend_from_slice(text.as_bytes());
            event.metadata.push_str(head.metadata());
            return taken;
        };
        let given = (*text, head.metadata());
        let taken = planned.encode_document(given, taken, self.times.now_ms, event);
        event.timestamp = EpochMillis(planned.timestamp_ms().unwrap_or(head.time_ms));
        taken
    }

    /// The plan, with a line as its processors find it, and whether the line's parser has refused it; nothing without a plan.
    pub(crate) fn begin(
        &mut self,
        line: &Line<'_>,
        parser: ParserName,
        origin: &Origin,
    ) -> Option<(&mut Planned, bool)> {
        let text = text_of(line);
        let taken = self.parse(&text, parser);
        let timestamp = self.timestamp_ms(line);
        let known = (&self.record, self.host_json.as_str(), timestamp);
        let given = given((line, parser, origin), known);
        let planned = self.plans.get_mut(origin.plan)?.as_mut()?;
        let begun = planned.begin(&text, &given);
        Some((planned, taken == Taken::AsPlain || begun.is_err()))
    }

    /// What the line says, or else what its container's runtime says, or else now.
    fn timestamp_ms(&self, line: &Line<'_>) -> i64 {
        let told = self.record.timestamp_ms.or(line.time_ms);
        told.unwrap_or(self.times.now_ms)
    }

    /// Fills the record by the parser, or as plain text where that refuses.
    fn parse(&mut self, text: &str, parser: ParserName) -> Taken {
        self.record.clear();
        match parser.parse(text, &mut self.times, &mut self.record) {
            Some(()) => Taken::ByItsParser,
            None => {
                self.record.clear();
                // Plain takes every line; what it found, if anything, is in the record.
                let _ = ParserName::Plain.parse(text, &mut self.times, &mut self.record);
                // What goes on with a line before it, and was not joined to it as those that are sent are not, is none of them.
                match parser.joining().begins(text.as_bytes()) {
                    true => Taken::AsPlain,
                    false => Taken::ByItsParser,
                }
            }
        }
    }

    fn write(
        &self,
        text: &str,
        (parser, taken): (ParserName, Taken),
        (line, origin): (&Line<'_>, &Origin),
        event: &mut Event,
    ) {
        let out = &mut event.document;
        out.extend_from_slice(b"{\"@timestamp\":\"");
        self.iso.push(event.timestamp.0, out);
        out.extend_from_slice(b"\",\"message\":\"");
        push_escaped(out, text.as_bytes());
        out.extend_from_slice(b"\",\"event\":{\"dataset\":\"");
        out.extend_from_slice(parser.as_str().as_bytes());
        out.push(b'"');
        if taken == Taken::AsPlain {
            out.extend_from_slice(b",\"parse_error\":true");
        }
        push_members(out, b",", self.record.event.bytes());
        out.extend_from_slice(b"},\"host\":{\"name\":");
        out.extend_from_slice(self.host_json.as_bytes());
        let (before, behind): (&[u8], &[u8]) = match origin.place {
            OriginKind::File => (b"},\"log\":{\"file\":{\"path\":", b"},\"offset\":"),
            OriginKind::Sender => (b"},\"log\":{\"source\":{\"address\":", b"},\"offset\":"),
            OriginKind::Unnamed => (b"},\"log\":{", b"\"offset\":"),
        };
        out.extend_from_slice(before);
        out.extend_from_slice(origin.place_json.as_bytes());
        out.extend_from_slice(behind);
        push_number(out, line.offset);
        if let Some(level) = self.record.level {
            out.extend_from_slice(b",\"level\":\"");
            out.extend_from_slice(level.as_bytes());
            out.push(b'"');
        }
        if line.cut {
            out.extend_from_slice(b",\"flags\":[\"truncated\"]");
        }
        push_members(out, b",", self.record.log.bytes());
        out.push(b'}');
        if let Some(stream) = line.stream {
            out.extend_from_slice(b",\"stream\":\"");
            out.extend_from_slice(stream.as_bytes());
            out.push(b'"');
        }
        push_members(out, b",", self.record.fields.bytes());
        push_members(out, b",", line.fields());
        out.push(b'}');
    }
}

/// What processors are given: the line, and what is known of it (its record, the host as JSON, its time).
fn given<'a>(
    (line, parser, origin): (&'a Line<'a>, ParserName, &'a Origin),
    (record, host, timestamp_ms): (&'a Record, &'a str, i64),
) -> LineFacts<'a> {
    LineFacts {
        line,
        parser,
        record,
        host,
        place: (origin.place, &origin.place_json),
        key: origin.key,
        timestamp_ms,
    }
}

/// A line as text. Bytes that are not UTF-8 become replacement characters; NUL bytes in front (the hole a writer leaves
/// after a truncation it did not notice) are dropped.
fn text_of<'a>(line: &Line<'a>) -> Cow<'a, str> {
    let start = line.bytes.iter().position(|&byte| byte != 0);
    let bytes = &line.bytes[start.unwrap_or(line.bytes.len())..];
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

fn json_text(text: &str) -> String {
    let mut json = Vec::new();
    push_text(&mut json, text);
    String::from_utf8(json).expect("escaped text is text")
}

fn push_members(out: &mut Vec<u8>, before: &[u8], members: &[u8]) {
    if !members.is_empty() {
        out.extend_from_slice(before);
        out.extend_from_slice(members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn encode(parser: ParserName, bytes: &[u8], cut: bool) -> (Taken, Event) {
        let mut encoder = Encoder::new("h\"1", Times::new(TimeZone::UTC));
        encoder.times.now_ms = 1_767_323_045_678;
        let line = Line {
            bytes,
            offset: 17,
            checksum: 0xabc,
            cut,
            stream: None,
            time_ms: None,
            message: None,
        };
        let mut event = Event::default();
        let taken = encoder.encode(&line, parser, &Origin::new("/l/é", 7), &mut event);
        serde_json::from_slice::<serde_json::Value>(&event.document).unwrap();
        (taken, event)
    }

    #[test]
    fn a_document_has_the_common_fields_and_the_parsers() {
        let line = b"2025-06-24 14:36:25 startup archives unpack";
        let (taken, event) = encode(ParserName::Dpkg, line, false);
        assert_eq!(taken, Taken::ByItsParser);
        assert_eq!(event.id, "0000000000000007-11-00000abc");
        assert_eq!(event.timestamp, EpochMillis(1_750_775_785_000));
        assert_eq!(
            String::from_utf8(event.document).unwrap(),
            concat!(
                r#"{"@timestamp":"2025-06-24T14:36:25.000Z","message":"2025-06-24 14:36:25 startup archives unpack","#,
                r#""event":{"dataset":"dpkg","action":"startup"},"host":{"name":"h\"1"},"#,
                r#""log":{"file":{"path":"/l/é"},"offset":17},"dpkg":{"startup":"archives","step":"unpack"}}"#
            )
        );
    }

    #[test]
    fn a_refused_line_is_marked_and_kept_with_its_bad_bytes_replaced() {
        let (taken, event) = encode(ParserName::Syslog, b"\0\0ERROR caf\xe9\t", true);
        assert_eq!(taken, Taken::AsPlain);
        assert_eq!(
            String::from_utf8(event.document).unwrap(),
            concat!(
                r#"{"@timestamp":"2026-01-02T03:04:05.678Z","message":"ERROR caf"#,
                "\u{fffd}",
                r#"\t","event":{"dataset":"syslog","parse_error":true},"host":{"name":"h\"1"},"#,
                r#""log":{"file":{"path":"/l/é"},"offset":17,"level":"error","flags":["truncated"]}}"#
            )
        );
    }
}
