//! Texts: patterns, words and phrases.

use std::collections::{BTreeMap, HashSet};

use clew_analysis::Token;
use clew_query::{
    Comparison, Fuzziness, FuzzyDistance, Match, MatchPhrase, MinimumShouldMatch,
    Operator as Joined, Pattern, Query, Test, TextPattern,
};
use serde_json::Value;

use super::clauses::{but_not, tested};
use super::operand::Place;
use super::{Lowered, Lowering, patterns};
use crate::collection::{DataType, Field, RowAnalyzers, TEXT, analyzer_settings};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator};

/// States of a regular expression's table: as many as the engine takes.
const EXPRESSION_STATES_MAX: usize = 100_000;
/// Words that are taken for one that may be written otherwise, the nearest first: as many as the engine takes.
const NEAR_WORDS_MAX: usize = 1_024;

impl Lowering<'_> {
    /// A text that is no field's, which is called `what`.
    pub(super) fn text(&self, expr: &Expr, what: &str) -> Lowered<String> {
        match self.literal(expr)? {
            Some(Value::String(text)) => Ok(text),
            _ => Err(ExprError::at(
                expr.at,
                format!("{what} should be a string literal or template variable"),
            )),
        }
    }

    pub(super) fn like(&self, value: &Expr, pattern: &Expr, negated: bool) -> Lowered<Query> {
        self.check_text(value, ("like operation", "non-string or no-json"))?;
        let at = pattern.at;
        let pattern = self.text(pattern, "like pattern")?;
        let backslashes = pattern.chars().rev().take_while(|c| *c == '\\').count();
        if backslashes % 2 == 1 {
            let why = "Invalid LIKE pattern: trailing backslash with nothing to escape";
            return Err(ExprError::at(at, why));
        }
        if let Kind::Path(path) = &value.kind
            && let Place::Indexed(field) = self.place(value.at, path)?
        {
            let query = match plain_prefix(&pattern) {
                Some(prefix) => Query::Prefix(Pattern::new(&field.name, prefix)),
                None => Query::Wildcard(Pattern::new(&field.name, wildcard_of(&pattern))),
            };
            return Ok(matched(field, query, negated));
        }
        let operand = self.single(value)?;
        Ok(tested(
            Test::Text(operand, TextPattern::Like(pattern)),
            negated,
        ))
    }

    /// Refuses to look for a pattern in what is no text and cannot be one, as values inside JSON may be. What is done,
    /// and in what, is told in Milvus' words.
    fn check_text(&self, value: &Expr, (what, of): (&str, &str)) -> Lowered<()> {
        let Kind::Path(path) = &value.kind else {
            // The default of a field that was added stands in its place, and the field has been looked at.
            return match self.settled.is_empty() {
                true => {
                    let why = format!("{what} on complicated expr is unsupported");
                    Err(ExprError::at(value.at, why))
                }
                false => Ok(()),
            };
        };
        let field = match self.place(value.at, path)? {
            Place::Indexed(field) => Some(field),
            Place::Inside(_, field) => field,
        };
        let holds = |data_type| matches!(data_type, DataType::VarChar | DataType::Json);
        match field {
            Some(field) if !holds(field.element_type.unwrap_or(field.data_type)) => Err(
                ExprError::at(value.at, format!("{what} on {of} field is unsupported")),
            ),
            _ => Ok(()),
        }
    }

    /// A regular expression that is found in a text. Where there is none nothing is known, as of any comparison.
    pub(super) fn regex(&self, value: &Expr, pattern: &Expr, negated: bool) -> Lowered<Query> {
        self.check_text(value, ("regex match", "non-string or non-json"))?;
        let text = self.text(pattern, "regex pattern")?;
        if let Some(fault) = patterns::fault(&text) {
            return Err(ExprError::at(pattern.at, fault));
        }
        // Structs are looked for by an index alone, which has all of their texts.
        if self.around.is_some()
            && let Kind::Path(path) = &value.kind
            && let Place::Indexed(field) = self.place(value.at, path)?
            && let Some(expression) = patterns::of_whole_texts(&text)
        {
            let query = Query::Regexp(Pattern {
                states_max: EXPRESSION_STATES_MAX,
                ..Pattern::new(&field.name, expression)
            });
            return Ok(matched(field, query, negated));
        }
        let pattern = TextPattern::Regex(text);
        Ok(tested(Test::Text(self.single(value)?, pattern), negated))
    }

    /// The path of the words of a text, and the text that is looked for.
    fn words(
        &self,
        at: usize,
        arguments: &[Expr],
        what: &str,
    ) -> Lowered<(&Field, String, String)> {
        let [field, text, ..] = arguments else {
            return Err(ExprError::at(at, "the function takes a field and a text"));
        };
        let Kind::Path(path) = &field.kind else {
            return Err(ExprError::at(field.at, "text match takes a field"));
        };
        let own = self
            .collection
            .fields
            .iter()
            .find(|own| own.name == path.name);
        let own =
            own.ok_or_else(|| ExprError::at(field.at, format!("field {} not exist", path.name)))?;
        let text = self.text(text, what)?;
        if own.is_text_alone() {
            return Ok((own, own.name.clone(), text));
        }
        if !own.flag("enable_match") {
            return Err(ExprError::at(
                field.at,
                format!("field \"{}\" does not enable match", own.name),
            ));
        }
        Ok((own, format!("{}.{TEXT}", own.name), text))
    }

    pub(super) fn text_match(
        &self,
        at: usize,
        (arguments, named): (&[Expr], &[(String, Expr)]),
        negated: bool,
    ) -> Lowered<Query> {
        let (field, path, text) = self.words(at, arguments, "text_match query")?;
        let mut wanted = Match::new(path, text);
        for (name, value) in named {
            if name != "minimum_should_match" {
                let why = format!("text_match has no option {name}");
                return Err(ExprError::at(value.at, why));
            }
            let count = self.least_words(value)?;
            wanted.minimum_should_match = Some(MinimumShouldMatch::Count(count));
        }
        wanted.operator = Joined::Or;
        Ok(matched(field, Query::Match(wanted), negated))
    }

    /// Any of the words of a text, each of which may be so many edits away.
    pub(super) fn text_match_fuzzy(
        &self,
        at: usize,
        (arguments, named): (&[Expr], &[(String, Expr)]),
        negated: bool,
    ) -> Lowered<Query> {
        let (field, path, text) = self.words(at, arguments, "text_match_fuzzy query")?;
        let [(name, edits)] = named else {
            let why = "text_match_fuzzy takes one option, max_edit_distance";
            return Err(ExprError::at(at, why));
        };
        if name != "max_edit_distance" {
            let why = format!(
                "invalid option \"{name}\" for text_match_fuzzy, expected max_edit_distance"
            );
            return Err(ExprError::at(edits.at, why));
        }
        let mut wanted = Match::new(path, text);
        wanted.fuzziness = Some(Fuzziness {
            distance: FuzzyDistance::Fixed(self.edits(edits)?),
            max_expansions: NEAR_WORDS_MAX,
            ..Fuzziness::auto()
        });
        Ok(matched(field, Query::Match(wanted), negated))
    }

    /// How many edits a word may be away.
    fn edits(&self, expr: &Expr) -> Lowered<u8> {
        let refused = |why: String| Err(ExprError::at(expr.at, why));
        match self.literal(expr)?.and_then(|value| value.as_i64()) {
            None => refused("invalid max_edit_distance value: a whole number is expected".into()),
            Some(edits) => match u8::try_from(edits) {
                Ok(edits @ 0..=2) => Ok(edits),
                _ => refused(format!(
                    "max_edit_distance should be in [0, 2], got {edits}"
                )),
            },
        }
    }

    /// Texts that begin with another one, which may be a field's.
    pub(super) fn starts_with(
        &self,
        at: usize,
        arguments: &[Expr],
        negated: bool,
    ) -> Lowered<Query> {
        let [value, prefix] = arguments else {
            return Err(self.no_function(at, "starts_with", arguments));
        };
        self.check_text(value, ("starts_with", "non-string or no-json"))
            .map_err(|_| self.no_function(at, "starts_with", arguments))?;
        if let Kind::Path(_) = &prefix.kind {
            self.check_text(prefix, ("starts_with", "non-string or no-json"))
                .map_err(|_| self.no_function(at, "starts_with", arguments))?;
            let (value, prefix) = (self.single(value)?, self.single(prefix)?);
            let begins = Test::Compare(Comparison::Begins, value, prefix);
            return Ok(tested(begins, negated));
        }
        let pattern = Expr {
            at: prefix.at,
            kind: Kind::Text(prefixed(&self.text(prefix, "the prefix of starts_with")?)),
        };
        self.like(value, &pattern, negated)
    }

    /// Texts without a letter.
    pub(super) fn empty(&self, at: usize, arguments: &[Expr], negated: bool) -> Lowered<Query> {
        let [value] = arguments else {
            return Err(self.no_function(at, "empty", arguments));
        };
        self.check_text(value, ("empty", "non-string or no-json"))
            .map_err(|_| self.no_function(at, "empty", arguments))?;
        let nothing = Expr {
            at,
            kind: Kind::Text(String::new()),
        };
        let operator = match negated {
            true => Operator::NotEqual,
            false => Operator::Equal,
        };
        self.comparison(at, operator, value, &nothing)
    }

    /// What is said where there is no function of that name, or none that takes such arguments; what is wrong with one of
    /// them comes first.
    pub(super) fn no_function(&self, at: usize, name: &str, arguments: &[Expr]) -> ExprError {
        let kinds = arguments.iter().map(|argument| self.kind_name(argument));
        match kinds.collect::<Lowered<Vec<&str>>>() {
            Ok(kinds) => ExprError::at(
                at,
                format!("function {name}({}) not found", kinds.join(", ")),
            ),
            Err(refused) => refused,
        }
    }

    /// What Milvus' core calls the type of an argument.
    fn kind_name(&self, expr: &Expr) -> Lowered<&'static str> {
        if let Kind::Path(path) = &expr.kind {
            let field = match self.place(expr.at, path)? {
                Place::Indexed(field) => Some(field),
                Place::Inside(_, field) => field,
            };
            return Ok(match field {
                Some(field) if path.steps.is_empty() => core_name(field.data_type),
                Some(field) => core_name(field.element_type.unwrap_or(field.data_type)),
                None => core_name(DataType::Json),
            });
        }
        Ok(match self.literal(expr)? {
            Some(Value::Bool(_)) => core_name(DataType::Bool),
            Some(Value::Number(number)) if number.is_f64() => core_name(DataType::Double),
            Some(Value::Number(_)) => core_name(DataType::Int64),
            Some(Value::String(_)) => core_name(DataType::VarChar),
            Some(Value::Array(_)) => core_name(DataType::Array),
            Some(Value::Null | Value::Object(_)) | None => "none",
        })
    }

    /// How many of the words a text must have at least.
    fn least_words(&self, expr: &Expr) -> Lowered<i64> {
        let refused = |why: String| Err(ExprError::at(expr.at, why));
        match self.literal(expr)?.and_then(|value| value.as_i64()) {
            None => refused("minimum_should_match should be a const integer expression".into()),
            Some(count @ ..1) => {
                refused(format!("minimum_should_match should be >= 1, got {count}"))
            }
            Some(count @ 1..=1_000) => Ok(count),
            Some(count) => refused(format!(
                "minimum_should_match should be <= 1000, got {count}"
            )),
        }
    }

    /// How far the words of a phrase may be from their places.
    fn slop(&self, expr: &Expr) -> Lowered<u32> {
        let refused = |why: &str| Err(ExprError::at(expr.at, why));
        match self.literal(expr)?.and_then(|value| value.as_i64()) {
            None => refused("\"slop\" should be a const integer expression with \"uint32\" value"),
            Some(..0) => refused("\"slop\" should not be a negative interger"),
            Some(slop) => match u32::try_from(slop) {
                Ok(slop) => Ok(slop),
                Err(_) => refused("\"slop\" exceeds the range of \"uint32\""),
            },
        }
    }

    pub(super) fn phrase_match(
        &self,
        at: usize,
        arguments: &[Expr],
        negated: bool,
    ) -> Lowered<Query> {
        let (field, path, text) = self.words(at, arguments, "phrase_match query")?;
        let mut phrase = MatchPhrase::new(path, text);
        if let Some(slop) = arguments.get(2) {
            phrase.slop = self.slop(slop)?;
        }
        Ok(matched(field, Query::MatchPhrase(phrase), negated))
    }
}

