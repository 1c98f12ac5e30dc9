//! Scripts of queries and orders: `script_score`, `script`, and the k-NN plugin's own script. What is left of a script are
//! its tree and its parameters; a script over nothing but one vector becomes a search by that vector.

use clew_query::{
    Bool, BoostMode, FunctionKind, FunctionScore, Query, ScoreFormula, ScoreFunction, ScoreMode,
    Script, ScriptError, ScriptErrorKind, ScriptLanguage, ScriptPurpose, VectorMeasure,
    VectorScore,
};
use serde_json::Value;

use super::object::{Parameters, lacking, plain};
use super::{DslError, DslErrorKind, Found};
use crate::http::place::Spot;
use crate::state::stored_scripts;

pub(super) fn script_score(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("script_score", body)?.by_fields("script_score");
    let boost = parameters.boost()?;
    let min_score = parameters.float("min_score")?;
    let (query, script) = (parameters.take("query"), parameters.take("script"));
    parameters.finish()?;
    let (Some(query), Some(script)) = (query, script) else {
        return Err(lacking(&[("query", query), ("script", script)]));
    };
    let query = Box::new(super::query(query, depth + 1)?);
    let written = Written::of("script_score", script)?;
    let by_vector = |scored: Scored, query| {
        Query::VectorScore(Box::new(VectorScore {
            query,
            field: scored.field,
            vector: scored.vector,
            measure: scored.measure,
            formula: scored.formula,
            min_score,
            boost,
        }))
    };
    let script = match written.lang.as_deref() {
        Some("knn") => match bits_of_wholes(&written)? {
            Some(script) => script,
            None => return Ok(by_vector(plugin(&written.source, &written.params)?, query)),
        },
        _ => written.read(ScriptPurpose::Score)?,
    };
    if let Some((measure, formula)) = script.as_measure() {
        let scored = Scored {
            field: measure.field.clone(),
            vector: measure.vector.clone(),
            measure: measure.measure,
            formula,
        };
        return Ok(by_vector(scored, query));
    }
    let function = ScoreFunction {
        filter: None,
        weight: Some(boost),
        kind: FunctionKind::Script(Box::new(script)),
    };
    Ok(Query::FunctionScore(Box::new(FunctionScore {
        query,
        functions: vec![function],
        score_mode: ScoreMode::Multiply,
        boost_mode: BoostMode::Replace,
        max_boost: f32::MAX,
        min_score,
        boost: 1.0,
    })))
}

/// `script_score` among the functions of `function_score`.
pub(super) fn function(value: &Value) -> Result<FunctionKind, DslError> {
    let mut parameters = Parameters::new("script_score", value)?;
    let script = parameters
        .take("script")
        .ok_or_else(|| DslError::parsing("script_score requires 'script' field"))?;
    parameters.finish()?;
    let written = Written::of("script_score", script)?;
    let script = match written.lang.as_deref() {
        Some("knn") => plugin_script(&written)?,
        _ => written.read(ScriptPurpose::Score)?,
    };
    Ok(FunctionKind::Script(Box::new(script)))
}

/// `script`: the documents that a script holds of.
pub(super) fn script(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("script", body)?;
    let boost = parameters.boost()?;
    let script = parameters.take("script");
    if let Some(list @ Value::Array(_)) = script {
        let reason = "[script] query does not support an array of scripts. Use a bool query with a \
                      clause per script instead.";
        return Err(DslError::parsing(reason).at(Spot::start_of(list)));
    }
    parameters.finish()?;
    let script = script
        .ok_or_else(|| DslError::parsing("script must be provided with a [script] filter"))?;
    let script = Written::of("script", script)?.read(ScriptPurpose::Filter)?;
    let test = FunctionScore {
        query: Box::new(Query::match_all()),
        functions: vec![ScoreFunction {
            filter: None,
            weight: None,
            kind: FunctionKind::Test(Box::new(script)),
        }],
        score_mode: ScoreMode::Multiply,
        boost_mode: BoostMode::Replace,
        max_boost: f32::MAX,
        min_score: Some(1.0),
        boost: 1.0,
    };
    Ok(Query::ConstantScore {
        filter: Box::new(Query::FunctionScore(Box::new(test))),
        boost,
    })
}

/// So many scripts of a `bool` are helped by its other clauses, which each of them takes a copy of.
const TESTS_MAX: usize = 16;

/// Has the scripts of a `bool` look at those documents only that its other clauses let through: they may rely on what
/// those say, that a field has a value, say.
pub(super) fn behind_others(clauses: &mut Bool) {
    let all = clauses.must.iter().chain(&clauses.filter);
    let tests = all.chain(&clauses.must_not).filter(|query| is_test(query));
    if !(1..=TESTS_MAX).contains(&tests.count()) {
        return;
    }
    // Copies of copies would double with every level.
    let plain = |query: &&Query| !query.all().any(is_test);
    let required = clauses.must.iter().chain(&clauses.filter);
    let within = Bool {
        filter: required.filter(plain).cloned().collect(),
        must_not: clauses.must_not.iter().filter(plain).cloned().collect(),
        ..Bool::default()
    };
    if within.filter.is_empty() && within.must_not.is_empty() {
        return;
    }
    let within = Query::Bool(within);
    let required = clauses.must.iter_mut().chain(&mut clauses.filter);
    for test in required.chain(&mut clauses.must_not).filter_map(test_of) {
        *test.query = within.clone();
    }
}

