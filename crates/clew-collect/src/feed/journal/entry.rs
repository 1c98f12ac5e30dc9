//! An entry of the journal, in systemd's JSON: fields of text, of numbers for bytes that are no text, or of lists of those where
//! a field is there more than once.

use serde_json::{Map, Value, json};

use crate::parse::{Civil, LEVELS};

/// Bytes of an entry that is none, or was cut, that are kept.
const BROKEN_BYTES_MAX: usize = 1 << 10;

/// What becomes of one.
#[derive(Debug)]
pub(super) struct Entry {
    /// JSON on one line.
    pub(super) document: String,
    /// The same for the same entry.
    pub(super) id: Option<String>,
    pub(super) cursor: Option<String>,
    pub(super) time_ms: i64,
    pub(super) is_broken: bool,
}

impl Entry {
    /// Reads a line. One that is no entry, as one that was cut because it was too long, is kept by its beginning, and marked.
    pub(super) fn read(line: &[u8], is_cut: bool, now_ms: i64) -> Self {
        match serde_json::from_slice::<Map<String, Value>>(line) {
            Ok(fields) => Entry::of(Fields(fields), now_ms),
            Err(_) => Entry::broken(line, is_cut, now_ms),
        }
    }

    fn broken(line: &[u8], is_cut: bool, now_ms: i64) -> Self {
        let start = String::from_utf8_lossy(&line[..line.len().min(BROKEN_BYTES_MAX)]);
        let mut document = json!({
            "@timestamp": iso(now_ms),
            "message": start,
            "event": {"dataset": "journald", "parse_error": true},
        });
        if is_cut {
            document["log"] = json!({"flags": ["truncated"]});
        }
        // The next child need not begin before this one, if its cursor is in what was not cut off.
        let cursor = cursor_in(line);
        Entry {
            document: document.to_string(),
            id: cursor.as_deref().map(id),
            cursor,
            time_ms: now_ms,
            is_broken: true,
        }
    }

    fn of(mut fields: Fields, now_ms: i64) -> Self {
        let cursor = fields.take_text("__CURSOR");
        let microseconds = fields.take_number("__REALTIME_TIMESTAMP");
        let time_ms = microseconds.map_or(now_ms, |time| time / 1_000);
        let mut document = json!({
            "@timestamp": iso(time_ms),
            "message": fields.take_text("MESSAGE").unwrap_or_default(),
            "event": {"dataset": "journald"},
        });
        put(&mut document, "/host/name", fields.take_text("_HOSTNAME"));
        syslog(&mut fields, &mut document);
        let program = fields.take_text("SYSLOG_IDENTIFIER");
        let program = program.or_else(|| fields.take_text("_COMM"));
        put(&mut document, "/process/name", program);
        let own = fields.take_number("SYSLOG_PID");
        // The kernel knows better than the program.
        put(
            &mut document,
            "/process/pid",
            fields.take_number("_PID").or(own),
        );
        put(
            &mut document,
            "/process/executable",
            fields.take_text("_EXE"),
        );
        put(
            &mut document,
            "/process/command_line",
            fields.take_text("_CMDLINE"),
        );
        let rest = fields.rest();
        put(
            &mut document,
            "/journald",
            (!rest.is_empty()).then_some(rest),
        );
        Entry {
            document: document.to_string(),
            id: cursor.as_deref().map(id),
            cursor,
            time_ms,
            is_broken: false,
        }
    }
}

/// The cursor that stands in a part of an entry; its fields have no order.
fn cursor_in(line: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"\"__CURSOR\":\"";
    let start = memchr::memmem::find(line, NAME)? + NAME.len();
    let length = memchr::memchr(b'"', &line[start..])?;
    let cursor = std::str::from_utf8(&line[start..start + length]).ok()?;
    Some(cursor.to_owned())
}

/// Severity and facility, as the input of syslog has them.
fn syslog(fields: &mut Fields, document: &mut Value) {
    let severity = fields
        .take_number("PRIORITY")
        .filter(|code| (0..8).contains(code));
    let facility = fields.take_number("SYSLOG_FACILITY");
    let level = severity.and_then(|code| LEVELS.get(usize::try_from(code).ok()?));
    put(document, "/log/level", level.copied());
    put(document, "/log/syslog/severity/code", severity);
    put(document, "/log/syslog/facility/code", facility);
    let priority = severity.zip(facility);
    let priority =
        priority.map(|(severity, facility)| facility.saturating_mul(8).saturating_add(severity));
    put(document, "/log/syslog/priority", priority);
}

/// Puts a value where a path leads, with the objects on its way.
fn put(document: &mut Value, path: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        let steps = path.split('/').skip(1);
        let place = steps.fold(document, |place, step| &mut place[step]);
        *place = value.into();
    }
}

