//! How lines are joined that are one event: by the filter `multiline`, and by what there was before it.

use serde_json::{Value, json};

use super::parsers::{Parsers, path};
use super::syntax::Section;
use super::tell_rest;
use crate::config::import::told::Told;

/// The filter `multiline`, which joins events there: here the input joins its lines.
pub(super) fn joined(
    mut section: Section,
    parsers: &Parsers,
    (input, condition): (&mut Value, Option<&Value>),
    told: &mut Told,
) {
    let (line, place) = (section.line, section.place());
    let given = section.take_all("multiline.parser");
    let names: Vec<&str> = given.iter().flat_map(|names| names.split(',')).collect();
    let is_of_parts = section.take("mode").as_deref() == Some("partial_message");
    let key = section.take("multiline.key_content");
    let is_line = key.is_none_or(|key| path(&key) == "message");
    let reason = if input["type"] != "file" {
        Some("lines that are sent are not joined: only files have [multiline]")
    } else if is_of_parts || names.is_empty() {
        Some("only lines are joined, by [multiline.parser]")
    } else if !is_line {
        Some("only lines are joined, and no other [multiline.key_content]")
    } else if condition.is_some() {
        Some("lines of some files of an input are not joined otherwise than those of others")
    } else {
        None
    };
    match reason {
        Some(reason) => told.tell(line, &place, reason),
        None => {
            for name in names {
                parsers.join(name.trim(), input, (line, &place, told));
            }
            if let Some(ms) = section.take("flush_ms")
                && input.get("multiline").is_some()
                && let Ok(ms) = ms.parse::<u64>()
            {
                input["multiline"]["timeout_ms"] = ms.into();
            }
        }
    }
    // Of how events wait there for each other.
    for key in [
        "buffer",
        "emitter_name",
        "emitter_storage.type",
        "emitter_mem_buf_limit",
        "debug_flush",
        "flush_ms",
    ] {
        section.take(key);
    }
    tell_rest(section, told);
}

/// How lines were joined before there were parsers of several lines: by the expression of a parser, or as docker cuts them.
pub(super) fn joined_as_before(
    section: &mut Section,
    parsers: &Parsers,
    input: &mut Value,
    told: &mut Told,
) {
    let (line, place) = (section.line, section.place());
    if section.take_flag("docker_mode") == Some(true) {
        input["wrapping"] = "docker".into();
        section.take("docker_mode_flush");
        if let Some(name) = section.take("parser").filter(|name| name != "docker") {
            let reason = format!("[parser {name}] is not asked beside [docker_mode]");
            told.tell(line, &place, reason);
        }
    }
    if section.take_flag("multiline") != Some(true) {
        return;
    }
    let Some(name) = section.take("parser_firstline") else {
        return;
    };
    let Some(start) = parsers.expression_of(&name) else {
        let reason = format!("[parser_firstline], [{name}], is no parser of [format regex] here");
        told.tell(line, &place, reason);
        return;
    };
    input["multiline"] = json!({"start": start});
    let seconds = section.take("multiline_flush");
    if let Some(seconds) = seconds.and_then(|seconds| seconds.parse::<u64>().ok()) {
        input["multiline"]["timeout_ms"] = seconds.saturating_mul(1_000).into();
    }
    let reason =
        "[parser_firstline] says where events begin; what is in their first lines stays there";
    told.tell(line, &place, reason);
}
