//! Functions that belong to no value: those of numbers, those that scores are made of, and what reads texts.

use clew_schema::geo::{DistanceUnit, GeoPoint, parse_distance};

use super::ScriptLanguage;
use super::calendar;
use super::date_formats;
use super::dates;
use super::days;
use super::moments;
use super::operators::{cut, lenient};
use super::statics;
use super::tree::{Node, Operator};
use super::value::ScriptValue;
use super::windows;
use crate::error::ScriptError;
use crate::query::{DecayShape, VectorMeasure, milliseconds};

/// A function by its name, if there is one.
pub(super) enum Known {
    /// The moment of the search.
    Now,
    /// The same in milliseconds.
    Millis,
    /// It is called by this name.
    Function(&'static str),
    /// There is none.
    Not,
}

/// Functions of numbers, with how many they take.
const MATH: &[(&str, usize)] = &[
    ("abs", 1),
    ("acos", 1),
    ("acosh", 1),
    ("asin", 1),
    ("asinh", 1),
    ("atan", 1),
    ("atanh", 1),
    ("cbrt", 1),
    ("ceil", 1),
    ("cos", 1),
    ("cosh", 1),
    ("exp", 1),
    ("expm1", 1),
    ("floor", 1),
    ("log", 1),
    ("log10", 1),
    ("log1p", 1),
    ("rint", 1),
    ("round", 1),
    ("signum", 1),
    ("sin", 1),
    ("sinh", 1),
    ("sqrt", 1),
    ("tan", 1),
    ("tanh", 1),
    ("toDegrees", 1),
    ("toRadians", 1),
    ("atan2", 2),
    ("hypot", 2),
    ("max", 2),
    ("min", 2),
    ("pow", 2),
];

/// Whether a function of numbers makes one with a fraction whatever it is given, as all do but the one that rounds.
pub(super) fn makes_fraction(name: &str, arguments: usize) -> bool {
    name != "round" && MATH.contains(&(name, arguments))
}

/// Further functions of expressions.
const OF_EXPRESSIONS: &[(&str, usize)] = &[("ln", 1), ("logn", 2), ("haversin", 4)];

/// Functions that scores are made of.
const OF_SCORES: &[(&str, usize)] = &[
    ("saturation", 2),
    ("sigmoid", 3),
    ("randomScore", 1),
    ("randomScore", 2),
    ("decayNumericLinear", 5),
    ("decayNumericExp", 5),
    ("decayNumericGauss", 5),
    ("decayGeoLinear", 5),
    ("decayGeoExp", 5),
    ("decayGeoGauss", 5),
    ("decayDateLinear", 5),
    ("decayDateExp", 5),
    ("decayDateGauss", 5),
];

/// What reads numbers and texts, by class.
const OF_CLASSES: &[(&str, &str, &str)] = &[
    ("Integer", "parseInt", "parseWhole"),
    ("Integer", "valueOf", "parseWhole"),
    ("Long", "parseLong", "parseWhole"),
    ("Long", "valueOf", "parseWhole"),
    ("Long", "bitCount", "bitCount"),
    ("Double", "parseDouble", "parseFloat"),
    ("Double", "valueOf", "parseFloat"),
    ("Float", "parseFloat", "parseFloat"),
    ("String", "valueOf", "textOf"),
    ("Integer", "toString", "textOf"),
    ("Long", "toString", "textOf"),
    ("Double", "toString", "textOf"),
    ("Boolean", "toString", "textOf"),
    ("Boolean", "parseBoolean", "parseTruth"),
    ("ZonedDateTime", "parse", "parseZoned"),
    ("LocalDate", "parse", "parseDay"),
    ("LocalDateTime", "parse", "parseLocal"),
    ("Instant", "parse", "parseInstant"),
    ("Instant", "ofEpochMilli", "instantOfMillis"),
    ("Instant", "ofEpochSecond", "instantOfSeconds"),
    ("Duration", "ofDays", "lapseOfDays"),
    ("Duration", "ofHours", "lapseOfHours"),
    ("Duration", "ofMillis", "lapseOfMillis"),
    ("Duration", "ofMinutes", "lapseOfMinutes"),
    ("Duration", "ofSeconds", "lapseOfSeconds"),
    ("ZoneId", "of", "zone"),
    ("ZoneOffset", "of", "zone"),
];

fn found(table: &'static [(&'static str, usize)], name: &str, arguments: usize) -> Known {
    let mut table = table.iter();
    let known = table.find(|(known, count)| *known == name && *count == arguments);
    known.map_or(Known::Not, |(name, _)| Known::Function(name))
}

