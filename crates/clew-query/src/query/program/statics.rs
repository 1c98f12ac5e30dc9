//! Functions of classes: those of numbers, letters and texts that need no more than their arguments.

use clew_schema::in_radix;

use super::bits;
use super::collections;
use super::date_functions;
use super::list_functions;
use super::operators::is_same;
use super::processed;
use super::value::ScriptValue;
use super::written;
use crate::error::ScriptError;

/// Functions by class and name, with how many arguments they take and what they are called here.
const FUNCTIONS: &[(&str, &str, usize, &str)] = &[
    ("Math", "floorDiv", 2, "floorDiv"),
    ("Math", "floorMod", 2, "floorMod"),
    ("Integer", "bitCount", 1, "bitCountInt"),
    ("Integer", "compare", 2, "compareOf"),
    ("Integer", "max", 2, "maxOf"),
    ("Integer", "min", 2, "minOf"),
    ("Integer", "parseInt", 2, "parseRadix"),
    ("Integer", "signum", 1, "signumOf"),
    ("Integer", "sum", 2, "sumOf"),
    ("Integer", "toBinaryString", 1, "binaryInt"),
    ("Integer", "toHexString", 1, "hexInt"),
    ("Integer", "toString", 2, "inRadix"),
    ("Long", "compare", 2, "compareOf"),
    ("Long", "max", 2, "maxOf"),
    ("Long", "min", 2, "minOf"),
    ("Long", "parseLong", 2, "parseRadix"),
    ("Long", "signum", 1, "signumOf"),
    ("Long", "sum", 2, "sumOf"),
    ("Long", "toBinaryString", 1, "binaryLong"),
    ("Long", "toHexString", 1, "hexLong"),
    ("Long", "toString", 2, "inRadix"),
    ("Double", "compare", 2, "compareOf"),
    ("Double", "isInfinite", 1, "isInfinite"),
    ("Double", "isNaN", 1, "isNaN"),
    ("Double", "max", 2, "max"),
    ("Double", "min", 2, "min"),
    ("Double", "sum", 2, "sumOf"),
    ("Short", "parseShort", 1, "parseWhole"),
    ("Byte", "parseByte", 1, "parseWhole"),
    ("Float", "toString", 1, "textOf"),
    ("Integer", "parseUnsignedInt", 1, "parseUnsigned"),
    ("Integer", "valueOf", 2, "parseRadix"),
    ("Long", "valueOf", 2, "parseRadix"),
    ("Long", "parseUnsignedLong", 1, "parseUnsigned"),
    ("Character", "digit", 2, "digitInRadix"),
    ("Character", "getNumericValue", 1, "digitOf"),
    ("Character", "isDigit", 1, "isDigit"),
    ("Character", "isLetter", 1, "isLetter"),
    ("Character", "isLetterOrDigit", 1, "isLetterOrDigit"),
    ("Character", "isLowerCase", 1, "isLowerCase"),
    ("Character", "isUpperCase", 1, "isUpperCase"),
    ("Character", "isWhitespace", 1, "isWhitespace"),
    ("Character", "toLowerCase", 1, "lowerLetter"),
    ("Character", "toString", 1, "textOf"),
    ("Character", "toUpperCase", 1, "upperLetter"),
    ("String", "format", 2, "format"),
    ("String", "format", 3, "format"),
    ("Objects", "equals", 2, "equalsOf"),
    ("Objects", "isNull", 1, "isNull"),
    ("Objects", "nonNull", 1, "isThere"),
    ("Optional", "of", 1, "optional"),
    ("Optional", "ofNullable", 1, "optional"),
    ("Comparator", "naturalOrder", 0, "naturalOrder"),
    ("Comparator", "comparing", 1, "comparing"),
    ("Comparator", "comparingDouble", 1, "comparing"),
    ("Comparator", "comparingInt", 1, "comparing"),
    ("Comparator", "comparingLong", 1, "comparing"),
    ("Map.Entry", "comparingByKey", 0, "byKey"),
    ("Map.Entry", "comparingByValue", 0, "byValue"),
    ("IntStream", "range", 2, "range"),
    ("IntStream", "rangeClosed", 2, "rangeClosed"),
    ("LongStream", "range", 2, "range"),
    ("LongStream", "rangeClosed", 2, "rangeClosed"),
    ("ZonedDateTime", "ofInstant", 2, "instantInZone"),
    ("ZonedDateTime", "parse", 2, "parseZoned"),
    ("LocalDate", "parse", 2, "parseDay"),
    ("LocalDateTime", "parse", 2, "parseLocal"),
    ("DateTimeFormatter", "ofPattern", 2, "formatOf"),
    ("LocalDate", "of", 3, "dayOf"),
    ("LocalDateTime", "of", 5, "localOf"),
    ("LocalDateTime", "of", 6, "localOf"),
    ("LocalDateTime", "of", 7, "localOf"),
    ("ZonedDateTime", "of", 8, "zonedOf"),
    ("TimeZone", "getTimeZone", 1, "zone"),
    ("Duration", "between", 2, "lapse"),
    ("DateTimeFormatter", "ofPattern", 1, "textOf"),
];

