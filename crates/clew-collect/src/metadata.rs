//! What goes with an event and is never part of its document: `@metadata`, as shippers of Elasticsearch's family have it. A sender's
//! action says some of it (`_index`, `_id`, `op_type`, `pipeline`, `routing`), processors may change it, and outputs make of it
//! where an event goes.

use std::borrow::Cow;

use clew_ingest::template::{Escape, Template};
use clew_schema::DateFormat;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::event::{EpochMillis, Event};

/// The field's name.
pub(crate) const METADATA: &str = "@metadata";
/// The longest id of a document.
pub(crate) const ID_BYTES_MAX: usize = 512;
/// The longest name of an index.
const INDEX_BYTES_MAX: usize = 255;

/// How an event is written under its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Unless it is there.
    Create,
    /// In the place of what is there: its sender has said so, and given the id.
    Index,
}

impl Writing {
    /// The name of the action.
    pub fn as_str(self) -> &'static str {
        match self {
            Writing::Create => "create",
            Writing::Index => "index",
        }
    }
}

/// What of the metadata says how an event is written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Known<'a> {
    #[serde(borrow)]
    op_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    _id: Option<Cow<'a, str>>,
}

/// Where events go at a server of indexes: templates of the fields of a document and of its `@metadata`, and of its date.
#[derive(Clone, Debug)]
pub struct Placing {
    index: DatedTemplate,
    pipeline: Option<DatedTemplate>,
    routing: Option<DatedTemplate>,
    /// The index, where it is the same for all events and nothing else is said of them.
    fixed: Option<String>,
}

/// The values of a template's dates, beside the fields of the document.
const DATES: &str = "@dates";

/// A template with the event's date in it, `logs-%{+yyyy.MM.dd}`, as Beats and Logstash write it: of its time, in UTC.
#[derive(Clone, Debug)]
struct DatedTemplate {
    template: Template,
    dates: Vec<DateFormat>,
    /// Whether it is of anything else than the date.
    reads_document: bool,
}

/// Reads a template whose dates are values.
fn template_of(text: &str) -> Result<Template, String> {
    Template::parse(text).map_err(|error| error.to_string())
}

impl DatedTemplate {
    fn parse(text: &str) -> Result<Self, String> {
        let (mut named, mut undated, mut dates) = (String::new(), String::new(), Vec::new());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("%{+") {
            let (format, behind) = behind
                .split_once('}')
                .ok_or("has a date that does not end: %{+ without }")?;
            // Theirs are Joda's letters, where Y is the year and x that of the week.
            let format = format.replace('Y', "y").replace('x', "Y");
            let format = DateFormat::parse(&format)
                .map_err(|error| format!("has a date in a format that is wrong: {error}"))?;
            named.push_str(&format!("{before}{{{{{DATES}.{}}}}}", dates.len()));
            undated.push_str(before);
            dates.push(format);
            rest = behind;
        }
        if undated.contains("%{") || rest.contains("%{") {
            return Err(
                "names a field as Beats and Logstash do, %{[a]}: here it is {{a}}".to_owned(),
            );
        }
        Ok(DatedTemplate {
            template: template_of(&(named + rest))?,
            reads_document: !template_of(&(undated + rest))?.is_text(),
            dates,
        })
    }

    fn is_text(&self) -> bool {
        self.template.is_text()
    }

    /// `values` are those of the event, which is of this time.
    fn render(&self, values: &mut Value, time: EpochMillis) -> Result<String, String> {
        if let (false, Some(members)) = (self.dates.is_empty(), values.as_object_mut()) {
            let dates = self.dates.iter().enumerate();
            let dates = dates.map(|(at, date)| (at.to_string(), date.format_millis(time.0).into()));
            members.insert(DATES.to_owned(), Value::Object(dates.collect()));
        }
        self.template.render(values, Escape::Plain)
    }
}

/// Where one event goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTarget {
    /// The index.
    pub index: String,
    /// The ingest pipeline it goes through, if not that of its index.
    pub pipeline: Option<String>,
    /// What chooses its shard, if not its id.
    pub routing: Option<String>,
    /// How it is written.
    pub writing: Writing,
}

