//! Queries on the words of one field.

use clew_query::{FrequentWords, Match, MatchPhrase, Query};
use serde_json::Value;

use super::DslError;
use super::leaf::fuzziness;
use super::object::{Parameters, one_field, plain};

/// The text of a query, as the scalar it was given as.
fn text(parameters: &mut Parameters<'_>) -> Result<Value, DslError> {
    match parameters.take("query") {
        None | Some(Value::Null) => {
            let error = match parameters.query() {
                "match" => DslError::parsing("No text specified for text query"),
                "multi_match" => DslError::parsing("No text specified for multi_match query"),
                query => DslError::illegal(format!("[{query}] requires query value")),
            };
            parameters.late(error);
            Ok(Value::Null)
        }
        Some(Value::Array(_) | Value::Object(_)) => {
            let reason = format!(
                "[{}] unknown token [START_OBJECT] after [query]",
                parameters.query()
            );
            Err(parameters.of_last(DslError::parsing(reason)))
        }
        Some(scalar) => Ok(scalar.clone()),
    }
}

pub(super) fn matches(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("match", body)?;
    let mut parameters = Parameters::of_field("match", "query", value)?;
    let clause = clause(field, &mut parameters)?;
    parameters.finish()?;
    Ok(Query::Match(clause))
}

/// The share of all documents above which words are frequent, where nothing is said.
const CUTOFF: f32 = 0.01;

/// Words of which the rare ones decide what matches.
pub(super) fn common(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("common", body)?;
    let mut parameters = Parameters::of_field("common", "query", value)?;
    let mut clause = Match::new(field, "");
    clause.text = match parameters.take("query") {
        None | Some(Value::Null) => return Err(DslError::illegal("text cannot be null")),
        Some(text) => text.clone(),
    };
    clause.boost = parameters.boost()?;
    clause.analyzer = parameters.text("analyzer")?;
    clause.operator = parameters.operator("low_freq_operator")?;
    let mut frequent = FrequentWords {
        cutoff: parameters.float("cutoff_frequency")?.unwrap_or(CUTOFF),
        operator: parameters.operator("high_freq_operator")?,
        minimum_should_match: None,
    };
    match parameters.take("minimum_should_match") {
        Some(Value::Object(minima)) => {
            for (name, minimum) in minima {
                let minimum = plain(minimum).parse().map_err(DslError::illegal)?;
                match name.as_str() {
                    "low_freq" => clause.minimum_should_match = Some(minimum),
                    "high_freq" => frequent.minimum_should_match = Some(minimum),
                    _ => {
                        return Err(DslError::parsing(format!(
                            "[common] query does not support [{name}] for [minimum_should_match]"
                        )));
                    }
                }
            }
        }
        Some(minimum) => {
            let minimum = plain(minimum).parse().map_err(DslError::illegal)?;
            clause.minimum_should_match = Some(minimum);
        }
        None => {}
    }
    parameters.ignore(&["disable_coord"]);
    parameters.finish()?;
    clause.frequent = Some(frequent);
    Ok(Query::Match(clause))
}

/// Whether synonyms of several words are phrases.
pub(super) const SYNONYM_PHRASES: &str = "auto_generate_synonyms_phrase_query";

/// The parameters that all queries on words share; `finish` is the caller's.
pub(super) fn clause(field: &str, parameters: &mut Parameters<'_>) -> Result<Match, DslError> {
    let mut clause = Match {
        text: text(parameters)?,
        boost: parameters.boost()?,
        operator: parameters.operator("operator")?,
        minimum_should_match: parameters.minimum_should_match()?,
        fuzziness: fuzziness(parameters)?,
        analyzer: parameters.text("analyzer")?,
        ..Match::new(field, "")
    };
    // It knows none of the others.
    if parameters.query() == "match_bool_prefix" {
        return Ok(clause);
    }
    clause.lenient = parameters.flag("lenient")?.unwrap_or(false);
    clause.zero_terms_all = zero_terms_all(parameters)?;
    clause.synonym_phrases = parameters.flag(SYNONYM_PHRASES)?.unwrap_or(true);
    let cutoff = parameters.float("cutoff_frequency")?;
    // Words that may be written wrongly are not told apart.
    clause.frequent = cutoff
        .filter(|_| clause.fuzziness.is_none())
        .map(|cutoff| FrequentWords {
            cutoff,
            operator: clause.operator,
            minimum_should_match: None,
        });
    Ok(clause)
}

/// Whether a text of which the analyzer leaves nothing matches everything.
fn zero_terms_all(parameters: &mut Parameters<'_>) -> Result<bool, DslError> {
    match parameters.text("zero_terms_query")? {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("none") => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("all") => Ok(true),
        Some(other) => {
            let reason = format!("Unsupported zero_terms_query value [{other}]");
            Err(parameters.of_last(DslError::parsing(reason)))
        }
    }
}

pub(super) fn match_bool_prefix(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("match_bool_prefix", body)?;
    let mut parameters = Parameters::of_field("match_bool_prefix", "query", value)?;
    let clause = clause(field, &mut parameters)?;
    parameters.finish()?;
    Ok(Query::MatchBoolPrefix(clause))
}

pub(super) fn match_phrase(body: &Value, prefix: bool) -> Result<Query, DslError> {
    let name = if prefix {
        "match_phrase_prefix"
    } else {
        "match_phrase"
    };
    let (field, value) = one_field(name, body)?;
    let mut parameters = Parameters::of_field(name, "query", value)?;
    let mut phrase = MatchPhrase::new(field, "");
    phrase.text = text(&mut parameters)?;
    phrase.boost = parameters.boost()?;
    phrase.analyzer = parameters.text("analyzer")?;
    phrase.slop = slop(&mut parameters, "slop")?;
    let negative = || "No negative maxExpansions allowed.";
    if prefix && let Some(most) = parameters.at_least("max_expansions", 0, negative)? {
        phrase.max_expansions = most;
    }
    phrase.zero_terms_all = zero_terms_all(&mut parameters)?;
    parameters.finish()?;
    Ok(if prefix {
        Query::MatchPhrasePrefix(phrase)
    } else {
        Query::MatchPhrase(phrase)
    })
}

pub(super) fn slop(parameters: &mut Parameters<'_>, name: &str) -> Result<u32, DslError> {
    let slop = parameters.at_least(name, 0, || "No negative slop allowed.")?;
    let slop = slop.unwrap_or(0);
    u32::try_from(slop).map_err(|_| DslError::illegal(format!("slop [{slop}] is too large")))
}
