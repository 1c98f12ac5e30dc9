//! What the older of OpenSearch's readers of aggregations, which go through the settings by hand, say each in words of its
//! own. Those that read by a table of their fields all say the same, which is not here.

/// The refusal of a setting of a kind of aggregation with a name, where a token stands that its reader has no use for there;
/// `None` of kinds that are read by a table.
pub(super) fn own_words((kind, name): (&str, &str), key: &str, found: &str) -> Option<String> {
    Some(match kind {
        "sampler" => format!("Unsupported property \"{key}\" for aggregation \"{name}"),
        "children" | "parent" if found == "VALUE_STRING" => {
            format!("Unknown key for a {found} in [{name}]: [{key}].")
        }
        "nested" | "reverse_nested" | "children" | "parent" => {
            format!("Unexpected token {found} in [{name}].")
        }
        "derivative" | "bucket_selector" | "moving_avg" | "serial_diff" => {
            // What some settings begin with is only the wrong one for this.
            match tokens(kind).contains(&found) {
                true => format!("Unknown key for a {found} in [{name}]: [{key}]."),
                false => format!("Unexpected token {found} in [{name}]."),
            }
        }
        "filters" => format!("Unknown key for a {found} in [{name}]: [{key}]."),
        "global" => {
            format!("Expected [FIELD_NAME] under a [START_OBJECT], but got a [{found}] in [{name}]")
        }
        "matrix_stats"
            if matches!((key, found), ("value_type", _) | ("script", "START_OBJECT")) =>
        {
            format!(
                "Unexpected token {found} [{key}] in [{name}]. Multi-field aggregations do not \
             support scripts."
            )
        }
        "matrix_stats" => format!("Unexpected token {found} [{key}] in [{name}]."),
        "top_hits" => format!("Unknown key for a {found} in [{key}]."),
        kind if kind.ends_with("_bucket") => {
            format!("Unexpected token {found} [{key}] in [{name}]")
        }
        _ => return None,
    })
}

/// What the settings of a pipeline begin with.
fn tokens(kind: &str) -> &'static [&'static str] {
    match kind {
        "derivative" => &["VALUE_STRING", "START_ARRAY"],
        "serial_diff" => &["VALUE_STRING", "START_ARRAY", "VALUE_NUMBER"],
        "bucket_selector" => &["VALUE_STRING", "START_ARRAY", "START_OBJECT"],
        _ => &[
            "VALUE_STRING",
            "START_ARRAY",
            "START_OBJECT",
            "VALUE_NUMBER",
            "VALUE_BOOLEAN",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_tell_of_scripts_that_are_objects_alone() {
        let said = |found| own_words(("matrix_stats", "z"), "script", found).unwrap();
        assert_eq!(
            said("VALUE_STRING"),
            "Unexpected token VALUE_STRING [script] in [z]."
        );
        assert!(said("START_OBJECT").ends_with("Multi-field aggregations do not support scripts."));
    }

    #[test]
    fn pipelines_tell_unknown_settings_from_values_that_they_have_none_of() {
        let said = |kind, found| own_words((kind, "z"), "k", found).unwrap();
        for (kind, known, other) in [
            ("derivative", "VALUE_STRING", "VALUE_NUMBER"),
            ("serial_diff", "VALUE_NUMBER", "START_OBJECT"),
            ("bucket_selector", "START_OBJECT", "VALUE_NUMBER"),
            ("moving_avg", "VALUE_BOOLEAN", "VALUE_NULL"),
        ] {
            assert_eq!(
                said(kind, known),
                format!("Unknown key for a {known} in [z]: [k].")
            );
            assert_eq!(
                said(kind, other),
                format!("Unexpected token {other} in [z].")
            );
        }
        assert_eq!(own_words(("avg", "z"), "k", "VALUE_NUMBER"), None);
    }
}