fn iso(ms: i64) -> String {
    let mut text = Vec::new();
    Civil::from_utc_ms(ms).push_iso(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// An entry's id: its file's and its number in it, which no other entry has.
fn id(cursor: &str) -> String {
    let part = |name: &str| cursor.split(';').find_map(|part| part.strip_prefix(name));
    match part("s=").zip(part("i=")) {
        Some((file, number)) => format!("{file}-{number}"),
        None => cursor.to_owned(),
    }
}

/// What is left of an entry.
struct Fields(Map<String, Value>);

impl Fields {
    /// Takes a field as one text; one that is there more than once has its values on lines.
    fn take_text(&mut self, name: &str) -> Option<String> {
        match simple(self.0.shift_remove(name)?) {
            Value::String(text) => Some(text),
            Value::Array(values) => {
                let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                Some(texts.join("\n"))
            }
            _ => None,
        }
    }

    fn take_number(&mut self, name: &str) -> Option<i64> {
        self.take_text(name)?.parse().ok()
    }

    /// What nobody has taken, in small letters and without underscores in front. What the journal says of a sender, which has
    /// those, cannot be said by the sender itself.
    fn rest(self) -> Map<String, Value> {
        let mut rest = Map::new();
        let (trusted, own): (Vec<_>, Vec<_>) = self
            .0
            .into_iter()
            // Those with two are the entry's place in its file.
            .filter(|(name, _)| !name.starts_with("__"))
            .partition(|(name, _)| name.starts_with('_'));
        for (name, value) in own.into_iter().chain(trusted) {
            let name = name.trim_start_matches('_').to_ascii_lowercase();
            rest.insert(name, simple(value));
        }
        rest
    }
}

/// A value without numbers for bytes: a text, or a list of texts. What is not UTF-8 in it is replaced.
fn simple(value: Value) -> Value {
    match value {
        Value::Array(items) => match bytes(&items) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into(),
            None => items.into_iter().map(simple).collect(),
        },
        other => other,
    }
}

fn bytes(items: &[Value]) -> Option<Vec<u8>> {
    let byte = |item: &Value| u8::try_from(item.as_u64()?).ok();
    items.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_common_fields_and_the_rest_beside_them() {
        let line = json!({
            "__CURSOR": "s=a1;i=2f;b=3;m=4;t=5;x=6",
            "__REALTIME_TIMESTAMP": "1767323045678901",
            "__MONOTONIC_TIMESTAMP": "1",
            "MESSAGE": "started",
            "PRIORITY": "3",
            "SYSLOG_FACILITY": "4",
            "SYSLOG_IDENTIFIER": "sshd",
            "SYSLOG_PID": "7",
            "_PID": "8",
            "_COMM": "sshd",
            "_HOSTNAME": "web1",
            "_EXE": "/usr/sbin/sshd",
            "_CMDLINE": "sshd -D",
            "_SYSTEMD_UNIT": "ssh.service",
            "SYSTEMD_UNIT": "forged",
            "TAG": ["a", [98, 255]],
            "BINARY": [1, 2],
            "NOTHING": null,
        });
        let entry = Entry::read(line.to_string().as_bytes(), false, 5);
        assert_eq!(entry.id.as_deref(), Some("a1-2f"));
        assert_eq!(entry.cursor.as_deref(), Some("s=a1;i=2f;b=3;m=4;t=5;x=6"));
        assert_eq!(entry.time_ms, 1_767_323_045_678);
        let document: Value = serde_json::from_str(&entry.document).unwrap();
        let expected = json!({
            "@timestamp": "2026-01-02T03:04:05.678Z",
            "message": "started",
            "event": {"dataset": "journald"},
            "host": {"name": "web1"},
            "log": {"level": "error", "syslog": {
                "severity": {"code": 3}, "facility": {"code": 4}, "priority": 35,
            }},
            "process": {
                "name": "sshd", "pid": 8, "executable": "/usr/sbin/sshd", "command_line": "sshd -D",
            },
            "journald": {
                "systemd_unit": "ssh.service", "tag": ["a", "b\u{fffd}"], "binary": "\u{1}\u{2}",
                "nothing": null, "comm": "sshd",
            },
        });
        assert_eq!(document, expected);
    }

    #[test]
    fn messages_of_bytes_or_of_several_values_are_texts() {
        let check = |message: Value, expected: &str| {
            let line = json!({ "MESSAGE": message }).to_string();
            let entry = Entry::read(line.as_bytes(), false, 0);
            let document: Value = serde_json::from_str(&entry.document).unwrap();
            assert_eq!(document["message"], expected, "{line}");
            assert_eq!(document["@timestamp"], "1970-01-01T00:00:00.000Z");
        };
        check(json!("a\nb"), "a\nb");
        check(json!([104, 27, 105]), "h\u{1b}i");
        check(json!(["a", "b"]), "a\nb");
        check(json!([]), "");
        check(json!(null), "");
    }

    #[test]
    fn what_is_no_entry_is_kept_and_marked_and_its_cursor_known() {
        let check = |line: &str, is_cut: bool, cursor: Option<&str>| {
            let entry = Entry::read(line.as_bytes(), is_cut, 0);
            assert!(entry.is_broken);
            assert_eq!(entry.cursor.as_deref(), cursor, "{line}");
            let document: Value = serde_json::from_str(&entry.document).unwrap();
            assert_eq!(document["event"]["parse_error"], true);
            assert_eq!(document.get("log").is_some(), is_cut);
        };
        check("-- No entries --", false, None);
        check(
            "{\"A\":\"b\",\"__CURSOR\":\"s=1;i=2\",\"MESSAGE\":\"xx",
            true,
            Some("s=1;i=2"),
        );
        check("{\"__CURSOR\":\"s=1;i=2", true, None);
        check("[1]", false, None);
    }
}
