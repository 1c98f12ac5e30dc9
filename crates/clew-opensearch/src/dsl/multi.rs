//! Queries over several fields.

use clew_query::{
    FieldBoost, Fuzziness, Match, MultiMatch, MultiMatchKind, Query, QueryString, SimpleFeatures,
};
use serde_json::Value;

use super::fields::{SYNONYM_PHRASES, clause, slop};
use super::leaf::{check_zone, rewrite};
use super::object::{Parameters, check_boost, plain};
use super::{DslError, DslErrorKind, integer_in};

fn field_list(parameters: &mut Parameters<'_>) -> Result<Vec<FieldBoost>, DslError> {
    let query = parameters.query();
    let boosted = |text: &str| {
        if let Some((_, boost)) = text.rsplit_once('^')
            && boost.parse::<f32>().is_err()
        {
            return Err(DslError::no_number(boost));
        }
        let field = FieldBoost::parse(text);
        check_boost(field.boost, query).map(|()| field)
    };
    match parameters.take("fields") {
        None => Ok(Vec::new()),
        Some(Value::Array(fields)) => fields.iter().map(|field| boosted(&plain(field))).collect(),
        Some(Value::String(field)) if query == "multi_match" => Ok(vec![boosted(field)?]),
        Some(_) => {
            let reason = format!("[{query}] query does not support [fields]");
            Err(parameters.of_last(DslError::parsing(reason)))
        }
    }
}

pub(super) fn multi_match(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("multi_match", body)?;
    let fields = field_list(&mut parameters)?;
    let kind = kind(&mut parameters)?;
    if kind == MultiMatchKind::BoolPrefix {
        for name in ["slop", "cutoff_frequency"] {
            if parameters.take(name).is_some() {
                return Err(DslError::parsing(format!(
                    "[{name}] not allowed for type [bool_prefix]"
                )));
            }
        }
    }
    if parameters.has("fuzziness")
        && let Some(name) = without_fuzziness(kind)
    {
        return Err(DslError::parsing(format!(
            "Fuzziness not allowed for type [{name}]"
        )));
    }
    let lenient = parameters.flag("lenient")?;
    let multi = MultiMatch {
        kind,
        slop: slop(&mut parameters, "slop")?,
        tie_breaker: parameters.float("tie_breaker")?,
        clause: Match {
            lenient: lenient.unwrap_or_else(|| are_all(&fields)),
            ..clause("", &mut parameters)?
        },
        fields,
    };
    parameters.finish()?;
    Ok(Query::MultiMatch(multi))
}

/// The name of a kind whose words are not looked for with mistakes; `None` of others.
fn without_fuzziness(kind: MultiMatchKind) -> Option<&'static str> {
    match kind {
        MultiMatchKind::CrossFields => Some("cross_fields"),
        MultiMatchKind::Phrase => Some("phrase"),
        MultiMatchKind::PhrasePrefix => Some("phrase_prefix"),
        MultiMatchKind::BestFields | MultiMatchKind::MostFields | MultiMatchKind::BoolPrefix => {
            None
        }
    }
}

/// How fields are joined.
fn kind(parameters: &mut Parameters<'_>) -> Result<MultiMatchKind, DslError> {
    Ok(match parameters.text("type")?.as_deref() {
        // The second is what old clients call it.
        None | Some("best_fields" | "boolean") => MultiMatchKind::BestFields,
        Some("most_fields") => MultiMatchKind::MostFields,
        Some("cross_fields") => MultiMatchKind::CrossFields,
        Some("phrase") => MultiMatchKind::Phrase,
        Some("phrase_prefix") => MultiMatchKind::PhrasePrefix,
        Some("bool_prefix") => MultiMatchKind::BoolPrefix,
        Some(other) => {
            let reason =
                format!("failed to parse [multi_match] query type [{other}]. unknown type.");
            return Err(DslError::of(DslErrorKind::Malformed, reason));
        }
    })
}

