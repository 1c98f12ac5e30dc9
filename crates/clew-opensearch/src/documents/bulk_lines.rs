//! Cuts a bulk body into actions. Sources are slices of the body: nothing is copied, and a source is
//! not even read here, because the engine reads it once when it checks it against the mapping.

use bytes::Bytes;
use clew_engine::{Action, Condition, OpType};
use clew_platform::Pace;
use clew_query::go_on;
use serde_json::value::RawValue;

use crate::documents::scripted::Around;
use crate::documents::update_body;
use crate::http::error::ApiError;
use crate::http::params::Params;
use crate::http::raw_json::{Members, plain_text, token_name};
use crate::http::request_memory::RequestMemory;
use crate::http::source_filter::SourceFilter;
use crate::state::stored_scripts::StoredScripts;

/// What an action is called in its line and in its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Index,
    Create,
    Update,
    Delete,
}

impl Verb {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verb::Index => "index",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
        }
    }
}

/// One action of a bulk.
#[derive(Debug)]
pub(crate) struct BulkAction {
    pub(crate) verb: Verb,
    pub(crate) index: String,
    pub(crate) require_alias: Option<bool>,
    pub(crate) id: Option<String>,
    pub(crate) routing: Option<String>,
    pub(crate) condition: Option<Condition>,
    /// The ingest pipeline that the line names.
    pub(crate) pipeline: Option<String>,
    /// What of the document an update is to be answered with.
    pub(crate) shown: Option<SourceFilter>,
    pub(crate) action: Action,
}

/// What holds where a line says nothing.
#[derive(Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) index: Option<String>,
    pub(crate) routing: Option<String>,
    /// What of their documents updates are to be answered with.
    pub(crate) shown: Option<SourceFilter>,
    /// Scripts that updates may name.
    pub(crate) stored: StoredScripts,
    /// When the request came, in milliseconds since the epoch.
    pub(crate) now_ms: i64,
    /// Of the request: scripts of updates bring parameters of any size.
    pub(crate) memory: RequestMemory,
}

/// Cuts the body.
///
/// # Errors
/// One for the whole request: an action line that cannot be understood leaves no way to tell
/// which of the lines after it are sources; and when nobody wants the request any more.
pub(crate) fn parse(body: &Bytes, defaults: &Defaults) -> Result<Vec<BulkAction>, ApiError> {
    if body.is_empty() {
        return Err(ApiError::bad_request(
            "parse_exception",
            "request body is required",
        ));
    }
    if body.last() != Some(&b'\n') {
        return Err(ApiError::illegal_argument(
            "The bulk request must be terminated by a newline [\\n]",
        ));
    }
    let (mut actions, mut pace) = (Vec::new(), Pace::of_blocks());
    let mut lines = Lines {
        body,
        at: 0,
        number: 0,
    };
    while let Some(line) = lines.next() {
        go_on(&mut pace)?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let header = Header::parse(&line, lines.number)?;
        let mut condition = header.condition()?;
        header.check_version(condition)?;
        let Some(index) = header.index.or_else(|| defaults.index.clone()) else {
            return Err(ApiError::validation("index is missing"));
        };
        if let (Some(id), Verb::Index | Verb::Create) = (&header.id, header.verb) {
            check_id(id)?;
        }
        let has_id = header.id.as_ref().is_some_and(|id| !id.is_empty());
        if !has_id && matches!(header.verb, Verb::Update | Verb::Delete) {
            return Err(ApiError::validation("id is missing"));
        }
        let mut shown = header.shown.or_else(|| defaults.shown.clone());
        let around = Around {
            index: &index,
            stored: &defaults.stored,
            now_ms: defaults.now_ms,
            memory: &defaults.memory,
        };
        let about = (header.verb, &around, header.tries);
        let Some(action) = read_action(about, &mut lines, (&mut condition, &mut shown))? else {
            // A last line without its document is passed over, as OpenSearch does.
            break;
        };
        let anywhere = (header.verb == Verb::Delete).then_some(false);
        actions.push(BulkAction {
            verb: header.verb,
            index,
            require_alias: anywhere.or(header.require_alias),
            id: header.id,
            // An empty key is none.
            routing: (header.routing.or_else(|| defaults.routing.clone()))
                .filter(|key| !key.is_empty()),
            condition,
            pipeline: header.pipeline,
            shown: shown.filter(|_| header.verb == Verb::Update),
            action,
        });
    }
    if actions.is_empty() {
        return Err(ApiError::validation("no requests added"));
    }
    Ok(actions)
}

