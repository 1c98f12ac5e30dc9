//! What a mapping has more than before, for the log: an index whose documents bring new fields all the time would else
//! write its whole mapping with each of them.
//!
//! Knows encoded mappings as JSON, and of their meaning only that fields are numbered by their place in a list and that
//! objects and aliases are named: none of these ever goes away.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The members of an encoded mapping that only grow.
const LIST: &str = "fields";
const NAMED: [&str; 2] = ["objects", "aliases"];

/// The member that says how an encoded mapping is written.
const FORMAT_MEMBER: &str = "format";

/// How an encoded mapping becomes another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MappingChange {
    /// Fields that are new or different, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<usize, Value>,
    /// Objects and aliases that are new or different, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<String, Map<String, Value>>,
    /// Other members that are new or different, whole.
    #[serde(skip_serializing_if = "Map::is_empty")]
    others: Map<String, Value>,
}

impl MappingChange {
    /// What makes `after` of `before`; `None` when something has gone away, or is written in another format.
    pub(crate) fn between(before: &Value, after: &Value) -> Option<Self> {
        let (before, after) = (before.as_object()?, after.as_object()?);
        // Replay must lead to a mapping of one format.
        if before.get(FORMAT_MEMBER) != after.get(FORMAT_MEMBER) {
            return None;
        }
        let mut change = MappingChange::default();
        if before.keys().any(|member| !after.contains_key(member)) {
            return None;
        }
        for (member, now) in after {
            let was = before.get(member);
            if was == Some(now) {
                continue;
            }
            match (was, now) {
                (Some(Value::Array(was)), Value::Array(now)) if member == LIST => {
                    change.fields = added(was, now)?;
                }
                (Some(Value::Object(was)), Value::Object(now))
                    if NAMED.contains(&member.as_str()) =>
                {
                    if was.keys().any(|name| !now.contains_key(name)) {
                        return None;
                    }
                    let new = now
                        .iter()
                        .filter(|(name, value)| was.get(*name) != Some(value));
                    let new = new.map(|(name, value)| (name.clone(), value.clone()));
                    change.named.insert(member.clone(), new.collect());
                }
                _ => {
                    change.others.insert(member.clone(), now.clone());
                }
            }
        }
        Some(change)
    }

    /// Changes an encoded mapping.
    ///
    /// # Errors
    /// What does not fit, when the change is one of another mapping; part of it may be done then.
    pub(crate) fn apply(self, mapping: &mut Value) -> Result<(), String> {
        let members = mapping.as_object_mut().ok_or("a mapping is no object")?;
        members.extend(self.others);
        for (member, new) in self.named {
            let known = members.get_mut(&member).and_then(Value::as_object_mut);
            known
                .ok_or_else(|| format!("a mapping has no [{member}]"))?
                .extend(new);
        }
        if self.fields.is_empty() {
            return Ok(());
        }
        let fields = members.get_mut(LIST).and_then(Value::as_array_mut);
        let fields = fields.ok_or_else(|| format!("a mapping has no [{LIST}]"))?;
        for (number, field) in self.fields {
            let count = fields.len();
            match fields.get_mut(number) {
                Some(known) => *known = field,
                None if number == count => fields.push(field),
                None => return Err(format!("field [{number}] follows [{count}] fields")),
            }
        }
        Ok(())
    }
}

/// The fields that are new or different.
fn added(before: &[Value], after: &[Value]) -> Option<BTreeMap<usize, Value>> {
    let is_new = |(number, field): &(usize, &Value)| before.get(*number) != Some(field);
    let new = after.iter().enumerate().filter(is_new);
    let new = new.map(|(number, field)| (number, field.clone()));
    (before.len() <= after.len()).then(|| new.collect())
}