/// Whether a query is a script and nothing else.
fn is_test(query: &Query) -> bool {
    match query {
        Query::Named { query, .. } | Query::ConstantScore { filter: query, .. } => is_test(query),
        Query::FunctionScore(function) => matches!(
            &function.functions[..],
            [ScoreFunction {
                kind: FunctionKind::Test(_),
                ..
            }]
        ),
        _ => false,
    }
}

/// The test of a query that is a script and nothing else.
fn test_of(query: &mut Query) -> Option<&mut FunctionScore> {
    if !is_test(query) {
        return None;
    }
    match query {
        Query::Named { query, .. } | Query::ConstantScore { filter: query, .. } => test_of(query),
        Query::FunctionScore(function) => Some(&mut **function),
        _ => None,
    }
}

/// A script as it was written.
pub(crate) struct Written {
    source: String,
    lang: Option<String>,
    params: Value,
}

impl Written {
    /// A text, or an object with one.
    pub(crate) fn of(query: &'static str, script: &Value) -> Result<Self, DslError> {
        if let Value::String(source) = script {
            return Ok(Written {
                source: source.clone(),
                lang: None,
                params: Value::Null,
            });
        }
        let mut script = Parameters::new(query, script)?.by_fields("script");
        script.ignore(&["options"]);
        let id = script.text("id")?;
        let inline = text_alone(&mut script, "inline")?;
        let source = text_alone(&mut script, "source")?.or(inline);
        let lang = script.text("lang")?;
        let params = match script.take("params") {
            None | Some(Value::Null) => Value::Null,
            Some(params @ Value::Object(_)) => params.clone(),
            Some(other) => return Err(script.other_sort("params", other)),
        };
        script.finish()?;
        let (source, lang) = match (id, source, lang) {
            (None, Some(source), lang) => (source, lang),
            (Some(id), None, None) => kept(&id)?,
            (Some(_), ..) => {
                return Err(DslError::illegal(
                    "illegally specified <lang> or <source> for a stored script",
                ));
            }
            (None, None, _) => {
                return Err(DslError::illegal(
                    "must specify either [source] for an inline script or [id] for a stored script",
                ));
            }
        };
        Ok(Written {
            source,
            lang,
            params,
        })
    }

    /// The script, understood, or what is wrong with it.
    pub(crate) fn understood(&self, purpose: ScriptPurpose) -> Result<Script, ScriptError> {
        let lang = self.lang.as_deref().unwrap_or("painless");
        let Some(language) = ScriptLanguage::named(lang) else {
            let reason = format!("script_lang not supported [{lang}]");
            return Err(ScriptError::new(ScriptErrorKind::Language, reason).of(&self.source));
        };
        if purpose == ScriptPurpose::Change && language != ScriptLanguage::Painless {
            let reason = format!("{lang}s do not know how to handle script context [update]");
            return Err(ScriptError::new(ScriptErrorKind::Language, reason).of(&self.source));
        }
        Script::read(&self.source, language, &self.params, purpose)
    }

    /// The same without parameters of these names, which stand for something else.
    #[must_use]
    pub(crate) fn without_params<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Self {
        if let Value::Object(params) = &mut self.params {
            for name in names {
                params.remove(name);
            }
        }
        self
    }

    /// Whether it has a parameter.
    pub(crate) fn has_param(&self, name: &str) -> bool {
        self.params.get(name).is_some()
    }

    /// The same with one more parameter.
    #[must_use]
    pub(crate) fn with_param(mut self, name: &str, value: Value) -> Self {
        match &mut self.params {
            Value::Object(params) => {
                params.insert(name.to_string(), value);
            }
            params => *params = serde_json::json!({ name: value }),
        }
        self
    }

    /// The script, understood.
    pub(crate) fn read(&self, purpose: ScriptPurpose) -> Result<Script, DslError> {
        let lang = self.lang.as_deref().unwrap_or("painless");
        let language = ScriptLanguage::named(lang)
            .ok_or_else(|| DslError::illegal(format!("script_lang not supported [{lang}]")))?;
        Script::read(&self.source, language, &self.params, purpose).map_err(compile_error)
    }

    /// The same of a script over what a search found: OpenSearch reads it when it puts that together.
    pub(crate) fn read_when_reducing(&self, purpose: ScriptPurpose) -> Result<Script, DslError> {
        self.read(purpose).map_err(|error| DslError {
            found: Found::Reducing,
            ..error
        })
    }
}

/// A text, and no scalar that could be read as one: a number is no script.
fn text_alone(script: &mut Parameters<'_>, name: &'static str) -> Result<Option<String>, DslError> {
    match script.take(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(script.other_sort(name, other)),
    }
}

