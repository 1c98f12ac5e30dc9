//! The parameters of one field in a mapping.

use clew_analysis::{Analysis, shown_name};
use clew_schema::geo::GeoPoint;
use clew_schema::{
    DOC_COUNT, FieldKind, FieldSpec, FloatKind, IntegerKind, KeywordStyle, MappingError, RangeKind,
    TextStyle, java_text,
};
use serde_json::{Map, Value};

use crate::join;
use crate::kinds::{SIZE_PARAMETER, check_required, kind_of, no_handler, read_size};
use crate::new_values::{ignores_boost, takes_little};
use crate::parameter_values::{
    boolean, check_word, known_analyzer, named_boolean, no_number, number, show, unknown,
    unsupported,
};
use crate::shape::read_shapes;
use crate::vector::{check_sparse_method, read_vector};
use crate::words::with_field;

/// Parameters that every field takes and that change nothing about what is indexed.
const SHOWN: [&str; 2] = ["meta", "boost"];
/// The same for one type or another.
const TEXT_SHOWN: [&str; 8] = [
    "norms",
    "index_options",
    "term_vector",
    "fielddata",
    "fielddata_frequency_filter",
    "eager_global_ordinals",
    "index_prefixes",
    "index_phrases",
];
const KEYWORD_SHOWN: [&str; 4] = [
    "norms",
    "index_options",
    "eager_global_ordinals",
    "use_similarity",
];
const VECTOR_SHOWN: [&str; 4] = ["data_type", "mode", "compression_level", "space_type"];
/// What `index_options` may say.
const INDEX_OPTIONS: [&str; 4] = ["positions", "docs", "freqs", "offsets"];
/// What `term_vector` may say.
const TERM_VECTORS: [&str; 7] = [
    "no",
    "yes",
    "with_positions",
    "with_offsets",
    "with_positions_offsets",
    "with_positions_payloads",
    "with_positions_offsets_payloads",
];

/// Reads a field as it stands under `properties`, or under `fields` of another one.
pub(crate) fn read_field(
    path: &str,
    parameters: &Map<String, Value>,
    multi_field: bool,
    analysis: &Analysis,
) -> Result<FieldSpec, MappingError> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let type_name = parameters.get("type").map(show).unwrap_or_default();
    let mut spec = FieldSpec::new(path, kind_of(name, &type_name, parameters)?);
    spec.multi_field = multi_field;
    // Documents alone make it.
    if spec.kind == FieldKind::Integer(IntegerKind::DocumentCount) && path != DOC_COUNT {
        return Err(no_handler(name, &type_name));
    }
    check_nulls(name, &spec.kind, parameters)?;
    check_required(name, &spec.kind, parameters)?;
    if is_join(&spec.kind) {
        join::read(name, parameters, &mut spec)?;
        return Ok(spec);
    }
    match &mut spec.kind {
        FieldKind::Text { analyzer, style } => {
            *analyzer = shown_name(&analysis.default_analyzer()).to_string();
            spec.doc_values = !matches!(style, TextStyle::AsYouType { .. });
        }
        FieldKind::Keyword {
            style: KeywordStyle::Wildcard,
            ..
        } => spec.doc_values = false,
        FieldKind::Vector(vector) => {
            spec.compression = read_vector(name, parameters, vector)?;
            // Shown before whatever else was written.
            if let Some(method) = parameters.get("method") {
                spec.shown.insert("method".to_string(), method.clone());
            }
        }
        FieldKind::SparseVector => check_sparse_method(name, parameters)?,
        _ => {}
    }
    for (key, value) in parameters {
        let known = key == "type"
            || key == "fields" && !multi_field
            || read_common(&mut spec, key, value)?
            || read_special(&mut spec, (name, analysis), key, value)?;
        if !known {
            if takes_little(&spec.kind) || spec.kind == FieldKind::GeoShape {
                return Err(unsupported(name, key, value));
            }
            return Err(unknown(name, key, &type_name));
        }
    }
    Ok(spec)
}

