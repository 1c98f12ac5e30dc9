//! `fingerprint`: a hash of some fields, that tells documents apart or finds equal ones.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use digest::DynDigest;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{flag, names, optional};

/// What is not of a document's source, and not hashed.
const METADATA: [&str; 7] = [
    "_index",
    "_id",
    "_routing",
    "_version",
    "_version_type",
    "_if_seq_no",
    "_if_primary_term",
];

/// A way to hash; the version says since when it is what it is.
#[derive(Clone, Copy, Debug)]
enum Hash {
    Md5,
    Sha1,
    Sha256,
    Sha3,
}

impl Hash {
    const ALL: [Hash; 4] = [Hash::Md5, Hash::Sha1, Hash::Sha256, Hash::Sha3];

    fn name(self) -> &'static str {
        match self {
            Hash::Md5 => "MD5@2.16.0",
            Hash::Sha1 => "SHA-1@2.16.0",
            Hash::Sha256 => "SHA-256@2.16.0",
            Hash::Sha3 => "SHA3-256@2.16.0",
        }
    }

    fn of(self, text: &str) -> String {
        let mut hasher: Box<dyn DynDigest> = match self {
            Hash::Md5 => Box::new(md5::Md5::default()),
            Hash::Sha1 => Box::new(sha1::Sha1::default()),
            Hash::Sha256 => Box::new(sha2::Sha256::default()),
            Hash::Sha3 => Box::new(sha3::Sha3_256::default()),
        };
        hasher.update(text.as_bytes());
        STANDARD.encode(hasher.finalize())
    }
}

/// The step.
#[derive(Debug)]
pub(crate) struct Fingerprint {
    /// The fields; none means all but those that are left out.
    fields: Vec<String>,
    left_out: Vec<String>,
    target: String,
    hash: Hash,
    ignore_missing: bool,
}

impl Fingerprint {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        for key in ["fields", "exclude_fields"] {
            let items = config.get(key).and_then(Value::as_array);
            if items.is_some_and(|items| items.iter().any(|item| item.is_null() || item == "")) {
                return Err(DefinitionError::refused(
                    key,
                    "field name cannot be null nor empty",
                ));
            }
        }
        let fields = names(config, "fields")?.unwrap_or_default();
        let left_out = names(config, "exclude_fields")?.unwrap_or_default();
        if !fields.is_empty() && !left_out.is_empty() {
            return Err(DefinitionError::refused(
                "fields",
                "either fields or exclude_fields can be set",
            ));
        }
        let hash = match optional(config, "hash_method")? {
            None => Hash::Sha1,
            Some(name) => {
                let known = Hash::ALL.into_iter().find(|hash| hash.name() == name);
                known.ok_or_else(|| {
                    let [one, two, three, four] = Hash::ALL.map(Hash::name);
                    let reason = format!("hash method must be {one}, {two}, {three} or {four}");
                    DefinitionError::refused("hash_method", reason)
                })?
            }
        };
        Ok(Fingerprint {
            fields,
            left_out,
            target: optional(config, "target_field")?.unwrap_or_else(|| "fingerprint".to_string()),
            hash,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let mut fields = if self.fields.is_empty() {
            document.names()
        } else {
            self.fields.clone()
        };
        let about = |name: &String| METADATA.contains(&name.as_str());
        fields.retain(|name| !about(name) && !self.left_out.contains(name));
        fields.sort();
        fields.dedup();
        let mut text = String::new();
        for name in &fields {
            match document.get(name) {
                Some(value) => told(name, &value, &mut text),
                None if self.ignore_missing => {}
                None => return Err(Failure::unfit(format!("field [{name}] doesn't exist"))),
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        text.push('|');
        let print = format!("{}:{}", self.hash.name(), self.hash.of(&text));
        document.set(&self.target, print.into())
    }
}

/// What is hashed of a field: its name and its value, with the value's length; of an object, that of each of its
/// members by the order of their names.
fn told(name: &str, value: &Value, text: &mut String) {
    let Value::Object(members) = value else {
        let value = java_text(value);
        let length = value.encode_utf16().count();
        text.push_str(&format!("|{name}|{length}:{value}"));
        return;
    };
    let mut flat = Vec::new();
    flatten(name, members, &mut flat);
    flat.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, value) in &flat {
        told(name, value, text);
    }
}

fn flatten(prefix: &str, members: &Map<String, Value>, flat: &mut Vec<(String, Value)>) {
    for (name, value) in members {
        let path = format!("{prefix}.{name}");
        match value {
            Value::Object(inner) => flatten(&path, inner, flat),
            other => flat.push((path, other.clone())),
        }
    }
}
