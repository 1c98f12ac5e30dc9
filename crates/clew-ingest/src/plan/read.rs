//! Definitions of steps, read as those of pipelines are, and bound to the fields of an event. A step of pipelines that has a
//! file here gets a plan of its own; the others work on documents.

use serde_json::{Map, Value as Json};

use super::condition::Condition;
use super::document::OnDocument;
use super::formats::{Formats, read_parse};
use super::json::{Conflict, Taken, json};
use super::pairs::Quotes;
use super::reshaped::Reshaped;
use super::spelling::Spelling;
use super::step::{Guarded, Step};
use super::{
    cut, date, fields, grok, items, limits, lookup, pairs, pattern, redact, regex, vrl, xml,
};
use crate::error::DefinitionError;
use crate::event::{Event, NAMES_MAX, Reason, Slot};
use crate::members::{flag, not_a, one_or_more, optional};
use crate::pipeline::Processor;
use crate::steps::grok::MachineRoom;

/// Steps of one definition, those that handle failures included, and inside each other.
const STEPS_MAX: usize = 1000;
const DEPTH_MAX: usize = 20;

/// Steps that only lines have: their names and what reads them.
type Reading = fn(&mut Event, &mut Map<String, Json>) -> Result<Box<dyn Step>, DefinitionError>;
const OWN: [(&str, Reading); 15] = [
    ("add", fields::read_add),
    ("keep", fields::read_keep),
    ("remove_item", items::read_remove_item),
    ("logfmt", pairs::read_logfmt),
    ("regex", regex::read_regex),
    ("redact", redact::read_redact),
    ("pattern", pattern::read_pattern),
    ("lookup", lookup::read_lookup),
    ("duration", redact::read_duration),
    ("sample", limits::read_sample),
    ("rate_limit", limits::read_rate_limit),
    ("dedupe", limits::read_dedupe),
    ("truncate", fields::read_truncate),
    ("vrl", vrl::read_vrl),
    ("xml", xml::read_xml),
];

/// Those of pipelines that lines have as well.
const OF_PIPELINES: [&str; 27] = [
    "set",
    "append",
    "rename",
    "convert",
    "dot_expander",
    "drop",
    "remove",
    "remove_by_pattern",
    "copy",
    "sort",
    "fingerprint",
    "community_id",
    "date",
    "json",
    "kv",
    "csv",
    "dissect",
    "grok",
    "user_agent",
    "lowercase",
    "uppercase",
    "trim",
    "html_strip",
    "urldecode",
    "bytes",
    "gsub",
    "split",
];

/// The names of the steps that lines have.
pub fn step_names() -> impl Iterator<Item = &'static str> {
    let own = OWN.into_iter().map(|(name, _)| name);
    own.chain(["parse", "join"]).chain(OF_PIPELINES)
}

/// What steps of pipelines may be told for lines alone.
struct More {
    conflict: Conflict,
    taken: Taken,
    quotes: Quotes,
    needs_pairs: bool,
    reshaped: Option<Reshaped>,
    spelling: Spelling,
    /// Whether a `grok` sets fields whose captures are empty, as those of pipelines do, and of Logstash if it is told to.
    keeps_empty: bool,
    /// What cells of a `csv` without names are called, in front of their numbers, as Logstash has them. Pipelines leave them out.
    unnamed: Option<String>,
    /// Whether texts show values, and those that are missing, as Logstash does.
    keeps_references: bool,
}

impl More {
    /// Takes out what the step of this name has.
    fn take(name: &str, config: &mut Map<String, Json>) -> Result<Self, DefinitionError> {
        let mut more = More {
            conflict: Conflict::Overwrite,
            taken: Taken::Values,
            quotes: Quotes::Letters,
            needs_pairs: false,
            reshaped: None,
            spelling: Spelling::Strict,
            keeps_empty: true,
            unnamed: None,
            keeps_references: false,
        };
        match name {
            "grok" => more.keeps_empty = flag(config, "keep_empty_captures", true)?,
            "csv" => more.unnamed = optional(config, "unnamed_prefix")?,
            "set" | "append" => more.keeps_references = flag(config, "keep_references", false)?,
            "json" => {
                more.conflict = Conflict::take(config)?;
                more.taken = Taken::take(config)?;
            }
            "kv" => {
                more.quotes = Quotes::take(config)?;
                more.needs_pairs =
                    more.quotes == Quotes::AroundValues && flag(config, "needs_pairs", false)?;
                more.reshaped = Reshaped::take(config, more.quotes)?;
            }
            "convert" => more.spelling = Spelling::take(config)?,
            _ => {}
        }
        Ok(more)
    }
}

/// Counts the steps while it reads them.
pub(super) struct Reader<'e> {
    event: &'e mut Event,
    formats: Option<&'e dyn Formats>,
    left: usize,
    /// For what their expressions become.
    room: MachineRoom,
}

impl<'e> Reader<'e> {
    pub(super) fn new(event: &'e mut Event, formats: Option<&'e dyn Formats>) -> Self {
        Reader {
            event,
            formats,
            left: STEPS_MAX,
            room: MachineRoom::new(),
        }
    }

    /// Reads `{name: {parameters}}`.
    pub(super) fn one(&mut self, definition: &Json) -> Result<Guarded, DefinitionError> {
        self.one_at(definition, 0)
    }