/// Parameters of every type; whether it was one.
fn read_common(spec: &mut FieldSpec, key: &str, value: &Value) -> Result<bool, MappingError> {
    let path = &spec.path;
    let flag = || match spec.kind {
        FieldKind::GeoPoint | FieldKind::GeoShape => named_boolean(&with_field(path, key), value),
        _ => boolean(value),
    };
    match key {
        "index" | "doc_values" if is_hash(&spec.kind) => return Ok(false),
        // What was taken once is read.
        "index" | "doc_values" if takes_little(&spec.kind) && boolean(value).is_err() => {
            return Ok(false);
        }
        "index" if spec.kind.ignores_index() => spec.indexed = show(value) != "false",
        "index" => spec.indexed = flag()?,
        "copy_to" => {
            let paths = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            spec.copy_to = paths.iter().map(java_text).collect();
        }
        "store" if spec.kind.ignores_store() => spec.store = show(value) == "true",
        "store" => spec.store = boolean(value)?,
        "doc_values" if spec.kind.ignores_column() => spec.doc_values = show(value) != "false",
        "doc_values" if !matches!(spec.kind, FieldKind::Binary { .. }) => {
            spec.doc_values = flag()?;
        }
        // Fields of other types take it and make nothing of it, nor of none.
        "similarity" if value.is_null() || !is_weighed(&spec.kind) => {}
        "boost" if ignores_boost(&spec.kind) => {}
        _ if SHOWN.contains(&key) || key == "similarity" => {
            match key {
                "similarity" => spec.similarity = Some(show(value)),
                "meta" => spec.meta = Some(value.clone()).filter(|meta| !meta.is_null()),
                _ => {}
            }
            spec.shown.insert(key.to_string(), value.clone());
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Parameters of one type; whether it was one.
fn read_special(
    spec: &mut FieldSpec,
    (name, analysis): (&str, &Analysis),
    key: &str,
    value: &Value,
) -> Result<bool, MappingError> {
    if read_words(spec, (name, analysis), key, value)? || read_shapes(spec, key, value)? {
        return Ok(true);
    }
    match (&mut spec.kind, key) {
        (
            FieldKind::Date { format }
            | FieldKind::DateNanos { format }
            | FieldKind::Range {
                format,
                kind: RangeKind::Date,
            },
            "format",
        ) => *format = show(value),
        (FieldKind::Float(FloatKind::Scaled { .. }), "scaling_factor")
        | (FieldKind::Constant { .. }, "value")
        | (FieldKind::Range { .. }, "format")
        | (FieldKind::Binary { .. }, "doc_values")
        | (FieldKind::Vector(_), "dimension" | "method") => {}
        (kind, "coerce") if is_numeric(kind) || matches!(kind, FieldKind::Range { .. }) => {
            spec.coerce = boolean(value)?;
            // It was said, so that the index does not say otherwise.
            if spec.coerce {
                spec.shown.insert(key.to_string(), Value::Bool(true));
            }
        }
        (kind, "ignore_malformed") if can_be_malformed(kind) => {
            spec.ignore_malformed = match kind {
                FieldKind::GeoPoint => named_boolean(&with_field(&spec.path, key), value)?,
                _ => boolean(value)?,
            };
        }
        (kind, "null_value") if !has_null_value(kind) => return Ok(false),
        (FieldKind::GeoPoint, "null_value") if !value.is_null() => {
            GeoPoint::from_json(value)
                .and_then(GeoPoint::checked)
                .map_err(MappingError::unreadable)?;
            spec.null_value = Some(value.clone());
        }
        (kind, "null_value") if !value.is_null() => {
            check_null_value(kind, value)?;
            spec.null_value = Some(value.clone());
        }
        (_, "null_value") => spec.null_value = Some(value.clone()).filter(|v| !v.is_null()),
        (kind, key) => {
            if !shown_parameters(kind).contains(&key) {
                return Ok(false);
            }
            match key {
                "fielddata" => spec.fielddata = show(value) == "true",
                "index_options" => check_word(key, value, &INDEX_OPTIONS)?,
                "term_vector" => {
                    check_word(key, value, &TERM_VECTORS)?;
                    spec.term_vectors = show(value) != "no";
                }
                "positive_score_impact" => spec.inverse = show(value) == "false",
                _ => {}
            }
            spec.shown.insert(key.to_string(), value.clone());
        }
    }
    Ok(true)
}

/// Parameters of types that are about words; whether it was one.
fn read_words(
    spec: &mut FieldSpec,
    (name, analysis): (&str, &Analysis),
    key: &str,
    value: &Value,
) -> Result<bool, MappingError> {
    match (&mut spec.kind, key) {
        (FieldKind::Text { analyzer, .. }, "analyzer") => {
            *analyzer = known_analyzer(value, analysis)?
        }
        (FieldKind::Text { .. }, "search_analyzer") => {
            spec.search_analyzer = Some(known_analyzer(value, analysis)?);
        }
        (FieldKind::Text { .. }, "search_quote_analyzer") => {
            spec.search_quote_analyzer = Some(known_analyzer(value, analysis)?);
        }
        (
            FieldKind::Text {
                style: TextStyle::AsYouType { neighbours },
                ..
            },
            SIZE_PARAMETER,
        ) => *neighbours = read_size(value)?,
        (FieldKind::Text { .. }, "position_increment_gap") => {
            spec.position_gap = Some(number(name, key, value, 0..=1_000_000)?);
        }
        (FieldKind::Integer(IntegerKind::TokenCount), "analyzer") => {
            spec.count_analyzer = Some(known_analyzer(value, analysis)?);
        }
        (FieldKind::Integer(IntegerKind::TokenCount), "enable_position_increments") => {
            spec.count_gaps = boolean(value)?;
        }
        (FieldKind::Keyword { ignore_above, .. }, "ignore_above") => {
            let length = number(name, key, value, 0..=u32::MAX as usize)?;
            *ignore_above = u32::try_from(length).ok();
        }
        (FieldKind::Keyword { .. }, "normalizer") => {
            spec.normalizer = known_normalizer(name, value, analysis)?;
        }
        (FieldKind::Keyword { .. }, "split_queries_on_whitespace") => {
            spec.split_queries = boolean(value)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Refuses parameters that say something or are not there.
fn check_nulls(
    name: &str,
    kind: &FieldKind,
    parameters: &Map<String, Value>,
) -> Result<(), MappingError> {
    for (key, value) in parameters {
        let is_said = match key.as_str() {
            "index" => !kind.ignores_index() && !takes_little(kind),
            "doc_values" => !kind.ignores_column() && !takes_little(kind),
            "store" => !kind.ignores_store(),
            "analyzer" => matches!(
                kind,
                FieldKind::Text { .. }
                    | FieldKind::Completion(_)
                    | FieldKind::Integer(IntegerKind::TokenCount)
            ),
            _ => false,
        };
        if is_said && value.is_null() {
            let whose = match kind {
                FieldKind::GeoPoint | FieldKind::GeoShape => String::new(),
                kind => format!(" on mapper [{name}] of type [{}]", kind.type_name()),
            };
            return Err(MappingError::unreadable(format!(
                "[{key}]{whose} must not have a [null] value"
            )));
        }
    }
    Ok(())
}

/// Whether a field may say how its terms are weighed.
fn is_weighed(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Text { .. }
            | FieldKind::Keyword {
                style: KeywordStyle::Keyword,
                ..
            }
    )
}

fn is_join(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Keyword {
            style: KeywordStyle::Join,
            ..
        }
    )
}

fn is_numeric(kind: &FieldKind) -> bool {
    let any = matches!(
        kind,
        FieldKind::Integer(_) | FieldKind::Unsigned | FieldKind::Float(_)
    );
    any && !is_hash(kind)
}

/// Whether what is kept is a hash of the value, which has no format and no other way of being kept.
fn is_hash(kind: &FieldKind) -> bool {
    *kind == FieldKind::Integer(IntegerKind::Murmur3)
}

fn can_be_malformed(kind: &FieldKind) -> bool {
    is_numeric(kind)
        || matches!(
            kind,
            FieldKind::Boolean
                | FieldKind::Date { .. }
                | FieldKind::DateNanos { .. }
                | FieldKind::Ip
                | FieldKind::GeoPoint
        )
}

fn has_null_value(kind: &FieldKind) -> bool {
    is_numeric(kind) || can_be_malformed(kind) || matches!(kind, FieldKind::Keyword { .. })
}

/// Parameters that a type takes and that are shown as they were written.
fn shown_parameters(kind: &FieldKind) -> &'static [&'static str] {
    match kind {
        FieldKind::Text { .. } => &TEXT_SHOWN,
        FieldKind::Keyword { .. } => &KEYWORD_SHOWN,
        FieldKind::Vector(_) => &VECTOR_SHOWN,
        FieldKind::SparseVector => &["method"],
        FieldKind::Float(FloatKind::RankFeature) | FieldKind::RankFeatures => {
            &["positive_score_impact"]
        }
        FieldKind::Date { .. } | FieldKind::DateNanos { .. } | FieldKind::Range { .. } => {
            &["locale", "print_format"]
        }
        FieldKind::GeoPoint => &["ignore_z_value"],
        FieldKind::Completion(_) => &[
            "analyzer",
            "search_analyzer",
            "preserve_separators",
            "preserve_position_increments",
            "max_input_length",
            "contexts",
        ],
        _ => &[],
    }
}

/// The value that stands for null must be one of the field's.
fn check_null_value(kind: &FieldKind, value: &Value) -> Result<(), MappingError> {
    match kind {
        FieldKind::Integer(_) | FieldKind::Float(_) if show(value).parse::<f64>().is_err() => {
            Err(no_number(value))
        }
        FieldKind::Boolean => boolean(value).map(drop),
        _ => Ok(()),
    }
}

/// The normalizer of that name; none where it is said that there is none.
fn known_normalizer(
    name: &str,
    value: &Value,
    analysis: &Analysis,
) -> Result<Option<String>, MappingError> {
    if value.is_null() {
        return Ok(None);
    }
    let normalizer = show(value);
    match analysis.normalizer(&normalizer) {
        Some(_) => Ok(Some(normalizer)),
        // Every index has it, and it changes nothing.
        None if normalizer == "default" => Ok(None),
        None => Err(MappingError::UnknownNormalizer {
            path: name.to_string(),
            name: normalizer,
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{reason, shown, try_mapping};

    #[rustfmt::skip]
    const REFUSED: &[(&str, &str)] = &[
        (r#"{ "f": { "type": "object", "x": {"a": [1]} } }"#, "Mapping definition for [f] has unsupported parameters:  [x : {a=[1]}]"),
        (r#"{ "f": { "type": "keyword", "index": null } }"#, "[index] on mapper [f] of type [keyword] must not have a [null] value"),
        (r#"{ "f": { "type": "geo_point", "doc_values": null } }"#, "[doc_values] must not have a [null] value"),
        (r#"{ "f": { "type": "flat_object", "index": null } }"#, "Mapping definition for [f] has unsupported parameters:  [index : null]"),
        (r#"{ "f": { "type": "token_count", "analyzer": null } }"#, "[analyzer] on mapper [f] of type [token_count] must not have a [null] value"),
        (r#"{ "f": { "type": "geo_shape", "index": 1 } }"#, "Could not convert [f.index] to boolean"),
        (r#"{ "f": { "type": "long", "null_value": "" } }"#, "empty String"),
        (r#"{ "f": { "type": "keyword", "index_options": "offsets" } }"#, "Unknown value [offsets] for field [index_options] - accepted values are [docs, freqs]"),
        (r#"{ "f": { "type": "completion", "search_analyzer": "x" } }"#, "analyzer [x] has not been configured in mappings"),
        (r#"{ "f": { "type": "long_range", "format": "yyyy" } }"#, "field [f] of type [range] should not define a dateTimeFormatter unless it is a DATE type"),
        (r#"{ "f": { "type": "text", "fields": { "o": {} } } }"#, "no type specified for property [o]"),
    ];

    #[test]
    fn what_a_parameter_cannot_be_is_told_as_there() {
        for (properties, wanted) in REFUSED {
            let properties: Value = serde_json::from_str(properties).unwrap();
            let error = try_mapping(&json!({ "properties": properties })).unwrap_err();
            assert_eq!(reason(&error), *wanted, "{properties}");
        }
    }

    #[test]
    fn what_a_type_makes_nothing_of_may_be_anything_and_is_not_shown() {
        for (field, wanted) in [
            (
                json!({ "type": "text", "doc_values": "x" }),
                json!({ "type": "text" }),
            ),
            (
                json!({ "type": "rank_feature", "store": true, "index": 1 }),
                json!({ "type": "rank_feature" }),
            ),
            (
                json!({ "type": "binary", "index": null }),
                json!({ "type": "binary" }),
            ),
            (
                json!({ "type": "geo_point", "null_value": null }),
                json!({ "type": "geo_point" }),
            ),
            (
                json!({ "type": "match_only_text", "norms": false }),
                json!({ "type": "match_only_text" }),
            ),
            (
                json!({ "type": "ip", "null_value": 5, "copy_to": {"a": 1} }),
                json!({ "type": "ip", "null_value": "5", "copy_to": ["{a=1}"] }),
            ),
        ] {
            let mapping = try_mapping(&json!({ "properties": { "f": field } })).unwrap();
            assert_eq!(shown(&mapping)["properties"]["f"], wanted);
        }
    }
}