impl Lowering<'_> {
    /// Whether a function looks for words, so that the default of a field that was added can be looked at in its place.
    pub(super) fn is_of_words(name: &str) -> bool {
        matches!(name, "text_match" | "phrase_match")
    }

    /// Whether the default of a field has the words that are looked for; not where each row chooses its analyzer.
    pub(super) fn default_matches(
        &self,
        field: &Field,
        name: &str,
        (arguments, named): (&[Expr], &[(String, Expr)]),
    ) -> Lowered<bool> {
        let (Some(Value::String(default)), Some(text)) = (field.added_default(), arguments.get(1))
        else {
            return Ok(false);
        };
        let text = self.text(text, "text_match query")?;
        let Some(analyzer) = analyzer_of(field) else {
            return Ok(false);
        };
        let there = clew_analysis::tokens(&analyzer, default);
        // Words in one place stand for each other.
        let mut asked: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for token in clew_analysis::tokens(&analyzer, &text) {
            asked.entry(token.position).or_default().push(token.text);
        }
        if name == "phrase_match" {
            let slop = arguments.get(2).map(|slop| self.slop(slop)).transpose()?;
            let slop = usize::try_from(slop.unwrap_or_default()).unwrap_or(usize::MAX);
            return Ok(has_phrase(&there, &asked, slop));
        }
        let least = named.first().map(|(_, value)| self.least_words(value));
        let least = least.transpose()?.unwrap_or(1);
        let words: HashSet<&str> = there.iter().map(|token| token.text.as_str()).collect();
        let found = asked
            .values()
            .filter(|own| own.iter().any(|word| words.contains(word.as_str())));
        Ok(i64::try_from(found.count()).unwrap_or(i64::MAX) >= least)
    }
}

