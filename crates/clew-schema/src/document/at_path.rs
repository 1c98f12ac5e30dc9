//! What stands at a path of a document, as it was written.

use serde_json::Value;

/// The scalars at a dotted path, through arrays; names may have dots in them, and every way to read the path counts.
pub fn values_at<'a>(document: &'a Value, path: &str, found: &mut Vec<&'a Value>) {
    match document {
        Value::Array(values) => {
            for value in values {
                values_at(value, path, found);
            }
        }
        Value::Object(object) => {
            if let Some(value) = object.get(path) {
                values_at(value, "", found);
            }
            // No name is longer than the longest there is: a path of a megabyte would be looked up once for each of its parts.
            let longest = object.keys().map(String::len).max().unwrap_or(0);
            let ends = path.match_indices('.').map(|(at, _)| at);
            for at in ends.take_while(|at| *at <= longest) {
                if let Some(inner) = object.get(&path[..at]) {
                    values_at(inner, &path[at + 1..], found);
                }
            }
        }
        Value::Null => {}
        scalar if path.is_empty() => found.push(scalar),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_through_arrays_and_dots() {
        let document = json!({
            "a": { "b": ["x", { "c": "no" }], "b.c": "y" },
            "a.b": "z",
        });
        let find = |path: &str| {
            let mut found = Vec::new();
            values_at(&document, path, &mut found);
            found.into_iter().cloned().collect::<Vec<_>>()
        };
        assert_eq!(find("a.b"), [json!("z"), json!("x")]);
        assert_eq!(find("a.b.c"), [json!("y"), json!("no")]);
        assert!(find("q").is_empty());
    }

    #[test]
    fn a_path_of_very_many_parts_is_looked_up_as_far_as_there_are_names() {
        let document = json!({"a": {"a": {"a": 1}}, "a.a": 2});
        let path = format!("a{}", ".a".repeat(500_000));
        let before = clew_platform::thread_cpu_time();
        let mut found = Vec::new();
        values_at(&document, &path, &mut found);
        assert!(found.is_empty());
        let spent = clew_platform::thread_cpu_time().saturating_sub(before);
        // A machine that is slow for a while is no reason to fail.
        assert!(spent.as_secs() < 30, "{spent:?}");
    }
}