/// Ways to collect a stream, with how many arguments they take.
const COLLECTORS: &[(&str, usize)] = &[
    ("averagingDouble", 1),
    ("averagingInt", 1),
    ("averagingLong", 1),
    ("counting", 0),
    ("groupingBy", 1),
    ("groupingBy", 2),
    ("joining", 3),
    ("mapping", 2),
    ("maxBy", 1),
    ("minBy", 1),
    ("partitioningBy", 1),
    ("partitioningBy", 2),
    ("summingDouble", 1),
    ("summingInt", 1),
    ("summingLong", 1),
    ("toMap", 2),
    ("toMap", 3),
    ("toSet", 0),
];

/// The function that a class has under a name.
pub(super) fn known(class: &str, name: &str, arguments: usize) -> Option<&'static str> {
    let mut all = FUNCTIONS.iter();
    let found =
        all.find(|(of, known, count, _)| *of == class && *known == name && *count == arguments);
    found
        .map(|(.., function)| *function)
        .or_else(|| bits::known(class, name, arguments))
        .or_else(|| date_functions::known(class, name, arguments))
        .or_else(|| list_functions::known(class, name, arguments))
        .or_else(|| processed::known(class, name, arguments))
}

/// The function of a class in a table of such, by `Class.name` and how many arguments they take.
pub(super) fn in_table(
    table: &'static [(&'static str, usize)],
    (class, name): (&str, &str),
    arguments: usize,
) -> Option<&'static str> {
    let mut all = table.iter();
    let found = all
        .find(|(full, count)| *count == arguments && full.split_once('.') == Some((class, name)));
    found.map(|(full, _)| *full)
}

/// Whether a stream can be collected so.
pub(super) fn is_collector(name: &str, arguments: usize) -> bool {
    COLLECTORS.contains(&(name, arguments))
}

