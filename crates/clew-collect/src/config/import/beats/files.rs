//! Filebeat's inputs that read files, and what is done with lines before processors are.

use serde_json::{Map, Value, json};

use super::{items, processors};
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::{LINE, Notes, Part, bytes, duration_ms, processor, texts};
use crate::frame::Encoding;

/// What reads files.
pub(super) fn file(
    kind: &str,
    keys: &mut Keys,
    input: &mut Map<String, Value>,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    which_files(kind, keys, input, processors);
    let longest = keys
        .take("message_max_bytes")
        .or_else(|| keys.take("max_bytes"));
    if let Some(longest) = longest.as_ref().and_then(bytes) {
        let kept = longest.clamp(LINE_BYTES.0, LINE_BYTES.1);
        if kept != longest {
            let reason = format!("lines of up to {kept} bytes are kept whole");
            notes.tell(&keys.path_of("max_bytes"), reason);
        }
        input.insert("line_bytes_max".to_owned(), kept.into());
    }
    encoding(keys, input, notes);
    if matches!(kind, "container" | "docker") {
        container(keys, input, processors);
    }
    if let Some(multiline) = keys.take_keys("multiline") {
        input.extend(
            multiline_of(multiline, processors, notes).map(|one| ("multiline".to_owned(), one)),
        );
    }
    let said = json_of(keys.take_keys("json"), processors, notes);
    if said.is_some() && input.contains_key("multiline") {
        let path = keys.path_of("json.message_key");
        notes.tell(&path, JOINED_FIRST);
    }
    parsers(keys, input, processors, notes);
    for (key, which) in [
        ("include_lines", Kept::Fitting),
        ("exclude_lines", Kept::Others),
    ] {
        let patterns = texts(keys.take(key).unwrap_or_default());
        let fit = |pattern: &String| line_fits(pattern, said.as_deref());
        match (kept(patterns.iter().map(fit), which), &said) {
            (Some(step), Some(_)) => processors.push(step),
            (Some(step), None) => processors.insert(0, step),
            (None, _) => {}
        }
    }
    looking(keys, notes);
}

/// The bytes of lines that an input takes at least and at most.
const LINE_BYTES: (u64, u64) = (64, 16 << 20);

/// What is told where a Filebeat joins what it has read of lines.
const JOINED_FIRST: &str = "lines are joined before what is in them is read";

/// Which lines patterns keep.
#[derive(Clone, Copy)]
enum Kept {
    Fitting,
    Others,
}

/// A condition that holds where a field fits a pattern.
fn fits(field: &str, pattern: &str) -> Value {
    json!({"regexp": {field: expression(pattern)}})
}

/// The same of a line; where a member of what was in it is `said`, that is looked at, and the line only where it has none.
fn line_fits(pattern: &str, said: Option<&str>) -> Value {
    match said.filter(|field| *field != "message") {
        None => fits("message", pattern),
        Some(field) => json!({"or": [
            fits(field, pattern),
            {"and": [{"not": {"has_fields": [field]}}, fits("message", pattern)]},
        ]}),
    }
}

/// The step that drops all lines but those that are kept: those of which one of some conditions holds, or the others. None
/// without a condition.
fn kept(any: impl Iterator<Item = Value>, which: Kept) -> Option<Value> {
    let any: Vec<Value> = any.collect();
    let is_asked = !any.is_empty();
    let fits = json!({"or": any});
    let condition = match which {
        Kept::Fitting => json!({"not": fits}),
        Kept::Others => fits,
    };
    is_asked.then(|| processor("drop", [("if", condition)]))
}

/// Of the way Filebeat looks and closes: files are followed here, and given up when they are gone.
fn looking(keys: &mut Keys, notes: &mut Notes<'_>) {
    for key in LOOKING {
        keys.take(key);
    }
    let path = keys.path_of("line_terminator");
    match keys.take_text("line_terminator").as_deref() {
        None | Some("auto" | "line_feed" | "carriage_return_line_feed") => {}
        Some(other) => notes.tell(&path, format!("lines never end with [{other}]")),
    }
}

const LOOKING: [&str; 31] = [
    "close_inactive",
    "close_renamed",
    "close_removed",
    "close_eof",
    "close_timeout",
    "clean_inactive",
    "clean_removed",
    "scan_frequency",
    "harvester_buffer_size",
    "harvester_limit",
    "backoff",
    "max_backoff",
    "backoff_factor",
    "close.on_state_change",
    "close.reader",
    "file_identity",
    "prospector.scanner.check_interval",
    "prospector.scanner.fingerprint",
    "prospector.scanner.recursive_glob",
    "prospector.scanner.resend_on_touch",
    "prospector.scanner.symlinks",
    "symlinks",
    "gzip_experimental",
    "recursive_glob",
    "take_over",
    "rotation",
    "scan.order",
    "scan.sort",
    "buffer_size",
    "keep_null",
    "publisher_pipeline.disable_host",
];

