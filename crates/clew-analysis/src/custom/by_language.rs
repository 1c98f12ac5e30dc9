//! Texts that go through an analyzer of their language, which is told by their letters and triples of these (`whatlang`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tantivy::tokenizer::Token;

use super::Chain;
use super::part::Part;

/// The name of the analyzer for languages that have none, and texts of none.
const DEFAULT: &str = "default";

/// Analyzers by languages.
#[derive(Clone, Debug)]
pub(super) struct ByLanguage {
    analyzers: BTreeMap<String, Chain>,
    /// Names of analyzers by the languages' English ones, where they are not called so.
    names: BTreeMap<String, String>,
    /// How sure a guess must be to count, from 0 to 1.
    confidence: f64,
}

impl ByLanguage {
    /// Reads the parameters `analyzers`, parts by name, `mapping` and `confidence`.
    ///
    /// # Errors
    /// A reason, when an analyzer cannot be put together, or the one for other languages is lacking.
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let compiled = |(name, parts): (&String, &Value)| {
            Chain::compile(parts).map(|chain| (name.clone(), chain))
        };
        let analyzers = part.members("analyzers").map(Map::iter);
        let analyzers: BTreeMap<String, Chain> = analyzers
            .into_iter()
            .flatten()
            .map(compiled)
            .collect::<Result<_, String>>()?;
        if !analyzers.contains_key(DEFAULT) {
            return Err(format!(
                "[analyzers] of [by_language] must have [{DEFAULT}]"
            ));
        }
        let named = part.members("mapping").map(Map::iter);
        let named = named.into_iter().flatten();
        let name = |(language, name): (&String, &Value)| {
            let name = name.as_str().map(String::from);
            name.map(|name| (language.clone(), name))
                .ok_or_else(|| "[mapping] of [by_language] must have names".to_string())
        };
        let confidence = part.text("confidence").map(|text| text.parse::<f64>());
        Ok(ByLanguage {
            analyzers,
            names: named.map(name).collect::<Result<_, String>>()?,
            confidence: confidence
                .transpose()
                .map_err(|_| "[confidence] of [by_language] must be a number".to_string())?
                .unwrap_or_default(),
        })
    }

    pub(super) fn makes_long_terms(&self) -> bool {
        self.analyzers.values().any(Chain::makes_long_terms)
    }

    /// The words of a text as its language's analyzer leaves them.
    pub(super) fn cut(&self, text: &str) -> Vec<Token> {
        let guess = whatlang::detect(text).filter(|guess| guess.confidence() > self.confidence);
        let language = guess.map_or(DEFAULT, |guess| guess.lang().eng_name());
        let name = self.names.get(language).map_or(language, String::as_str);
        let own = self.analyzers.get(name);
        let chain = own.or_else(|| self.analyzers.get(DEFAULT));
        let terms = chain.map(|chain| chain.run(text)).unwrap_or_default();
        terms.into_iter().map(|term| term.token).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_text_has_the_analyzer_of_its_language() {
        let chain = |filters: Value| json!({"tokenizer": {"type": "standard"}, "filter": filters});
        let stem = |language: &str| {
            chain(json!([{"type": "lowercase"}, {"type": "stemmer", "language": language}]))
        };
        let params = json!({
            "analyzers": {"en": stem("english"), "German": stem("german"), "default": chain(json!([]))},
            "mapping": {"English": "en"},
        });
        let cutter = ByLanguage::compile(&Part::new(&params)).unwrap();
        for (text, last) in [
            ("There is no reason not to learn Esperanto.", "esperanto"),
            (
                "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller Katzen",
                "katz",
            ),
            ("Все счастливые семьи похожи друг на друга", "друга"),
        ] {
            let tokens = cutter.cut(text);
            assert_eq!(tokens.last().unwrap().text, last, "{text}");
        }
        let unsure = json!({"analyzers": params["analyzers"], "confidence": 1});
        let cutter = ByLanguage::compile(&Part::new(&unsure)).unwrap();
        assert_eq!(cutter.cut("the dogs")[1].text, "dogs");
    }

    #[test]
    fn there_is_an_analyzer_for_other_languages() {
        for wrong in [
            json!({}),
            json!({"analyzers": {"English": {"tokenizer": {"type": "standard"}}}}),
            json!({"analyzers": {"default": {"tokenizer": {"type": "unheard"}}}}),
            json!({"analyzers": {"default": {"tokenizer": {"type": "standard"}}}, "mapping": {"English": 1}}),
            json!({"analyzers": {"default": {"tokenizer": {"type": "standard"}}}, "confidence": "much"}),
        ] {
            assert!(ByLanguage::compile(&Part::new(&wrong)).is_err(), "{wrong}");
        }
    }
}