#[cfg(test)]
mod tests {
    use clew_opensearch_mapping::{merge, reader};
    use clew_schema::{Mapping, Parsed};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Documents and bodies of mappings that change one another's mapping, or are refused.
    fn step() -> impl Strategy<Value = (bool, Value)> {
        let name = "[a-d]{1,2}";
        let leaf = prop_oneof![
            Just(json!(1)),
            Just(json!("text")),
            Just(json!("2020-01-01")),
            Just(json!([true])),
            Just(json!({"lat": 1, "lon": 2})),
        ];
        let document = leaf.prop_recursive(3, 12, 3, move |inner| {
            proptest::collection::btree_map(name, inner, 1..4).prop_map(|map| json!(map))
        });
        let field = prop_oneof![
            Just(json!({"type": "keyword", "ignore_above": 5})),
            Just(json!({"type": "keyword", "ignore_above": 9})),
            Just(json!({"type": "text", "fields": {"raw": {"type": "keyword"}}})),
            Just(json!({"type": "alias", "path": "a"})),
            Just(json!({"type": "nested", "properties": {"x": {"type": "long"}}})),
            Just(json!({"type": "object", "enabled": false})),
            Just(json!({"type": "constant_keyword"})),
            Just(json!({"type": "search_as_you_type"})),
            Just(json!({"properties": {"y": {"type": "date"}}, "dynamic": "strict"})),
        ];
        let properties = proptest::collection::btree_map(name, field, 0..4);
        let root = prop_oneof![
            Just(json!({})),
            Just(json!({"dynamic": "true", "_meta": {"n": 1}})),
            Just(
                json!({"dynamic_templates": [{"t": {"match": "b*", "mapping": {"type": "long"}}}]})
            ),
            Just(json!({"date_detection": false})),
        ];
        let body = (root, properties).prop_map(|(mut root, properties)| {
            root["properties"] = json!(properties);
            root
        });
        let document = proptest::collection::btree_map(name, document, 0..5);
        prop_oneof![
            document.prop_map(|document| (true, json!(document))),
            body.prop_map(|body| (false, body)),
        ]
    }

    fn change(mapping: &mut Mapping, (is_document, value): &(bool, Value)) {
        let text = value.to_string();
        let refused = if *is_document {
            match mapping.parse_document(text.as_bytes()) {
                Ok(Parsed::NeedsMapping(fields)) => mapping.grow(fields).err(),
                _ => None,
            }
        } else {
            merge(mapping, value).err()
        };
        drop(refused);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn changes_lead_to_the_very_mapping(steps in proptest::collection::vec(step(), 1..8)) {
            let mut mapping = Mapping::new();
            let mut replayed = mapping.encode();
            for step in &steps {
                change(&mut mapping, step);
                let after = mapping.encode();
                let change = MappingChange::between(&replayed, &after);
                let change = change.expect("nothing of a mapping goes away");
                // As it comes back from the log.
                let logged = serde_json::to_vec(&change).unwrap();
                let read: MappingChange = serde_json::from_slice(&logged).unwrap();
                prop_assert_eq!(&read, &change);
                read.apply(&mut replayed).unwrap();
                prop_assert_eq!(&replayed, &after);
                let decoded = Mapping::decode(&replayed, Some(reader())).unwrap();
                prop_assert_eq!(decoded.encode().to_string(), after.to_string());
            }
        }
    }

    #[test]
    fn a_change_has_what_is_new_and_nothing_else() {
        let mut mapping = Mapping::new();
        let wide: Map<String, Value> = (0..500)
            .map(|n| (format!("field{n}"), json!({"type": "keyword"})))
            .collect();
        merge(&mut mapping, &json!({"properties": wide})).unwrap();
        let before = mapping.encode();
        change(&mut mapping, &(true, json!({"new": {"one": 1}})));
        let change = MappingChange::between(&before, &mapping.encode()).unwrap();
        assert_eq!(change.fields.keys().collect::<Vec<_>>(), [&500]);
        let bytes = serde_json::to_vec(&change).unwrap().len();
        assert!(bytes < 200, "{bytes}");
        let same = MappingChange::between(&before, &before).unwrap();
        assert_eq!(same, MappingChange::default());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let fields = |count: usize| json!({"fields": vec![json!({}); count], "objects": {}});
        assert_eq!(MappingChange::between(&fields(2), &fields(1)), None);
        let gone = json!({"fields": []});
        let next = json!({"fields": [], "objects": {}, "format": 2});
        assert_eq!(MappingChange::between(&fields(0), &next), None);
        assert_eq!(MappingChange::between(&fields(0), &gone), None);
        let change = MappingChange::between(&fields(2), &fields(3)).unwrap();
        assert!(change.clone().apply(&mut fields(1)).is_err());
        assert!(change.clone().apply(&mut json!({"objects": {}})).is_err());
        assert!(change.apply(&mut fields(2)).is_ok());
    }
}
