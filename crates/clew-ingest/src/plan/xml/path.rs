//! How parts of an XML document are named: XPath 1.0 without variables, arithmetic, and axes and functions that nobody asks of a
//! line. What is written is read here; [`select`](super::select) follows it.
//!
//! A name without a prefix is one of any namespace, so that a document with a default namespace is named as it is written.

/// Expressions inside each other.
const DEPTH_MAX: usize = 20;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Text(String),
    Number(f64),
    /// What any of them leads to.
    Paths(Vec<Path>),
    Call(Function, Vec<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
}

/// Steps from the document, or from where one stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) is_absolute: bool,
    pub(super) steps: Vec<PathStep>,
}

/// Where to look, for what, and on which conditions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathStep {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expression>,
}

impl PathStep {
    fn any(axis: Axis) -> Self {
        PathStep {
            axis,
            test: Test::Any,
            predicates: Vec::new(),
        }
    }
}

/// Where a step looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Attribute,
    Descendant,
    DescendantOrSelf,
    Itself,
    Parent,
    Ancestor,
    FollowingSibling,
    PrecedingSibling,
}

static AXES: [(&str, Axis); 9] = [
    ("child", Axis::Child),
    ("attribute", Axis::Attribute),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("self", Axis::Itself),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("following-sibling", Axis::FollowingSibling),
    ("preceding-sibling", Axis::PrecedingSibling),
];

/// What a step looks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// `node()`.
    Any,
    /// `text()`.
    Text,
    /// Elements, or attributes, of this name, or of any, `*`.
    Named {
        prefix: Option<String>,
        name: Option<String>,
    },
}

/// What stands between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Comparisons, those first whose signs begin as others do.
static COMPARISONS: [(&str, Operator); 6] = [
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Position,
    Last,
    Count,
    Name,
    LocalName,
    Text,
    Number,
    NormalizeSpace,
    StringLength,
    Concat,
    Contains,
    StartsWith,
    SubstringBefore,
    SubstringAfter,
    Not,
    True,
    False,
}