/// Paths, what is left out of them, and where reading begins.
fn which_files(
    kind: &str,
    keys: &mut Keys,
    input: &mut Map<String, Value>,
    processors: &mut Vec<Value>,
) {
    let mut set = |key: &str, value: Value| input.insert(key.to_owned(), value);
    set("type", "file".into());
    let mut paths = texts(keys.take("paths").unwrap_or_default());
    if kind == "docker" {
        let ids = texts(keys.take("containers.ids").unwrap_or_default());
        let path = |id: &String| format!("/var/lib/docker/containers/{id}/*.log");
        paths.extend(ids.iter().map(path));
    }
    let is_flat = [
        "recursive_glob.enabled",
        "prospector.scanner.recursive_glob",
    ]
    .iter()
    .any(|key| keys.take_flag(key) == Some(false));
    if is_flat {
        // Two stars are as good as one where folders are not gone into.
        paths
            .iter_mut()
            .for_each(|path| *path = path.replace("**", "*"));
    }
    set("paths", paths.into());
    set("parse", "plain".into());
    // What is no pattern of names is asked of the path of each line.
    let path_fits = |pattern: &String| fits("log.file.path", pattern);
    let excluded = keys
        .take("prospector.scanner.exclude_files")
        .or_else(|| keys.take("exclude_files"));
    if let Some(excluded) = excluded {
        let (mut globs, mut others) = (Vec::new(), Vec::new());
        for pattern in texts(excluded) {
            let ways: Option<Vec<String>> = one_of_each(&pattern)
                .iter()
                .map(|pattern| as_glob(pattern))
                .collect();
            match ways {
                Some(mut ways) => globs.append(&mut ways),
                None => others.push(pattern),
            }
        }
        set("exclude", globs.into());
        processors.extend(kept(others.iter().map(path_fits), Kept::Others));
    }
    let included = keys.take("prospector.scanner.include_files");
    let included = texts(included.unwrap_or_default());
    processors.extend(kept(included.iter().map(path_fits), Kept::Fitting));
    if let Some(age) = keys.take("ignore_older").as_ref().and_then(duration_ms) {
        set("ignore_older_s", (age / 1_000).into());
    }
    // What was not written to since then is read from its end on.
    let is_inactive_left = keys.take("ignore_inactive").is_some();
    if keys.take_flag("tail_files") == Some(true) || is_inactive_left {
        set("start_at", "end".into());
    }
}

fn encoding(keys: &mut Keys, input: &mut Map<String, Value>, notes: &mut Notes<'_>) {
    let path = keys.path_of("encoding");
    let Some(written) = keys.take_text("encoding") else {
        return;
    };
    match Encoding::named(&written) {
        // What has a mark is told by it.
        Some(Encoding::Utf8) => {}
        // As on the web, what is called so has letters where the standard has control characters.
        Some(Encoding::Latin1) => {
            input.insert("encoding".to_owned(), "windows-1252".into());
        }
        Some(encoding) => {
            input.insert("encoding".to_owned(), encoding.name().into());
        }
        None => notes.tell(&path, format!("no encoding is called [{written}]")),
    }
}

fn parsers(
    keys: &mut Keys,
    input: &mut Map<String, Value>,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    let path = keys.path_of("parsers");
    let given = items(keys.take("parsers").unwrap_or_default());
    let mut is_read = false;
    for (number, mut parser) in given.into_iter().enumerate() {
        let mut path = path.clone();
        path.push(Part::Item(number));
        // A parser may be named without any options.
        if let Value::Object(members) = &mut parser {
            let empty = members.values_mut().filter(|options| options.is_null());
            empty.for_each(|options| *options = json!({}));
        }
        let Some(mut parser) = Keys::new(parser, path) else {
            continue;
        };
        if let Some(multiline) = parser.take_keys("multiline") {
            if is_read {
                notes.tell(&multiline.path, JOINED_FIRST);
            }
            input.extend(
                multiline_of(multiline, processors, notes).map(|one| ("multiline".to_owned(), one)),
            );
        } else if let Some(given) = parser.take("container") {
            let given = Keys::new(given, parser.path_of("container"));
            let mut keys = given.unwrap_or_default();
            container(&mut keys, input, processors);
            keys.tell_rest(notes);
        } else if let Some(mut keys) = parser.take_keys("syslog") {
            processors::syslog(&mut keys, processors, notes);
            keys.tell_rest(notes);
            is_read = true;
        } else if let Some(patterns) = parser.take("include_message.patterns") {
            let patterns = texts(patterns);
            let fit = patterns.iter().map(|pattern| fits("message", pattern));
            processors.extend(kept(fit, Kept::Fitting));
        } else if let Some(keys) = parser.take_keys("ndjson") {
            ndjson_of(keys, processors, notes);
            is_read = true;
        }
        parser.tell_rest(notes);
    }
}