pub(super) fn query_string(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("query_string", body)?;
    let mut query = text(&mut parameters)?;
    query.fields = field_list(&mut parameters)?;
    if let Some(field) = parameters.text("default_field")? {
        if !query.fields.is_empty() {
            return Err(DslError::parsing(
                "cannot use [fields] parameter in conjunction with [default_field]",
            ));
        }
        query.fields = vec![FieldBoost::parse(&field)];
    }
    shared(&mut parameters, &mut query)?;
    query.phrase_slop = slop(&mut parameters, "phrase_slop")?;
    if let Some(allowed) = parameters.flag("allow_leading_wildcard")? {
        query.allow_leading_wildcard = allowed;
    }
    query.quote_analyzer = parameters.text("quote_analyzer")?;
    query.kind = kind(&mut parameters)?;
    let are_added = matches!(
        query.kind,
        MultiMatchKind::MostFields | MultiMatchKind::BoolPrefix
    );
    let usual = if are_added { 1.0 } else { 0.0 };
    query.tie_breaker = parameters.float("tie_breaker")?.unwrap_or(usual);
    query.time_zone = parameters.text("time_zone")?;
    check_zone(query.time_zone.as_deref()).map_err(|error| parameters.of_last(error))?;
    if let Some(states_max) = parameters.whole("max_determinized_states")? {
        query.regexp_states_max = states_max;
    }
    if let Some(text) = parameters.text("fuzziness")? {
        query.fuzziness.distance = Fuzziness::parse(&text).map_err(DslError::illegal)?.distance;
    }
    if parameters.flag("escape")? == Some(true) {
        query.query = escaped(&query.query);
    }
    query.rewrite = rewrite("rewrite", &mut parameters)?;
    // Words with mistakes score as usual here, whatever is said.
    rewrite("fuzzy_rewrite", &mut parameters)?;
    parameters.ignore(&["enable_position_increments"]);
    parameters.finish()?;
    Ok(Query::QueryString(query))
}

/// A query string whose signs are letters like any others.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\+-!():^[]\"{}~*?|&/".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

pub(super) fn simple_query_string(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("simple_query_string", body)?;
    let mut query = text(&mut parameters)?;
    query.simple = true;
    query.fields = field_list(&mut parameters)?;
    shared(&mut parameters, &mut query)?;
    query.features = features(&mut parameters)?;
    // Those of old clients, which say nothing any more.
    parameters.ignore(&["locale", "lowercase_expanded_terms"]);
    parameters.finish()?;
    Ok(Query::QueryString(query))
}

/// `flags`: the names of signs that mean something, or the number that their bits make.
fn features(parameters: &mut Parameters<'_>) -> Result<SimpleFeatures, DslError> {
    match parameters.take("flags") {
        None | Some(Value::Null) => Ok(SimpleFeatures::default()),
        Some(bits @ Value::Number(_)) => {
            let bits = integer_in(bits)?.unwrap_or(-1);
            Ok(SimpleFeatures::of_bits(bits))
        }
        Some(value @ (Value::Object(_) | Value::Array(_))) => {
            Err(parameters.unknown_token("flags", value))
        }
        Some(names) => SimpleFeatures::parse(&plain(names)).map_err(DslError::illegal),
    }
}

fn text(parameters: &mut Parameters<'_>) -> Result<QueryString, DslError> {
    let text = parameters.text("query")?.ok_or_else(|| {
        DslError::parsing(match parameters.query() {
            "simple_query_string" => "[simple_query_string] query text missing".to_string(),
            query => format!("[{query}] must be provided with a [query]"),
        })
    })?;
    Ok(QueryString::new(text))
}

/// Whether every field is meant, of which some never fit: a word is no number.
fn are_all(fields: &[FieldBoost]) -> bool {
    fields.iter().any(|field| field.field == "*")
}

/// What both query languages understand.
fn shared(parameters: &mut Parameters<'_>, query: &mut QueryString) -> Result<(), DslError> {
    query.default_operator = parameters.operator("default_operator")?;
    query.minimum_should_match = parameters.minimum_should_match()?;
    query.boost = parameters.boost()?;
    query.lenient = parameters
        .flag("lenient")?
        .unwrap_or_else(|| are_all(&query.fields));
    query.analyzer = parameters.text("analyzer")?;
    query.quote_suffix = parameters.text("quote_field_suffix")?;
    if let Some(most) = parameters.whole("fuzzy_max_expansions")? {
        query.fuzziness.max_expansions = most;
    }
    if let Some(length) = parameters.whole("fuzzy_prefix_length")? {
        query.fuzziness.prefix_length = length;
    }
    if let Some(swaps) = parameters.flag("fuzzy_transpositions")? {
        query.fuzziness.transpositions = swaps;
    }
    if let Some(phrases) = parameters.flag(SYNONYM_PHRASES)? {
        query.synonym_phrases = phrases;
    }
    parameters.ignore(&["analyze_wildcard"]);
    Ok(())
}