/// The rest of an action; none where the body ends before its document.
fn read_action(
    (verb, around, tries): (Verb, &Around<'_>, i64),
    lines: &mut Lines,
    (condition, shown): (&mut Option<Condition>, &mut Option<SourceFilter>),
) -> Result<Option<Action>, ApiError> {
    if verb == Verb::Delete {
        return Ok(Some(Action::Delete));
    }
    let Some(source) = lines.next() else {
        return Ok(None);
    };
    Ok(Some(match verb {
        Verb::Index => Action::index(source, OpType::Index),
        Verb::Create => Action::index(source, OpType::Create),
        Verb::Update | Verb::Delete => {
            let update = update_body::parse(&source, around)?;
            *condition = update.condition.or(*condition);
            update_body::check_condition(&update.spec, condition.as_ref(), tries)?;
            if shown.is_none()
                && let Some(filter) = &update.source
            {
                *shown = Some(SourceFilter::from_json(filter)?);
            }
            Action::Update(update.spec)
        }
    }))
}

/// An action line.
struct Header {
    verb: Verb,
    index: Option<String>,
    require_alias: Option<bool>,
    id: Option<String>,
    routing: Option<String>,
    if_seq_no: Option<u64>,
    if_primary_term: Option<u64>,
    version: Option<i64>,
    version_type: Option<String>,
    /// How often an update is tried again.
    tries: i64,
    pipeline: Option<String>,
    shown: Option<SourceFilter>,
}

impl Header {
    fn condition(&self) -> Result<Option<Condition>, ApiError> {
        let is_internal = matches!(self.version_type.as_deref(), None | Some("internal"));
        if self.verb == Verb::Update && (self.version.is_some() || !is_internal) {
            return Err(ApiError::illegal_argument(
                "Update requests do not support versioning. Please use `if_seq_no` and `if_primary_term` instead",
            ));
        }
        if self.verb == Verb::Create && self.version.is_some() && is_internal {
            return Err(ApiError::validation(
                "create operations do not support explicit versions. use index instead",
            ));
        }
        let external = external_version(self.version, self.version_type.as_deref())?;
        one_of(external, condition(self.if_seq_no, self.if_primary_term)?)
    }

    /// Refuses conditions that an action cannot have.
    fn check_version(&self, condition: Option<Condition>) -> Result<(), ApiError> {
        let is_external = matches!(condition, Some(Condition::External { .. }));
        match self.verb {
            Verb::Create => check_create(condition),
            Verb::Index if is_external && self.id.is_none() => Err(ApiError::validation(
                "an id must be provided if version type or value are set",
            )),
            Verb::Index | Verb::Update | Verb::Delete => Ok(()),
        }
    }

    fn parse(line: &[u8], number: usize) -> Result<Self, ApiError> {
        let raw: &RawValue =
            serde_json::from_slice(line).map_err(|error| ApiError::malformed_text(line, &error))?;
        let outer = members(raw, number, "START_OBJECT")?;
        // What follows its first member is passed over.
        let Some((name, meta)) = outer.0.first() else {
            return Err(malformed(number, "FIELD_NAME", "END_OBJECT"));
        };
        let verb = match name.as_ref() {
            "index" => Verb::Index,
            "create" => Verb::Create,
            "update" => Verb::Update,
            "delete" => Verb::Delete,
            other => {
                let expected = "one of [create, delete, index, update]";
                return Err(malformed(number, expected, other));
            }
        };
        let mut header = Header {
            verb,
            index: None,
            require_alias: None,
            id: None,
            routing: None,
            if_seq_no: None,
            if_primary_term: None,
            version: None,
            version_type: None,
            tries: 0,
            pipeline: None,
            shown: None,
        };
        for (name, value) in &members(meta, number, "START_OBJECT or END_OBJECT")?.0 {
            header.set(name, value, number)?;
        }
        Ok(header)
    }

    fn set(&mut self, name: &str, value: &RawValue, number: usize) -> Result<(), ApiError> {
        let may_be_object = matches!(name, "_source" | "dynamic_templates");
        match token_name(value) {
            "VALUE_NULL" => return Ok(()),
            "START_OBJECT" if may_be_object => {}
            "START_OBJECT" | "START_ARRAY" => return Err(unexpected_value(number, name, value)),
            _ => {}
        }
        let text = plain_text(value).ok_or_else(|| unexpected_value(number, name, value));
        match name {
            "_index" => self.index = Some(text?),
            "_id" => self.id = Some(text?),
            "routing" | "_routing" => self.routing = Some(text?),
            "if_seq_no" => self.if_seq_no = Some(position(name, whole(&text?)?)?),
            "if_primary_term" => self.if_primary_term = Some(position(name, whole(&text?)?)?),
            // Whatever else is named, what the line says itself is done.
            "op_type" => {
                if text? == "create" && self.verb == Verb::Index {
                    self.verb = Verb::Create;
                }
            }
            "require_alias" => match text?.as_str() {
                "true" => self.require_alias = Some(true),
                "false" => self.require_alias = Some(false),
                other => {
                    return Err(ApiError::illegal_argument(format!(
                        "Failed to parse value [{other}] as only [true] or [false] are allowed."
                    )));
                }
            },
            "retry_on_conflict" => {
                let text = text?;
                let tries = text.parse::<i32>().map_err(|_| {
                    let reason = format!("For input string: \"{text}\"");
                    ApiError::bad_request("number_format_exception", reason)
                })?;
                self.tries = i64::from(tries);
            }
            // Old clients name a type; the others ask for what is done anyway.
            "_type" | "dynamic_templates" => {}
            "_source" => self.shown = Some(source_filter(value)?),
            "pipeline" => self.pipeline = Some(text?),
            "version" => {
                let text = text?;
                if !is_no_version(&text, matches!(self.verb, Verb::Create)) {
                    self.version = Some(whole(&text)?);
                }
            }
            "version_type" => self.version_type = Some(text?),
            other => {
                return Err(ApiError::illegal_argument(format!(
                    "Action/metadata line [{number}] contains an unknown parameter [{other}]"
                )));
            }
        }
        Ok(())
    }
}

/// `_source` of an action line.
fn source_filter(value: &RawValue) -> Result<SourceFilter, ApiError> {
    let value = serde_json::from_str(value.get());
    SourceFilter::from_json(&value.map_err(|error| ApiError::malformed_json(&error))?)
}

fn members<'v>(raw: &'v RawValue, number: usize, expected: &str) -> Result<Members<'v>, ApiError> {
    if token_name(raw) != "START_OBJECT" {
        return Err(malformed(number, expected, token_name(raw)));
    }
    serde_json::from_str(raw.get()).map_err(|error| ApiError::malformed_json(&error))
}