impl Placing {
    /// Reads the templates.
    ///
    /// # Errors
    /// What is wrong with one, or with an index that is the same for all.
    pub fn new(index: &str, pipeline: Option<&str>, routing: Option<&str>) -> Result<Self, String> {
        let read =
            |text: &str| DatedTemplate::parse(text).map_err(|reason| format!("[{text}] {reason}"));
        let template = read(index)?;
        let is_fixed = template.is_text();
        if is_fixed && let Some(reason) = wrong_with_index(index) {
            return Err(format!("[{index}] is no name of an index: {reason}"));
        }
        let is_alone = pipeline.is_none() && routing.is_none();
        Ok(Placing {
            index: template,
            pipeline: pipeline.map(read).transpose()?,
            routing: routing.map(read).transpose()?,
            fixed: (is_fixed && is_alone).then(|| index.to_owned()),
        })
    }

    /// The index, where it is the same for all events and nothing else is said of them.
    pub fn fixed(&self) -> Option<&str> {
        self.fixed.as_deref()
    }

    /// Where an event goes. Costs reading its document, unless all templates are texts or dates.
    ///
    /// # Errors
    /// That its index has no name that an index can have.
    pub fn of(&self, event: &Event) -> Result<EventTarget, String> {
        let writing = writing(event);
        if let Some(index) = &self.fixed {
            return Ok(EventTarget {
                index: index.clone(),
                pipeline: None,
                routing: None,
                writing,
            });
        }
        let templates = [
            Some(&self.index),
            self.pipeline.as_ref(),
            self.routing.as_ref(),
        ];
        let mut values = match templates.iter().flatten().any(|one| one.reads_document) {
            true => values(event)?,
            false => Value::Object(Map::new()),
        };
        let mut rendered = templates.map(|template| {
            let rendered = template?.render(&mut values, event.timestamp);
            Some(rendered).filter(|text| text.as_ref() != Ok(&String::new()))
        });
        let mut next = |at: usize| rendered[at].take().transpose();
        let (index, pipeline, routing) = (next(0)?.unwrap_or_default(), next(1)?, next(2)?);
        if let Some(reason) = wrong_with_index(&index) {
            return Err(format!("Invalid index name [{index}], {reason}"));
        }
        Ok(EventTarget {
            index,
            pipeline,
            routing,
            writing,
        })
    }
}

/// The fields of an event's document, and its metadata, for templates.
pub(crate) fn values(event: &Event) -> Result<Value, String> {
    let read: Result<Value, _> = serde_json::from_slice(&event.document);
    let mut values = read.map_err(|error| error.to_string())?;
    if !event.metadata.is_empty()
        && let Some(members) = values.as_object_mut()
    {
        let metadata = serde_json::from_str(&event.metadata).unwrap_or_default();
        members.insert(METADATA.to_owned(), metadata);
    }
    Ok(values)
}

/// How an event is written: in the place of another one only if its sender has named both.
pub(crate) fn writing(event: &Event) -> Writing {
    if event.metadata.is_empty() {
        return Writing::Create;
    }
    let known: Known<'_> = serde_json::from_str(&event.metadata).unwrap_or_default();
    match (known.op_type.as_deref(), known._id) {
        (Some("index"), Some(_)) => Writing::Index,
        _ => Writing::Create,
    }
}

/// What is wrong with the name of an index that a document is to go to, in Elasticsearch's words. Names with dates in them, in
/// angle brackets, are for the server to understand.
pub(crate) fn wrong_with_index(name: &str) -> Option<&'static str> {
    if name.starts_with('<') && name.ends_with('>') {
        return None;
    }
    let forbidden = |letter: char| "\\/*?\"<>| ,".contains(letter) || letter.is_control();
    if name.is_empty() {
        Some("must not be empty")
    } else if name == "." || name == ".." {
        Some("must not be '.' or '..'")
    } else if name.contains(forbidden) {
        Some("must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]")
    } else if name.contains('#') {
        Some("must not contain '#'")
    } else if name.contains(':') {
        Some("must not contain ':'")
    } else if name.starts_with(['_', '-', '+']) {
        Some("must not start with '_', '-', or '+'")
    } else if name.len() > INDEX_BYTES_MAX {
        Some("index name is too long, (> 255)")
    } else if name.chars().any(char::is_uppercase) {
        Some("must be lowercase")
    } else {
        None
    }
}

/// What is wrong with the id of a document, in Elasticsearch's words.
pub(crate) fn wrong_with_id(id: &str) -> Option<String> {
    match id.len() {
        0 => Some("if _id is specified it must not be empty".to_owned()),
        1..=ID_BYTES_MAX => None,
        bytes => Some(format!(
            "id is too long, must be no longer than {ID_BYTES_MAX} bytes but was: {bytes}"
        )),
    }
}

#[cfg(test)]
mod tests;
