//! How values may be spelled that `convert` makes others of: as pipelines want them, or as other shippers do.

use serde_json::{Map, Value as Json};

use crate::error::DefinitionError;
use crate::members::flag;
use crate::steps::convert::{ConvertType, Typed};

/// The longest number with a fraction that is looked for at the beginning of a text.
const NUMBER_BYTES_MAX: usize = 64;

/// How strictly values have to be spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As pipelines want them.
    Strict,
    /// Also with commas between thousands, whole numbers with a fraction, which is cut off, and truths as `yes`, `n`, `1`.
    Lenient,
    /// As Beats, which are written in Go, want them: truths are the texts that Go takes for some, and what is a number may have a fraction.
    Go,
    /// As Logstash, which is written in Ruby, makes them of everything: numbers are what a text begins with, or 0, and what spells no truth stays.
    Ruby,
}

impl Spelling {
    /// Reads `lenient`, which only lines have.
    pub(super) fn take(config: &mut Map<String, Json>) -> Result<Self, DefinitionError> {
        let language = match config.get("lenient").and_then(Json::as_str) {
            Some("go") => Some(Spelling::Go),
            Some("ruby") => Some(Spelling::Ruby),
            _ => None,
        };
        if let Some(language) = language {
            config.remove("lenient");
            return Ok(language);
        }
        Ok(match flag(config, "lenient", false)? {
            true => Spelling::Lenient,
            false => Spelling::Strict,
        })
    }

    /// What a text spells, or a number says.
    pub(super) fn read(self, kind: ConvertType, text: &str, is_number: bool) -> Option<Typed> {
        match self {
            Spelling::Strict => kind.read(text),
            Spelling::Lenient => kind.read(text).or_else(|| leniently(kind, text)),
            Spelling::Go => as_go(kind, text, is_number),
            Spelling::Ruby => as_ruby(kind, text, is_number),
        }
    }
}

/// What a text spells that is not written as pipelines want it.
fn leniently(kind: ConvertType, text: &str) -> Option<Typed> {
    let text = text.trim();
    match kind {
        ConvertType::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "1" | "1.0" => Some(Typed::Bool(true)),
            "false" | "f" | "no" | "n" | "0" | "0.0" => Some(Typed::Bool(false)),
            _ => None,
        },
        ConvertType::Integer | ConvertType::Long => {
            let whole = text.replace(',', "");
            let (whole, fraction) = whole.split_once('.').unwrap_or((whole.as_str(), ""));
            let is_number = fraction.bytes().all(|byte| byte.is_ascii_digit());
            kind.read(whole).filter(|_| is_number)
        }
        ConvertType::Float | ConvertType::Double => kind.read(&text.replace(',', "")),
        ConvertType::Text | ConvertType::Ip | ConvertType::Auto => None,
    }
}

/// What Go makes of a text, or of a number.
fn as_go(kind: ConvertType, text: &str, is_number: bool) -> Option<Typed> {
    match kind {
        ConvertType::Boolean if is_number => None,
        ConvertType::Boolean => match text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(Typed::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(Typed::Bool(false)),
            _ => None,
        },
        ConvertType::Integer | ConvertType::Long if is_number => {
            kind.read(text.split_once('.').map_or(text, |(whole, _)| whole))
        }
        _ => kind.read(text),
    }
}

/// What Ruby makes of a text, or of a number.
fn as_ruby(kind: ConvertType, text: &str, is_number: bool) -> Option<Typed> {
    match (kind, text) {
        (ConvertType::Boolean, "") => Some(Typed::Bool(false)),
        (ConvertType::Boolean, text) => {
            let stays = (!is_number).then_some(Typed::Text);
            leniently(kind, text).or(stays)
        }
        (ConvertType::Integer | ConvertType::Long, "true") => Some(Typed::Whole(1)),
        (ConvertType::Float | ConvertType::Double, "true") => Some(Typed::Float(1.0)),
        (ConvertType::Integer | ConvertType::Long, text) => {
            kind.read(whole_in_front(&text.replace(',', "")))
        }
        (ConvertType::Float | ConvertType::Double, text) => {
            kind.read(number_in_front(&text.replace(',', "")))
        }
        _ => kind.read(text),
    }
}

/// The whole number that a text begins with, or `0`.
fn whole_in_front(text: &str) -> &str {
    let text = text.trim_start();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match digits.bytes().take_while(u8::is_ascii_digit).count() {
        0 => "0",
        count => &text[..text.len() - digits.len() + count],
    }
}

/// The number that a text begins with, or `0`.
fn number_in_front(text: &str) -> &str {
    let text = text.trim_start();
    let may_be = |byte: &u8| byte.is_ascii_digit() || b".+-eE".contains(byte);
    let longest = text.bytes().take(NUMBER_BYTES_MAX);
    let longest = longest.take_while(may_be).count();
    let mut fronts = (1..=longest).rev().map(|end| &text[..end]);
    let number = fronts.find(|front| front.parse::<f64>().is_ok());
    number.unwrap_or("0")
}