fn malformed(number: usize, expected: &str, found: &str) -> ApiError {
    ApiError::illegal_argument(format!(
        "Malformed action/metadata line [{number}], expected {expected} but found [{found}]"
    ))
}

fn unexpected_value(number: usize, name: &str, value: &RawValue) -> ApiError {
    let expected = "a simple value for field";
    ApiError::illegal_argument(format!(
        "Malformed action/metadata line [{number}], expected {expected} [{name}] but found [{}]",
        token_name(value)
    ))
}

/// Whether a number stands for no version: OpenSearch's client for Java writes `-3` for any one, and `-4` with documents that
/// must be new.
pub(crate) fn is_no_version(text: &str, must_be_new: bool) -> bool {
    text == "-3" || (text == "-4" && must_be_new)
}

fn whole(text: &str) -> Result<i64, ApiError> {
    let reason = || format!("For input string: \"{text}\"");
    text.parse()
        .map_err(|_| ApiError::illegal_argument(reason()))
}

/// A number of a document's state, which is none below zero.
fn position(name: &str, number: i64) -> Result<u64, ApiError> {
    u64::try_from(number).map_err(|_| {
        ApiError::illegal_argument(match name {
            "if_seq_no" => format!("sequence numbers must be non negative. got [{number}]."),
            _ => format!("primary term must be non negative. got [{number}]"),
        })
    })
}