/// The text and the language of a script that is kept.
fn kept(id: &str) -> Result<(String, Option<String>), DslError> {
    let kept = stored_scripts::named_in_body(id)
        .ok_or_else(|| DslError::illegal(format!("unable to find script [{id}]")))?;
    let text = |name: &str| kept.get(name).and_then(Value::as_str).map(String::from);
    Ok((text("source").unwrap_or_default(), text("lang")))
}

fn compile_error(error: ScriptError) -> DslError {
    DslError {
        kind: DslErrorKind::Script,
        reason: "compile error".to_string(),
        within: Some(Box::new(DslError::illegal(error.reason.clone()))),
        script: Some(Box::new(error)),
        spot: None,
        found: Found::Asked,
    }
}

/// A search by a vector that a script was understood as.
#[derive(Debug, PartialEq)]
struct Scored {
    field: String,
    vector: Vec<f32>,
    measure: VectorMeasure,
    formula: ScoreFormula,
}

/// `lang: knn`, `source: knn_score`.
fn plugin(source: &str, arguments: &Value) -> Result<Scored, DslError> {
    if source != "knn_score" {
        return Err(DslError::illegal(format!("Unknown script name {source}")));
    }
    let required = |name: &str| {
        arguments
            .get(name)
            .ok_or_else(|| DslError::illegal(format!("Missing parameter [{name}]")))
    };
    let field = plain(required("field")?);
    let vector = vector(required("query_value")?)?;
    let (measure, formula) = match plain(required("space_type")?).as_str() {
        "cosinesimil" => (VectorMeasure::Cosine, ScoreFormula::HalfOfOneMore),
        "l2" => (VectorMeasure::L2Squared, ScoreFormula::Inverse(1.0)),
        "innerproduct" => (VectorMeasure::InnerProduct, ScoreFormula::InnerProduct),
        "l1" => (VectorMeasure::L1, ScoreFormula::Inverse(1.0)),
        "linf" => (VectorMeasure::LInf, ScoreFormula::Inverse(1.0)),
        "hamming" | "hammingbit" => (VectorMeasure::Hamming, ScoreFormula::Inverse(1.0)),
        other => {
            return Err(DslError::illegal(format!(
                "Invalid space type. Please refer to the available space types: [{other}]"
            )));
        }
    };
    Ok(Scored {
        field,
        vector,
        measure,
        formula,
    })
}

/// The same among other functions: a script that measures one vector, and gives 0 where there is none.
fn plugin_script(written: &Written) -> Result<Script, DslError> {
    if let Some(script) = bits_of_wholes(written)? {
        return Ok(script);
    }
    let scored = plugin(&written.source, &written.params)?;
    let measure = match scored.measure {
        VectorMeasure::Cosine => "cosineSimilarity",
        VectorMeasure::L2Squared => "l2Squared",
        VectorMeasure::InnerProduct => "innerProduct",
        VectorMeasure::L1 => "l1Norm",
        VectorMeasure::LInf => "lInfNorm",
        VectorMeasure::Hamming => "hamming",
    };
    let score = match scored.formula {
        ScoreFormula::HalfOfOneMore => "(1.0 + near) / 2",
        ScoreFormula::InnerProduct => "near >= 0 ? near + 1 : 1 / (1 - near)",
        ScoreFormula::Inverse(_) => "1 / (1.0 + near)",
        ScoreFormula::Plus(_) => "near",
    };
    let source = format!(
        "if (doc[params.field].size() == 0) {{ return 0; }} \
         double near = {measure}(params.query_value, doc[params.field]); return {score};"
    );
    let language = ScriptLanguage::Painless;
    Script::read(&source, language, &written.params, ScriptPurpose::Score).map_err(compile_error)
}

/// The same over the bits of whole numbers, where what is asked for is one.
fn bits_of_wholes(written: &Written) -> Result<Option<Script>, DslError> {
    let text = |name: &str| written.params.get(name).and_then(Value::as_str);
    let is_of_bits = matches!(text("space_type"), Some("hamming" | "hammingbit"));
    let value = written.params.get("query_value");
    if written.source != "knn_score" || !is_of_bits || !value.is_some_and(Value::is_i64) {
        return Ok(None);
    }
    let source = "doc[params.field].size() == 0 ? 0 : \
                  1.0 / (1 + Long.bitCount(doc[params.field].value ^ params.query_value))";
    let language = ScriptLanguage::Painless;
    Script::read(source, language, &written.params, ScriptPurpose::Score)
        .map(Some)
        .map_err(compile_error)
}

fn vector(value: &Value) -> Result<Vec<f32>, DslError> {
    let wrong = || DslError::illegal("query_value must be an array of numbers");
    let Value::Array(values) = value else {
        return Err(wrong());
    };
    values
        .iter()
        .map(|value| {
            let number = value.as_f64().ok_or_else(wrong)?;
            #[allow(clippy::cast_possible_truncation, reason = "vectors are 32 bits wide")]
            Ok(number as f32)
        })
        .collect()
}

#[cfg(test)]
mod tests;
