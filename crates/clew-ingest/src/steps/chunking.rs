//! `text_chunking`: texts in pieces that a model can take, of so many words each or up to a mark.

use clew_analysis::{Analysis, PartLimits, for_each_token};
use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{flag, not_a};

/// How many words a text may have that is cut by them: as many as `_analyze` gives.
const WORDS_MAX: usize = 10_000;

/// Pieces of a document where nothing is said of them.
const PIECES_DEFAULT: i32 = 100;

/// Words of a piece where nothing is said of them.
const PIECE_WORDS_DEFAULT: i32 = 384;

/// How deep the fields may lie: as deep as a mapping.
const DEPTH_MAX: usize = 20;

/// What cuts texts in words.
const TOKENIZERS: [&str; 7] = [
    "standard",
    "letter",
    "lowercase",
    "whitespace",
    "uax_url_email",
    "classic",
    "thai",
];

/// The step.
#[derive(Debug)]
pub(crate) struct Chunking {
    fields: Vec<Member>,
    cut: Cut,
    /// Pieces of a document; none means any number.
    pieces_max: Option<usize>,
    ignore_missing: bool,
}

/// A member of an object, with what becomes of it.
type Member = (String, Target);

#[derive(Debug)]
enum Target {
    /// The pieces become the member of this name.
    Named(String),
    /// It is an object, or a list of them, with texts inside.
    Inside(Vec<Member>),
}

impl Target {
    fn parse(value: Value) -> Self {
        match value {
            Value::Object(members) => Target::Inside(targets(members)),
            other => Target::Named(java_text(&other)),
        }
    }

    /// What is inside of an object.
    fn inside(&self, name: &str) -> Result<&[Member], Failure> {
        match self {
            Target::Inside(fields) => Ok(fields),
            Target::Named(_) => Err(Failure::unfit(format!(
                "[{name}] configuration doesn't match actual value type, configuration type is: \
                 java.lang.String, actual value type is: java.util.HashMap"
            ))),
        }
    }
}

fn targets(members: Map<String, Value>) -> Vec<Member> {
    let members = members.into_iter();
    members
        .map(|(name, value)| (name, Target::parse(value)))
        .collect()
}

/// Where texts are cut.
#[derive(Debug)]
enum Cut {
    /// Before every so manyth word; the next piece has the last words of the one before once more.
    Words {
        analyzer: String,
        limit: usize,
        again: usize,
    },
    /// Behind a mark.
    Mark(String),
}

impl Cut {
    fn parse(name: &str, parameters: &Map<String, Value>) -> Result<Self, DefinitionError> {
        match name {
            "fixed_token_length" => Cut::by_words(parameters),
            "delimiter" => Ok(Cut::Mark(named(parameters, "delimiter", "\n\n")?)),
            other => Err(DefinitionError::malformed(format!(
                "Chunking algorithm [{other}] is not supported. Supported chunking algorithms are \
                 [fixed_token_length, delimiter]"
            ))),
        }
    }

    fn by_words(parameters: &Map<String, Value>) -> Result<Self, DefinitionError> {
        let limit = integer(parameters, "token_limit", PIECE_WORDS_DEFAULT)?;
        let limit = usize::try_from(limit).unwrap_or(0);
        if limit == 0 {
            return Err(DefinitionError::malformed(
                "Parameter [token_limit] must be positive.",
            ));
        }
        let rate = number(parameters, "overlap_rate", 0.0)?;
        let tokenizer = named(parameters, "tokenizer", "standard")?;
        if !(0.0..=0.5).contains(&rate) {
            return Err(DefinitionError::malformed(
                "Parameter [overlap_rate] must be between 0.0 and 0.5",
            ));
        }
        if !TOKENIZERS.contains(&tokenizer.as_str()) {
            return Err(DefinitionError::malformed(format!(
                "Tokenizer [{tokenizer}] is not supported for [fixed_token_length] algorithm. \
                 Supported tokenizers are [{}]",
                TOKENIZERS.join(", ")
            )));
        }
        let wanted = json!({ "tokenizer": tokenizer });
        let analyzer = Analysis::default().assembled(&wanted, PartLimits::default());
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "half of a number of 31 bits at most"
        )]
        let again = (limit as f64 * rate).floor() as usize;
        Ok(Cut::Words {
            analyzer: analyzer.map_err(DefinitionError::malformed)?,
            limit,
            again,
        })
    }

    /// The pieces of a text, the last of which has all that is left once it is full.
    fn pieces<'t>(
        &self,
        text: &'t str,
        is_full: impl Fn(usize) -> bool,
    ) -> Result<Vec<&'t str>, Failure> {
        let mut pieces = Vec::new();
        match self {
            Cut::Mark(mark) => {
                let mut rest = text;
                while let Some(at) = rest.find(mark.as_str())
                    && !is_full(pieces.len())
                {
                    let (piece, behind) = rest.split_at(at + mark.len());
                    pieces.push(piece);
                    rest = behind;
                }
                if !rest.is_empty() {
                    pieces.push(rest);
                }
            }
            Cut::Words {
                analyzer,
                limit,
                again,
            } => {
                let starts = word_starts(analyzer, text)?;
                let mut word = 0;
                while let Some(start) = starts.get(word) {
                    // What is before the first word belongs to it.
                    let start = if word == 0 { 0 } else { *start };
                    let next = starts.get(word + limit).filter(|_| !is_full(pieces.len()));
                    let end = next.copied().unwrap_or(text.len());
                    pieces.push(text.get(start..end).unwrap_or_default());
                    if next.is_none() {
                        break;
                    }
                    word += limit - again;
                }
            }
        }
        Ok(pieces)
    }
}

