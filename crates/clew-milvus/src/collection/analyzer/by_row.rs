//! Analyzers that go by the row: which there are, and the field whose values choose among them (`multi_analyzer_params`).

use std::collections::BTreeMap;

use clew_schema::AnalyzerChoice;
use serde_json::Value;

use crate::collection::{Collection, DataType, Field};
use crate::error::{MilvusError, Result};

/// The parameter that says them.
const PARAMS: &str = "multi_analyzer_params";
/// The name of the one for rows that choose none of the others.
const DEFAULT: &str = "default";

/// The analyzers of a field's texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowAnalyzers {
    /// The field whose values choose.
    by: String,
    /// What each is, by its name.
    analyzers: BTreeMap<String, Value>,
    /// Names by others that values may have for them.
    aliases: BTreeMap<String, String>,
}

impl RowAnalyzers {
    /// Those of a field; nothing where all its texts go through one.
    ///
    /// # Errors
    /// When they are not as Milvus takes them.
    pub(crate) fn of(field: &Field) -> Result<Option<RowAnalyzers>> {
        let params = field.params.get(PARAMS);
        let Some(params) = params.filter(|_| field.flag("enable_analyzer")) else {
            return Ok(None);
        };
        let name = &field.name;
        if field.flag("enable_match") {
            return Err(MilvusError::invalid(format!(
                "multi analyzer now only support for bm25, but now field {name} enable match"
            )));
        }
        if field.params.contains_key("analyzer_params") {
            return Err(MilvusError::invalid(format!(
                "field {name} analyzer params should be none if has multi analyzer params"
            )));
        }
        RowAnalyzers::read(params).map(Some)
    }

    fn read(params: &str) -> Result<RowAnalyzers> {
        let said: BTreeMap<String, Value> = serde_json::from_str(params).map_err(|error| {
            MilvusError::invalid(format!("{PARAMS} are no JSON object: {error}"))
        })?;
        let Some(by) = said.get("by_field") else {
            return Err(MilvusError::invalid(
                "multi analyzer params now must set by_field to specify with field decide analyzer",
            ));
        };
        let Some(by_name) = by.as_str() else {
            return Err(MilvusError::invalid(format!(
                "multi analyzer params by_field must be string but now: {by}"
            )));
        };
        let aliases = match said.get("alias") {
            None => BTreeMap::new(),
            Some(given) => serde_json::from_value(given.clone()).map_err(|_| {
                MilvusError::invalid(format!(
                    "multi analyzer alias must be string map but now: {given}"
                ))
            })?,
        };
        let Some(given) = said.get("analyzers") else {
            return Err(MilvusError::invalid(
                "multi analyzer params must set analyzers ",
            ));
        };
        let analyzers: BTreeMap<String, Value> =
            serde_json::from_value(given.clone()).map_err(|error| {
                MilvusError::invalid(format!("unmarshal analyzers failed: {error}"))
            })?;
        if !analyzers.contains_key(DEFAULT) {
            return Err(MilvusError::invalid(
                "multi analyzer must set default analyzer for all unknown value",
            ));
        }
        Ok(RowAnalyzers {
            by: by_name.to_string(),
            analyzers,
            aliases,
        })
    }

    /// Refuses a choice by a field that is none, or has no texts.
    pub(super) fn check(&self, collection: &Collection) -> Result<()> {
        let by = &self.by;
        let mut fields = collection.fields.iter();
        match fields.find(|field| field.name == *by) {
            Some(field) if field.data_type == DataType::VarChar => Ok(()),
            Some(_) => Err(MilvusError::invalid(format!(
                "multi analyzer params now only support by string field, but field {by} is not string"
            ))),
            None => Err(MilvusError::invalid(format!(
                "multi analyzer dependent field {by:?} not exist in collection"
            ))),
        }
    }

    /// Whether a field's values choose among them.
    pub(crate) fn go_by(&self, field: &str) -> bool {
        self.by == field
    }

