//! Entries on standard output: for people, for programs, or as bare lines.

use std::io::{BufWriter, Stdout, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::{Args, ValueEnum};
use clew_log::StreamId;
use serde_json::{Map, Value, json};

use super::names::Names;
use super::record::Record;
use super::time;

const BUFFER_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Position, stream and content in columns.
    Text,
    /// One JSON object a line.
    Json,
    /// The payload's bytes, one entry a line.
    Lines,
}

#[derive(Debug, Args)]
pub(crate) struct FormatArguments {
    /// What an entry looks like.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format lines`.
    #[arg(long, conflicts_with = "format")]
    lines: bool,
}

impl FormatArguments {
    pub(crate) fn format(&self) -> Format {
        if self.lines {
            Format::Lines
        } else {
            self.format
        }
    }
}

/// Prints entries until the limit.
pub(crate) struct Printer<W: Write = BufWriter<Stdout>> {
    out: W,
    format: Format,
    pub(crate) names: Names,
    /// How many may still be printed.
    pub(crate) left: u64,
}

impl Printer {
    pub(crate) fn new(format: Format, names: Names, limit: Option<u64>) -> Self {
        Printer {
            out: BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout()),
            format,
            names,
            left: limit.unwrap_or(u64::MAX),
        }
    }
}

impl<W: Write> Printer<W> {
    /// Whether a name that is not known here would be printed.
    pub(crate) fn misses_name(&self, stream: u32) -> bool {
        self.format != Format::Lines && StreamId::new(stream).is_named() && !self.names.know(stream)
    }

    pub(crate) fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }

    pub(crate) fn print(&mut self, record: &Record<'_>) -> std::io::Result<()> {
        self.left = self.left.saturating_sub(1);
        match self.format {
            Format::Lines => {
                self.out.write_all(record.payload)?;
                self.out.write_all(b"\n")
            }
            Format::Text => self.print_text(record),
            Format::Json => {
                let object = self.object(record);
                writeln!(self.out, "{object}")
            }
        }
    }

    fn print_text(&mut self, record: &Record<'_>) -> std::io::Result<()> {
        let Record {
            glsn, llsn, stream, ..
        } = record;
        if !StreamId::new(*stream).is_named() {
            let content = clew_engine::describe_entry(StreamId::new(*stream), record.payload);
            return writeln!(self.out, "{glsn:>10} {stream:>5}:{llsn:<10} {content}");
        }
        let when = time::format(record.time_ms);
        match self.names.get(*stream) {
            Some(name) => write!(self.out, "{glsn:>10} {name}:{llsn:<8} {when} ")?,
            None => write!(self.out, "{glsn:>10} {stream}:{llsn:<8} {when} ")?,
        }
        for (key, value) in &record.headers {
            write!(self.out, "{key}={} ", printable(value))?;
        }
        writeln!(self.out, "{}", printable(record.payload))
    }

    fn object(&self, record: &Record<'_>) -> Value {
        let stream = match self.names.get(record.stream) {
            Some(name) => json!(name),
            None => json!(record.stream),
        };
        let mut object = Map::new();
        object.insert("glsn".into(), record.glsn.into());
        object.insert("stream".into(), stream);
        object.insert("llsn".into(), record.llsn.into());
        object.insert("time".into(), time::format(record.time_ms).into());
        if !record.headers.is_empty() {
            let headers = record.headers.iter();
            let headers = headers.map(|(key, value)| keyed("value", value, json!({"key": key})));
            object.insert("headers".into(), headers.collect());
        }
        let object = Value::Object(object);
        if StreamId::new(record.stream).is_named() {
            return keyed("payload", record.payload, object);
        }
        let content = clew_engine::describe_entry(StreamId::new(record.stream), record.payload);
        match (object, content) {
            (Value::Object(mut object), Value::Object(content)) => {
                object.extend(content);
                Value::Object(object)
            }
            (object, _) => object,
        }
    }
}

/// Puts bytes into an object: as text under the key if they are text, else as base64 under
/// `KEY_base64`.
fn keyed(key: &str, bytes: &[u8], mut object: Value) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => object[key] = text.into(),
        Err(_) => object[format!("{key}_base64")] = BASE64.encode(bytes).into(),
    }
    object
}

/// Bytes as one line that cannot take over a terminal.
fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() && c != '\t' {
                out.extend(c.escape_default());
            } else {
                out.push(c);
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: u32 = 1 << 31;

    fn printed(format: Format, record: &Record<'_>) -> String {
        let names = Names::new(vec![clew_log_grpc::proto::StreamInfo {
            number: NAMED,
            name: Some("audit".into()),
            ..Default::default()
        }]);
        let mut printer = Printer {
            out: Vec::new(),
            format,
            names,
            left: 1,
        };
        printer.print(record).unwrap();
        assert_eq!(printer.left, 0);
        String::from_utf8_lossy(&printer.out).into_owned()
    }

    fn record<'a>(stream: u32, payload: &'a [u8]) -> Record<'a> {
        Record {
            glsn: 7,
            llsn: 3,
            stream,
            time_ms: 1000,
            headers: vec![("k", b"v"), ("k", b"\xff")],
            payload,
        }
    }

    #[test]
    fn json_keeps_text_as_text_and_everything_else_as_base64() {
        assert_eq!(
            printed(Format::Json, &record(NAMED, "h\"ä".as_bytes())),
            "{\"glsn\":7,\"stream\":\"audit\",\"llsn\":3,\"time\":\"1970-01-01T00:00:01.000Z\",\
             \"headers\":[{\"key\":\"k\",\"value\":\"v\"},{\"key\":\"k\",\"value_base64\":\"/w==\"}],\
             \"payload\":\"h\\\"ä\"}\n"
        );
        let bytes = printed(Format::Json, &record(NAMED + 1, b"\xff\x00"));
        assert!(
            bytes.contains(&format!("\"stream\":{}", NAMED + 1)),
            "{bytes}"
        );
        assert!(bytes.ends_with("\"payload_base64\":\"/wA=\"}\n"), "{bytes}");
    }

    #[test]
    fn text_shows_one_line_whatever_the_bytes_are() {
        let line = printed(Format::Text, &record(NAMED, b"a\nb\x1b[2J\xfe\tc"));
        assert_eq!(
            line,
            "         7 audit:3        1970-01-01T00:00:01.000Z k=v k=\\xff a\\nb\\u{1b}[2J\\xfe\tc\n"
        );
    }

    #[test]
    fn entries_of_the_server_are_described() {
        let line = printed(Format::Json, &record(1, b"{\"x\":1}"));
        assert!(
            line.contains("\"op\":\"catalog\",\"change\":{\"x\":1}"),
            "{line}"
        );
        assert_eq!(printed(Format::Lines, &record(1, b"\r")), "\r\n");
    }
}
