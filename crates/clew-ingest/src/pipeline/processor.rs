//! The kinds of steps, as a definition gives them.

use clew_analysis::Replacement;
use serde_json::{Map, Value};

use super::definition::Step;
use crate::error::DefinitionError;
use crate::members::{flag, optional, pattern, template, text};
use crate::steps::chunking::Chunking;
use crate::steps::community_id::CommunityId;
use crate::steps::convert::ConvertType;
use crate::steps::dates::DateStep;
use crate::steps::dissect::Dissect;
use crate::steps::fields::{Copied, Removed, RemovedByPattern, Sorted};
use crate::steps::fingerprint::Fingerprint;
use crate::steps::geoip::GeoIp;
use crate::steps::given::ValueSource;
use crate::steps::grok::{Grok, MachineRoom};
use crate::steps::index_name::IndexName;
use crate::steps::json::Json;
use crate::steps::script::Program;
use crate::steps::structured::{Csv, KeyValues};
use crate::steps::user_agent::UserAgent;
use crate::steps::values::Change;
use crate::template::Template;

/// The kinds of steps, by name.
pub const PROCESSOR_NAMES: [&str; 35] = [
    "append",
    "bytes",
    "community_id",
    "convert",
    "copy",
    "csv",
    "date",
    "date_index_name",
    "dissect",
    "dot_expander",
    "drop",
    "fail",
    "fingerprint",
    "foreach",
    "geoip",
    "grok",
    "gsub",
    "html_strip",
    "join",
    "json",
    "kv",
    "lowercase",
    "pipeline",
    "remove",
    "remove_by_pattern",
    "rename",
    "script",
    "set",
    "sort",
    "split",
    "text_chunking",
    "trim",
    "uppercase",
    "urldecode",
    "user_agent",
];

/// Where a step reads and writes.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) from: String,
    pub(crate) to: String,
    /// A document without it is left as it is.
    pub(crate) ignore_missing: bool,
}

/// What a step does.
#[derive(Debug)]
pub(crate) enum Processor {
    Set {
        field: Template,
        value: ValueSource,
        replace: bool,
        ignore_empty: bool,
    },
    Append {
        field: Template,
        values: Vec<ValueSource>,
        duplicates: bool,
    },
    Remove(Removed),
    RemoveByPattern(RemovedByPattern),
    Copy(Copied),
    Sort(Sorted),
    Fingerprint(Fingerprint),
    CommunityId(CommunityId),
    Chunking(Chunking),
    IndexName(IndexName),
    Rename {
        field: Field,
        /// What makes both of its names, where they are not the same for all documents.
        names: Option<Box<(Template, Template)>>,
        replace: bool,
    },
    /// A change of one value, or of each value of a list.
    Change {
        field: Field,
        change: Change,
    },
    Convert {
        field: Field,
        kind: ConvertType,
    },
    Json(Json),
    Date(DateStep),
    KeyValues(KeyValues),
    Csv(Csv),
    Dissect(Dissect),
    Grok(Grok),
    GeoIp(GeoIp),
    UserAgent(UserAgent),
    DotExpander {
        field: String,
        path: Option<String>,
    },
    Script(Program),
    Drop,
    Fail(Template),
    Foreach {
        field: String,
        ignore_missing: bool,
        step: Box<Step>,
    },
    Pipeline {
        name: Template,
        ignore_missing: bool,
    },
}

impl Processor {
    /// Has the texts that it sets write values as [`Template::keep_references`] does.
    pub(crate) fn keep_references(&mut self) {
        if let Processor::Set { value, .. } = self {
            value.keep_references();
        } else if let Processor::Append { values, .. } = self {
            values.iter_mut().for_each(ValueSource::keep_references);
        }
    }