    fn one_at(&mut self, definition: &Json, depth: usize) -> Result<Guarded, DefinitionError> {
        let members = definition.as_object().filter(|members| members.len() == 1);
        let (name, config) = members
            .and_then(|members| members.iter().next())
            .ok_or_else(|| DefinitionError::malformed("expected one step and its parameters"))?;
        if depth > DEPTH_MAX || self.left == 0 {
            return Err(DefinitionError::unsupported(format!(
                "a step has at most [{STEPS_MAX}] steps in it, [{DEPTH_MAX}] inside each other"
            )));
        }
        self.left -= 1;
        let mut config = match config {
            Json::Object(config) => config.clone(),
            Json::Null => Map::new(),
            other => return Err(not_a("map", name, other).in_step(name)),
        };
        self.guarded(name, &mut config, depth)
            .map_err(|error| error.in_step(name))
    }

    fn guarded(
        &mut self,
        name: &str,
        config: &mut Map<String, Json>,
        depth: usize,
    ) -> Result<Guarded, DefinitionError> {
        config.remove("description");
        let condition = match config.remove("if") {
            None => None,
            Some(written) => {
                let read = Condition::parse(self.event, &written);
                Some(read.map_err(|error| DefinitionError::refused("if", error))?)
            }
        };
        let tag = optional(config, "tag")?;
        let ignore_failure = flag(config, "ignore_failure", false)?;
        let on_failure = match config.remove("on_failure") {
            None => Vec::new(),
            Some(Json::Array(items)) => items
                .iter()
                .map(|item| self.one_at(item, depth + 1))
                .collect::<Result<_, _>>()?,
            Some(other) => return Err(not_a("list", "on_failure", &other)),
        };
        let (name, what) = self.step(name, config)?;
        if let Some(unknown) = config.keys().next() {
            return Err(DefinitionError::refused(
                unknown,
                format!("is no parameter of [{name}]"),
            ));
        }
        Ok(Guarded {
            name,
            tag,
            condition,
            ignore_failure,
            on_failure,
            what,
            failed: [0; Reason::ALL.len()],
        })
    }

    fn step(
        &mut self,
        name: &str,
        config: &mut Map<String, Json>,
    ) -> Result<(&'static str, Box<dyn Step>), DefinitionError> {
        if let Some((name, read)) = OWN.iter().find(|(own, _)| *own == name) {
            return Ok((name, read(self.event, config)?));
        }
        if name == "parse" {
            let step = read_parse(self.event, self.formats, config)?;
            return Ok(("parse", step));
        }
        // Lines are mostly of the machine that reads them. Of documents a server's own zone says nothing.
        let is_local = name == "date" && config.get("timezone").is_some_and(|zone| zone == "Local");
        if is_local {
            config.remove("timezone");
        }
        let mut more = More::take(name, config)?;
        let processor = match Processor::parse(name, config, None, &self.room)? {
            (name, Processor::Date(step)) if is_local => {
                (name, Processor::Date(step.in_local_zone()))
            }
            other => other,
        };
        Ok((
            processor.0,
            self.bound(processor.0, processor.1, &mut more)?,
        ))
    }

    /// A step of pipelines, bound to the event's fields.
    fn bound(
        &mut self,
        name: &str,
        processor: Processor,
        more: &mut More,
    ) -> Result<Box<dyn Step>, DefinitionError> {
        let event = &mut *self.event;
        match processor {
            Processor::Dissect(dissect) => cut::dissect(event, dissect),
            Processor::Json(step) => json(event, &step, more.conflict, more.taken),
            Processor::KeyValues(step) => pairs::key_values(
                event,
                step,
                (more.quotes, more.needs_pairs, more.reshaped.take()),
            ),
            Processor::Convert { field, kind } => {
                fields::convert(event, &field, kind, more.spelling)
            }
            Processor::Grok(step) if !step.trace => grok::grok(event, step, more.keeps_empty),
            Processor::Csv(step) => pairs::csv(event, step, more.unnamed.take()),
            Processor::Date(step) if step.is_for_lines() => date::date(event, step),
            Processor::Drop => Ok(Box::new(fields::Drop)),
            Processor::Rename {
                field,
                names: None,
                replace,
            } => fields::rename(event, &field, replace),
            Processor::Remove(removed) if removed.paths().is_some() => {
                fields::remove(event, removed)
            }
            Processor::Copy(copied) if copied.paths().is_some() => fields::copy(event, &copied),
            Processor::Change { field, change } if change.is_of_letters() => {
                fields::letters(event, &field, change)
            }
            Processor::GeoIp(_)
            | Processor::Script(_)
            | Processor::Fail(_)
            | Processor::Foreach { .. }
            | Processor::Pipeline { .. }
            | Processor::IndexName(_) => Err(DefinitionError::unsupported(format!(
                "processor [{name}] is for pipelines of a server"
            ))),
            mut other => {
                if more.keeps_references {
                    other.keep_references();
                }
                Ok(Box::new(OnDocument::new(other)))
            }
        }
    }
}

/// The slots of the fields that a step is for.
pub(super) fn slots(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Vec<Slot>, DefinitionError> {
    let names = one_or_more(config, "field")?.ok_or_else(|| DefinitionError::missing("field"))?;
    names.iter().map(|name| slot(event, name)).collect()
}

/// The slot of a field that a definition names.
pub(super) fn slot(event: &mut Event, path: &str) -> Result<Slot, DefinitionError> {
    if path.is_empty() {
        return Err(DefinitionError::malformed("a field has an empty name"));
    }
    event.slot(path).map_err(|_| {
        DefinitionError::unsupported(format!("a pipeline has at most [{NAMES_MAX}] fields"))
    })
}