/// The parsers of an input that reads whole messages, which are not joined.
pub(super) fn parsers_of_messages(
    keys: &mut Keys,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    let path = keys.path_of("parsers");
    let mut of_files = Map::new();
    parsers(keys, &mut of_files, processors, notes);
    for key in of_files.keys() {
        notes.tell(&path, format!("only lines of files have [{key}]"));
    }
}

/// What a container's runtime wraps lines in, and of which of its streams they are.
fn container(keys: &mut Keys, input: &mut Map<String, Value>, processors: &mut Vec<Value>) {
    input.insert("wrapping".to_owned(), "container".into());
    keys.take("format");
    if let Some(stream) = keys.take_text("stream").filter(|stream| stream != "all") {
        let others = json!({"not": {"equals": {"stream": stream}}});
        processors.push(processor("drop", [("if", others)]));
    }
}

/// A pattern with a group of texts in it, `\.(gz|zip)$`, as one for each of them; others as they are.
fn one_of_each(pattern: &str) -> Vec<String> {
    let whole = || vec![pattern.to_owned()];
    let Some((before, rest)) = pattern.split_once('(') else {
        return whole();
    };
    let Some((inside, behind)) = rest.split_once(')') else {
        return whole();
    };
    let inside = inside.strip_prefix("?:").unwrap_or(inside);
    if before.ends_with('\\') || inside.contains(['(', '[', '?']) {
        return whole();
    }
    let parts = inside.split('|');
    parts
        .map(|part| format!("{before}{part}{behind}"))
        .collect()
}

/// `\.gz$` as `*.gz`, `^debug` as `debug*`; nothing for patterns that are not so plain.
fn as_glob(pattern: &str) -> Option<String> {
    let (start, rest) = match pattern.strip_prefix('^') {
        Some(rest) => ("", rest),
        None => ("*", pattern),
    };
    let (rest, end) = match rest.strip_suffix('$') {
        Some(rest) => (rest, ""),
        None => (rest, "*"),
    };
    let plain = rest.replace("\\.", ".").replace(".*", "*");
    let is_plain = !plain.contains(|letter: char| "\\[](){}?+|^$".contains(letter));
    let glob = format!("{start}{plain}{end}").replace("**", "*");
    // An unescaped point is any letter, which is mostly meant as a point.
    is_plain.then_some(glob)
}

fn multiline_of(
    mut keys: Keys,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) -> Option<Value> {
    let kind = keys.take_text("type");
    let pattern = keys.take_text("pattern").map(|one| expression(&one));
    let negate = keys.take_flag("negate").unwrap_or(false);
    let is_after = keys
        .take_text("match")
        .is_none_or(|place| matches!(place.as_str(), "after" | "previous"));
    let mut multiline = Map::new();
    let rule = match (kind.as_deref(), is_after, negate) {
        (Some("count"), ..) => None,
        (Some("while_pattern"), _, false) => Some("while"),
        (Some("while_pattern"), _, true) => {
            let reason = "lines that do not match [pattern] do not belong together here";
            notes.tell(&keys.path, reason);
            return None;
        }
        (_, true, true) => Some("start"),
        (_, true, false) => Some("continue"),
        (_, false, false) => Some("goes_on"),
        (_, false, true) => Some("end"),
    };
    match (rule, pattern) {
        (Some(rule), Some(pattern)) => {
            multiline.insert(rule.to_owned(), pattern.into());
        }
        (Some(_), None) => {
            notes.tell(&keys.path, "has no [pattern]");
            return None;
        }
        (None, _) => {
            let count = keys.take("count_lines").unwrap_or_default();
            multiline.insert("count".to_owned(), count);
        }
    }
    if let Some(end) = keys.take_text("flush_pattern") {
        multiline.insert("end".to_owned(), expression(&end).into());
    }
    if let Some(lines) = keys.take("max_lines") {
        multiline.insert("lines_max".to_owned(), lines);
    }
    if let Some(timeout) = keys.take("timeout").as_ref().and_then(duration_ms) {
        multiline.insert("timeout_ms".to_owned(), timeout.into());
    }
    // Lines have no ends in them.
    processors.push(json!({"add": {
        "field": "log.flags", "value": ["multiline"], "override": false,
        "if": {"regexp": {"message": r"\n"}},
    }}));
    if keys.take_flag("skip_newline") == Some(true) {
        processors.push(json!({"gsub": {
            "field": "message", "pattern": r"\r?\n", "replacement": "", "ignore_missing": true,
        }}));
    }
    keys.tell_rest(notes);
    Some(Value::Object(multiline))
}