/// The analyzer that the texts of a field go through, where that is one.
fn analyzer_of(field: &Field) -> Option<String> {
    if RowAnalyzers::of(field).is_ok_and(|several| several.is_some()) {
        return None;
    }
    let params = field
        .params
        .get("analyzer_params")
        .map_or("", String::as_str);
    let (analysis, name) = analyzer_settings(params).ok()?;
    Some(analysis.analyzer(&name).unwrap_or(name))
}

/// Whether the words of a phrase are in a text, in places that differ from theirs by no more than `slop` among each other.
fn has_phrase(there: &[Token], asked: &BTreeMap<usize, Vec<String>>, slop: usize) -> bool {
    let Some(last) = asked.keys().next_back() else {
        return false;
    };
    // Where the phrase would end, by each of its words; ascending, as the words of a text are.
    let ends: Vec<Vec<usize>> = asked
        .iter()
        .map(|(position, words)| {
            let own = there.iter().filter(|token| words.contains(&token.text));
            own.map(|token| token.position + last - position).collect()
        })
        .collect();
    let is_near = |own: &Vec<usize>, least: usize| {
        let next = own.get(own.partition_point(|end| *end < least));
        next.is_some_and(|end| end - least <= slop)
    };
    let mut all = ends.iter().flatten();
    all.any(|least| ends.iter().all(|own| is_near(own, *least)))
}

