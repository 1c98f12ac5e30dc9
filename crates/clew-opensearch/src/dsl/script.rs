//! `script_score`: the k-NN plugin's own script, and the one-liners of Painless over vectors that
//! its users write. Nothing is executed: a script is recognised or refused.

use clew_query::{Query, ScoreFormula, VectorMeasure, VectorScore};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, plain};

pub(super) fn script_score(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("script_score", body)?;
    let boost = parameters.boost()?;
    let min_score = parameters.float("min_score")?;
    let query = parameters
        .take("query")
        .ok_or_else(|| DslError::illegal("Required [query]"))?;
    let query = super::query(query, depth + 1)?;
    let script = parameters
        .take("script")
        .ok_or_else(|| DslError::illegal("Required [script]"))?;
    parameters.finish()?;
    let mut script = Parameters::new("script_score", script)?;
    let Some(source) = script.text("source")? else {
        return Err(refused("stored scripts"));
    };
    let arguments = script.take("params").cloned().unwrap_or(Value::Null);
    let scored = match script.text("lang")?.as_deref() {
        Some("knn") => plugin(&source, &arguments)?,
        None | Some("painless") => painless(&source, &arguments)?,
        Some(other) => {
            return Err(DslError::illegal(format!(
                "script_lang not supported [{other}]"
            )));
        }
    };
    script.finish()?;
    Ok(Query::VectorScore(Box::new(VectorScore {
        query: Box::new(query),
        field: scored.field,
        vector: scored.vector,
        measure: scored.measure,
        formula: scored.formula,
        min_score,
        boost,
    })))
}

/// A script that was understood.
#[derive(Debug, PartialEq)]
struct Scored {
    field: String,
    vector: Vec<f32>,
    measure: VectorMeasure,
    formula: ScoreFormula,
}

fn refused(what: &str) -> DslError {
    DslError::illegal(format!("cannot execute {what} in [script_score]"))
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

/// `f(params.v, doc['field'])`, with a number added, or one divided by that, or half of it; brackets may stand around each.
fn painless(source: &str, arguments: &Value) -> Result<Scored, DslError> {
    let unknown = || refused(&format!("the script [{source}]"));
    let text: String = source
        .trim()
        .trim_start_matches("return ")
        .trim_end_matches(';')
        .chars()
        .filter(|character| !character.is_whitespace())
        .collect();
    let text = without_brackets(&text);
    let inverse = ["1.0/(", "1/("]
        .iter()
        .find_map(|start| text.strip_prefix(start)?.strip_suffix(')'));
    let half = ["/2.0", "/2"]
        .iter()
        .find_map(|end| text.strip_suffix(*end));
    let half = half.filter(|sum| without_brackets(sum) != *sum);
    let sum = without_brackets(inverse.or(half).unwrap_or(text));
    let (call, number) = summands(sum).ok_or_else(unknown)?;
    let (name, inside) = call
        .strip_suffix(')')
        .and_then(|call| call.split_once('('))
        .ok_or_else(unknown)?;
    let (first, second) = inside.split_once(',').ok_or_else(unknown)?;
    let measure = match name {
        "cosineSimilarity" => VectorMeasure::Cosine,
        "innerProduct" => VectorMeasure::InnerProduct,
        "l2Squared" => VectorMeasure::L2Squared,
        "l1Norm" => VectorMeasure::L1,
        "lInfNorm" => VectorMeasure::LInf,
        "hamming" => VectorMeasure::Hamming,
        _ => return Err(unknown()),
    };
    let argument = |text: &str| {
        let name = text.strip_prefix("params.")?;
        arguments.get(name)
    };
    let vector = vector(argument(first).ok_or_else(unknown)?)?;
    let inner = second
        .strip_prefix("doc[")
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(second);
    let field = match argument(inner) {
        Some(name) => plain(name),
        None => quoted(inner).ok_or_else(unknown)?.to_string(),
    };
    let formula = match (inverse, half) {
        (Some(_), _) => ScoreFormula::Inverse(number),
        (None, None) => ScoreFormula::Plus(number),
        (None, Some(_))
            if measure == VectorMeasure::Cosine && (number - 1.0).abs() < f32::EPSILON =>
        {
            ScoreFormula::HalfOfOneMore
        }
        (None, Some(_)) => return Err(unknown()),
    };
    Ok(Scored {
        field,
        vector,
        measure,
        formula,
    })
}

/// More brackets around each other have no use, and each costs a look at what is inside.
const BRACKETS_MAX: usize = 4;

/// What stands inside brackets that enclose all of a text.
fn without_brackets(text: &str) -> &str {
    let mut text = text;
    for _ in 0..BRACKETS_MAX {
        let inside = text.strip_prefix('(');
        let Some(inside) = inside.and_then(|rest| rest.strip_suffix(')')) else {
            break;
        };
        let mut depth = 0_i64;
        let closes_early = inside.chars().any(|character| {
            depth += match character {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth < 0
        });
        if closes_early {
            break;
        }
        text = inside;
    }
    text
}

/// A call and the number that stands before or behind it.
fn summands(text: &str) -> Option<(&str, f32)> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        let (number, call) = text.split_once('+')?;
        return Some((call, number.parse().ok()?));
    }
    match text.rsplit_once(")+") {
        Some((call, number)) => {
            let call = text.get(..=call.len())?;
            Some((call, number.parse().ok()?))
        }
        None => Some((text, 0.0)),
    }
}

