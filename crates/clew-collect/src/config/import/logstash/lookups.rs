//! Logstash's filters that make one field of others: `translate`, by a table or by expressions, and `fingerprint`.

use clew_schema::text_of;
use serde_json::{Map, Value, json};

use super::filters::pairs;
use super::named_fields::set;
use super::path;
use crate::config::import::conditions::only_if;
use crate::config::import::fingerprints::{
    Absent, Digest, Hash, Source, of_all, of_each, punctuation,
};
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::config::import::{programs, texts};

/// `translate`, whose dictionary becomes the table of a `lookup`, or steps where it has expressions; false if it names none.
pub(super) fn translate(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> bool {
    let source = keys.take_text("source").or_else(|| keys.take_text("field"));
    let target = keys
        .take_text("target")
        .or_else(|| keys.take_text("destination"));
    let source = path(source.as_deref().unwrap_or("message"));
    let target = path(target.as_deref().unwrap_or("translation"));
    let way = Way::take(keys, (line, place, told));
    let replaces = keys.take_flag("override").unwrap_or(source == target);
    let mut lookup = json!({"field": source, "ignore_missing": true});
    if let Some(file) = keys.take_text("dictionary_path") {
        keys.take("refresh_interval");
        let reason = format!(
            "[dictionary_path => {file}]: a table is a CSV file whose first line is [key,{target}]"
        );
        told.tell(line, place, reason);
        if way.is_some() {
            let reason =
                "of a file only whole values are looked up, not parts of them, and no expressions";
            told.tell(line, place, reason);
        }
        lookup["file"] = file.into();
    } else {
        let dictionary = pairs(keys.take("dictionary"));
        if dictionary.is_empty() {
            return false;
        }
        if let Some(way) = way {
            let mut own = found_by(way, (&source, &target), dictionary, (line, place, told));
            if let Some(fallback) = keys.take("fallback") {
                own.append(&mut fallen_back(&target, fallback, (line, place, told)));
            }
            for step in &mut own {
                if !replaces {
                    only_if(step, json!({"not": {"has_fields": [target]}}));
                }
                only_if(step, json!({"has_fields": [source]}));
            }
            steps.append(&mut own);
            return true;
        }
        let rows = dictionary
            .iter()
            .map(|(key, value)| format!("{},{}\n", cell(key), cell(&text_of(value))));
        let rows: String = rows.collect();
        lookup["csv"] = format!("key,{}\n{rows}", cell(&target)).into();
    }
    let mut step = json!({ "lookup": lookup });
    let is_new = json!({"not": {"has_fields": [target]}});
    if !replaces {
        only_if(&mut step, is_new.clone());
    }
    steps.push(step);
    if let Some(fallback) = keys.take("fallback") {
        if source == target {
            let reason = "[fallback]: a value that is in no dictionary stays as it is";
            told.tell(line, place, reason);
        } else {
            set(&target, fallback, steps, (line, place, told));
            if let Some(step) = steps.last_mut() {
                only_if(step, json!({"and": [{"has_fields": [source]}, is_new]}));
            }
        }
    }
    true
}

/// Says which entry of a dictionary was found for an event, in no document; 0 is none.
pub(super) const FOUND: &str = "@metadata.translated";

/// Entries of a dictionary of expressions, each of which is steps of its own.
const PATTERNS_MAX: usize = 500;

/// What of a value is looked up, where it is not the whole.
#[derive(Clone, Copy)]
enum Way {
    /// The first expression that it fits.
    Patterns,
    /// All keys that are parts of it.
    Parts,
}

impl Way {
    /// Takes `exact` and `regex`.
    fn take(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Option<Self> {
        let is_exact = keys.take_flag("exact").unwrap_or(true);
        let is_of_patterns = keys.take_flag("regex").unwrap_or(false);
        match (is_exact, is_of_patterns) {
            (true, false) => None,
            (true, true) => Some(Way::Patterns),
            (false, is_of_patterns) => {
                if is_of_patterns {
                    let reason = "[regex] without [exact]: keys are looked for as they are written";
                    told.tell(line, place, reason);
                }
                Some(Way::Parts)
            }
        }
    }
}

/// The steps that look up what is not the whole of a value.
fn found_by(
    way: Way,
    fields: (&str, &str),
    dictionary: Map<String, Value>,
    place: (usize, &str, &mut Told),
) -> Vec<Value> {
    match way {
        Way::Patterns => by_patterns(fields, &dictionary, place),
        Way::Parts => in_parts(fields, dictionary),
    }
}

/// Steps that give a field the value of the first expression that another one fits.
fn by_patterns(
    (source, target): (&str, &str),
    dictionary: &Map<String, Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> Vec<Value> {
    if dictionary.len() > PATTERNS_MAX {
        let reason =
            format!("of the [dictionary] the first {PATTERNS_MAX} expressions are looked for");
        told.tell(line, place, reason);
    }
    let mut steps = vec![json!({"add": {"field": FOUND, "value": 0}})];
    let is_none = json!({"equals": {FOUND: 0}});
    let entries = || dictionary.iter().zip(1..=PATTERNS_MAX);
    // All are asked before any is set: the field may be the one that is asked.
    for ((pattern, _), number) in entries() {
        let fits = json!({"regexp": {source: expression(pattern)}});
        let condition = json!({"and": [is_none, fits]});
        steps.push(json!({"add": {"field": FOUND, "value": number, "if": condition}}));
    }
    for ((_, value), number) in entries() {
        let condition = json!({"equals": {FOUND: number}});
        steps.push(json!({"add": {"field": target, "value": value, "if": condition}}));
    }
    steps
}

/// Steps that put values in the place of the parts of a text that are keys of a dictionary, all at once, into another field; where
/// there are none, nothing is set.
fn in_parts((source, target): (&str, &str), dictionary: Map<String, Value>) -> Vec<Value> {
    let texts = dictionary
        .into_iter()
        .map(|(key, value)| (key, Value::from(text_of(&value))));
    let texts: Map<String, Value> = texts.collect();
    let program = programs::translated_parts((source, target), &texts, FOUND);
    vec![json!({"add": {"field": FOUND, "value": 0}}), program]
}

/// The steps that give a field a value where nothing was found.
fn fallen_back(target: &str, value: Value, place: (usize, &str, &mut Told)) -> Vec<Value> {
    let mut steps = Vec::new();
    set(target, value, &mut steps, place);
    for step in &mut steps {
        only_if(step, json!({"equals": {FOUND: 0}}));
    }
    steps
}

/// A cell of a table.
fn cell(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace('\n', " "))
}

/// A field that goes into a fingerprint. The name of the machine is inside of `host` here.
fn source(written: String) -> Source {
    match path(&written).as_str() {
        "host" => (written, "host.name".to_owned()),
        path => {
            let path = path.to_owned();
            (written, path)
        }
    }
}

/// `fingerprint`, with the values that Logstash makes.
pub(super) fn fingerprint(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let sources = texts(keys.take("source").unwrap_or_else(|| json!(["message"])));
    let target = path(
        &keys
            .take_text("target")
            .unwrap_or_else(|| "fingerprint".to_owned()),
    );
    let joins = keys.take_flag("concatenate_sources").unwrap_or(false);
    let method = keys
        .take_text("method")
        .unwrap_or_else(|| "SHA1".to_owned());
    let key = keys.take_text("key");
    let is_base64 = keys.take_flag("base64encode") == Some(true);
    if keys.take_flag("concatenate_all_fields") == Some(true) {
        told.tell(
            line,
            place,
            "[concatenate_all_fields]: values are others than there",
        );
        steps.push(json!({"fingerprint": {
            "target_field": target, "ignore_missing": true,
            "exclude_fields": ["@timestamp", "host", "log"],
        }}));
        return;
    }
    if sources.iter().any(|source| path(source) == "@timestamp") {
        let reason = "[@timestamp]: a time without milliseconds is written without them, and has another value than there";
        told.tell(line, place, reason);
    }
    let mut sources: Vec<Source> = sources.into_iter().map(source).collect();
    match method.as_str() {
        "UUID" => return steps.push(programs::uuid(&target, true)),
        "PUNCTUATION" => {
            let each = sources.iter();
            return steps.extend(each.map(|(_, path)| punctuation(path, &target)));
        }
        _ => {}
    }
    let hash = Hash::of_name(&method).unwrap_or_else(|| {
        let reason = format!("[method => {method}]: values are those of SHA-1");
        told.tell(line, place, reason);
        Hash::Sha1
    });
    let digest = Digest {
        hash,
        key: key.as_deref(),
        is_base64,
    };
    if digest.ignores_key() {
        told.tell(line, place, format!("[key]: values of {method} have none"));
    }
    steps.push(match joins {
        true => {
            sources.sort_unstable();
            of_all(&sources, Absent::Empty, &target, &digest)
        }
        false => of_each(&sources, &target, &digest),
    });
}

/// The condition of a `cidr`: one of the addresses is in one of the networks.
pub(super) fn within_networks(keys: &mut Keys) -> Value {
    let networks = texts(keys.take("network").unwrap_or_default());
    let addresses = texts(keys.take("address").unwrap_or_default());
    let any = addresses.iter().map(|address| {
        let field = address
            .strip_prefix("%{")
            .and_then(|name| name.strip_suffix('}'));
        json!({"network": {path(field.unwrap_or(address)): networks}})
    });
    json!({"or": any.collect::<Vec<Value>>()})
}
