//! What names in a script stand for: variables, fields, functions and measures of vectors.

use serde_json::Value;

use super::emitted::EMIT;
use super::functions::{self, Known};
use super::lexer::Token;
use super::parser::Parser;
use super::tree::{Node, Operator, Thrown, Type};
use super::{Script, ScriptLanguage, ScriptMeasure, ScriptPurpose, objects, statics, term_counts};
use crate::query::VectorMeasure;

impl Parser<'_> {
    pub(super) fn named(&mut self, word: &str) -> Result<Node, String> {
        if let Some((_, _, place)) = self.scope.iter().rev().find(|(name, ..)| name == word) {
            return Ok(Node::Variable(*place));
        }
        match word {
            "null" => return Ok(Node::Null),
            "true" => return Ok(Node::Bool(true)),
            "false" => return Ok(Node::Bool(false)),
            "params" => return Ok(Node::Params),
            "doc" if self.purpose.sees_fields() => return self.doc(),
            "_score" if self.purpose.sees_scores() => {
                self.scored = true;
                return Ok(Node::Score);
            }
            Script::GIVEN if self.purpose == ScriptPurpose::Values => {
                return Ok(Node::Value(self.field(Script::GIVEN)));
            }
            "interval" if self.purpose == ScriptPurpose::Interval => return self.interval(),
            "values" if self.purpose == ScriptPurpose::Window => {
                return Ok(Node::Values(self.field(word)));
            }
            _ if self.purpose.context() == Some(word) => return Ok(Node::Context),
            "new" => return self.made(),
            _ => {}
        }
        // Constants and functions of classes.
        if self.is_at(".") && word.starts_with(|first: char| first.is_ascii_uppercase()) {
            self.skip();
            let name = self.word()?;
            if let Some(constant) = functions::constant(word, &name) {
                return Ok(constant);
            }
            if word == "Map" && name == "Entry" {
                self.expect(".")?;
                let name = self.word()?;
                return self.function(Some("Map.Entry"), &name);
            }
            return self.function(Some(word), &name);
        }
        if self.is_at("(") {
            if self.function_names.iter().any(|(name, _)| name == word) {
                return self.own_call(word);
            }
            return self.function(None, word);
        }
        if self.language == ScriptLanguage::Expression {
            if self.params.get(word).is_some() || self.purpose == ScriptPurpose::Bucket {
                return self.param(word);
            }
            return Err(self.wrong(format_args!("Unknown variable [{word}]")));
        }
        let unresolved = self.wrong(format_args!("cannot resolve symbol [{word}]"));
        self.unresolved.get_or_insert(unresolved);
        Ok(Node::Null)
    }

    /// A parameter: what is a single value stands for itself. What a bucket's script was not given is a number of the
    /// bucket.
    pub(super) fn param(&mut self, name: &str) -> Result<Node, String> {
        match (name, self.purpose.sees_source()) {
            ("_source", true) => return Ok(Node::Source),
            ("_source", false) => {
                return Err(self.wrong("[_source] is not there for scripts of this kind"));
            }
            ("doc" | "_doc", true) => return self.doc(),
            _ => {}
        }
        let params = self.params;
        Ok(match params.get(name) {
            None if self.purpose == ScriptPurpose::Bucket => Node::Value(self.field(name)),
            None | Some(Value::Null) => Node::Null,
            Some(Value::Bool(truth)) => Node::Bool(*truth),
            Some(Value::String(text)) => Node::Text(text.clone()),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(whole) => Node::Whole(whole),
                None => Node::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Some(Value::Array(_) | Value::Object(_)) => Node::Member {
                of: Box::new(Node::Params),
                name: name.to_string(),
                safe: false,
                at: self.place_before(),
            },
        })
    }

    /// `new Date()`, which is now, or a list, a map or another object, with nothing in it or with what is in another one.
    fn made(&mut self) -> Result<Node, String> {
        if let Some(array) = self.array()? {
            return Ok(array);
        }
        let class = self.word()?;
        self.expect("(")?;
        let mut arguments = self.arguments(")")?;
        match (class.as_str(), arguments.len()) {
            ("Date", 0) => return self.now(),
            // The pattern is all that there is to it.
            ("SimpleDateFormat", 1 | 2) => return Ok(arguments.swap_remove(0)),
            ("Date", 1) => return Ok(Node::Function("dateOf".to_string(), arguments)),
            ("ArrayList" | "LinkedList", 0) => return Ok(Node::List(Vec::new())),
            ("HashMap" | "LinkedHashMap", 0) => return Ok(Node::Map(Vec::new())),
            (class, count) => {
                if let Some(function) = objects::constructor(class, count) {
                    return Ok(Node::Function(function.to_string(), arguments));
                }
                if Thrown::named(class).is_some() && count < 2 {
                    arguments.insert(0, Node::Text(class.to_string()));
                    return Ok(Node::Function("newFailure".to_string(), arguments));
                }
            }
        }
        Err(self.wrong(format_args!(
            "objects of [{class}] cannot be made by scripts here"
        )))
    }

    /// `int[2][3]`, `String[] {'a'}`, if that comes next: lists here.
    fn array(&mut self) -> Result<Option<Node>, String> {
        let Token::Word(name) = self.peek() else {
            return Ok(None);
        };
        let item = match Type::named(name) {
            Some(Type::Whole | Type::Int | Type::Short | Type::Byte) => Node::Whole(0),
            Some(Type::Float) => Node::Float(0.0),
            Some(Type::Bool) => Node::Bool(false),
            Some(Type::Char) => Node::Cast(Type::Char, Box::new(Node::Whole(0))),
            _ => Node::Null,
        };
        let Some((_, count)) = self.type_ahead(0) else {
            return Ok(None);
        };
        if count > 1 && matches!(self.ahead(count), Token::Sign("{")) {
            (0..=count).for_each(|_| self.skip());
            return Ok(Some(Node::List(self.arguments("}")?)));
        }
        if !matches!(self.ahead(count), Token::Sign("[")) {
            return Ok(None);
        }
        (0..count).for_each(|_| self.skip());
        let mut sizes = Vec::new();
        while self.take("[") {
            self.count(1)?;
            sizes.push(self.expression()?);
            self.expect("]")?;
        }
        Ok(Some(Node::Array(sizes, Box::new(item))))
    }

    /// What is in brackets: a list, or a map.
    pub(super) fn listed(&mut self) -> Result<Node, String> {
        if self.take(":") {
            self.expect("]")?;
            return Ok(Node::Map(Vec::new()));
        }
        if self.take("]") {
            return Ok(Node::List(Vec::new()));
        }
        let first = self.expression()?;
        if !self.take(":") {
            let mut items = vec![first];
            if self.take(",") {
                items.extend(self.arguments("]")?);
            } else {
                self.expect("]")?;
            }
            return Ok(Node::List(items));
        }
        let mut pairs = vec![(first, self.expression()?)];
        while self.take(",") {
            let key = self.expression()?;
            self.expect(":")?;
            pairs.push((key, self.expression()?));
        }
        self.expect("]")?;
        Ok(Node::Map(pairs))
    }

    fn function(&mut self, class: Option<&str>, name: &str) -> Result<Node, String> {
        let is_of_bucket = matches!(self.purpose, ScriptPurpose::Bucket | ScriptPurpose::Window);
        // Those that belong to no class make scores.
        if is_of_bucket && class.is_none() && self.language == ScriptLanguage::Painless {
            return Err(self.wrong(format_args!("unknown call [{name}]")));
        }
        if class.is_none()
            && self.purpose.sees_vectors()
            && let Some(measure) = functions::measure(name)
        {
            self.expect("(")?;
            return self.measured(name, measure);
        }
        let at = self.place_before();
        self.expect("(")?;
        let mut arguments = self.arguments(")")?;
        if let (None, "randomScore", [_, decides]) = (class, name, arguments.as_mut_slice())
            && let Node::Text(path) = &*decides
        {
            *decides = Node::Value(self.field(path));
        }
        let emits = self.purpose == ScriptPurpose::Derived && class.is_none() && name == EMIT;
        if emits && matches!(arguments.len(), 1 | 2) {
            return Ok(Node::Function(EMIT.to_string(), arguments));
        }
        let scores = self.purpose == ScriptPurpose::Score && class.is_none();
        if scores
            && self.language == ScriptLanguage::Painless
            && term_counts::is_function(name, arguments.len())
        {
            return Ok(Node::Function(name.to_string(), arguments));
        }
        if let Some(class) = class
            && let Some(node) = of_class(class, name, &mut arguments, at)
        {
            return Ok(node);
        }
        match functions::known(self.language, class, name, arguments.len()) {
            Known::Now => self.now(),
            Known::Millis => Ok(Node::Call {
                of: Box::new(self.now()?),
                name: "getTime".to_string(),
                arguments,
                safe: false,
                at: self.place_before(),
            }),
            Known::Function(name) => Ok(Node::Function(name.to_string(), arguments)),
            Known::Not => {
                let class = class.map(|class| format!("{class}.")).unwrap_or_default();
                let count = arguments.len();
                Err(self.wrong(format_args!(
                    "unknown call [{class}{name}] with [{count}] arguments"
                )))
            }
        }
    }

    /// The moment of the search, which an order that is the same on every page does not know.
    fn now(&self) -> Result<Node, String> {
        match self.purpose {
            ScriptPurpose::Order => Err(self.wrong(
                "the time is not there for scripts that order hits: hand it over as a parameter",
            )),
            ScriptPurpose::Bucket | ScriptPurpose::Window => Err(self.wrong(
                "the time is not there for scripts of buckets: hand it over as a parameter",
            )),
            ScriptPurpose::Interval => Err(self.wrong(
                "the time is not there for scripts of intervals: hand it over as a parameter",
            )),
            _ => Ok(Node::Now),
        }
    }

    /// `doc['field']`, `doc.field`, or whether there is such a field.
    fn doc(&mut self) -> Result<Node, String> {
        if self.purpose == ScriptPurpose::Bucket {
            return Err(self.wrong("buckets have no fields: cannot resolve symbol [doc]"));
        }
        if self.take("[") {
            let name = self.expression()?;
            self.expect("]")?;
            let Node::Text(name) = name else {
                return Err(self.wrong(
                    "a field is named by a text, or by a parameter that is one: it cannot be computed",
                ));
            };
            let field = self.field(&name);
            // An expression has numbers alone: a field by itself is its first one.
            let is_number = self.language == ScriptLanguage::Expression && !self.is_at(".");
            return Ok(if is_number {
                Node::Value(field)
            } else {
                Node::Values(field)
            });
        }
        self.expect(".")?;
        let name = self.word()?;
        if !self.take("(") {
            return Ok(Node::Values(self.field(&name)));
        }
        let arguments = self.arguments(")")?;
        match (name.as_str(), &arguments[..]) {
            ("containsKey", [Node::Text(name)]) => Ok(Node::IsMapped(self.field(name))),
            ("get", [Node::Text(name)]) => Ok(Node::Values(self.field(name))),
            _ => Err(self.wrong(format_args!(
                "member method [{name}] of doc is not supported"
            ))),
        }
    }

    /// `interval.start` or `interval.getStart()`, and the like.
    fn interval(&mut self) -> Result<Node, String> {
        self.expect(".")?;
        let name = self.word()?;
        let part = match name.as_str() {
            "start" | "getStart" => "start",
            "end" | "getEnd" => "end",
            "gaps" | "getGaps" => "gaps",
            _ => return Err(self.wrong(format_args!("member field [{name}] not found"))),
        };
        if name != part {
            self.expect("(")?;
            self.expect(")")?;
        }
        Ok(Node::Value(self.field(part)))
    }

    /// The place of a field among those that are read.
    pub(super) fn field(&mut self, name: &str) -> usize {
        let known = self.fields.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.fields.push(name.to_string());
            self.fields.len() - 1
        })
    }

    /// `f(vector, doc['field'])` or `f(vector, 'field')`; of cosines the vector's own squared length may stand behind it.
    fn measured(&mut self, name: &str, measure: VectorMeasure) -> Result<Node, String> {
        let vector = self.expression()?;
        self.expect(",")?;
        let before = self.fields.len();
        let field = match self.expression()? {
            Node::Text(field) => field,
            Node::Values(field) | Node::Value(field) => {
                let path = self.fields.get(field).cloned().unwrap_or_default();
                // Its vectors are measured, not read as values.
                self.fields.truncate(before);
                path
            }
            _ => return Err(self.wrong(format_args!("[{name}] takes a vector and a field"))),
        };
        let squared = match measure {
            VectorMeasure::Cosine if self.take(",") => Some(self.expression()?),
            _ => None,
        };
        self.expect(")")?;
        let numbers = match &vector {
            Node::Member { of, name, .. } if **of == Node::Params => self.numbers(name),
            Node::List(items) => items.iter().map(literal).collect(),
            _ => None,
        };
        let vector = numbers.ok_or_else(|| {
            self.wrong(format_args!(
                "[{name}] takes a vector that is a parameter or written out"
            ))
        })?;
        let scale = match squared {
            Some(squared) => self.scale(&vector, &squared)?,
            None => 1.0,
        };
        self.measures.push(ScriptMeasure {
            field,
            vector,
            measure,
        });
        let near = Node::Measure(self.measures.len() - 1);
        // What was worked out beforehand differs by its last digits.
        if (scale - 1.0).abs() < 1e-6 {
            return Ok(near);
        }
        let scale = Box::new(Node::Float(scale));
        Ok(Node::Pair(Operator::Multiply, Box::new(near), scale))
    }

    /// What a cosine is multiplied by where a squared length is given for that of the vector.
    fn scale(&self, vector: &[f32], squared: &Node) -> Result<f64, String> {
        let given = literal(squared).map(f64::from);
        let given = given.filter(|given| given.is_finite() && *given > 0.0);
        let given = given.ok_or_else(|| {
            self.wrong("[cosineSimilarity] takes a squared length that is a number above 0")
        })?;
        let own: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
        Ok((own / given).sqrt())
    }

    fn numbers(&self, name: &str) -> Option<Vec<f32>> {
        let items = self.params.get(name)?.as_array()?;
        items.iter().map(|item| item.as_f64().map(narrow)).collect()
    }
}