fn quoted(text: &str) -> Option<&str> {
    ['\'', '"']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_usual_one_liners_are_understood() {
        let arguments = json!({ "v": [1.0, 2.0], "field": "f" });
        let cases = [
            (
                "cosineSimilarity(params.v, doc['f']) + 1.0",
                VectorMeasure::Cosine,
                ScoreFormula::Plus(1.0),
            ),
            (
                "1.0 + cosineSimilarity(params.v, doc[\"f\"])",
                VectorMeasure::Cosine,
                ScoreFormula::Plus(1.0),
            ),
            (
                "1 / (1 + l2Squared(params.v, doc[params.field]))",
                VectorMeasure::L2Squared,
                ScoreFormula::Inverse(1.0),
            ),
            (
                "(1.0 + cosineSimilarity(params.v, doc['f']))",
                VectorMeasure::Cosine,
                ScoreFormula::Plus(1.0),
            ),
            (
                "(cosineSimilarity(params.v, doc['f']) + 1.0) / 2",
                VectorMeasure::Cosine,
                ScoreFormula::HalfOfOneMore,
            ),
            (
                "(1.0 / (1.0 + l1Norm(params.v, doc['f'])))",
                VectorMeasure::L1,
                ScoreFormula::Inverse(1.0),
            ),
            (
                "return innerProduct(params.v, 'f');",
                VectorMeasure::InnerProduct,
                ScoreFormula::Plus(0.0),
            ),
        ];
        for (source, measure, formula) in cases {
            let wanted = Scored {
                field: "f".to_string(),
                vector: vec![1.0, 2.0],
                measure,
                formula,
            };
            assert_eq!(painless(source, &arguments), Ok(wanted), "{source}");
        }
    }

    #[test]
    fn other_scripts_are_refused() {
        let arguments = json!({ "v": [1.0] });
        for source in [
            "doc['x'].value * 2",
            "cosineSimilarity(params.w, doc['f'])",
            "cosineSimilarity(params.v, f)",
            "1 / (l2Squared(params.v, doc['f'])",
            "(innerProduct(params.v, doc['f']) + 1.0) / 2",
            "cosineSimilarity(params.v, doc['f']) + 1.0 / 2",
            "(1.0) + (cosineSimilarity(params.v, doc['f'])",
            "",
        ] {
            assert!(painless(source, &arguments).is_err(), "{source}");
        }
    }
}
