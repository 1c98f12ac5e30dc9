//! Scripts: short programs over one document, or over the numbers of one bucket, as users write them in Painless or as
//! expressions.
//!
//! A script is read once into a tree ([`Script::read`]) and run for each document ([`Script::run`]), which is seen through
//! [`ScriptDocument`] alone. What is understood: values of fields, the score, parameters, arithmetic, comparisons, choices,
//! variables, loops, functions of one's own, and the methods of texts, lists, maps, dates and points that scores and filters
//! are made of; an object that is there to be changed ([`Script::change`]) is seen as `ctx`, what several scripts share
//! ([`ScriptState`]) as `state`. Each run is bounded by steps, its texts by bytes, and what it holds by both. Deliberately
//! absent: classes, and anything that reaches beyond the document.

mod assign;
mod bits;
mod calendar;
mod collections;
mod containers;
mod date_formats;
mod date_functions;
mod dates;
mod days;
mod document;
mod document_values;
mod doing;
mod emitted;
mod ends;
mod failures;
mod functions;
mod gathered;
mod higher_order;
mod lambdas;
mod lexer;
mod list_functions;
mod matcher;
mod members;
mod methods;
mod moments;
mod names;
mod objects;
mod operators;
mod own;
mod parser;
mod pattern;
mod processed;
mod run;
mod statements;
mod statics;
mod term_counts;
mod texts;
mod tree;
mod value;
mod windows;
mod written;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use clew_analysis::in_one_definition;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::script::{ScoreFormula, VectorMeasure};
use crate::error::{ScriptError, ScriptErrorKind};
use document::NoDocument;
use parser::Parser;
use run::Machine;
use tree::{Node, Operator, Own, Statement};

pub use document::ScriptDocument;
pub use emitted::Emitted;
pub use gathered::ScriptState;
pub use term_counts::TermCount;
pub use value::{ScriptValue, json_bytes};

/// How long the text of a script may be.
const SOURCE_BYTES_MAX: usize = 65_535;

/// How long what a script makes may be as JSON, or how much longer than what it was given.
const SAID_BYTES_MAX: usize = 16 << 20;

/// What a script is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptLanguage {
    /// Painless: whole numbers are divided as such, and what has no value is an error.
    Painless,
    /// Lucene's expressions: all are numbers, and what has no value is zero.
    Expression,
}

impl ScriptLanguage {
    /// The language with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "painless" => Some(ScriptLanguage::Painless),
            "expression" => Some(ScriptLanguage::Expression),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ScriptLanguage::Painless => "painless",
            ScriptLanguage::Expression => "expression",
        }
    }
}

/// What a script may see beside the values of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptPurpose {
    /// It makes a score: it sees the score so far, and the document's source.
    Score,
    /// It makes something to order by: it sees the score and the source, and not the time.
    Order,
    /// It says whether a document matches.
    Filter,
    /// It changes an object, which it sees as `ctx`, or says whether something holds of it.
    Change,
    /// It makes a number of a bucket's numbers, which stand among its parameters: they are the fields of
    /// [`ScriptDocument`]. It sees neither fields nor the time.
    Bucket,
    /// It makes a number of the numbers of the buckets around, which it sees as `values`: they are the one field of
    /// [`ScriptDocument`].
    Window,
    /// It says whether an interval of words counts, which it sees as `interval`: where that begins and ends and its gaps
    /// are the fields `start`, `end` and `gaps` of [`ScriptDocument`].
    Interval,
    /// It makes a value to show: it sees the document's source.
    Field,
    /// It makes values that are counted, of a document or of a value that it is given ([`Script::GIVEN`]): it sees the
    /// score and the source, too.
    Values,
    /// It begins or ends what is gathered of documents: it sees `state`, which it may change, and no document.
    State,
    /// It gathers something of a document: it sees that and its score, and `state`, which it changes.
    StateOfDocument,
    /// It makes one of what was gathered in several places: it sees `states`, and no document.
    States,
    /// It emits the values that a derived field has of a document, of which it sees the source, too.
    Derived,
    /// It is tried: it sees its parameters alone.
    Alone,
}

impl ScriptPurpose {
    /// Whether there is a document.
    fn sees_fields(self) -> bool {
        !matches!(
            self,
            ScriptPurpose::Change
                | ScriptPurpose::Window
                | ScriptPurpose::Interval
                | ScriptPurpose::State
                | ScriptPurpose::States
                | ScriptPurpose::Alone
        )
    }

    /// Whether there are vectors to measure.
    fn sees_vectors(self) -> bool {
        self.sees_fields()
            && !matches!(
                self,
                ScriptPurpose::Bucket
                    | ScriptPurpose::Values
                    | ScriptPurpose::StateOfDocument
                    | ScriptPurpose::Derived
            )
    }

    /// Whether documents have a score.
    fn sees_scores(self) -> bool {
        matches!(
            self,
            ScriptPurpose::Score
                | ScriptPurpose::Order
                | ScriptPurpose::Values
                | ScriptPurpose::StateOfDocument
        )
    }

