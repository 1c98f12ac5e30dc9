//! The names of types in a mapping, and what a type cannot do without.

use clew_schema::{
    DATE_FORMAT_DEFAULT, DOC_COUNT, FieldKind, FloatKind, IntegerKind, KeywordStyle, MappingError,
    RangeKind, TextStyle, UnreadableKind, VectorMapping,
};
use clew_vector::{ColumnOptions, Space};
use serde_json::{Map, Value};

use crate::completion::read_completion;
use crate::parameter_values::{boolean, no_number, show};

/// The parameter that says how many neighbours are looked at together.
pub(crate) const SIZE_PARAMETER: &str = "max_shingle_size";
const SIZE_DEFAULT: u8 = 3;

/// The kind that a type's name stands for, with the parameters that are part of it.
#[allow(
    clippy::too_many_lines,
    reason = "a table: each name has one arm, and two of a name would be seen"
)]
pub(crate) fn kind_of(
    name: &str,
    type_name: &str,
    parameters: &Map<String, Value>,
) -> Result<FieldKind, MappingError> {
    let format = || DATE_FORMAT_DEFAULT.to_string();
    let range = |kind| FieldKind::Range {
        kind,
        format: format(),
    };
    Ok(match type_name {
        "text" => FieldKind::text("standard"),
        "search_as_you_type" => FieldKind::Text {
            analyzer: "standard".to_string(),
            style: TextStyle::AsYouType {
                neighbours: SIZE_DEFAULT,
            },
        },
        "match_only_text" => FieldKind::Text {
            analyzer: "standard".to_string(),
            style: TextStyle::MatchOnly,
        },
        "keyword" => FieldKind::keyword(None),
        "wildcard" => FieldKind::Keyword {
            ignore_above: None,
            style: KeywordStyle::Wildcard,
        },
        "join" => FieldKind::Keyword {
            ignore_above: None,
            style: KeywordStyle::Join,
        },
        "constant_keyword" => FieldKind::Constant {
            value: parameters
                .get("value")
                .filter(|value| !value.is_null())
                .map(show),
        },
        "long" => FieldKind::Integer(IntegerKind::Long),
        "integer" => FieldKind::Integer(IntegerKind::Integer),
        "short" => FieldKind::Integer(IntegerKind::Short),
        "byte" => FieldKind::Integer(IntegerKind::Byte),
        // Documents make it; `read_field` refuses it to everybody else.
        DOC_COUNT => FieldKind::Integer(IntegerKind::DocumentCount),
        "token_count" => FieldKind::Integer(IntegerKind::TokenCount),
        "murmur3" => FieldKind::Integer(IntegerKind::Murmur3),
        "unsigned_long" => FieldKind::Unsigned,
        "double" => FieldKind::Float(FloatKind::Double),
        "float" => FieldKind::Float(FloatKind::Float),
        "half_float" => FieldKind::Float(FloatKind::Half),
        "scaled_float" => FieldKind::Float(FloatKind::Scaled {
            factor: scaling_factor(parameters)?,
        }),
        "rank_feature" => FieldKind::Float(FloatKind::RankFeature),
        "rank_features" => FieldKind::RankFeatures,
        "boolean" => FieldKind::Boolean,
        "date" => FieldKind::Date { format: format() },
        "date_nanos" => FieldKind::DateNanos { format: format() },
        "ip" => FieldKind::Ip,
        "geo_point" => FieldKind::GeoPoint,
        "geo_shape" => FieldKind::GeoShape,
        "completion" => FieldKind::Completion(Box::new(read_completion(parameters)?)),
        "flat_object" | "flattened" => FieldKind::Flat,
        "percolator" => FieldKind::Percolator,
        "binary" => FieldKind::Binary {
            doc_values: match parameters.get("doc_values") {
                Some(value) => boolean(value)?,
                None => false,
            },
        },
        "integer_range" => range(RangeKind::Integer),
        "long_range" => range(RangeKind::Long),
        "float_range" => range(RangeKind::Float),
        "double_range" => range(RangeKind::Double),
        "date_range" => range(RangeKind::Date),
        "ip_range" => range(RangeKind::Ip),
        "knn_vector" => FieldKind::Vector(VectorMapping::new(ColumnOptions::new(0, Space::L2))),
        "sparse_vector" => FieldKind::SparseVector,
        other => {
            return Err(no_handler(name, other));
        }
    })
}