/// `json` of an input: the line gives way to what is in it, and stays where it is no JSON. Returns the field that lines are
/// chosen by from then on, if one is named.
fn json_of(
    keys: Option<Keys>,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) -> Option<String> {
    let mut keys = keys?;
    let at_root = keys.take_flag("keys_under_root").unwrap_or(false);
    let target = match keys.take_text("target") {
        Some(target) => target,
        None if at_root => String::new(),
        None => "json".to_owned(),
    };
    let said = keys.take_text("message_key");
    unwrapped(keys, &target, processors, notes);
    said.map(|name| inside(&target, &name))
}

/// What is in a line, while a member of it takes the line's place, in no document.
const SAID: &str = "@metadata.said";

/// The parser `ndjson`, which takes the text of a member for the line.
fn ndjson_of(mut keys: Keys, processors: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let at_root = keys.take_flag("keys_under_root").unwrap_or(false);
    let target = keys.take_text("target");
    let target = target.unwrap_or_else(|| match at_root {
        true => String::new(),
        false => "json".to_owned(),
    });
    let message = keys.take_text("message_key");
    unwrapped(keys, &target, processors, notes);
    // Read by itself: the event may have something else of that name, as where it is `log`.
    let is_line = |name: &String| inside(&target, name) != "message";
    if let Some(message) = message.filter(is_line) {
        processors.push(json!({"json": {
            "field": LINE, "target_field": SAID, "ignore_failure": true,
            "if": {"has_fields": [LINE]},
        }}));
        processors.push(json!({"rename": {
            "field": format!("{SAID}.{message}"), "target_field": "message",
            "override_target": true, "ignore_missing": true, "ignore_failure": true,
        }}));
        processors.push(json!({"remove": {"field": SAID, "ignore_missing": true}}));
    }
}

/// The path of a member of a target, which may be the event itself.
pub(super) fn inside(target: &str, name: &str) -> String {
    match target {
        "" => name.to_owned(),
        target => format!("{target}.{name}"),
    }
}

/// What becomes of fields that are there, by `overwrite_keys`: objects that meet objects get their members.
pub(super) fn overwrite(overwrites: Option<bool>) -> Value {
    match overwrites {
        Some(true) => "merge".into(),
        Some(false) | None => false.into(),
    }
}

/// The steps that put what is in a line in its place.
fn unwrapped(mut keys: Keys, target: &str, processors: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let mut parts = json!({"field": LINE});
    match target {
        "" => {
            parts["add_to_root"] = true.into();
            parts["overwrite"] = overwrite(keys.take_flag("overwrite_keys"));
        }
        target => {
            keys.take("overwrite_keys");
            parts["target_field"] = target.into();
            // At the root nothing else fits, and here a list or a number would be of another type than the rest.
            parts["objects_only"] = true.into();
        }
    }
    let moved = |from: &str, to: &str| {
        processor(
            "rename",
            [("field", from.into()), ("target_field", to.into())],
        )
    };
    let mut on_failure = vec![moved(LINE, "message")];
    if keys.take_flag("add_error_key") == Some(true) {
        on_failure.extend(processors::error_steps(target));
    }
    parts["on_failure"] = on_failure.into();
    processors.push(moved("message", LINE));
    processors.push(json!({ "json": parts }));
    if let Some(id) = keys.take_text("document_id") {
        processors.push(json!({"rename": {
            "field": inside(target, &id), "target_field": "@metadata._id", "ignore_missing": true,
        }}));
    }
    // Names with dots are paths for the server that gets them.
    keys.take("expand_keys");
    keys.take("ignore_decoding_error");
    keys.tell_rest(notes);
}
