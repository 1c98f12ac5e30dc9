//! Fingerprints with the values that a Filebeat and a Logstash make, which ids are made of: steps of `vrl`, as those of a server's
//! pipelines have other values.

use serde_json::Value;

use super::programs::{named, quoted, step};

/// What makes a value of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Md5,
    Sha1,
    /// One of this family, by the name that the language has for it.
    Sha2(&'static str),
}

impl Hash {
    /// The one of this name, `sha256` or `SHA256`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "md5" => Hash::Md5,
            "sha1" => Hash::Sha1,
            "sha256" => Hash::Sha2("SHA-256"),
            "sha384" => Hash::Sha2("SHA-384"),
            "sha512" => Hash::Sha2("SHA-512"),
            _ => return None,
        })
    }

    /// The name of it where a key goes into the value; there is none of MD5.
    fn keyed(self) -> Option<&'static str> {
        match self {
            Hash::Md5 => None,
            Hash::Sha1 => Some("SHA1"),
            Hash::Sha2(name) => Some(name),
        }
    }
}

/// How a value is made, and written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest<'k> {
    pub(super) hash: Hash,
    /// What goes into the value beside the text (HMAC), where the hash takes one.
    pub(super) key: Option<&'k str>,
    /// Base64, and not hexadecimal digits.
    pub(super) is_base64: bool,
}

impl Digest<'_> {
    /// Whether a key is named that the hash does not take.
    pub(super) fn ignores_key(&self) -> bool {
        self.key.is_some() && self.hash.keyed().is_none()
    }

    /// The expression that makes the value of an expression's text.
    fn of(&self, text: &str) -> String {
        if let (Some(key), Some(name)) = (self.key, self.hash.keyed()) {
            let (key, name) = (quoted(key), quoted(name));
            let written = if self.is_base64 {
                "encode_base64"
            } else {
                "encode_base16"
            };
            return format!("{written}(hmac({text}, {key}, algorithm: {name}))");
        }
        let digits = match self.hash {
            Hash::Md5 => format!("md5({text})"),
            Hash::Sha1 => format!("sha1({text})"),
            Hash::Sha2(name) => format!("sha2({text}, variant: {})", quoted(name)),
        };
        match self.is_base64 {
            true => format!("encode_base64(decode_base16!({digits}))"),
            false => digits,
        }
    }
}

/// A field: how it is written there, which goes into the value, and its path here.
pub(super) type Source = (String, String);

/// What becomes of fields that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    PassedOver,
    /// They are there, without a value.
    Empty,
}

/// One value of several fields and their names, `|a|1|b|2|`.
pub(super) fn of_all(
    sources: &[Source],
    absent: Absent,
    target: &str,
    digest: &Digest<'_>,
) -> Value {
    let mut program = "joined = \"\"\n".to_owned();
    for (written, path) in sources {
        let field = named(path);
        let name = quoted(&format!("|{written}|"));
        let joined = format!("joined = joined + {name} + to_string!({field})");
        program.push_str(&match absent {
            Absent::PassedOver => format!("if exists({field}) {{ {joined} }}\n"),
            Absent::Empty => joined + "\n",
        });
    }
    let value = digest.of("joined + \"|\"");
    step(&format!("{program}{} = {value}", named(target)))
}

/// The value of each field that is there, each of which takes the place of the one before it.
pub(super) fn of_each(sources: &[Source], target: &str, digest: &Digest<'_>) -> Value {
    let target = named(target);
    let each = sources.iter().map(|(_, path)| {
        let field = named(path);
        let value = digest.of(&format!("to_string!({field})"));
        format!("if exists({field}) {{ {target} = {value} }}\n")
    });
    step(each.collect::<String>().trim_end())
}

/// What is no letter, digit or blank of a field.
pub(super) fn punctuation(field: &str, target: &str) -> Value {
    let (field, target) = (named(field), named(target));
    step(&format!(
        "if exists({field}) {{ {target} = replace(to_string!({field}), r'[A-Za-z0-9 \\t]', \"\") }}"
    ))
}
