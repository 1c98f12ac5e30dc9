//! Features that documents are ranked by: names with positive weights. A weight is kept in sixteen
//! bits, as the place of its name's term: the exponent and the first eight bits of the mantissa of
//! its 32-bit float, which order as the weights do.

use serde_json::Value;
use tantivy::tokenizer::{PreTokenizedString, Token};

use super::convert::{Misfit, Scalar, check_term, misfit};
use crate::plain::json_token;

/// Bits of a 32-bit float that are not kept.
const LOST_BITS: u32 = 15;

/// The number that stands for a weight.
#[inline]
pub fn feature_code(weight: f32) -> u32 {
    weight.to_bits() >> LOST_BITS
}

/// The weight that a number stands for.
#[inline]
pub fn feature_weight(code: u32) -> f32 {
    f32::from_bits(code << LOST_BITS)
}

/// What is kept of a feature's value; where more of it is worse, one divided by it.
pub(super) fn kept(
    value: f32,
    inverse: bool,
    (feature, field): (&str, &str),
) -> Result<f32, Misfit> {
    let weight = if inverse { 1.0 / value } else { value };
    let place = format!("for feature {feature} on field {field}");
    if !weight.is_finite() {
        return misfit(format!(
            "featureValue must be finite, got: {weight:?} {place}"
        ));
    }
    if weight < f32::MIN_POSITIVE {
        return misfit(format!(
            "featureValue must be a positive normal float, got: {weight:?} {place} which is less \
             than the minimum positive normal float: 1.17549435E-38"
        ));
    }
    Ok(feature_weight(feature_code(weight)))
}

/// What a single value is told where an object of features should be.
pub(super) fn not_an_object(scalar: &Scalar<'_>) -> String {
    let token = match scalar {
        Scalar::Text(_) => "VALUE_STRING",
        Scalar::Number(_) => "VALUE_NUMBER",
        Scalar::Bool(_) => "VALUE_BOOLEAN",
    };
    format!("[rank_features] fields must be json objects, expected a START_OBJECT but got: {token}")
}

/// The features of an object, each a term where its weight says.
pub(super) fn read(
    path: &str,
    inverse: bool,
    object: &Value,
) -> Result<PreTokenizedString, Misfit> {
    let mut tokens = Vec::new();
    for (feature, value) in object.as_object().into_iter().flatten() {
        let number = match value {
            Value::Null => continue,
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            return misfit(format!(
                "[rank_features] fields take hashes that map a feature to a strictly positive \
                 float, but got unexpected token {}",
                json_token(value)
            ));
        };
        check_term(feature)?;
        #[allow(clippy::cast_possible_truncation, reason = "weights have 32 bits")]
        let weight = kept(number as f32, inverse, (feature, path))?;
        tokens.push(Token {
            offset_from: 0,
            offset_to: 0,
            position: feature_code(weight) as usize,
            text: feature.clone(),
            position_length: 1,
        });
    }
    Ok(PreTokenizedString {
        text: String::new(),
        tokens,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn weights_keep_their_order_and_three_digits() {
        let mut last = 0;
        for weight in [1e-30_f32, 0.01, 0.5, 0.504, 1.0, 1.7, 2.0, 300.0, 1e30] {
            let code = feature_code(weight);
            assert!(code > last, "{weight}");
            last = code;
            assert!(
                (feature_weight(code) / weight - 1.0).abs() < 0.004,
                "{weight}"
            );
        }
    }

    #[test]
    fn objects_become_terms_at_places() {
        let read = |inverse, object: &Value| read("f", inverse, object);
        let tokens = read(false, &json!({"a": 2.0, "b": null, "c": "0.5"}))
            .unwrap()
            .tokens;
        let found: Vec<(&str, f32)> = tokens
            .iter()
            .map(|token| {
                (
                    token.text.as_str(),
                    feature_weight(u32::try_from(token.position).unwrap()),
                )
            })
            .collect();
        assert_eq!(found, [("a", 2.0), ("c", 0.5)]);
        let tokens = read(true, &json!({"a": 4.0})).unwrap().tokens;
        assert_eq!(tokens[0].position, feature_code(0.25) as usize);
        for wrong in [
            json!({"a": 0.0}),
            json!({"a": -1}),
            json!({"a": [1]}),
            json!({"a": 1e39}),
        ] {
            assert!(
                matches!(read(false, &wrong), Err(Misfit::Value(_))),
                "{wrong}"
            );
        }
    }
}
