//! Mappings whose keys may be written with dots or inside each other: `output.elasticsearch.hosts`. What is read is taken out, so
//! that what is left over is what nobody has read.

use serde_json::{Map, Value};

use super::{Notes, Part};

/// A mapping that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    members: Map<String, Value>,
    pub(super) path: Vec<Part>,
}

impl Keys {
    /// The members of a mapping; nothing for anything else.
    pub(super) fn new(value: Value, path: Vec<Part>) -> Option<Keys> {
        match value {
            Value::Object(members) => Some(Keys { members, path }),
            _ => None,
        }
    }

    /// Takes a value out, in whichever way its path is written.
    pub(super) fn take(&mut self, path: &str) -> Option<Value> {
        take(&mut self.members, path)
    }

    pub(super) fn take_text(&mut self, path: &str) -> Option<String> {
        match self.take(path)? {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    }

    /// Takes a flag out; texts that spell one count.
    pub(super) fn take_flag(&mut self, path: &str) -> Option<bool> {
        truth(&self.take(path)?)
    }

    /// Takes a mapping out, though a part of it may be written with dots and another one inside.
    pub(super) fn take_keys(&mut self, path: &str) -> Option<Keys> {
        let Value::Object(mut members) = self.take(path)? else {
            return None;
        };
        while let Some(Value::Object(more)) = self.take(path) {
            members.extend(more);
        }
        let path = self.path_of(path);
        Some(Keys { members, path })
    }

    /// The path of a key in it.
    pub(super) fn path_of(&self, key: &str) -> Vec<Part> {
        let mut path = self.path.clone();
        path.push(Part::Key(key.to_owned()));
        path
    }

    /// What nobody has taken.
    pub(super) fn into_rest(self) -> Map<String, Value> {
        self.members
    }

    /// Tells of everything that nobody has taken.
    pub(super) fn tell_rest(self, notes: &mut Notes<'_>) {
        for (key, value) in self.members {
            let mut path = self.path.clone();
            path.push(Part::Key(key));
            tell(&mut path, &value, notes);
        }
    }
}

/// What a value says, or a text that spells it: also by the words that YAML 1.1 has for truths, which Beats read as such.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" => Some(true),
            "false" | "no" | "off" | "n" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a key says that something is off, or all that is in it does: that needs no counterpart.
pub(super) fn is_off(key: &str, value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let is_said = members.get("enabled").and_then(truth) == Some(false);
            let all = || members.iter().all(|(key, inner)| is_off(key, inner));
            is_said || (!members.is_empty() && all())
        }
        value => truth(value) == Some(false) && (key == "enabled" || key.ends_with(".enabled")),
    }
}

/// Tells of the innermost keys.
fn tell(path: &mut Vec<Part>, value: &Value, notes: &mut Notes<'_>) {
    match value {
        value if matches!(path.last(), Some(Part::Key(key)) if is_off(key, value)) => {}
        Value::Object(members) if !members.is_empty() && path.len() < 4 => {
            for (key, inner) in members {
                path.push(Part::Key(key.clone()));
                tell(path, inner, notes);
                path.pop();
            }
        }
        Value::Null => {}
        _ => notes.tell(path, "has no counterpart"),
    }
}

fn take(members: &mut Map<String, Value>, path: &str) -> Option<Value> {
    if let Some(value) = members.shift_remove(path) {
        return Some(value);
    }
    for (dot, _) in path.match_indices('.') {
        let (first, rest) = (&path[..dot], &path[dot + 1..]);
        let Some(Value::Object(inner)) = members.get_mut(first) else {
            continue;
        };
        if let Some(value) = take(inner, rest) {
            if inner.is_empty() {
                members.shift_remove(first);
            }
            return Some(value);
        }
    }
    // The other way round: a key with dots that has more behind what is asked for.
    let prefix = format!("{path}.");
    let inside: Vec<String> = members
        .keys()
        .filter(|key| key.starts_with(&prefix))
        .cloned()
        .collect();
    if inside.is_empty() {
        return None;
    }
    let inside = inside.into_iter().filter_map(|key| {
        let value = members.shift_remove(&key)?;
        Some((key[prefix.len()..].to_owned(), value))
    });
    Some(Value::Object(inside.collect()))
}