    /// Each with its name in the index.
    pub(super) fn named<'a>(
        &'a self,
        field: &'a Field,
    ) -> impl Iterator<Item = (String, &'a Value)> {
        let all = self.analyzers.values().enumerate();
        all.map(|(at, params)| (nth_name(field, at), params))
    }

    /// The name in the index of the one that a value or a search chooses.
    pub(crate) fn chosen(&self, field: &Field, said: &str) -> String {
        let place = |name: &str| self.analyzers.keys().position(|own| own == name);
        let name = self.aliases.get(said).map_or(said, String::as_str);
        let place = place(name).or_else(|| place(DEFAULT));
        nth_name(field, place.unwrap_or_default())
    }

    /// The name in the index of the one for rows that choose none.
    pub(super) fn usual(&self, field: &Field) -> String {
        self.chosen(field, DEFAULT)
    }

    /// Which of them the texts of a row go through.
    pub(super) fn choice(&self, field: &Field) -> AnalyzerChoice {
        let values = self.analyzers.keys().chain(self.aliases.keys());
        AnalyzerChoice {
            by: self.by.clone(),
            analyzers: values
                .map(|value| (value.clone(), self.chosen(field, value)))
                .collect(),
        }
    }
}

/// Names of fields have no colon, so that no other field's analyzer is called so.
fn nth_name(field: &Field, at: usize) -> String {
    format!("milvus_{}:{at}", field.name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(params: &Value, more: Option<(&str, &str)>) -> Field {
        let mut all = BTreeMap::from([
            ("enable_analyzer".to_string(), "true".to_string()),
            (PARAMS.to_string(), params.to_string()),
        ]);
        all.extend(more.map(|(key, value)| (key.to_string(), value.to_string())));
        Field {
            params: all,
            ..Field::named("text", DataType::VarChar)
        }
    }

    #[test]
    fn values_and_aliases_choose_and_others_get_the_usual_one() {
        let params = json!({
            "by_field": "lang",
            "analyzers": {"zh": {"tokenizer": "icu"}, "en": {"type": "english"}, "default": {}},
            "alias": {"eng": "en", "zh": "default", "lost": "nowhere"},
        });
        let field = field(&params, None);
        let several = RowAnalyzers::of(&field).unwrap().unwrap();
        let usual = several.usual(&field);
        assert_eq!(usual, "milvus_text:0");
        for (said, want) in [
            ("en", "milvus_text:1"),
            ("eng", "milvus_text:1"),
            // What is an alias is no name any more.
            ("zh", usual.as_str()),
            ("lost", usual.as_str()),
            ("", usual.as_str()),
            ("fr", usual.as_str()),
        ] {
            assert_eq!(several.chosen(&field, said), want, "{said}");
        }
        let choice = several.choice(&field);
        assert_eq!(choice.by, "lang");
        assert_eq!(choice.analyzers["eng"], "milvus_text:1");
        assert_eq!(choice.analyzers["zh"], usual);
        let names: Vec<String> = several.named(&field).map(|(name, _)| name).collect();
        assert_eq!(names, ["milvus_text:0", "milvus_text:1", "milvus_text:2"]);
    }

    #[test]
    fn what_milvus_refuses_is_refused_in_its_words() {
        let right = json!({"by_field": "lang", "analyzers": {"default": {}}});
        let of = |params: &Value, more: Option<(&str, &str)>| {
            RowAnalyzers::of(&field(params, more)).map_err(|error| error.to_string())
        };
        assert!(of(&right, None).is_ok());
        assert_eq!(of(&right, Some(("enable_analyzer", "false"))), Ok(None));
        for (params, more, said) in [
            (
                right.clone(),
                Some(("enable_match", "true")),
                "only support for bm25",
            ),
            (right, Some(("analyzer_params", "{}")), "should be none"),
            (json!([]), None, "no JSON object"),
            (json!({}), None, "must set by_field"),
            (
                json!({"by_field": 1}),
                None,
                "by_field must be string but now: 1",
            ),
            (json!({"by_field": "lang"}), None, "must set analyzers"),
            (
                json!({"by_field": "lang", "alias": {"a": 1}}),
                None,
                "alias must be string map",
            ),
            (
                json!({"by_field": "lang", "analyzers": 7}),
                None,
                "unmarshal analyzers failed",
            ),
            (
                json!({"by_field": "lang", "analyzers": {"en": {}}}),
                None,
                "must set default analyzer",
            ),
        ] {
            let refused = of(&params, more).unwrap_err();
            assert!(refused.contains(said), "{params}: {refused}");
        }
    }
}
