//! Why a document was refused: kinds with what they are about, and sentences that more than one protocol can show. What a
//! kind is called, its protocol says.

use super::json::JsonError;
use crate::json_fault::{JsonFault, TextPlace};
use crate::mapping::NameProblem;

/// Why a document was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The text is no JSON, or none that is read.
    #[error("failed to parse: {reason} at line {}, column {}", .place.line, .place.column)]
    Malformed {
        /// What is wrong there.
        reason: String,
        /// Where it is.
        place: TextPlace,
        /// The same as other readers of JSON tell it, where they would not read it either.
        fault: Option<Box<JsonFault>>,
        /// The field whose text it is, and the field's type.
        value_of: Option<Box<(String, &'static str)>>,
    },
    /// The text is JSON, but not an object.
    #[error("failed to parse: document is not an object")]
    NotAnObject,
    /// A value does not fit its field.
    #[error(
        "failed to parse field [{field}] of type [{type_name}]. Preview of field's value: '{preview}': {cause}"
    )]
    Field {
        /// The field's path.
        field: String,
        /// Its type.
        type_name: &'static str,
        /// The beginning of the value.
        preview: String,
        /// Why it does not fit.
        cause: Box<ValueProblem>,
    },
    /// A value stands where the mapping has an object.
    #[error(
        "object mapping for [{field}] tried to parse field [{field}] as object, but found a concrete value"
    )]
    NotAnObjectField {
        /// The object's path.
        field: String,
    },
    /// The mapping takes no more fields.
    #[error(
        "mapping set to {dynamic}, dynamic introduction of [{field}] within [{within}] is not allowed"
    )]
    Strict {
        /// What the mapping says of new fields.
        dynamic: &'static str,
        /// The name that is unknown.
        field: String,
        /// The object that it is in, `_doc` for the document itself.
        within: String,
    },
    /// A term is too long to be indexed.
    #[error(
        "Document contains at least one immense term in field=\"{field}\" (whose UTF8 encoding is longer than the max length {max}), all of which were skipped.  Please correct the analyzer to not produce such terms.  The prefix of the first immense term is: '{start:?}...', original message: bytes can be at most {max} in length; got {length}"
    )]
    ImmenseTerm {
        /// The field's path.
        field: String,
        /// Bytes of the term.
        length: usize,
        /// Bytes that a term may have.
        max: usize,
        /// The first bytes of the term.
        start: Vec<i8>,
    },
    /// The document has a field that only the server may set.
    #[error(
        "Field [{field}] is a metadata field and cannot be added inside a document. Use the index API request parameters."
    )]
    Metadata {
        /// Its name.
        field: String,
        /// The value that it was to have.
        value: String,
    },
    /// A name cannot be one of a field.
    #[error("{}", name_words(name, *problem))]
    Name {
        /// The name.
        name: String,
        /// Why not.
        problem: NameProblem,
    },
    /// A name with dots leads into a nested object.
    #[error(
        "Cannot add a value for field [{field}] since one of the intermediate objects is mapped as a nested object: [{object}]"
    )]
    ThroughNested {
        /// The name.
        field: String,
        /// Its last part but one.
        object: String,
    },
    /// Too many nested objects.
    #[error(
        "The number of nested documents has exceeded the allowed limit of [{max}]. This limit can be set by changing the [index.mapping.nested_objects.limit] index level setting."
    )]
    TooManyNested {
        /// The limit.
        max: usize,
    },
    /// A value makes no sense to its field.
    #[error("failed to parse: {reason}")]
    Unfit {
        /// What kind of value it is.
        kind: UnfitKind,
        /// In which way.
        reason: String,
    },
    /// The document's names or vectors contradict the mapping.
    #[error("{reason}")]
    Refused {
        /// In which way.
        reason: String,
    },
}

