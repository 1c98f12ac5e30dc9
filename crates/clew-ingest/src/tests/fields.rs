//! Fields are copied, set, sorted and removed, and paths say where they end.

use super::*;

#[test]
fn fields_are_copied_sorted_and_removed() {
    for (step, path, expected) in [
        (
            json!({"copy": {"source_field": "obj", "target_field": "a.b"}}),
            "a.b.x",
            json!(1),
        ),
        (
            json!({"copy": {"source_field": "tag", "target_field": "a", "remove_source": true}}),
            "tag",
            json!("nothing"),
        ),
        (
            json!({"copy": {"source_field": "tag", "target_field": "n"}}),
            "n",
            json!("Unfit: target field [n] already exists"),
        ),
        (
            json!({"copy": {"source_field": "none", "target_field": "a"}}),
            "a",
            json!("Unfit: source field [none] doesn't exist"),
        ),
        (
            json!({"sort": {"field": "list"}}),
            "list",
            json!(["C", "a", "b"]),
        ),
        (
            json!({"sort": {"field": "nums", "order": "desc", "target_field": "s"}}),
            "s",
            json!([3, 2, 1]),
        ),
        (
            json!({"sort": {"field": "mix"}}),
            "mix",
            json!("MixedTypes: class java.lang.Integer cannot be cast to class java.lang.String"),
        ),
        (
            json!({"sort": {"field": "objs"}}),
            "objs",
            json!(
                "MixedTypes: class java.util.HashMap cannot be cast to class java.lang.Comparable"
            ),
        ),
        (
            json!({"remove": {"exclude_field": ["tag"]}}),
            "n",
            json!("nothing"),
        ),
        (
            json!({"remove": {"field": "none"}}),
            "n",
            json!("Unfit: field [none] doesn't exist"),
        ),
        (
            json!({"remove_by_pattern": {"field_pattern": ["s*", "x"]}}),
            "src",
            json!("nothing"),
        ),
        (
            json!({"remove_by_pattern": {"exclude_field_pattern": "t*"}}),
            "tag",
            json!("Red"),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn values_are_put_where_others_are() {
    for (step, path, expected) in [
        (
            json!({"append": {"field": "tag", "value": "Red", "allow_duplicates": false}}),
            "tag",
            json!("Red"),
        ),
        (
            json!({"append": {"field": "nul", "value": "x"}}),
            "nul",
            json!([null, "x"]),
        ),
        (
            json!({"set": {"field": "a", "value": {"b": ["{{tag}}", "{{list}}"]}}}),
            "a",
            json!({"b": ["Red", "{0=b, 1=a, 2=C}"]}),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn a_path_that_leads_nowhere_says_where_it_ends() {
    for (field, kind, expected) in [
        (
            "none.a",
            "Unfit",
            "field [none] not present as part of path [none.a]",
        ),
        (
            "obj.y.z.a",
            "Unfit",
            "cannot resolve [a] from object of type [java.lang.String] as part of path [obj.y.z.a]",
        ),
        (
            "list.7",
            "OutOfBounds",
            "[7] is out of bounds for array with length [3] as part of path [list.7]",
        ),
        (
            "list.x",
            "Unfit",
            "[x] is not an integer, cannot be used as an index as part of path [list.x]",
        ),
        (
            "nul.x",
            "Unfit",
            "cannot resolve [x] from null as part of path [nul.x]",
        ),
    ] {
        let expected = format!("{kind}: {expected}");
        check(json!({"trim": {"field": field}}), field, expected.into());
    }
}

#[test]
fn what_goes_with_a_document_stands_in_place_of_members_of_its_name() {
    let source = json!({"_id": 7, "_routing": 5, "_version": 3, "_ingest": 1, "a": {"_id": 1}});
    for (routing, expected) in [(None, "5"), (Some("r"), "r")] {
        let mut document = Document::new("i", source.clone(), 0);
        document.routing = routing.map(String::from);
        document.take_metadata();
        assert_eq!(document.source, json!({"_ingest": 1, "a": {"_id": 1}}));
        assert_eq!(document.routing.as_deref(), Some(expected));
        assert_eq!(document.id, None);
    }
}
