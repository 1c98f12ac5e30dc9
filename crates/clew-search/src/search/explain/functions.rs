//! Scores that functions changed: what each function gave, and how that was joined with what the query gave.

use clew_query::{
    BoostMode, Boosting, FieldModifier, FunctionKind, FunctionScore, Query, QueryError,
    ScoreFunction, ScoreMode, Script, ScriptLanguage, seed_of,
};
use serde_json::Value;

use super::{Explained, Explainer};
use crate::query::describe;

impl Explainer<'_> {
    /// The score of a query with functions; that it matches is known.
    pub(super) fn functions(
        &self,
        score: f32,
        query: &FunctionScore,
    ) -> Result<Explained, QueryError> {
        let Some(inner) = self.boosted(query.boost).node(&query.query)? else {
            return Ok(Explained::new(score, describe(&query.query), Vec::new()));
        };
        if let Some((script, boost)) = script_of(query) {
            if (boost - 1.0).abs() <= f32::EPSILON {
                return Ok(of_script(score, script, inner));
            }
            let made = of_script(score / boost, script, inner);
            let boost = Explained::new(boost, "boost", Vec::new());
            let details = vec![boost, made];
            return Ok(Explained::new(score, "Boosted score, product of:", details));
        }
        if query.functions.is_empty() {
            return Ok(inner);
        }
        let mut parts = Vec::new();
        for function in &query.functions {
            parts.extend(self.function(query, function, &inner)?);
        }
        let is_alone = query.functions.len() == 1
            && query
                .functions
                .iter()
                .all(|function| function.filter.is_none());
        let factor = match (parts.len(), is_alone) {
            (0, _) => Explained::new(1.0, "No function matched", Vec::new()),
            (1, true) => parts.remove(0),
            _ => {
                let mode = mode_name(query.score_mode);
                let value = self.factor(query, query.functions.clone())?;
                let description = format!("function score, score mode [{mode}]");
                Explained::new(value, description, parts)
            }
        };
        Ok(joined(score, query, inner, factor))
    }

    /// What one of the functions gave; `None` where it is for other documents.
    fn function(
        &self,
        query: &FunctionScore,
        function: &ScoreFunction,
        inner: &Explained,
    ) -> Result<Option<Explained>, QueryError> {
        if let Some(filter) = &function.filter
            && self.node(filter)?.is_none()
        {
            return Ok(None);
        }
        let alone = ScoreFunction {
            filter: None,
            weight: None,
            kind: function.kind.clone(),
        };
        let value = self.factor(query, vec![alone])?;
        let mut told = match &function.kind {
            FunctionKind::Script(script) | FunctionKind::Test(script) => {
                of_script(value, script, inner.clone())
            }
            FunctionKind::Decay(decay) => self.decay(value, decay)?,
            kind => Explained::new(value, self.words_of(kind), Vec::new()),
        };
        if let Some(weight) = function.weight {
            let by = Explained::new(weight, "weight", Vec::new());
            told = Explained::new(told.value * weight, "product of:", vec![told, by]);
        }
        if let Some(filter) = &function.filter {
            let matched = format!("match filter: {}", describe(filter));
            let matched = Explained::new(1.0, matched, Vec::new());
            let value = told.value;
            told = Explained::new(value, "function score, product of:", vec![matched, told]);
        }
        Ok(Some(told))
    }

    /// What functions give together for the document, before that is joined with the query's score.
    fn factor(
        &self,
        query: &FunctionScore,
        functions: Vec<ScoreFunction>,
    ) -> Result<f32, QueryError> {
        let alone = FunctionScore {
            functions,
            boost_mode: BoostMode::Replace,
            max_boost: f32::MAX,
            min_score: None,
            ..query.clone()
        };
        let value = self.score(&Query::FunctionScore(Box::new(alone)))?;
        Ok(value.unwrap_or(1.0))
    }

    /// The score of a query that another one lowers where it matches too.
    pub(super) fn lowered(
        &self,
        score: f32,
        query: &Query,
        boosting: &Boosting,
    ) -> Result<Explained, QueryError> {
        let description = format!("weight({}), result of:", describe(query));
        let Some(mut inner) = self.boosted(boosting.boost).node(&boosting.positive)? else {
            return Ok(Explained::new(score, description, Vec::new()));
        };
        if self.node(&boosting.negative)?.is_some() {
            let negative = describe(&boosting.negative);
            let factor = Explained::new(
                boosting.negative_boost,
                format!("Matched boosting query {negative}"),
                Vec::new(),
            );
            inner = Explained::new(score, "product of:", vec![inner, factor]);
        }
        Ok(Explained::new(score, description, vec![inner]))
    }

    fn words_of(&self, kind: &FunctionKind) -> String {
        match kind {
            FunctionKind::FieldValue {
                field,
                factor,
                modifier,
                missing,
            } => {
                let missing = missing.map_or_else(String::new, |missing| format!("?:{missing:?}"));
                let modifier = modifier_name(*modifier);
                format!(
                    "field value function: {modifier}(doc['{field}'].value{missing} * factor={factor:?})"
                )
            }
            FunctionKind::Random { seed, field } => {
                let seed = seed_of(seed.unwrap_or(self.context.now_ms));
                let field = field.as_deref().unwrap_or("null");
                format!("random score function (seed: {seed}, field: {field})")
            }
            FunctionKind::Constant
            | FunctionKind::Decay(_)
            | FunctionKind::Script(_)
            | FunctionKind::Test(_) => "constant score 1.0 - no function provided".to_string(),
        }
    }
}