    /// Reads a step; what it does not know stays in `config`.
    pub(crate) fn parse(
        name: &str,
        config: &mut Map<String, Value>,
        inner: Option<Box<Step>>,
        room: &MachineRoom,
    ) -> Result<(&'static str, Self), DefinitionError> {
        let (name, what) = match name {
            "set" => ("set", set(config)?),
            "append" => ("append", append(config)?),
            "rename" => ("rename", rename(config)?),
            "convert" => {
                let kind = ConvertType::parse(&text(config, "type")?)?;
                let field = field(config)?;
                ("convert", Processor::Convert { field, kind })
            }
            "dot_expander" => {
                let path = optional(config, "path")?;
                let field = text(config, "field")?;
                if !field.contains('.') {
                    return Err(DefinitionError::refused(
                        "field",
                        "field does not contain a dot",
                    ));
                }
                if field.starts_with('.') || field.ends_with('.') {
                    return Err(DefinitionError::refused(
                        "field",
                        "Field can't start or end with a dot",
                    ));
                }
                if field.contains("..") {
                    return Err(DefinitionError::refused("field", "No space between dots"));
                }
                ("dot_expander", Processor::DotExpander { field, path })
            }
            "drop" => ("drop", Processor::Drop),
            "fail" => (
                "fail",
                Processor::Fail(template(&text(config, "message")?)?),
            ),
            "foreach" => {
                let step = inner.ok_or_else(|| DefinitionError::missing("processor"))?;
                let foreach = Processor::Foreach {
                    field: text(config, "field")?,
                    ignore_missing: flag(config, "ignore_missing", false)?,
                    step,
                };
                return Ok(("foreach", foreach));
            }
            "pipeline" => {
                let name = template(&text(config, "name")?)?;
                let ignore_missing = flag(config, "ignore_missing_pipeline", false)?;
                let what = Processor::Pipeline {
                    name,
                    ignore_missing,
                };
                ("pipeline", what)
            }
            other => match structured(other, config, room)? {
                Some(what) => what,
                None => match fields(other, config)? {
                    Some(what) => what,
                    None => change(other, config)?,
                },
            },
        };
        if inner.is_some() {
            return Err(DefinitionError::malformed(format!(
                "processor [{name}] doesn't support one or more provided configuration parameters \
                 [processor]"
            )));
        }
        Ok((name, what))
    }
}

/// Reads `rename`.
fn rename(config: &mut Map<String, Value>) -> Result<Processor, DefinitionError> {
    let replace = flag(config, "override_target", false)?;
    let field = moved(config)?;
    let names = (template(&field.from)?, template(&field.to)?);
    let is_fixed = names.0.is_text() && names.1.is_text();
    Ok(Processor::Rename {
        field,
        names: (!is_fixed).then(|| Box::new(names)),
        replace,
    })
}

/// Steps that go by whole fields.
fn fields(
    name: &str,
    config: &mut Map<String, Value>,
) -> Result<Option<(&'static str, Processor)>, DefinitionError> {
    Ok(Some(match name {
        "remove" => ("remove", Processor::Remove(Removed::parse(config)?)),
        "remove_by_pattern" => (
            "remove_by_pattern",
            Processor::RemoveByPattern(RemovedByPattern::parse(config)?),
        ),
        "copy" => ("copy", Processor::Copy(Copied::parse(config)?)),
        "sort" => ("sort", Processor::Sort(Sorted::parse(config)?)),
        "fingerprint" => (
            "fingerprint",
            Processor::Fingerprint(Fingerprint::parse(config)?),
        ),
        "community_id" => (
            "community_id",
            Processor::CommunityId(CommunityId::parse(config)?),
        ),
        "text_chunking" => (
            "text_chunking",
            Processor::Chunking(Chunking::parse(config)?),
        ),
        "date_index_name" => (
            "date_index_name",
            Processor::IndexName(IndexName::parse(config)?),
        ),
        "date" => ("date", Processor::Date(DateStep::parse(config)?)),
        "script" => ("script", Processor::Script(Program::parse(config)?)),
        _ => return Ok(None),
    }))
}