/// The condition that parameters of a write make.
pub(crate) fn condition_at(params: &Params) -> Result<Option<Condition>, ApiError> {
    let at = |name: &str| {
        let number = params.integer(name)?;
        number.map(|number| position(name, number)).transpose()
    };
    condition(at("if_seq_no")?, at("if_primary_term")?)
}

/// Longest id of a document.
const ID_BYTES_MAX: usize = 512;

/// Refuses an id that is too long.
pub(crate) fn check_id(id: &str) -> Result<(), ApiError> {
    if id.len() <= ID_BYTES_MAX {
        return Ok(());
    }
    Err(ApiError::validation(&format!(
        "id [{id}] is too long, must be no longer than {ID_BYTES_MAX} bytes but was: {}",
        id.len()
    )))
}

/// Both halves of a condition, or none.
pub(crate) fn condition(
    seq_no: Option<u64>,
    primary_term: Option<u64>,
) -> Result<Option<Condition>, ApiError> {
    // Terms count from 1; 0 is none.
    match (seq_no, primary_term.filter(|term| *term > 0)) {
        (Some(seq_no), Some(primary_term)) => Ok(Some(Condition::At {
            seq_no,
            primary_term,
        })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ApiError::validation(
            "ifSeqNo is set, but primary term is [0]",
        )),
        (None, Some(term)) => Err(ApiError::validation(&format!(
            "ifSeqNo is unassigned, but primary term is [{term}]"
        ))),
    }
}

/// The condition of a write, which is a version from elsewhere or a state of the document, not both.
pub(crate) fn one_of(
    external: Option<Condition>,
    state: Option<Condition>,
) -> Result<Option<Condition>, ApiError> {
    if external.is_some() && state.is_some() {
        return Err(ApiError::validation(
            "compare and write operations can not use versioning",
        ));
    }
    Ok(external.or(state))
}

/// Refuses a condition on a document that is to be new.
pub(crate) fn check_create(condition: Option<Condition>) -> Result<(), ApiError> {
    match condition {
        None => Ok(()),
        Some(Condition::At { .. }) => Err(ApiError::validation(
            "create operations do not support compare and set. use index instead",
        )),
        Some(Condition::Version { .. } | Condition::External { .. }) => Err(ApiError::validation(
            "create operations only support internal versioning. use index instead",
        )),
    }
}

/// A version that comes from elsewhere.
pub(crate) fn external_version(
    version: Option<i64>,
    kind: Option<&str>,
) -> Result<Option<Condition>, ApiError> {
    let or_equal = match kind {
        None | Some("internal") => {
            return match version {
                None => Ok(None),
                Some(_) => Err(ApiError::validation(
                    "internal versioning can not be used for optimistic concurrency control. \
                     Please use `if_seq_no` and `if_primary_term` instead",
                )),
            };
        }
        Some("external" | "external_gt") => false,
        Some("external_gte") => true,
        Some(other) => {
            return Err(ApiError::illegal_argument(format!(
                "No version type match [{other}]"
            )));
        }
    };
    // What stands for any version is none from elsewhere.
    let version = version.unwrap_or(-3);
    let version = u64::try_from(version).map_err(|_| {
        let kind = kind.unwrap_or_default().to_uppercase();
        ApiError::validation(&format!(
            "illegal version value [{version}] for version type [{kind}]"
        ))
    })?;
    Ok(Some(Condition::External { version, or_equal }))
}

/// The lines of a body.
struct Lines<'a> {
    body: &'a Bytes,
    at: usize,
    /// Number of the line last handed out, from 1.
    number: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<Bytes> {
        let rest = &self.body[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let mut end = self.at + length;
        let start = self.at;
        self.at = (end + 1).min(self.body.len());
        self.number += 1;
        if end > start && self.body[end - 1] == b'\r' {
            end -= 1;
        }
        Some(self.body.slice(start..end))
    }
}

#[cfg(test)]
mod tests;