fn call(of: Node, name: &str, arguments: Vec<Node>, at: usize) -> Node {
    Node::Call {
        of: Box::new(of),
        name: name.to_string(),
        arguments,
        safe: false,
        at,
    }
}

/// What calls of what belongs to lists are that can be said otherwise; their arguments are taken then.
fn of_collections(name: &str, arguments: &mut Vec<Node>, at: usize) -> Option<Node> {
    match (name, &arguments[..]) {
        ("sort", [_]) => Some(call(arguments.pop()?, "sort", vec![Node::Null], at)),
        ("sort", [_, _]) => {
            let order = arguments.pop()?;
            Some(call(arguments.pop()?, "sort", vec![order], at))
        }
        ("reverse", [_]) => Some(call(arguments.pop()?, "reverse", Vec::new(), at)),
        ("max" | "min", [_] | [_, _]) => {
            let list = vec![arguments.remove(0)];
            let copy = Node::Function("copyOfList".to_string(), list);
            let furthest = call(copy, name, std::mem::take(arguments), at);
            Some(call(furthest, "get", Vec::new(), at))
        }
        ("singletonList", [_]) => Some(Node::List(std::mem::take(arguments))),
        ("singleton", [_]) => {
            let list = Node::List(std::mem::take(arguments));
            Some(Node::Function("copyOfSet".to_string(), vec![list]))
        }
        ("emptySet", []) => Some(Node::Function("newSet".to_string(), Vec::new())),
        (
            "unmodifiableList" | "unmodifiableMap" | "unmodifiableSet" | "unmodifiableCollection",
            [_],
        ) => arguments.pop(),
        _ => None,
    }
}

