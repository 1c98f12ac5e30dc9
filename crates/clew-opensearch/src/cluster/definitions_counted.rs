//! Which types of fields and which parts of analyzers indexes have, and how often, as `_cluster/stats` tells it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// How often each name occurs, and in how many indexes.
#[derive(Debug, Default)]
struct Counted(BTreeMap<String, (u64, u64)>);

impl Counted {
    /// Adds the names of one index.
    fn add(&mut self, names: &[String]) {
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        for name in names {
            *own.entry(name).or_default() += 1;
        }
        for (name, count) in own {
            let (all, indexes) = self.0.entry(name.to_string()).or_default();
            *all += count;
            *indexes += 1;
        }
    }

    fn to_json(&self) -> Value {
        let shown = self.0.iter().map(
            |(name, (count, indexes))| json!({"name": name, "count": count, "index_count": indexes}),
        );
        shown.collect()
    }
}

/// Types of the fields of some mappings, each as `GET _mapping` shows it.
pub(crate) fn field_types(mappings: &[Value]) -> Value {
    let mut counted = Counted::default();
    for mapping in mappings {
        let mut types = Vec::new();
        each_field(mapping, &mut |field| {
            let name = field.get("type").and_then(Value::as_str);
            types.push(name.unwrap_or("object").to_string());
        });
        counted.add(&types);
    }
    json!({"field_types": counted.to_json()})
}

/// Calls with every field of a mapping: objects, and fields of fields, too.
fn each_field(mapping: &Value, visit: &mut dyn FnMut(&Value)) {
    for children in ["properties", "fields"] {
        let children = mapping.get(children).and_then(Value::as_object);
        for child in children.into_iter().flat_map(Map::values) {
            visit(child);
            each_field(child, visit);
        }
    }
}

/// The parts of analyzers: how the settings of an index, the members of a custom analyzer and the answer name them.
const PARTS: [(&str, &str, &str); 3] = [
    ("char_filter", "char_filter_types", "built_in_char_filters"),
    ("tokenizer", "tokenizer_types", "built_in_tokenizers"),
    ("filter", "filter_types", "built_in_filters"),
];

/// Analyzers of some indexes: of each what its settings say of analysis, and its mapping. What they define is told by its
/// type; what is used without a definition is built in.
pub(crate) fn analysis(indexes: &[(Value, Value)]) -> Value {
    let mut shown = Map::new();
    for (part, types, built_in) in PARTS {
        let (mut defined, mut used) = (Counted::default(), Counted::default());
        for (analysis, _) in indexes {
            defined.add(&types_of(analysis, part));
            used.add(&undefined(analysis, part, parts_used(analysis, part)));
        }
        shown.insert(types.to_string(), defined.to_json());
        shown.insert(built_in.to_string(), used.to_json());
    }
    let (mut defined, mut used) = (Counted::default(), Counted::default());
    for (analysis, mapping) in indexes {
        defined.add(&types_of(analysis, "analyzer"));
        let mut names = Vec::new();
        each_field(mapping, &mut |field| {
            let of =
                ["analyzer", "search_analyzer", "search_quote_analyzer"].map(|key| field.get(key));
            names.extend(
                of.into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(String::from),
            );
        });
        used.add(&undefined(analysis, "analyzer", names));
    }
    shown.insert("analyzer_types".to_string(), defined.to_json());
    shown.insert("built_in_analyzers".to_string(), used.to_json());
    Value::Object(shown)
}

/// The types of what the settings define of a part; an analyzer without one is custom.
fn types_of(analysis: &Value, part: &str) -> Vec<String> {
    let defined = analysis.get(part).and_then(Value::as_object);
    let types = defined.into_iter().flat_map(Map::values).map(|one| {
        let name = one.get("type").and_then(Value::as_str);
        name.unwrap_or("custom").to_string()
    });
    types.collect()
}

/// The parts that the analyzers of the settings name.
fn parts_used(analysis: &Value, part: &str) -> Vec<String> {
    let analyzers = analysis.get("analyzer").and_then(Value::as_object);
    let named = analyzers.into_iter().flat_map(Map::values);
    let named = named.filter_map(|analyzer| analyzer.get(part));
    let mut names = Vec::new();
    for value in named {
        match value {
            Value::String(name) => names.push(name.clone()),
            Value::Array(several) => {
                names.extend(several.iter().filter_map(Value::as_str).map(String::from));
            }
            _ => {}
        }
    }
    names
}

/// Those of the names that the settings do not define.
fn undefined(analysis: &Value, part: &str, names: Vec<String>) -> Vec<String> {
    let is_defined = |name: &String| {
        analysis
            .get(part)
            .is_some_and(|all| all.get(name).is_some())
    };
    names.into_iter().filter(|name| !is_defined(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_by_type_and_index() {
        let first = json!({"properties": {
            "a": {"type": "text", "fields": {"k": {"type": "keyword"}}},
            "o": {"properties": {"b": {"type": "keyword"}}},
        }});
        let second = json!({"properties": {"c": {"type": "keyword"}}});
        let expected = json!({"field_types": [
            {"name": "keyword", "count": 3, "index_count": 2},
            {"name": "object", "count": 1, "index_count": 1},
            {"name": "text", "count": 1, "index_count": 1},
        ]});
        assert_eq!(field_types(&[first, second]), expected);
    }

    #[test]
    fn what_settings_define_is_told_from_what_is_built_in() {
        let settings = json!({
            "analyzer": {"mine": {"tokenizer": "standard", "filter": ["lowercase", "short"]}},
            "filter": {"short": {"type": "length", "max": "3"}},
        });
        let mapping = json!({"properties": {
            "a": {"type": "text", "analyzer": "mine", "search_analyzer": "english"},
        }});
        let told = analysis(&[(settings, mapping)]);
        let names = |key: &str| -> Vec<&str> {
            let all = told[key].as_array().into_iter().flatten();
            all.filter_map(|one| one["name"].as_str()).collect()
        };
        assert_eq!(names("analyzer_types"), ["custom"]);
        assert_eq!(names("built_in_analyzers"), ["english"]);
        assert_eq!(names("filter_types"), ["length"]);
        assert_eq!(names("built_in_filters"), ["lowercase"]);
        assert_eq!(names("built_in_tokenizers"), ["standard"]);
        assert!(names("char_filter_types").is_empty());
    }
}