fn core_name(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Bool => "bool",
        DataType::Int8 => "int8_t",
        DataType::Int16 => "int16_t",
        DataType::Int32 => "int32_t",
        DataType::Int64 => "int64_t",
        DataType::Float => "float",
        DataType::Double => "double",
        DataType::VarChar => "varChar",
        DataType::Array => "array",
        DataType::Json => "json",
        DataType::Geometry => "geometry",
        DataType::Timestamptz => "timestamptz",
        // No vector is an argument.
        other => other.name(),
    }
}

/// Rows whose field matches, or has a value and does not.
fn matched(field: &Field, query: Query, negated: bool) -> Query {
    match negated {
        true => but_not(field, query),
        false => query,
    }
}

/// The text in front of a pattern that is nothing but that.
fn plain_prefix(pattern: &str) -> Option<String> {
    let prefix = pattern.strip_suffix('%')?;
    (!prefix.contains(['%', '_', '\\'])).then(|| prefix.to_string())
}

/// The pattern of all texts that begin with this one.
fn prefixed(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len() + 1);
    for letter in prefix.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// A pattern of `%` and `_` as one of `*` and `?`.
fn wildcard_of(pattern: &str) -> String {
    let mut wildcard = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    let plain = |letter: char, wildcard: &mut String| {
        if matches!(letter, '*' | '?' | '\\') {
            wildcard.push('\\');
        }
        wildcard.push(letter);
    };
    while let Some(letter) = letters.next() {
        match letter {
            '%' => wildcard.push('*'),
            '_' => wildcard.push('?'),
            '\\' => plain(letters.next().unwrap_or('\\'), &mut wildcard),
            other => plain(other, &mut wildcard),
        }
    }
    wildcard
}