/// What calls of classes are that can be said otherwise; their arguments are taken then.
fn of_class(class: &str, name: &str, arguments: &mut Vec<Node>, at: usize) -> Option<Node> {
    if let "Collections" | "Arrays" = class
        && let Some(found) = of_collections(name, arguments, at)
    {
        return Some(found);
    }
    match (class, name, &arguments[..]) {
        ("String", "join", [_, _]) => {
            let list = arguments.pop()?;
            Some(call(list, "join", std::mem::take(arguments), at))
        }
        ("Integer" | "Long" | "Double" | "Float", "compare", [_, _]) => {
            let other = arguments.pop()?;
            Some(call(arguments.pop()?, "compareTo", vec![other], at))
        }
        ("Comparator", "reverseOrder", []) => {
            let order = Node::Function("naturalOrder".to_string(), Vec::new());
            Some(call(order, "reversed", Vec::new(), at))
        }
        ("Optional", "empty", []) => Some(Node::Function("optional".to_string(), vec![Node::Null])),
        ("Integer" | "Double", "sum", [_, _]) => {
            let other = Box::new(arguments.pop()?);
            Some(Node::Pair(Operator::Add, Box::new(arguments.pop()?), other))
        }
        ("Processors", "lowercase", [_]) => {
            Some(call(arguments.pop()?, "toLowerCase", Vec::new(), at))
        }
        ("Processors", "uppercase", [_]) => {
            Some(call(arguments.pop()?, "toUpperCase", Vec::new(), at))
        }
        ("Arrays", "stream", [_]) => Some(call(arguments.pop()?, "stream", Vec::new(), at)),
        // One argument is an array of what comes.
        ("Stream", "of", [_]) => Some(call(arguments.pop()?, "stream", Vec::new(), at)),
        ("Stream", "of", _) => Some(Node::List(std::mem::take(arguments))),
        ("Collections", "emptyList", []) => Some(Node::List(Vec::new())),
        ("Collections", "emptyMap", []) => Some(Node::Map(Vec::new())),
        ("Arrays", "asList", [Node::Array(..) | Node::List(_)]) => arguments.pop(),
        ("Arrays", "asList", _) => Some(Node::List(std::mem::take(arguments))),
        // How a stream is collected: as a list, or as a text.
        ("Collectors", "toList", []) => Some(Node::Null),
        ("Collectors", "joining", []) => Some(Node::Text(String::new())),
        ("Collectors", "joining", [Node::Text(_)]) => arguments.pop(),
        ("Collectors", way, _) if statics::is_collector(way, arguments.len()) => {
            arguments.insert(0, Node::Text(way.to_string()));
            let arguments = std::mem::take(arguments);
            Some(Node::Function("collector".to_string(), arguments))
        }
        _ => None,
    }
}

pub(super) fn literal(node: &Node) -> Option<f32> {
    match node {
        #[allow(clippy::cast_precision_loss, reason = "vectors are 32 bits wide")]
        Node::Whole(number) | Node::Long(number) => Some(*number as f32),
        Node::Float(number) => Some(narrow(*number)),
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "vectors are 32 bits wide")]
fn narrow(number: f64) -> f32 {
    number as f32
}
