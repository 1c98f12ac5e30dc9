//! What a field that is kept may say, and a new one may not: values that have always been kept as they were written.

use clew_analysis::Analysis;
use clew_schema::{
    DATE_FORMAT_DEFAULT, FieldKind, FieldSpec, FloatKind, KeywordStyle, MappingError, RangeKind,
    TextStyle, UnreadableKind, Whole, java_class,
};
use serde_json::{Map, Value};

use crate::parameter_values::{
    boolean, check_word, known_analyzer, named_boolean, no_number, show, unknown, unsupported,
};
use crate::words::with_field;

/// Parameters of texts that say yes or no and are only shown again.
const SHOWN_SWITCHES: [&str; 4] = [
    "norms",
    "fielddata",
    "eager_global_ordinals",
    "index_phrases",
];
/// Letters of a key of `meta`.
const META_KEY_CHARS_MAX: usize = 20;
/// The shortest and the longest prefixes where nothing is said.
pub(crate) const PREFIX_CHARS: (i64, i64) = (2, 5);
/// Longer prefixes than this there are not.
const PREFIX_CHARS_END: i64 = 20;

/// Refuses what a new field may not say.
///
/// # Errors
/// The parameter.
pub(crate) fn check_new(
    spec: &FieldSpec,
    parameters: &Map<String, Value>,
    analysis: &Analysis,
) -> Result<(), MappingError> {
    let name = spec.path.rsplit('.').next().unwrap_or(&spec.path);
    let key = "ignore_malformed";
    if spec.kind == FieldKind::Boolean && parameters.contains_key(key) {
        return Err(unknown(name, key, spec.kind.type_name()));
    }
    let said = parameters.iter().filter(|(_, value)| !value.is_null());
    for (key, value) in said {
        match key.as_str() {
            "meta" => check_meta(name, value)?,
            "boost" if !ignores_boost(&spec.kind) => check_number(value)?,
            "boost" => {}
            "index_prefixes" => check_prefixes(name, value)?,
            key if SHOWN_SWITCHES.contains(&key) => {
                boolean(value)?;
            }
            key => check_special(spec, analysis, (key, value))?,
        }
    }
    Ok(())
}

/// Whether fields of a type take a `boost`, whatever it is, and make nothing of it.
pub(crate) fn ignores_boost(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Integer(_)
            | FieldKind::Unsigned
            | FieldKind::Float(
                FloatKind::Double | FloatKind::Float | FloatKind::Half | FloatKind::Scaled { .. }
            )
    )
}

/// Whether fields of a type take neither `index` nor `doc_values`, nor most of what others do.
pub(crate) fn takes_little(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Flat | FieldKind::Percolator | FieldKind::Constant { .. }
    )
}

/// Parameters of one type.
fn check_special(
    spec: &FieldSpec,
    analysis: &Analysis,
    (key, value): (&str, &Value),
) -> Result<(), MappingError> {
    match (&spec.kind, key) {
        (FieldKind::GeoPoint, "ignore_z_value") => {
            named_boolean(&with_field(&spec.path, key), value).map(drop)
        }
        (FieldKind::Float(FloatKind::RankFeature), "positive_score_impact")
        | (FieldKind::Completion(_), "preserve_separators" | "preserve_position_increments") => {
            boolean(value).map(drop)
        }
        (FieldKind::Completion(_), "max_input_length") => match whole(value)? {
            1.. => Ok(()),
            length => Err(illegal(format!(
                "[max_input_length] must be > 0 but was [{length}]"
            ))),
        },
        (kind, "index" | "doc_values") if takes_little(kind) => {
            let name = spec.path.rsplit('.').next().unwrap_or(&spec.path);
            Err(unsupported(name, key, value))
        }
        (FieldKind::Completion(_), "analyzer" | "search_analyzer") => {
            known_analyzer(value, analysis).map(drop)
        }
        (FieldKind::Unsigned, "null_value") if Whole::parse(&show(value)).is_none() => {
            Err(no_number(value))
        }
        (FieldKind::Keyword { style, .. }, "index_options") if *style == KeywordStyle::Keyword => {
            check_word(key, value, &["docs", "freqs"])
        }
        (FieldKind::Text { style, .. }, "index_options") if *style == TextStyle::MatchOnly => {
            check_word(key, value, &["docs"])
        }
        // Ranges of days take another one.
        (FieldKind::Range { kind, .. }, "format")
            if *kind != RangeKind::Date && show(value) != DATE_FORMAT_DEFAULT =>
        {
            let name = spec.path.rsplit('.').next().unwrap_or(&spec.path);
            Err(illegal(format!(
                "field [{name}] of type [range] should not define a dateTimeFormatter unless it is a DATE type"
            )))
        }
        _ => Ok(()),
    }
}

/// `meta` has short names and texts.
fn check_meta(name: &str, value: &Value) -> Result<(), MappingError> {
    let class = |value: &Value| match java_class(value) {
        _ if value.is_object() => "LinkedHashMap",
        class => class.rsplit('.').next().unwrap_or(class),
    };
    let Some(members) = value.as_object() else {
        return Err(MappingError::unreadable(format!(
            "[meta] must be an object, got {}[{}] for field [{name}]",
            class(value),
            show(value)
        )));
    };
    for (key, value) in members {
        if key.chars().count() > META_KEY_CHARS_MAX {
            return Err(MappingError::unreadable(format!(
                "[meta] keys can't be longer than {META_KEY_CHARS_MAX} chars, but got [{key}] for field [{name}]"
            )));
        }
        match value {
            Value::String(_) => {}
            Value::Null => {
                return Err(MappingError::unreadable(format!(
                    "[meta] values can't be null (field [{name}])"
                )));
            }
            other => {
                return Err(MappingError::unreadable(format!(
                    "[meta] values can only be strings, but got {}[{}] for field [{name}]",
                    class(other),
                    show(other)
                )));
            }
        }
    }
    Ok(())
}

/// How long prefixes are that a text keeps.
fn check_prefixes(name: &str, value: &Value) -> Result<(), MappingError> {
    let (mut least, mut most) = PREFIX_CHARS;
    for (key, value) in value.as_object().into_iter().flatten() {
        match key.as_str() {
            "min_chars" => least = whole(value)?,
            "max_chars" => most = whole(value)?,
            _ => return Err(unsupported(name, key, value)),
        }
    }
    if least > most {
        let reason = format!("min_chars [{least}] must be less than max_chars [{most}]");
        return Err(illegal(reason));
    }
    if least < 1 {
        let reason = format!("min_chars [{least}] must be greater than zero");
        return Err(illegal(reason));
    }
    if most >= PREFIX_CHARS_END {
        let reason = format!("max_chars [{most}] must be less than {PREFIX_CHARS_END}");
        return Err(illegal(reason));
    }
    Ok(())
}

fn check_number(value: &Value) -> Result<(), MappingError> {
    match show(value).parse::<f64>() {
        Ok(_) => Ok(()),
        Err(_) => Err(no_number(value)),
    }
}

fn whole(value: &Value) -> Result<i64, MappingError> {
    show(value).parse().map_err(|_| no_number(value))
}

fn illegal(reason: String) -> MappingError {
    MappingError::unfit(UnreadableKind::Value, reason)
}