/// Why a value does not fit its field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueProblem {
    /// It is text that is no number.
    #[error("For input string: \"{text}\"")]
    NotANumber {
        /// The text.
        text: String,
    },
    /// Only a number can be there, and not even one as text.
    #[error("Failed to parse object: expecting token of type [VALUE_NUMBER] but found [{token}]")]
    NoNumber {
        /// What is there.
        token: &'static str,
    },
    /// It stands where a `flat_object` wants an object.
    #[error("[{field}] unexpected token [{token}] in flat_object field value")]
    NotFlat {
        /// The field's path.
        field: String,
        /// What is there.
        token: &'static str,
    },
    /// It is no number or no flag where only one can be.
    #[error("Current token ({token}) not {wanted}")]
    Token {
        /// What is there.
        token: &'static str,
        /// What it is not.
        wanted: &'static str,
        /// The place behind that, where it is known.
        place: Option<TextPlace>,
    },
    /// It is a number beyond those of its kind.
    #[error("Numeric value ({text}) out of range of {range}")]
    OutOfRange {
        /// The number.
        text: String,
        /// The kind.
        range: &'static str,
        /// The place behind it, where it is known.
        place: Option<TextPlace>,
    },
    /// It is of the wrong kind or out of range.
    #[error("{reason}")]
    Other {
        /// In which way.
        reason: String,
    },
}

impl ValueProblem {
    pub(super) fn not_a_number(text: impl Into<String>) -> Self {
        ValueProblem::NotANumber { text: text.into() }
    }

    /// The same with the place behind the value, if that is told of it.
    pub(super) fn placed(mut self, behind: impl FnOnce() -> TextPlace) -> Self {
        match &mut self {
            ValueProblem::Token { place, .. } | ValueProblem::OutOfRange { place, .. } => {
                place.get_or_insert_with(behind);
            }
            ValueProblem::NotANumber { .. }
            | ValueProblem::NoNumber { .. }
            | ValueProblem::NotFlat { .. }
            | ValueProblem::Other { .. } => {}
        }
        self
    }

    /// What is there where only a number can be.
    pub(super) fn not_numeric(token: &'static str, place: Option<TextPlace>) -> Self {
        ValueProblem::Token {
            token,
            wanted: "numeric, can not use numeric value accessors",
            place,
        }
    }

    /// What is there where only a flag can be.
    pub(super) fn no_flag(token: &'static str, place: Option<TextPlace>) -> Self {
        ValueProblem::Token {
            token,
            wanted: "of boolean type",
            place,
        }
    }
}

impl From<String> for ValueProblem {
    fn from(reason: String) -> Self {
        ValueProblem::Other { reason }
    }
}

impl From<&str> for ValueProblem {
    fn from(reason: &str) -> Self {
        reason.to_string().into()
    }
}

/// What kind of value makes no sense to its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitKind {
    /// One that is understood, but cannot be there.
    Illegal,
    /// One of another shape.
    Shape,
    /// One that is not written as such a value is.
    Syntax,
    /// One with a part that is not what belongs there.
    Content,
    /// One that holds a text which is not written as such a text is.
    Text,
    /// A query that could never be asked.
    Query,
}

fn name_words(name: &str, problem: NameProblem) -> String {
    match problem {
        NameProblem::Empty => "field name cannot be an empty string".to_string(),
        NameProblem::EmptyPart if name.bytes().all(|byte| byte == b'.') => {
            "field name cannot contain only the character [.]".to_string()
        }
        NameProblem::EmptyPart => format!(
            "object field starting or ending with a [.] makes object resolution ambiguous: [{name}]"
        ),
        NameProblem::BlankPart => {
            format!("object field cannot contain only whitespace: ['{name}']")
        }
    }
}

impl DocumentError {
    /// The error of a document without the routing key that one of its fields wants.
    pub fn without_routing(field: &str) -> Self {
        DocumentError::Unfit {
            kind: UnfitKind::Illegal,
            reason: format!("[routing] is missing for join field [{field}]"),
        }
    }

    /// The error of a name whose dots lead into a nested object.
    pub(super) fn through_nested(name: &str) -> Self {
        let object = name.rsplit_once('.').map_or(name, |(above, _)| above);
        DocumentError::ThroughNested {
            field: name.to_string(),
            object: object.to_string(),
        }
    }

    /// The error of a reader, with the line and column of its place. Costs a walk through the text.
    pub(super) fn malformed(error: JsonError, source: &[u8]) -> Self {
        let fault = error.is_syntax.then(|| JsonFault::of(source)).flatten();
        DocumentError::Malformed {
            reason: error.reason,
            place: TextPlace::of(source, error.offset),
            fault: fault.map(Box::new),
            value_of: error.value_of,
        }
    }
}