/// Steps that take a text apart.
fn structured(
    name: &str,
    config: &mut Map<String, Value>,
    room: &MachineRoom,
) -> Result<Option<(&'static str, Processor)>, DefinitionError> {
    Ok(Some(match name {
        "json" => ("json", Processor::Json(Json::parse(config)?)),
        "kv" => ("kv", Processor::KeyValues(KeyValues::parse(config)?)),
        "csv" => ("csv", Processor::Csv(Csv::parse(config)?)),
        "dissect" => ("dissect", Processor::Dissect(Dissect::parse(config)?)),
        "grok" => ("grok", Processor::Grok(Grok::parse(config, room)?)),
        "geoip" => ("geoip", Processor::GeoIp(GeoIp::parse(config)?)),
        "user_agent" => (
            "user_agent",
            Processor::UserAgent(UserAgent::parse(config)?),
        ),
        _ => return Ok(None),
    }))
}

/// Steps that change a text.
fn change(
    name: &str,
    config: &mut Map<String, Value>,
) -> Result<(&'static str, Processor), DefinitionError> {
    let (name, change) = match name {
        "lowercase" => ("lowercase", Change::Lower),
        "uppercase" => ("uppercase", Change::Upper),
        "trim" => ("trim", Change::Trim),
        "html_strip" => ("html_strip", Change::StripHtml),
        "urldecode" => ("urldecode", Change::UrlDecode),
        "bytes" => ("bytes", Change::Bytes),
        "gsub" => {
            let pattern = pattern(config, "pattern")?;
            let with = Replacement::read(&text(config, "replacement")?, &pattern);
            ("gsub", Change::Replace { pattern, with })
        }
        "split" => (
            "split",
            Change::Split {
                separator: pattern(config, "separator")?,
                keep_trailing: flag(config, "preserve_trailing", false)?,
            },
        ),
        "join" => ("join", Change::Join(text(config, "separator")?)),
        other => {
            return Err(DefinitionError::malformed(format!(
                "No processor type exists with name [{other}]"
            )));
        }
    };
    let field = field(config)?;
    Ok((name, Processor::Change { field, change }))
}

fn set(config: &mut Map<String, Value>) -> Result<Processor, DefinitionError> {
    let field = template(&text(config, "field")?)?;
    config.remove("media_type");
    let value = config.remove("value").filter(|value| !value.is_null());
    let value = match (value, optional(config, "copy_from")?) {
        (Some(value), None) => ValueSource::parse(value)?,
        (None, Some(path)) => ValueSource::CopyOf(path),
        (Some(_), Some(_)) => {
            return Err(DefinitionError::refused(
                "copy_from",
                "cannot set both `copy_from` and `value` in the same processor",
            ));
        }
        (None, None) => return Err(DefinitionError::missing("value")),
    };
    Ok(Processor::Set {
        field,
        value,
        replace: flag(config, "override", true)?,
        ignore_empty: flag(config, "ignore_empty_value", false)?,
    })
}

fn append(config: &mut Map<String, Value>) -> Result<Processor, DefinitionError> {
    let field = template(&text(config, "field")?)?;
    let values = match config.remove("value") {
        None | Some(Value::Null) => return Err(DefinitionError::missing("value")),
        Some(Value::Array(items)) => items,
        Some(one) => vec![one],
    };
    Ok(Processor::Append {
        field,
        values: values
            .into_iter()
            .map(ValueSource::parse)
            .collect::<Result<_, _>>()?,
        duplicates: flag(config, "allow_duplicates", true)?,
    })
}

/// A field that is changed in its place unless a target is named.
fn field(config: &mut Map<String, Value>) -> Result<Field, DefinitionError> {
    let from = text(config, "field")?;
    Ok(Field {
        to: optional(config, "target_field")?.unwrap_or_else(|| from.clone()),
        from,
        ignore_missing: flag(config, "ignore_missing", false)?,
    })
}

/// A field that must be given a target.
fn moved(config: &mut Map<String, Value>) -> Result<Field, DefinitionError> {
    Ok(Field {
        from: text(config, "field")?,
        to: text(config, "target_field")?,
        ignore_missing: flag(config, "ignore_missing", false)?,
    })
}
