//! The field `path`, which events of a Logstash's files have without `ecs_compatibility`, and in most of its examples. It is given
//! to events only where a pipeline names it.

use serde_json::{Value, json};

/// Gives events of files the field where a pipeline names it; what events bring under this name stays.
pub(super) fn give_path(pipeline: &str, inputs: &mut [Value]) {
    if !names_path(pipeline) {
        return;
    }
    for input in inputs.iter_mut().filter(|input| input["type"] == "file") {
        let step =
            json!({"set": {"field": "path", "value": "{{log.file.path}}", "override": false}});
        match input.get_mut("processors").and_then(Value::as_array_mut) {
            Some(steps) => steps.insert(0, step),
            None => input["processors"] = json!([step]),
        }
    }
}

/// Whether a pipeline names the field itself, not one that is inside of others or has others inside.
fn names_path(pipeline: &str) -> bool {
    let is_whole = |(at, name): (usize, &str)| {
        let (before, from_it) = pipeline.split_at(at);
        let behind = from_it.strip_prefix(name).unwrap_or_default();
        !before.ends_with(']') && !behind.starts_with('[')
    };
    pipeline.contains("%{path}") || pipeline.match_indices("[path]").any(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_given_where_it_is_named() {
        for (pipeline, expected) in [
            (r#"if [path] =~ "access" { }"#, true),
            (r#"add_field => { "from" => "%{path}" }"#, true),
            (r#"if [url][path] == "/" { }"#, false),
            (r#"if [path][to] { }"#, false),
            (r#"file { path => "/a" }"#, false),
        ] {
            assert_eq!(names_path(pipeline), expected, "{pipeline}");
        }
        let mut inputs = [
            json!({"type": "file"}),
            json!({"type": "file", "processors": [{"drop": {}}]}),
            json!({"type": "stdin"}),
        ];
        give_path("[path]", &mut inputs);
        let steps = inputs.iter().map(|input| {
            let steps = input.get("processors").and_then(Value::as_array);
            steps.map_or(0, Vec::len)
        });
        assert_eq!(steps.collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!(inputs[1]["processors"][0]["set"]["field"], "path");
    }
}