    /// What the object is called that is there to be changed.
    fn context(self) -> Option<&'static str> {
        match self {
            ScriptPurpose::Change => Some("ctx"),
            ScriptPurpose::State | ScriptPurpose::StateOfDocument => Some("state"),
            ScriptPurpose::States => Some("states"),
            _ => None,
        }
    }
}

/// How near a document's vector is to another one, which a script asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptMeasure {
    /// The path of the field with the vectors.
    pub field: String,
    /// What they are measured against.
    pub vector: Vec<f32>,
    /// The measure.
    pub measure: VectorMeasure,
}

/// A script, understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    source: String,
    language: ScriptLanguage,
    params: Value,
    fields: Vec<String>,
    measures: Vec<ScriptMeasure>,
    /// Fields of which one value is wanted, with the bytes of the text where that is.
    #[serde(default)]
    wanted_at: Vec<(usize, usize)>,
    /// Whether it looks at the score.
    #[serde(default)]
    scored: bool,
    /// Places for variables.
    variables: usize,
    /// Functions of its own.
    #[serde(default)]
    functions: Vec<Own>,
    body: Vec<Statement>,
}

/// Scripts that were read since the process began.
static READ_TOTAL: AtomicU64 = AtomicU64::new(0);

impl Script {
    /// How many scripts this process has read, in whatever they stand. None is kept, so that one that comes again is read again.
    pub fn read_total() -> u64 {
        READ_TOTAL.load(Ordering::Relaxed)
    }

    /// What scripts of [`ScriptPurpose::Values`] call the value that they are given, which stands among their fields
    /// under this name.
    pub const GIVEN: &'static str = "_value";

    /// Understands a script; its parameters are part of it.
    ///
    /// # Errors
    /// What is not understood, and at which byte of the text.
    pub fn read(
        source: &str,
        language: ScriptLanguage,
        params: &Value,
        purpose: ScriptPurpose,
    ) -> Result<Self, ScriptError> {
        let refused = |reason| ScriptError::new(ScriptErrorKind::Unreadable, reason).of(source);
        if source.len() > SOURCE_BYTES_MAX {
            return Err(refused(format!(
                "exceeded max allowed inline script size in bytes [{SOURCE_BYTES_MAX}] with size \
                 [{}]",
                source.len()
            )));
        }
        READ_TOTAL.fetch_add(1, Ordering::Relaxed);
        let _definition = in_one_definition();
        let read = Parser::new(source, language, params, purpose).and_then(Parser::read);
        let read = read.map_err(refused)?;
        Ok(Script {
            source: source.to_string(),
            language,
            params: match params {
                Value::Null => Value::Object(Map::new()),
                params => params.clone(),
            },
            fields: read.fields,
            measures: read.measures,
            wanted_at: read.wanted_at,
            scored: read.scored,
            variables: read.variables,
            functions: read.functions,
            body: read.body,
        })
    }

    /// Its text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What was given to it by name.
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// What it is written in.
    pub fn language(&self) -> ScriptLanguage {
        self.language
    }

    /// The paths of the fields whose values it reads, or the names of a bucket's numbers; [`ScriptDocument`] is asked by
    /// their places here.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The vectors that it measures; [`ScriptDocument`] is asked by their places here.
    pub fn measures(&self) -> &[ScriptMeasure] {
        &self.measures
    }

    /// Whether it looks at the document's score.
    pub fn sees_score(&self) -> bool {
        self.scored
    }

