//! `user_agent`: what a browser says of itself.

use serde_json::{Map, Value, json};
use woothee::parser::Parser;

use super::structured::text_of;
use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::members::{flag, optional, properties, text};

/// Everything that can be told, in the common schema or as it was before that.
const PROPERTIES: [&str; 12] = [
    "name", "major", "minor", "patch", "os", "os_name", "os_major", "os_minor", "device", "build",
    "original", "version",
];
/// Longer texts are no browser's.
const AGENT_BYTES_MAX: usize = 10_000;

/// The step.
#[derive(Debug)]
pub(crate) struct UserAgent {
    field: String,
    target: String,
    properties: Option<Vec<String>>,
    /// Whether it is told in the common schema.
    ecs: bool,
    ignore_missing: bool,
}

impl UserAgent {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        if config.contains_key("regex_file") {
            return Err(DefinitionError::refused(
                "regex_file",
                "is not supported: the rules are built in",
            ));
        }
        let properties = properties(config, &PROPERTIES)?;
        Ok(UserAgent {
            field: text(config, "field")?,
            target: optional(config, "target_field")?.unwrap_or_else(|| "user_agent".to_string()),
            properties,
            ecs: flag(config, "ecs", true)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(agent) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        let mut told = described(&agent);
        if !self.ecs {
            told = flat(&told);
        }
        if let Some(wanted) = &self.properties {
            told.retain(|name, _| wanted.iter().any(|one| one.eq_ignore_ascii_case(name)));
        }
        document.set(&self.target, Value::Object(told))
    }
}

/// What is known of an agent; what is not is left out, but for the names, which are `Other`.
fn described(agent: &str) -> Map<String, Value> {
    let short = agent.len() <= AGENT_BYTES_MAX;
    let found = short.then(|| Parser::new().parse(agent)).flatten();
    let known = |text: &str| (text != "UNKNOWN" && !text.is_empty()).then(|| text.to_string());
    let mut told = Map::new();
    let name = found.as_ref().and_then(|found| known(found.name));
    told.insert("name".into(), name.unwrap_or_else(|| "Other".into()).into());
    if let Some(version) = found.as_ref().and_then(|found| known(found.version)) {
        told.insert("version".into(), version.into());
    }
    if let Some(system) = found.as_ref().and_then(|found| known(found.os)) {
        let mut os = Map::new();
        let version = found.as_ref().and_then(|found| known(&found.os_version));
        let full = version
            .as_ref()
            .map(|version| format!("{system} {version}"));
        os.insert("name".into(), system.into());
        os.extend(version.map(|version| ("version".to_string(), version.into())));
        os.extend(full.map(|full| ("full".to_string(), full.into())));
        told.insert("os".into(), Value::Object(os));
    }
    let device = match found.as_ref().map(|found| found.category) {
        Some("smartphone") => "Smartphone",
        Some("mobilephone") => "Mobile phone",
        Some("crawler") => "Spider",
        Some("appliance") => "Appliance",
        _ => "Other",
    };
    told.insert("device".into(), json!({ "name": device }));
    told.insert("original".into(), agent.into());
    told
}

/// The same as it was told before there was a common schema: in texts, with the parts of versions apart.
fn flat(told: &Map<String, Value>) -> Map<String, Value> {
    let part = |of: &str, name: &str| told.get(of).and_then(|of| of.get(name));
    let other = || Value::from("Other");
    let full = part("os", "full").or_else(|| part("os", "name"));
    let mut flat = Map::new();
    flat.insert(
        "name".into(),
        told.get("name").cloned().unwrap_or_else(other),
    );
    put_parts(
        &mut flat,
        told.get("version"),
        &["major", "minor", "patch", "build"],
    );
    flat.insert("os".into(), full.cloned().unwrap_or_else(other));
    let os_name = part("os", "name").cloned();
    flat.insert("os_name".into(), os_name.unwrap_or_else(other));
    put_parts(&mut flat, part("os", "version"), &["os_major", "os_minor"]);
    let device = part("device", "name").cloned();
    flat.insert("device".into(), device.unwrap_or_else(other));
    flat
}

/// Puts the parts of a version in, as many as it has and as have names.
fn put_parts(flat: &mut Map<String, Value>, version: Option<&Value>, names: &[&str]) {
    let parts = version.and_then(Value::as_str).into_iter();
    let parts = parts.flat_map(|version| version.split('.'));
    for (name, part) in names.iter().zip(parts) {
        flat.insert((*name).to_string(), part.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_apart() {
        let chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/51.0.2704.103 Safari/537.36";
        let told = described(chrome);
        assert_eq!(told["name"], "Chrome");
        assert_eq!(told["version"], "51.0.2704.103");
        assert_eq!(told["os"]["name"], "Windows 10");
        let told = described("curl/8.0");
        assert_eq!(told["original"], "curl/8.0");
        assert_eq!(described("nobody")["name"], "Other");
        let apple = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_2) AppleWebKit/537.36 (KHTML, like Gecko) \
                     Chrome/33.0.1750.149 Safari/537.36";
        let told = described(apple);
        let flat_told = flat(&told);
        let parts = [
            "name", "major", "minor", "patch", "build", "os_major", "os_minor",
        ];
        let parts = parts.map(|name| flat_told[name].as_str().unwrap_or_default());
        assert_eq!(parts, ["Chrome", "33", "0", "1750", "149", "10", "9"]);
        assert_eq!(flat_told["os"], told["os"]["full"]);
        assert_eq!(flat_told["os_name"], told["os"]["name"]);
        assert_eq!(flat_told["device"], told["device"]["name"]);
        assert_eq!(flat(&described("nobody"))["os"], "Other");
        assert!(!flat_told.contains_key("version") && !flat_told.contains_key("original"));
        assert_eq!(
            described(&"x".repeat(AGENT_BYTES_MAX + 1))["device"]["name"],
            "Other"
        );
    }
}
