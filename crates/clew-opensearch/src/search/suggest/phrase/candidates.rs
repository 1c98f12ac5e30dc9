//! What may stand in the place of a word: words of a field that are spelled like it.

use clew_analysis::tokens;
use clew_engine::PinnedShard;
use serde_json::{Map, Value};

use super::super::term;
use crate::dsl::{DslError, Field};
use crate::http::error::ApiError;

/// Generators that one suggestion may have.
const GENERATORS_MAX: usize = 16;

/// What a generator says.
const SETTINGS: &[&str] = &[
    "field",
    "accuracy",
    "suggest_mode",
    "sort",
    "string_distance",
    "size",
    "max_edits",
    "max_inspections",
    "max_term_freq",
    "prefix_length",
    "min_word_length",
    "min_doc_freq",
    "pre_filter",
    "post_filter",
];

/// Where words come from.
pub(super) struct Generator {
    /// What is wanted, as of a `term` suggester.
    wish: Map<String, Value>,
    /// The analyzer that a word goes through before others are looked for.
    pre_filter: Option<String>,
    /// And those that are found.
    post_filter: Option<String>,
}

/// A word in the place of another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) text: String,
    /// How alike the two are, up to 1.
    pub(super) likeness: f64,
}

impl Generator {
    /// The words of the field that is asked itself.
    pub(super) fn of_field(field: &str) -> Self {
        let mut wish = Map::new();
        wish.insert("field".to_string(), field.into());
        Generator {
            wish,
            pre_filter: None,
            post_filter: None,
        }
    }

    /// Reads the list of `direct_generator`.
    pub(super) fn read(bodies: &[Value]) -> Result<Vec<Self>, DslError> {
        if bodies.len() > GENERATORS_MAX {
            return Err(DslError::illegal(format!(
                "more than [{GENERATORS_MAX}] generators"
            )));
        }
        bodies.iter().map(Generator::of).collect()
    }

    fn of(body: &Value) -> Result<Self, DslError> {
        let (mut pre_filter, mut post_filter) = (None, None);
        let mut wish = Map::new();
        let mut tried = term::Wish::default();
        for field in Field::all("direct_generator", body)? {
            match field.name {
                "pre_filter" => pre_filter = Some(field.text()?.to_string()),
                "post_filter" => post_filter = Some(field.text()?.to_string()),
                name if !SETTINGS.contains(&name) => return Err(field.unknown(SETTINGS)),
                _ if matches!(
                    field.value,
                    Value::Object(_) | Value::Array(_) | Value::Null
                ) =>
                {
                    return Err(field.other_sort());
                }
                name => {
                    let set = tried.set(name, field.value);
                    set.map_err(|error| field.wrong(error))?;
                    wish.insert(name.to_string(), field.value.clone());
                }
            }
        }
        if !wish.contains_key("field") {
            return Err(DslError::illegal("Required [field]"));
        }
        Ok(Generator {
            wish,
            pre_filter,
            post_filter,
        })
    }

    /// What a shard has in the place of a word, the best first.
    fn candidates(&self, shard: &PinnedShard, word: &str) -> Result<Vec<Candidate>, ApiError> {
        let wish = term::read(&self.wish)?;
        let through = |analyzer: &Option<String>, word: &str| {
            let analyzer = analyzer.as_ref()?;
            let analyzer = shard.mapping().analysis().resolved(analyzer);
            Some(tokens(analyzer, word).into_iter().map(|token| token.text))
        };
        let asked = through(&self.pre_filter, word).and_then(Iterator::last);
        let similar = term::of_shard(shard, &wish, asked.as_deref().unwrap_or(word))?;
        let mut found = Vec::new();
        for term in similar {
            let likeness = f64::from(term.score);
            match through(&self.post_filter, &term.text) {
                Some(texts) => found.extend(texts.map(|text| Candidate { text, likeness })),
                None => found.push(Candidate {
                    text: term.text,
                    likeness,
                }),
            }
        }
        Ok(found)
    }
}

/// What a shard has in the place of a word by any generator, each once, the most alike first.
pub(super) fn candidates(
    shard: &PinnedShard,
    generators: &[Generator],
    word: &str,
    most: usize,
) -> Result<Vec<Candidate>, ApiError> {
    let mut found: Vec<Candidate> = Vec::new();
    for generator in generators {
        for candidate in generator.candidates(shard, word)? {
            let is_known = |known: &Candidate| known.text == candidate.text;
            if candidate.text != word && !found.iter().any(is_known) {
                found.push(candidate);
            }
        }
    }
    found.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
    found.truncate(most);
    Ok(found)
}