/// Functions with the least and the most arguments of each.
static FUNCTIONS: [(&str, Function, usize, usize); 17] = [
    ("position", Function::Position, 0, 0),
    ("last", Function::Last, 0, 0),
    ("count", Function::Count, 1, 1),
    ("name", Function::Name, 0, 1),
    ("local-name", Function::LocalName, 0, 1),
    ("string", Function::Text, 0, 1),
    ("number", Function::Number, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("concat", Function::Concat, 2, 20),
    ("contains", Function::Contains, 2, 2),
    ("starts-with", Function::StartsWith, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("not", Function::Not, 1, 1),
    ("true", Function::True, 0, 0),
    ("false", Function::False, 0, 0),
];

impl Expression {
    /// Reads a whole expression.
    ///
    /// # Errors
    /// What is wrong with it, or has no counterpart here.
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        let mut reader = Reader {
            rest: written,
            depth: 0,
        };
        let read = reader.either()?;
        reader.pass_blanks();
        if reader.rest.is_empty() {
            return Ok(read);
        }
        Err(format!("cannot be read from [{}] on", reader.rest))
    }
}

/// What is left to read of an expression.
struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn pass_blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Passes over a sign if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        self.pass_blanks();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(match self.rest {
            "" => format!("ends where [{sign}] should be"),
            rest => format!("has [{rest}] where [{sign}] should be"),
        })
    }

    /// Passes over a word if it is next, and not the beginning of a longer one.
    fn takes_word(&mut self, word: &str) -> bool {
        self.pass_blanks();
        let mut ahead = Reader {
            rest: self.rest,
            depth: 0,
        };
        let is_next = ahead.name() == Some(word);
        if is_next {
            self.rest = ahead.rest;
        }
        is_next
    }

    /// A name without a prefix, if one is next.
    fn name(&mut self) -> Option<&'t str> {
        self.pass_blanks();
        let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
        self.rest.chars().next().filter(|first| is_first(*first))?;
        let is_of_name = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        let end = self.rest.find(|letter| !is_of_name(letter));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Some(name)
    }

    fn either(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("has more than {DEPTH_MAX} levels"));
        }
        let mut read = self.both()?;
        while self.takes_word("or") {
            read = binary(Operator::Or, read, self.both()?);
        }
        self.depth -= 1;
        Ok(read)
    }

    fn both(&mut self) -> Result<Expression, String> {
        let mut read = self.compared()?;
        while self.takes_word("and") {
            read = binary(Operator::And, read, self.compared()?);
        }
        Ok(read)
    }

    fn compared(&mut self) -> Result<Expression, String> {
        let read = self.operand()?;
        let operator = COMPARISONS.iter().find(|(sign, _)| self.takes(sign));
        match operator {
            None => Ok(read),
            Some((_, operator)) => Ok(binary(*operator, read, self.operand()?)),
        }
    }

    fn operand(&mut self) -> Result<Expression, String> {
        self.pass_blanks();
        for quote in ["\"", "'"] {
            if self.takes(quote) {
                let (text, rest) = self
                    .rest
                    .split_once(quote)
                    .ok_or("has a text that does not end")?;
                self.rest = rest;
                return Ok(Expression::Text(text.to_owned()));
            }
        }
        if self.rest.starts_with(|first: char| first.is_ascii_digit()) {
            return self.number();
        }
        if self.takes("(") {
            let read = self.either()?;
            self.expect(")")?;
            return Ok(read);
        }
        if let Some(call) = self.call()? {
            return Ok(call);
        }
        let mut paths = vec![self.path()?];
        while self.takes("|") {
            paths.push(self.path()?);
        }
        Ok(Expression::Paths(paths))
    }

    fn number(&mut self) -> Result<Expression, String> {
        let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let end = self.rest.find(|letter| !is_of_number(letter));
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        let number = digits
            .parse::<f64>()
            .map_err(|_| "has no number where one begins");
        Ok(Expression::Number(number?))
    }

    /// A function with its arguments, if one is next: what stands before a bracket, but for tests of nodes.
    fn call(&mut self) -> Result<Option<Expression>, String> {
        let before = self.rest;
        let name = self.name().filter(|name| !["node", "text"].contains(name));
        let Some(name) = name.filter(|_| self.takes("(")) else {
            self.rest = before;
            return Ok(None);
        };
        let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let (_, function, least, most) =
            known.ok_or_else(|| format!("calls [{name}], which is no function here"))?;
        let mut arguments = Vec::new();
        if !self.takes(")") {
            loop {
                arguments.push(self.either()?);
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        if !(*least..=*most).contains(&arguments.len()) {
            return Err(format!("gives [{name}] {} arguments", arguments.len()));
        }
        Ok(Some(Expression::Call(*function, arguments)))
    }

    fn path(&mut self) -> Result<Path, String> {
        let mut path = Path {
            is_absolute: false,
            steps: Vec::new(),
        };
        if self.takes("//") {
            path.is_absolute = true;
            path.steps.push(PathStep::any(Axis::DescendantOrSelf));
        } else if self.takes("/") {
            path.is_absolute = true;
            self.pass_blanks();
            let begins_step = |first: char| first.is_alphabetic() || "_*@.".contains(first);
            if !self.rest.starts_with(begins_step) {
                return Ok(path);
            }
        }
        loop {
            let step = self.path_step()?;
            path.steps.push(step);
            if self.takes("//") {
                path.steps.push(PathStep::any(Axis::DescendantOrSelf));
            } else if !self.takes("/") {
                return Ok(path);
            }
        }
    }

    fn path_step(&mut self) -> Result<PathStep, String> {
        if self.takes("..") {
            return Ok(PathStep::any(Axis::Parent));
        }
        if self.takes(".") {
            return Ok(PathStep::any(Axis::Itself));
        }
        let mut axis = match self.takes("@") {
            true => Axis::Attribute,
            false => Axis::Child,
        };
        let mut name = self.name();
        if let Some(named) = name
            && self.takes("::")
        {
            let known = AXES.iter().find(|(known, _)| *known == named);
            axis = known
                .ok_or_else(|| format!("has [{named}], which is no axis here"))?
                .1;
            name = self.name();
        }
        let test = match name {
            Some(kind @ ("node" | "text")) if self.takes("(") => {
                self.expect(")")?;
                match kind {
                    "node" => Test::Any,
                    _ => Test::Text,
                }
            }
            Some(name) if self.takes(":") => {
                let prefix = Some(name.to_owned());
                let name = self.name_or_any()?;
                Test::Named { prefix, name }
            }
            Some(name) => Test::Named {
                prefix: None,
                name: Some(name.to_owned()),
            },
            None => Test::Named {
                prefix: None,
                name: self.name_or_any()?,
            },
        };
        let mut predicates = Vec::new();
        while self.takes("[") {
            predicates.push(self.either()?);
            self.expect("]")?;
        }
        Ok(PathStep {
            axis,
            test,
            predicates,
        })
    }

    fn name_or_any(&mut self) -> Result<Option<String>, String> {
        if self.takes("*") {
            return Ok(None);
        }
        match self.name() {
            Some(name) => Ok(Some(name.to_owned())),
            None if self.rest.is_empty() => Err("ends where a name should be".to_owned()),
            None => Err(format!("has [{}] where a name should be", self.rest)),
        }
    }
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new([left, right]))
}
