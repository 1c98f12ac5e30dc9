//! `filter_path` and `pretty`: the two parameters that change an answer after it was written.

use clew_schema::glob::matches as glob;
use serde_json::{Map, Value};

/// Keeps what one of the inclusive patterns names and no exclusive one (`-a.b`) does.
pub(crate) fn filter(value: Value, patterns: &[&str]) -> Value {
    let split = |excluding: bool| -> Vec<Vec<&str>> {
        patterns
            .iter()
            .filter(|pattern| pattern.starts_with('-') == excluding)
            .map(|pattern| pattern.trim_start_matches('-').split('.').collect())
            .collect()
    };
    let (includes, excludes) = (split(false), split(true));
    let includes: Vec<&[&str]> = includes.iter().map(Vec::as_slice).collect();
    let excludes: Vec<&[&str]> = excludes.iter().map(Vec::as_slice).collect();
    let kept = if includes.is_empty() {
        Some(value)
    } else {
        keep(value, &includes)
    };
    let kept = kept.unwrap_or_else(|| Value::Object(Map::new()));
    if excludes.is_empty() {
        kept
    } else {
        drop_matching(kept, &excludes)
    }
}

/// The patterns that go on below a member; `None` when one of them ends here.
fn below<'a>(patterns: &[&'a [&'a str]], name: &str) -> Option<Vec<&'a [&'a str]>> {
    let mut rest = Vec::new();
    for pattern in patterns {
        let (head, tail) = pattern.split_first()?;
        if *head == "**" {
            rest.push(*pattern);
            if let Some((next, after)) = tail.split_first()
                && glob(next, name)
            {
                if after.is_empty() {
                    return None;
                }
                rest.push(after);
            }
        } else if glob(head, name) {
            if tail.is_empty() {
                return None;
            }
            rest.push(tail);
        }
    }
    Some(rest)
}

fn keep(value: Value, patterns: &[&[&str]]) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, member) in members {
                match below(patterns, &name) {
                    None => {
                        kept.insert(name, member);
                    }
                    Some(rest) if !rest.is_empty() => {
                        if let Some(member) = keep(member, &rest) {
                            kept.insert(name, member);
                        }
                    }
                    Some(_) => {}
                }
            }
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let kept: Vec<Value> = items
                .into_iter()
                .filter_map(|item| keep(item, patterns))
                .collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn drop_matching(value: Value, patterns: &[&[&str]]) -> Value {
    match value {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, member) in members {
                if let Some(rest) = below(patterns, &name) {
                    kept.insert(name, drop_matching(member, &rest));
                }
            }
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| drop_matching(item, patterns))
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(patterns: &[&str], expected: Value) {
        let value = json!({
            "took": 1, "hits": {"total": {"value": 2}, "hits": [
                {"_id": "1", "_source": {"a": 1}}, {"_id": "2", "_source": {"a": 2}}]}});
        assert_eq!(filter(value, patterns), expected, "{patterns:?}");
    }

    #[test]
    fn an_answer_is_cut_to_the_paths_asked_for() {
        check(&["took"], json!({"took": 1}));
        check(
            &["hits.hits._id"],
            json!({"hits": {"hits": [{"_id": "1"}, {"_id": "2"}]}}),
        );
        check(&["hits.t*"], json!({"hits": {"total": {"value": 2}}}));
        check(&["**.value"], json!({"hits": {"total": {"value": 2}}}));
        check(
            &["hits", "-hits.hits"],
            json!({"hits": {"total": {"value": 2}}}),
        );
        check(&["-hits"], json!({"took": 1}));
        check(&["nothing"], json!({}));
    }
}