/// The script of a query whose score is what a script makes of it, as `script_score` has it, and its boost.
fn script_of(query: &FunctionScore) -> Option<(&Script, f32)> {
    match query.functions.as_slice() {
        [
            ScoreFunction {
                filter: None,
                weight: Some(boost),
                kind: FunctionKind::Script(script),
            },
        ] if query.boost_mode == BoostMode::Replace => Some((script, *boost)),
        _ => None,
    }
}

fn of_script(value: f32, script: &Script, inner: Explained) -> Explained {
    let language = match script.language() {
        ScriptLanguage::Painless => "painless",
        ScriptLanguage::Expression => "expression",
    };
    let description = format!(
        "script score function, computed with script:\"Script{{type=inline, lang='{language}', \
         idOrCode='{}', options={{}}, params={}}}\"",
        script.source(),
        in_java(script.params())
    );
    let score = Explained::new(inner.value, "_score: ", vec![inner]);
    Explained::new(value, description, vec![score])
}

/// A value as Java writes maps and lists.
fn in_java(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name}={}", in_java(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_java).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The query's score and the functions' as they were joined.
fn joined(score: f32, query: &FunctionScore, inner: Explained, factor: Explained) -> Explained {
    let most = Explained::new(query.max_boost, "maxBoost", Vec::new());
    let least = factor.value.min(query.max_boost);
    let factor = Explained::new(least, "min of:", vec![factor, most]);
    let description = match query.boost_mode {
        BoostMode::Replace => return factor,
        BoostMode::Multiply => "function score, product of:",
        BoostMode::Sum => "sum of",
        BoostMode::Avg => "avg of",
        BoostMode::Max => "max of",
        BoostMode::Min => "min of",
    };
    Explained::new(score, description, vec![inner, factor])
}

fn mode_name(mode: ScoreMode) -> &'static str {
    match mode {
        ScoreMode::Multiply => "multiply",
        ScoreMode::Sum => "sum",
        ScoreMode::Avg => "avg",
        ScoreMode::First => "first",
        ScoreMode::Max => "max",
        ScoreMode::Min => "min",
    }
}

fn modifier_name(modifier: FieldModifier) -> &'static str {
    match modifier {
        FieldModifier::None => "none",
        FieldModifier::Log => "log",
        FieldModifier::Log1p => "log1p",
        FieldModifier::Log2p => "log2p",
        FieldModifier::Ln => "ln",
        FieldModifier::Ln1p => "ln1p",
        FieldModifier::Ln2p => "ln2p",
        FieldModifier::Square => "square",
        FieldModifier::Sqrt => "sqrt",
        FieldModifier::Reciprocal => "reciprocal",
    }
}