/// The function that a class has, or that stands by itself.
pub(super) fn known(
    language: ScriptLanguage,
    class: Option<&str>,
    name: &str,
    arguments: usize,
) -> Known {
    match (language, class) {
        (_, Some("System")) if name == "currentTimeMillis" && arguments == 0 => Known::Millis,
        (_, Some("Instant")) if name == "now" && arguments == 0 => Known::Now,
        (ScriptLanguage::Painless, Some("Math" | "StrictMath")) => {
            match found(MATH, name, arguments) {
                Known::Not => of_class("Math", name, arguments),
                known => known,
            }
        }
        (ScriptLanguage::Painless, Some("MovingFunctions")) => {
            windows::known(name, arguments).map_or(Known::Not, Known::Function)
        }
        (ScriptLanguage::Painless, Some(class)) => OF_CLASSES
            .iter()
            .find(|(of, known, _)| *of == class && *known == name && arguments == 1)
            .map_or_else(
                || of_class(class, name, arguments),
                |(_, _, function)| Known::Function(function),
            ),
        (ScriptLanguage::Painless, None) => found(OF_SCORES, name, arguments),
        (ScriptLanguage::Expression, None) => match found(MATH, name, arguments) {
            Known::Not => found(OF_EXPRESSIONS, name, arguments),
            known => known,
        },
        (ScriptLanguage::Expression, Some(_)) => Known::Not,
    }
}

fn of_class(class: &str, name: &str, arguments: usize) -> Known {
    statics::known(class, name, arguments).map_or(Known::Not, Known::Function)
}

/// A constant of a class.
pub(super) fn constant(class: &str, name: &str) -> Option<Node> {
    Some(match (class, name) {
        ("Math", "PI") => Node::Float(std::f64::consts::PI),
        ("Math", "E") => Node::Float(std::f64::consts::E),
        ("Integer", "MAX_VALUE") => Node::Whole(i64::from(i32::MAX)),
        ("Integer", "MIN_VALUE") => Node::Whole(i64::from(i32::MIN)),
        ("Long", "MAX_VALUE") => Node::Whole(i64::MAX),
        ("Long", "MIN_VALUE") => Node::Whole(i64::MIN),
        ("Boolean", "TRUE") => Node::Bool(true),
        ("Boolean", "FALSE") => Node::Bool(false),
        ("ZoneOffset", "UTC") => Node::Text("Z".to_string()),
        ("Locale", "ROOT") => Node::Text(String::new()),
        ("Locale", "ENGLISH" | "US" | "UK") => Node::Text("en".to_string()),
        ("Byte", "MAX_VALUE") => Node::Whole(i64::from(i8::MAX)),
        ("Byte", "MIN_VALUE") => Node::Whole(i64::from(i8::MIN)),
        ("Short", "MAX_VALUE") => Node::Whole(i64::from(i16::MAX)),
        ("Short", "MIN_VALUE") => Node::Whole(i64::from(i16::MIN)),
        ("ChronoUnit", unit) => Node::Text(calendar::unit(unit)?.to_string()),
        ("DateTimeFormatter", format) => Node::Text(date_formats::named(format)?.to_string()),
        ("Double", "MAX_VALUE") => Node::Float(f64::MAX),
        ("Double", "MIN_VALUE") => Node::Float(f64::from_bits(1)),
        ("Float", "MAX_VALUE") => Node::Float(f64::from(f32::MAX)),
        ("Double" | "Float", "NaN") => quotient(0.0),
        ("Double" | "Float", "POSITIVE_INFINITY") => quotient(1.0),
        ("Double" | "Float", "NEGATIVE_INFINITY") => quotient(-1.0),
        _ => return days::constant(class, name),
    })
}

/// A number by zero: scripts are also kept as JSON, which has no such numbers.
fn quotient(above: f64) -> Node {
    let [above, below] = [above, 0.0].map(|number| Box::new(Node::Float(number)));
    Node::Pair(Operator::Divide, above, below)
}

/// The measure of vectors with this name.
pub(super) fn measure(name: &str) -> Option<VectorMeasure> {
    Some(match name {
        "cosineSimilarity" => VectorMeasure::Cosine,
        "innerProduct" | "dotProduct" => VectorMeasure::InnerProduct,
        "l2Squared" => VectorMeasure::L2Squared,
        "l1Norm" => VectorMeasure::L1,
        "lInfNorm" => VectorMeasure::LInf,
        "hamming" => VectorMeasure::Hamming,
        _ => return None,
    })
}

/// What a function makes of its arguments.
pub(super) fn call<'a>(
    name: &str,
    language: ScriptLanguage,
    arguments: &[ScriptValue<'a>],
) -> Result<ScriptValue<'a>, ScriptError> {
    if let Some(found) = of_wholes(name, language, arguments) {
        return Ok(found);
    }
    if let Some(found) = windows::call(name, arguments)? {
        return Ok(ScriptValue::Float(found));
    }
    if let [text] = arguments
        && let Some(found) = of_text(name, text)?
    {
        return Ok(found);
    }
    if name.starts_with("decay") {
        return decay(name, arguments).map(ScriptValue::Float);
    }
    let mut numbers = [0.0; 4];
    for (place, argument) in numbers.iter_mut().zip(arguments) {
        *place = lenient(argument, language).ok_or_else(|| argument.no_cast("double"))?;
    }
    let value = of_numbers(name, numbers)
        .ok_or_else(|| ScriptError::argument(format!("unknown call [{name}]")))?;
    Ok(match (name, language) {
        ("round", ScriptLanguage::Painless) => ScriptValue::Whole(cut(value)),
        _ => ScriptValue::Float(value),
    })
}