/// At which bytes the words of a text begin.
fn word_starts(analyzer: &str, text: &str) -> Result<Vec<usize>, Failure> {
    let mut starts = Vec::new();
    let mut words: usize = 0;
    for_each_token(analyzer, text, |token| {
        words += 1;
        if words <= WORDS_MAX {
            starts.push(token.offset_from);
        }
    });
    if words > WORDS_MAX {
        return Err(Failure::unfit(format!(
            "The number of tokens produced by calling _analyze has exceeded the allowed maximum of \
             [{WORDS_MAX}]. This limit can be set by changing the [index.analyze.max_token_count] \
             index level setting."
        )));
    }
    Ok(starts)
}

/// What is left for the texts of a document that are still to come.
struct Left {
    /// Pieces; none means any number.
    pieces: Option<usize>,
    /// Texts, each of which gets a piece at least.
    texts: usize,
}

impl Chunking {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let fields = targets(object(config, "field_map")?);
        let mut algorithm = object(config, "algorithm")?.into_iter();
        let ignore_missing = flag(config, "ignore_missing", false)?;
        let (name, parameters) = match (algorithm.next(), algorithm.next()) {
            (None, _) => ("fixed_token_length".to_string(), Map::new()),
            (Some((name, Value::Object(parameters))), None) => (name, parameters),
            (Some((name, _)), None) => {
                return Err(DefinitionError::malformed(format!(
                    "Unable to create text_chunking processor as parameters for [{name}] algorithm \
                     must be an object"
                )));
            }
            (Some(_), Some(_)) => {
                return Err(DefinitionError::malformed(
                    "Unable to create text_chunking processor as [algorithm] contains multiple \
                     algorithms",
                ));
            }
        };
        let pieces_max = match integer(&parameters, "max_chunk_limit", PIECES_DEFAULT)? {
            -1 => None,
            pieces @ 1.. => usize::try_from(pieces).ok(),
            _ => {
                return Err(DefinitionError::malformed(
                    "Parameter [max_chunk_limit] must be positive or -1 to disable this parameter",
                ));
            }
        };
        Ok(Chunking {
            fields,
            cut: Cut::parse(&name, &parameters)?,
            pieces_max,
            ignore_missing,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Value::Object(members) = &document.source else {
            return Ok(());
        };
        check(members, &self.fields, 1)?;
        let mut left = Left {
            pieces: self.pieces_max,
            texts: texts_in(members, &self.fields),
        };
        let mut source = std::mem::take(&mut document.source);
        let done = match &mut source {
            Value::Object(members) => self.within(members, &self.fields, &mut left, document),
            _ => Ok(()),
        };
        document.source = source;
        done
    }

    /// Cuts the texts of an object; `document` counts what is set.
    fn within(
        &self,
        members: &mut Map<String, Value>,
        fields: &[Member],
        left: &mut Left,
        document: &mut Document,
    ) -> Result<(), Failure> {
        for (name, target) in fields {
            match (target, members.get_mut(name)) {
                (Target::Inside(fields), Some(Value::Object(inner))) => {
                    self.within(inner, fields, left, document)?;
                }
                (Target::Inside(fields), Some(Value::Array(items))) => {
                    for item in items.iter_mut() {
                        if let Value::Object(inner) = item {
                            self.within(inner, fields, left, document)?;
                        }
                    }
                }
                (Target::Inside(_), _) => {}
                (Target::Named(_), None | Some(Value::Null)) if self.ignore_missing => {}
                (Target::Named(target), value) => {
                    let pieces = self.pieces(value.as_deref(), left)?;
                    let pieces = Value::Array(pieces);
                    document.count(&pieces)?;
                    members.insert(target.clone(), pieces);
                }
            }
        }
        Ok(())
    }

    /// The pieces of a text, or of a list of texts.
    fn pieces(&self, value: Option<&Value>, left: &mut Left) -> Result<Vec<Value>, Failure> {
        match value {
            Some(Value::String(text)) if !text.trim().is_empty() => self.cut(text, left),
            Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
                let mut pieces = Vec::new();
                for text in items.iter().filter_map(Value::as_str) {
                    if !text.is_empty() {
                        pieces.extend(self.cut(text, left)?);
                    }
                }
                Ok(pieces)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn cut(&self, text: &str, left: &mut Left) -> Result<Vec<Value>, Failure> {
        let is_full = |pieces: usize| left.pieces.is_some_and(|most| pieces + left.texts >= most);
        let pieces = self.cut.pieces(text, is_full)?;
        left.texts = left.texts.saturating_sub(1);
        left.pieces = left.pieces.map(|most| most.saturating_sub(pieces.len()));
        Ok(pieces.into_iter().map(Value::from).collect())
    }
}

/// Whether the values of the fields are texts, as deep as that may be.
fn check(members: &Map<String, Value>, fields: &[Member], depth: usize) -> Result<(), Failure> {
    let values = fields.iter().filter_map(|(name, target)| {
        let value = members.get(name).filter(|value| !value.is_null())?;
        Some((name, target, value))
    });
    for (name, target, value) in values {
        let deeper = |levels: usize| {
            if depth + levels > DEPTH_MAX {
                return Err(Failure::unfit(format!(
                    "map type field [{name}] reaches max depth limit, cannot process it"
                )));
            }
            Ok(depth + levels)
        };
        match value {
            Value::Object(inner) => {
                let depth = deeper(1)?;
                check(inner, target.inside(name)?, depth)?;
            }
            Value::Array(items) => {
                for item in items {
                    let wrong = match item {
                        Value::Object(inner) => {
                            let depth = deeper(2)?;
                            check(inner, target.inside(name)?, depth)?;
                            continue;
                        }
                        Value::String(_) => continue,
                        Value::Null => "has null",
                        Value::Array(_) => "is nested list type",
                        _ => "has non string value",
                    };
                    return Err(Failure::unfit(format!(
                        "list type field [{name}] {wrong}, cannot process it"
                    )));
                }
            }
            Value::String(_) => {}
            _ => {
                return Err(Failure::unfit(format!(
                    "map type field [{name}] is neither string nor nested type, cannot process it"
                )));
            }
        }
    }
    Ok(())
}

/// How many texts there are to cut.
fn texts_in(members: &Map<String, Value>, fields: &[Member]) -> usize {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let of = |(name, target): &Member| match (target, members.get(name)) {
        (Target::Inside(fields), Some(Value::Object(inner))) => texts_in(inner, fields),
        (Target::Inside(fields), Some(Value::Array(items))) => {
            let inner = items.iter().filter_map(Value::as_object);
            inner.map(|inner| texts_in(inner, fields)).sum()
        }
        (Target::Named(_), Some(Value::Array(items))) => {
            items.iter().filter(|item| is_text(item)).count()
        }
        (Target::Named(_), Some(value)) => usize::from(is_text(value)),
        _ => 0,
    };
    fields.iter().map(of).sum()
}

/// A member that must be an object.
fn object(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<Map<String, Value>, DefinitionError> {
    match config.remove(key) {
        Some(Value::Object(members)) => Ok(members),
        None | Some(Value::Null) => Err(DefinitionError::missing(key)),
        Some(other) => Err(not_a("map", key, &other)),
    }
}

/// What is said of a parameter of another type.
fn no_such_type(key: &str, class: &str) -> DefinitionError {
    DefinitionError::malformed(format!("Parameter [{key}] must be of {class} type"))
}

fn integer(
    parameters: &Map<String, Value>,
    key: &str,
    default: i32,
) -> Result<i32, DefinitionError> {
    let Some(value) = parameters.get(key) else {
        return Ok(default);
    };
    let read = java_text(value).parse();
    read.map_err(|_| no_such_type(key, "java.lang.Integer"))
}

fn number(
    parameters: &Map<String, Value>,
    key: &str,
    default: f64,
) -> Result<f64, DefinitionError> {
    let Some(value) = parameters.get(key) else {
        return Ok(default);
    };
    let read = java_text(value).parse();
    read.map_err(|_| no_such_type(key, "java.lang.Double"))
}

fn named(
    parameters: &Map<String, Value>,
    key: &str,
    default: &str,
) -> Result<String, DefinitionError> {
    match parameters.get(key) {
        None => Ok(default.to_string()),
        Some(Value::String(text)) if text.is_empty() => Err(DefinitionError::malformed(format!(
            "Parameter [{key}] should not be empty."
        ))),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(no_such_type(key, "java.lang.String")),
    }
}
