//! The parsers as formats of the processor `parse`, for any field of an event: with the same implementation, and the same fields
//! as those that an input's `parse` gives. What container runtimes wrap lines in is a format here, too.

use clew_ingest::{FormatReader, Formats, FoundInText, Times};

use crate::frame::{Wrapping, unwrap};
use crate::parse::{ParserName, Record, first_that_takes, known_names};

/// All formats there are.
#[derive(Debug)]
pub(crate) struct KnownFormats;

/// What reads a text.
#[derive(Clone, Copy, Debug)]
enum Format {
    Named(ParserName),
    /// The first that takes it.
    Auto,
    Wrapped(Wrapping),
}

impl Formats for KnownFormats {
    fn reader(&self, name: &str) -> Result<Box<dyn FormatReader>, String> {
        let format = match name {
            "auto" => Format::Auto,
            "cri" => Format::Wrapped(Wrapping::Cri),
            "docker" => Format::Wrapped(Wrapping::Docker),
            "container" => Format::Wrapped(Wrapping::Container),
            name => Format::Named(name.parse().map_err(|_| {
                let known = known_names();
                format!("is [{name}], and there are auto, cri, docker, container, {known}")
            })?),
        };
        Ok(Box::new(Reader {
            format,
            record: Record::default(),
            event: String::new(),
            log: String::new(),
            root: String::new(),
            text: String::new(),
        }))
    }
}

/// Reads texts of one format; its memory is used again.
#[derive(Debug)]
struct Reader {
    format: Format,
    record: Record,
    event: String,
    log: String,
    root: String,
    text: String,
}

impl FormatReader for Reader {
    fn read(&mut self, text: &str, times: &mut Times) -> Option<FoundInText<'_>> {
        match self.format {
            Format::Wrapped(wrapping) => self.unwrapped(wrapping, text),
            Format::Named(parser) => {
                self.record.clear();
                parser.parse(text, times, &mut self.record)?;
                self.found(parser)
            }
            Format::Auto => {
                let parser = first_that_takes(text, times, &mut self.record)?;
                self.found(parser)
            }
        }
    }
}

impl Reader {
    /// What a parser has found.
    fn found(&mut self, parser: ParserName) -> Option<FoundInText<'_>> {
        let record = &self.record;
        let dataset = ("dataset", Some(parser.as_str()));
        joined(&mut self.event, dataset, record.event.bytes())?;
        joined(&mut self.log, ("level", record.level), record.log.bytes())?;
        Some(FoundInText {
            time_ms: record.timestamp_ms,
            text: None,
            event: &self.event,
            log: &self.log,
            root: std::str::from_utf8(record.fields.bytes()).ok()?,
        })
    }

    /// The text in its wrapping. A part of a line cannot be joined to the others here: it is marked.
    fn unwrapped(&mut self, wrapping: Wrapping, text: &str) -> Option<FoundInText<'_>> {
        let line = unwrap(wrapping, text.as_bytes())?;
        self.text.clear();
        self.text.push_str(std::str::from_utf8(&line.text).ok()?);
        joined(&mut self.root, ("stream", Some(line.stream.as_str())), b"")?;
        Some(FoundInText {
            time_ms: line.time_ms,
            text: Some(&self.text),
            event: "",
            log: match line.goes_on {
                true => "\"flags\":[\"partial\"]",
                false => "",
            },
            root: &self.root,
        })
    }
}

/// A member whose text has nothing to escape, if there is one, and those behind it.
fn joined(out: &mut String, (name, text): (&str, Option<&str>), members: &[u8]) -> Option<()> {
    out.clear();
    if let Some(text) = text {
        for part in ["\"", name, "\":\"", text, "\""] {
            out.push_str(part);
        }
        if !members.is_empty() {
            out.push(',');
        }
    }
    out.push_str(std::str::from_utf8(members).ok()?);
    Some(())
}

#[cfg(test)]
mod tests;