    /// What it makes of a document.
    ///
    /// # Errors
    /// What went wrong, as when a value that it needs is not there, or it takes too many steps.
    pub fn run<'a>(
        &'a self,
        document: &mut dyn ScriptDocument<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        Ok(match self.said(document)? {
            None => ScriptValue::Null,
            // How it would be told is of no account any more.
            Some(ScriptValue::Moment(millis, _)) => ScriptValue::Date(millis),
            Some(value) => value,
        })
    }

    /// What it says of a document, if anything.
    fn said<'a>(
        &'a self,
        document: &mut dyn ScriptDocument<'a>,
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let mut machine = Machine::new(self, document);
        let said = machine.run().map_err(|error| error.of(&self.source))?;
        let mut left = SAID_BYTES_MAX;
        if said.as_ref().is_some_and(|said| !said.fits(&mut left)) {
            return Err(too_much(SAID_BYTES_MAX).of(&self.source));
        }
        Ok(said)
    }

    /// What it makes where there is no document, as it stands in a text.
    ///
    /// # Errors
    /// As [`Script::run`].
    pub fn alone(&self, now_ms: i64) -> Result<String, ScriptError> {
        let mut nothing = NoDocument(now_ms);
        let said = self.said(&mut nothing)?;
        Ok(said.unwrap_or(ScriptValue::Null).shown().into_owned())
    }

    /// What it makes of an object, which it sees as `ctx`: the object as the script leaves it. What it says is of no
    /// account. The order of members stays.
    ///
    /// # Errors
    /// As [`Script::run`]; what it makes of the object may be too large, too.
    pub fn change(&self, object: &Value, now_ms: i64) -> Result<Value, ScriptError> {
        let mut nothing = NoDocument(now_ms);
        let mut machine = Machine::over(self, &mut nothing, object);
        machine.run().map_err(|error| error.of(&self.source))?;
        let given = value::json_bytes(object) + value::json_bytes(&self.params);
        let grown = SAID_BYTES_MAX + given;
        let mut left = grown;
        if !machine.context().fits(&mut left) {
            return Err(too_much(grown).of(&self.source));
        }
        Ok(machine.context().to_json())
    }

    /// Whether it holds of an object, which it sees as `ctx`: not where it says nothing. Nothing becomes of changes.
    ///
    /// # Errors
    /// As [`Script::run`]; what it makes may be no truth value, too.
    pub fn holds_of(&self, object: &Value, now_ms: i64) -> Result<bool, ScriptError> {
        let mut nothing = NoDocument(now_ms);
        let mut machine = Machine::over(self, &mut nothing, object);
        let said = machine.run().map_err(|error| error.of(&self.source))?;
        let Some(said) = said else {
            return Ok(false);
        };
        said.truth()
            .ok_or_else(|| said.no_cast("boolean").of(&self.source))
    }

    /// The number that it makes of a document: zero where it says nothing.
    ///
    /// # Errors
    /// As [`Script::run`]; what it makes may be no number, too.
    pub fn number<'a>(&'a self, document: &mut dyn ScriptDocument<'a>) -> Result<f64, ScriptError> {
        match self.said(document)? {
            Some(value) => self.number_in(&value),
            None => Ok(0.0),
        }
    }

    /// The same: none where it says nothing, or null.
    ///
    /// # Errors
    /// As [`Script::number`].
    pub fn number_if_any<'a>(
        &'a self,
        document: &mut dyn ScriptDocument<'a>,
    ) -> Result<Option<f64>, ScriptError> {
        match self.said(document)? {
            None | Some(ScriptValue::Null) => Ok(None),
            Some(value) => self.number_in(&value).map(Some),
        }
    }

    /// The text that it makes of a document: none where it says nothing, or null.
    ///
    /// # Errors
    /// As [`Script::run`]; what it makes may be no text, too.
    pub fn text_if_any<'a>(
        &'a self,
        document: &mut dyn ScriptDocument<'a>,
    ) -> Result<Option<String>, ScriptError> {
        match self.said(document)? {
            None | Some(ScriptValue::Null) => Ok(None),
            Some(ScriptValue::Text(text)) => Ok(Some(text.into_owned())),
            Some(other) => Err(other.no_cast("java.lang.String").of(&self.source)),
        }
    }

    fn number_in(&self, value: &ScriptValue<'_>) -> Result<f64, ScriptError> {
        let number = operators::lenient(value, self.language);
        number.ok_or_else(|| value.no_cast("double").of(&self.source))
    }

    /// Whether it holds of a document: not where it says nothing.
    ///
    /// # Errors
    /// As [`Script::run`]; what it makes may be no truth value, too.
    pub fn holds<'a>(&'a self, document: &mut dyn ScriptDocument<'a>) -> Result<bool, ScriptError> {
        let Some(value) = self.said(document)? else {
            return Ok(false);
        };
        let truth = match (&value, self.language) {
            (value, ScriptLanguage::Expression) => value.number().map(|number| number != 0.0),
            _ => None,
        };
        let truth = truth.or_else(|| value.truth());
        truth.ok_or_else(|| value.no_cast("boolean").of(&self.source))
    }
}

/// The error of a script whose outcome is longer than it may be.
fn too_much(bytes_max: usize) -> ScriptError {
    ScriptError::new(
        ScriptErrorKind::Limit,
        format!("what the script makes would be longer than [{bytes_max}] bytes"),
    )
}

impl Script {
    /// The measure that the script is, and what it makes of it, where that is all it does: a number added to it, one
    /// divided by that sum, or half of a cosine and one.
    pub fn as_measure(&self) -> Option<(&ScriptMeasure, ScoreFormula)> {
        let body = self.body.iter();
        let body: Vec<&Statement> = body
            .filter(|one| !matches!(one, Statement::At(_)))
            .collect();
        let [Statement::Value(value) | Statement::Return(Some(value))] = &body[..] else {
            return None;
        };
        let [only] = &self.measures[..] else {
            return None;
        };
        let number = |node: &Node| match node {
            Node::Whole(_) | Node::Long(_) | Node::Float(_) => names::literal(node),
            _ => None,
        };
        let sum = |node: &Node| match node {
            Node::Measure(_) => Some(0.0),
            Node::Pair(Operator::Add, left, right) => match (&**left, &**right) {
                (Node::Measure(_), other) | (other, Node::Measure(_)) => number(other),
                _ => None,
            },
            _ => None,
        };
        let formula = match value {
            Node::Pair(Operator::Divide, one, below) if number(one) == Some(1.0) => {
                ScoreFormula::Inverse(sum(below)?)
            }
            Node::Pair(Operator::Divide, above, two)
                if number(two) == Some(2.0)
                    && sum(above) == Some(1.0)
                    && only.measure == VectorMeasure::Cosine =>
            {
                ScoreFormula::HalfOfOneMore
            }
            other => ScoreFormula::Plus(sum(other)?),
        };
        Some((only, formula))
    }
}