/// Whether a mapping may say of a field that it has this type.
pub fn is_type(name: &str) -> bool {
    // These are no kinds of their own, or none without parameters.
    matches!(name, "object" | "nested" | "alias" | "scaled_float")
        || kind_of("", name, &Map::new()).is_ok()
}

pub(crate) fn no_handler(name: &str, type_name: &str) -> MappingError {
    MappingError::unreadable(format!(
        "No handler for type [{type_name}] declared on field [{name}]"
    ))
}

fn scaling_factor(parameters: &Map<String, Value>) -> Result<f64, MappingError> {
    let Some(value) = parameters.get("scaling_factor") else {
        let reason = "Field [scaling_factor] is required";
        return Err(MappingError::unfit(UnreadableKind::Value, reason));
    };
    let factor: Option<f64> = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    };
    let factor = factor.ok_or_else(|| no_number(value))?;
    if factor.is_finite() && factor > 0.0 {
        return Ok(factor);
    }
    let reason = format!("[scaling_factor] must be a positive number, got [{factor:?}]");
    Err(MappingError::unfit(UnreadableKind::Value, reason))
}

/// Refuses a field without a parameter that its type cannot do without.
pub(crate) fn check_required(
    name: &str,
    kind: &FieldKind,
    parameters: &Map<String, Value>,
) -> Result<(), MappingError> {
    let analyzer = parameters.get("analyzer");
    let is_count = matches!(kind, FieldKind::Integer(IntegerKind::TokenCount));
    if is_count && analyzer.is_none_or(Value::is_null) {
        return Err(MappingError::unreadable(format!(
            "Analyzer must be set for field [{name}] but wasn't."
        )));
    }
    Ok(())
}

/// Reads how many neighbours are looked at together.
pub(crate) fn read_size(value: &Value) -> Result<u8, MappingError> {
    let size = show(value).parse().ok();
    size.filter(|size: &u8| (2..=4).contains(size))
        .ok_or_else(|| {
            MappingError::unreadable(format!(
                "[{SIZE_PARAMETER}] must be at least [2] and at most [4], got [{}]",
                show(value)
            ))
        })
}

#[cfg(test)]
mod tests {
    use clew_analysis::tokens;

    use clew_schema::{FieldKind, Mapping};

    use crate::try_mapping;

    fn terms(mapping: &Mapping, path: &str, text: &str) -> Vec<String> {
        let field = mapping.field(path).unwrap();
        let FieldKind::Text { analyzer, .. } = &field.kind else {
            panic!("{path} has no words");
        };
        let mut terms: Vec<String> = tokens(analyzer, text).into_iter().map(|t| t.text).collect();
        terms.sort();
        terms
    }

    #[test]
    fn neighbours_and_beginnings_are_kept_beside_the_words() {
        let typed = serde_json::json!({"properties": {
            "t": {"type": "search_as_you_type"},
            "s": {"type": "text", "fields": {
                "typed": {"type": "search_as_you_type", "max_shingle_size": 2},
            }},
        }});
        let mapping = try_mapping(&typed).unwrap();
        for mapping in [Mapping::decode(&mapping.encode(), None).unwrap(), mapping] {
            assert_eq!(
                terms(&mapping, "t", "One two three"),
                ["one", "three", "two"]
            );
            assert_eq!(
                terms(&mapping, "t._2gram", "One two three"),
                ["one two", "two three"]
            );
            assert_eq!(
                terms(&mapping, "t._3gram", "One two three"),
                ["one two three"]
            );
            assert_eq!(
                terms(&mapping, "t._index_prefix", "ab c"),
                ["a", "ab", "ab ", "ab c", "c"]
            );
            assert_eq!(terms(&mapping, "s.typed._2gram", "a b"), ["a b"]);
            assert!(mapping.field("s.typed._3gram").is_none());
        }
    }

    #[test]
    fn sizes_are_checked() {
        for size in [1, 5] {
            let typed = serde_json::json!({"properties": {
                "t": {"type": "search_as_you_type", "max_shingle_size": size},
            }});
            assert!(try_mapping(&typed).is_err(), "{size}");
        }
    }
}