/// What such a function makes of its arguments; `None` where it is another one.
pub(super) fn call<'a>(
    name: &str,
    values: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let found = match bits::call(name, values)? {
        None => date_functions::call(name, values)?,
        found => found,
    };
    if found.is_some() {
        return Ok(found);
    }
    Ok(Some(match (name, values) {
        ("floorDiv" | "floorMod", [a, b]) => {
            let (a, b) = (a.want_whole()?, b.want_whole()?);
            if b == 0 {
                let kind = crate::error::ScriptErrorKind::Arithmetic;
                return Err(ScriptError::new(kind, "/ by zero"));
            }
            let (whole, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
            let is_below = rest != 0 && (rest < 0) != (b < 0);
            ScriptValue::Whole(match (name, is_below) {
                ("floorDiv", true) => whole - 1,
                ("floorDiv", false) => whole,
                (_, true) => rest + b,
                (_, false) => rest,
            })
        }
        ("bitCountInt", [a]) => {
            let low = a.want_whole()? & i64::from(u32::MAX);
            ScriptValue::Whole(i64::from(low.count_ones()))
        }
        ("compareOf", [a, b]) => collections::ordered(a, b)?,
        ("maxOf", [a, b]) => ScriptValue::Whole(a.want_whole()?.max(b.want_whole()?)),
        ("minOf", [a, b]) => ScriptValue::Whole(a.want_whole()?.min(b.want_whole()?)),
        ("signumOf", [a]) => ScriptValue::Whole(a.want_whole()?.signum()),
        ("sumOf", [a, b]) => match (a, b) {
            (ScriptValue::Whole(a), ScriptValue::Whole(b)) => {
                ScriptValue::Whole(a.wrapping_add(*b))
            }
            (a, b) => ScriptValue::Float(a.want_number()? + b.want_number()?),
        },
        ("hexInt", [a]) => text(format!("{:x}", a.want_whole()? & i64::from(u32::MAX))),
        ("hexLong", [a]) => text(format!("{:x}", a.want_whole()?)),
        ("binaryInt", [a]) => text(format!("{:b}", a.want_whole()? & i64::from(u32::MAX))),
        ("binaryLong", [a]) => text(format!("{:b}", a.want_whole()?)),
        ("inRadix", [a, radix]) => text(in_radix(a.want_whole()?, radix_of(radix)?)),
        ("parseRadix", [digits, radix]) => {
            let digits = digits.shown();
            let read = i64::from_str_radix(&digits, radix_of(radix)?);
            ScriptValue::Whole(read.map_err(|_| ScriptError::not_a_number(&digits))?)
        }
        ("format", [format, values] | [_, format, values]) => {
            written::formatted(format.want_text()?, values)?
        }
        ("parseUnsigned", [digits]) => {
            let digits = digits.shown();
            let read = digits.parse::<u64>();
            let read = read.map_err(|_| ScriptError::not_a_number(&digits))?;
            ScriptValue::Whole(i64::from_ne_bytes(read.to_ne_bytes()))
        }
        ("digitInRadix", [letter, radix]) => {
            let unit = u32::try_from(letter.want_whole()?).ok();
            let letter = unit.and_then(char::from_u32).unwrap_or('\u{fffd}');
            let digit = letter.to_digit(radix_of(radix)?);
            ScriptValue::Whole(digit.map_or(-1, i64::from))
        }
        ("isNaN", [a]) => ScriptValue::Bool(a.want_number()?.is_nan()),
        ("isInfinite", [a]) => ScriptValue::Bool(a.want_number()?.is_infinite()),
        ("equalsOf", [a, b]) => ScriptValue::Bool(is_same(a, b)),
        ("isNull", [a]) => ScriptValue::Bool(*a == ScriptValue::Null),
        ("isThere", [a]) => ScriptValue::Bool(*a != ScriptValue::Null),
        (name, [letter]) => return of_letter(name, letter),
        _ => return Ok(None),
    }))
}

/// What such a function makes of a letter; `None` where it is another one.
fn of_letter<'a>(
    name: &str,
    value: &ScriptValue<'a>,
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    const OF_LETTERS: &[&str] = &[
        "digitOf",
        "isDigit",
        "isLetter",
        "isLetterOrDigit",
        "isLowerCase",
        "isUpperCase",
        "isWhitespace",
        "lowerLetter",
        "upperLetter",
    ];
    if !OF_LETTERS.contains(&name) {
        return Ok(None);
    }
    let unit = u32::try_from(value.want_whole()?).ok();
    let letter = unit.and_then(char::from_u32).unwrap_or('\u{fffd}');
    // A letter whose other case is several is left.
    let single = |mut cases: Box<dyn Iterator<Item = char>>| match (cases.next(), cases.next()) {
        (Some(only), None) => only,
        _ => letter,
    };
    let of = |letter: char| {
        let mut units = [0; 2];
        let unit = letter.encode_utf16(&mut units).first().copied();
        ScriptValue::Char(unit.unwrap_or(0))
    };
    Ok(Some(match name {
        "digitOf" => ScriptValue::Whole(letter.to_digit(36).map_or(-1, i64::from)),
        "isDigit" => ScriptValue::Bool(letter.is_ascii_digit()),
        "isLetter" => ScriptValue::Bool(letter.is_alphabetic()),
        "isLetterOrDigit" => ScriptValue::Bool(letter.is_alphanumeric()),
        "isLowerCase" => ScriptValue::Bool(letter.is_lowercase()),
        "isUpperCase" => ScriptValue::Bool(letter.is_uppercase()),
        "isWhitespace" => ScriptValue::Bool(letter.is_whitespace()),
        "lowerLetter" => of(single(Box::new(letter.to_lowercase()))),
        _ => of(single(Box::new(letter.to_uppercase()))),
    }))
}

fn text<'a>(text: String) -> ScriptValue<'a> {
    ScriptValue::Text(text.into())
}

fn radix_of(value: &ScriptValue<'_>) -> Result<u32, ScriptError> {
    let radix = u32::try_from(value.want_whole()?).ok();
    let radix = radix.filter(|radix| (2..=36).contains(radix));
    radix.ok_or_else(|| ScriptError::argument("a radix is from 2 to 36"))
}
