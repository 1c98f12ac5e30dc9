//! The `join` field: `relations`, and how they are shown again.

use clew_schema::{FieldSpec, JoinRelations, MappingError, UnreadableKind, java_class};
use serde_json::{Map, Value, json};

use crate::parameter_values::{named_boolean, show, unsupported};

/// Reads the parameters of the field.
pub(crate) fn read(
    name: &str,
    parameters: &Map<String, Value>,
    spec: &mut FieldSpec,
) -> Result<(), MappingError> {
    let (mut parents, mut eager) = (Vec::new(), true);
    if let Some(written) = parameters.get("eager_global_ordinals") {
        eager = named_boolean("eager_global_ordinals", written)?;
    }
    if let Some(written) = parameters.get("relations") {
        let written = written.as_object().ok_or_else(|| {
            let class = java_class(written);
            let reason = format!("relations should be a hash but was of type: class {class}");
            MappingError::unfit(UnreadableKind::Shape, reason)
        })?;
        for (parent, children) in written {
            let children = match children {
                Value::Array(items) => items.iter().map(show).collect(),
                one => vec![show(one)],
            };
            parents.push((parent.clone(), children));
        }
    }
    let known = ["type", "relations", "eager_global_ordinals"];
    let unknown = parameters
        .iter()
        .find(|(key, _)| !known.contains(&key.as_str()));
    if let Some((key, value)) = unknown {
        return Err(unsupported(name, key, value));
    }
    spec.join = Some(JoinRelations::new(parents, eager));
    Ok(())
}

/// What the mapping's JSON has of it.
pub(crate) fn show_relations(relations: &JoinRelations, set: &mut dyn FnMut(&str, Value)) {
    set("eager_global_ordinals", json!(relations.is_eager()));
    let shown = relations.parents().map(|parent| {
        let children = match relations.children_of(parent) {
            Some([only]) => json!(only),
            several => json!(several.unwrap_or_default()),
        };
        (parent.to_string(), children)
    });
    set("relations", Value::Object(shown.collect()));
}

#[cfg(test)]
mod tests {
    use clew_schema::Mapping;

    use super::*;
    use crate::{merge, reason, try_mapping};

    fn mapping(relations: Value) -> Result<Mapping, MappingError> {
        try_mapping(&json!({"properties": {"j": {"type": "join", "relations": relations}}}))
    }

    #[test]
    fn relations_are_shown_as_they_were_written_and_survive_the_catalog() {
        let written = json!({"q": ["a", "c"], "a": "v"});
        let made = mapping(written.clone()).unwrap();
        let shown = |mapping: &Mapping| crate::shown(mapping)["properties"].clone();
        assert_eq!(
            shown(&made),
            json!({"j": {"type": "join", "eager_global_ordinals": true, "relations": written}})
        );
        let again = Mapping::decode(&made.encode(), None).unwrap();
        assert_eq!(shown(&again), shown(&made));
        let (field, relations) = again.join().unwrap();
        assert_eq!(field.path, "j");
        assert_eq!(relations.parent_of("v"), Some("a"));
        assert_eq!(relations.parent_of("q"), None);
        let hidden = again.join_ids("j", "q").unwrap();
        assert!(hidden.settings.hidden && hidden.field.is_some());
    }

    #[test]
    fn relations_grow_but_nothing_is_taken_away() {
        let check = |next: Value, expected: Result<(), &str>| {
            let mut mapping = mapping(json!({"q": "a"})).unwrap();
            let body = json!({"properties": {"j": {"type": "join", "relations": next}}});
            let merged = merge(&mut mapping, &body);
            match (merged, expected) {
                (Ok(()), Ok(())) => assert!(mapping.join_ids("j", "q").is_some()),
                (Err(error), Err(expected)) => {
                    assert!(reason(&error).contains(expected), "{error}");
                }
                (merged, _) => panic!("{merged:?}"),
            }
        };
        check(json!({"q": ["a", "c"]}), Ok(()));
        check(json!({"q": "a", "p": "x"}), Ok(()));
        check(
            json!({"q": "c"}),
            Err("cannot remove child [a] in join field [j]"),
        );
        check(
            json!({"p": "x"}),
            Err("cannot remove parent [q] in join field [j]"),
        );
        check(
            json!({"q": "a", "a": "v"}),
            Err("cannot create parent [a] from an existing child"),
        );
        check(
            json!({"q": "a", "p": "q"}),
            Err("cannot create child [q] from an existing parent"),
        );
    }

    #[test]
    fn what_cannot_be_joined_is_refused() {
        let error = mapping(json!({"q": "a", "p": "a"})).unwrap_err();
        assert!(reason(&error).contains("[a] cannot have multiple parents"));
        let error = try_mapping(&json!({"properties": {"o": {"properties": {
            "j": {"type": "join", "relations": {"q": "a"}}}}}}))
        .unwrap_err();
        assert_eq!(
            reason(&error),
            "join field [o.j] cannot be added inside an object or in a multi-field"
        );
        let error = try_mapping(&json!({"properties": {
            "j": {"type": "join", "relations": {"q": "a"}},
            "k": {"type": "join", "relations": {"x": "y"}}}}))
        .unwrap_err();
        assert!(reason(&error).contains("more than once"), "{error}");
    }
}