/// Functions that leave whole numbers whole.
fn of_wholes<'a>(
    name: &str,
    language: ScriptLanguage,
    arguments: &[ScriptValue<'a>],
) -> Option<ScriptValue<'a>> {
    if language == ScriptLanguage::Expression {
        return None;
    }
    Some(ScriptValue::Whole(match (name, arguments) {
        ("round", [ScriptValue::Whole(a)]) => *a,
        ("bitCount", [ScriptValue::Whole(a)]) => i64::from(a.count_ones()),
        _ => return None,
    }))
}

fn of_text<'a>(
    name: &str,
    value: &ScriptValue<'a>,
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let malformed = ScriptError::not_a_number;
    Ok(Some(match name {
        "parseWhole" => {
            let text = value.shown();
            ScriptValue::Whole(text.parse().map_err(|_| malformed(&text))?)
        }
        "parseFloat" => {
            let text = value.shown();
            ScriptValue::Float(text.trim().parse().map_err(|_| malformed(&text))?)
        }
        "parseTruth" => ScriptValue::Bool(value.shown().eq_ignore_ascii_case("true")),
        "textOf" => ScriptValue::made(value.shown().into_owned())?,
        "dateOf" => ScriptValue::Date(value.want_whole()?),
        _ => return Ok(None),
    }))
}

fn of_numbers(name: &str, [a, b, c, d]: [f64; 4]) -> Option<f64> {
    Some(match name {
        "abs" => a.abs(),
        "acos" => a.acos(),
        "acosh" => a.acosh(),
        "asin" => a.asin(),
        "asinh" => a.asinh(),
        "atan" => a.atan(),
        "atanh" => a.atanh(),
        "cbrt" => a.cbrt(),
        "ceil" => a.ceil(),
        "cos" => a.cos(),
        "cosh" => a.cosh(),
        "exp" => a.exp(),
        "expm1" => a.exp_m1(),
        "floor" => a.floor(),
        "log" | "ln" => a.ln(),
        "log10" => a.log10(),
        "log1p" => a.ln_1p(),
        "rint" => a.round_ties_even(),
        "round" => (a + 0.5).floor(),
        "signum" if a == 0.0 => a,
        "signum" => a.signum(),
        "sin" => a.sin(),
        "sinh" => a.sinh(),
        "sqrt" => a.sqrt(),
        "tan" => a.tan(),
        "tanh" => a.tanh(),
        "toDegrees" => a.to_degrees(),
        "toRadians" => a.to_radians(),
        "atan2" => a.atan2(b),
        "hypot" => a.hypot(b),
        "max" => a.max(b),
        "min" => a.min(b),
        "pow" => a.powf(b),
        "logn" => b.ln() / a.ln(),
        "haversin" => GeoPoint { lat: a, lon: b }.metres_to(GeoPoint { lat: c, lon: d }) / 1000.0,
        "saturation" => a / (b + a),
        "sigmoid" => a.powf(c) / (b.powf(c) + a.powf(c)),
        _ => return None,
    })
}

/// `decay…(origin, scale, offset, decay, value)`.
fn decay(name: &str, arguments: &[ScriptValue<'_>]) -> Result<f64, ScriptError> {
    let [origin, scale, offset, decay, value] = arguments else {
        return Err(ScriptError::argument(format!(
            "[{name}] takes [5] arguments"
        )));
    };
    let shape = match name {
        name if name.ends_with("Linear") => DecayShape::Linear,
        name if name.ends_with("Exp") => DecayShape::Exp,
        _ => DecayShape::Gauss,
    };
    let metres = |value: &ScriptValue<'_>| {
        parse_distance(value.want_text()?, DistanceUnit::metres()).map_err(ScriptError::argument)
    };
    let millis = |value: &ScriptValue<'_>| {
        let text = value.want_text()?;
        let wrong =
            || ScriptError::argument(format!("failed to parse setting [{text}] as a time value"));
        // Nothing may be said without a unit.
        match text.trim() {
            "0" => Ok(0.0),
            text => milliseconds(text).ok_or_else(wrong),
        }
    };
    let (distance, scale, offset) = if name.starts_with("decayGeo") {
        let origin = GeoPoint::from_json(&serde_json::Value::from(origin.want_text()?));
        let origin = origin.map_err(ScriptError::argument)?;
        let ScriptValue::Point(point) = value else {
            return Err(value.no_cast("GeoPoint"));
        };
        (point.metres_to(origin), metres(scale)?, metres(offset)?)
    } else if name.starts_with("decayDate") {
        let at = moments::millis_of(value);
        let at = at.ok_or_else(|| value.no_cast("java.time.ZonedDateTime"))?;
        let from = dates::read(origin.want_text()?)?;
        let between = ScriptValue::Whole(at.saturating_sub(from)).want_number()?;
        (between.abs(), millis(scale)?, millis(offset)?)
    } else {
        let between = value.want_number()? - origin.want_number()?;
        (between.abs(), scale.want_number()?, offset.want_number()?)
    };
    let beyond = (distance - offset).max(0.0);
    Ok(shape.at(beyond, scale, decay.want_number()?))
}
