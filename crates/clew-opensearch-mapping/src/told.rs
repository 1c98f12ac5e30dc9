//! What is shown of a new field beyond what was written, or otherwise than it was written, as OpenSearch tells it. Fields that are
//! kept stay as they are: they are shown as they were when they were new.

use clew_analysis::Analysis;
use clew_schema::{
    CompletionMapping, ContextKind, FieldKind, FieldSpec, KeywordStyle, TextStyle, java_text,
};
use serde_json::{Map, Value, json};

use crate::new_values::PREFIX_CHARS;
use crate::parameter_values::show;

/// Brings what is shown of a new field, whose parameters have been checked, to what OpenSearch shows of it.
pub(crate) fn tell_as_there(
    spec: &mut FieldSpec,
    parameters: &Map<String, Value>,
    analysis: &Analysis,
) {
    spec.indexed |= spec.kind.ignores_index();
    spec.store &= !spec.kind.ignores_store();
    spec.doc_values |= spec.kind.ignores_column();
    let shown = &mut spec.shown;
    if let Some(boost) = shown.get("boost").and_then(Value::as_f64) {
        shown.insert("boost".to_string(), json!(boost));
    }
    match &spec.kind {
        FieldKind::Completion(mapping) => tell_completion(mapping, shown),
        FieldKind::Text { style, .. } => {
            if *style == TextStyle::MatchOnly {
                pass_over_usual(shown);
            }
            let searches = (&mut spec.search_analyzer, &mut spec.search_quote_analyzer);
            tell_analyzers(searches, shown, parameters, analysis);
            let (least, most) = PREFIX_CHARS;
            let prefixes = json!({ "min_chars": least, "max_chars": most });
            fill(shown, "index_prefixes", &prefixes);
            let often = json!({ "min": 0.0, "max": f64::from(i32::MAX), "min_segment_size": 0 });
            fill(shown, "fielddata_frequency_filter", &often);
        }
        FieldKind::Keyword { style, .. } => {
            if *style == KeywordStyle::Keyword {
                pass_over_usual(shown);
            }
            tell_null_value(&mut spec.null_value);
        }
        FieldKind::Date { .. } | FieldKind::DateNanos { .. } | FieldKind::Ip => {
            tell_null_value(&mut spec.null_value);
        }
        _ => {}
    }
}

/// Does not tell what documents alone are found by.
fn pass_over_usual(shown: &mut Map<String, Value>) {
    for (key, usual) in [("norms", "false"), ("index_options", "docs")] {
        if shown.get(key).is_some_and(|value| show(value) == usual) {
            shown.shift_remove(key);
        }
    }
}

/// Tells what stands for null as the text that it is read as.
fn tell_null_value(value: &mut Option<Value>) {
    *value = value.take().map(|value| json!(java_text(&value)));
}

/// The name of whichever analyzer is the index's.
const DEFAULT: &str = "default";

/// Tells a text's analyzers that are not as usual, and those from which another one differs. What would be anyway is not kept.
fn tell_analyzers(
    (search, quote): (&mut Option<String>, &mut Option<String>),
    shown: &mut Map<String, Value>,
    parameters: &Map<String, Value>,
    analysis: &Analysis,
) {
    let said = |key: &str| parameters.get(key).map(show);
    let own = said("analyzer").unwrap_or_else(|| DEFAULT.to_string());
    let usual = match analysis.default_search() {
        Some(_) => "default_search",
        None => own.as_str(),
    };
    let searched = said("search_analyzer").unwrap_or_else(|| usual.to_string());
    let quoted = said("search_quote_analyzer").unwrap_or_else(|| searched.clone());
    let mut tell = |key: &str, name: &str| shown.insert(key.to_string(), json!(name));
    if own != DEFAULT || own != searched || own != quoted {
        tell("analyzer", &own);
    }
    // Those that are kept are told by their names, which this is none of.
    if (searched == usual && searched != quoted) || (searched != usual && searched == DEFAULT) {
        tell("search_analyzer", &searched);
    }
    if quoted != searched && quoted == DEFAULT {
        tell("search_quote_analyzer", &quoted);
    }
    if searched == usual {
        *search = None;
    }
    if quoted == searched {
        *quote = None;
    }
}

/// All of a completion is told, whether it was said or not.
fn tell_completion(mapping: &CompletionMapping, shown: &mut Map<String, Value>) {
    for (key, value) in [
        ("analyzer", json!(mapping.analyzer)),
        ("preserve_separators", json!(mapping.keep_separators)),
        ("max_input_length", json!(mapping.length_max)),
    ] {
        shown.insert(key.to_string(), value);
    }
    let key = "preserve_position_increments";
    let gaps = shown.get(key).is_none_or(|value| show(value) != "false");
    shown.insert(key.to_string(), json!(gaps));
    if mapping.contexts.is_empty() {
        return;
    }
    let contexts = mapping.contexts.iter().map(|context| {
        let mut told = match context.kind {
            ContextKind::Category => json!({ "name": context.name, "type": "CATEGORY" }),
            ContextKind::Geo { level } => {
                json!({ "name": context.name, "type": "GEO", "precision": level })
            }
        };
        if let Some(path) = &context.path {
            told["path"] = json!(path);
        }
        told
    });
    let contexts: Vec<Value> = contexts.collect();
    shown.insert("contexts".to_string(), json!(contexts));
}

/// Gives an object that is shown the members that it lacks.
fn fill(shown: &mut Map<String, Value>, key: &str, usual: &Value) {
    let Some(Value::Object(members)) = shown.get_mut(key) else {
        return;
    };
    for (name, value) in usual.as_object().into_iter().flatten() {
        members.entry(name.clone()).or_insert_with(|| value.clone());
    }
}
