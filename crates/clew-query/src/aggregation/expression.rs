//! Arithmetic over a bucket's numbers: operators, comparisons, a choice, and a few functions. It
//! reads what scripts of buckets are written in for the most part: `params.a / params.b * 100`.
//! Statements, variables and loops are refused.

use std::collections::BTreeMap;

use crate::AggError;
use serde::{Deserialize, Serialize};

/// How deep an expression may be nested.
const DEPTH_MAX: usize = 64;
/// How long its text may be.
const TEXT_MAX: usize = 16_384;

/// An expression, understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expression {
    node: Node,
    /// What names stand for that nobody else gives a number.
    params: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Node {
    Number(f64),
    /// What no number equals.
    Null,
    Name(String),
    Negated(Box<Node>),
    Not(Box<Node>),
    Pair(Operator, Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Function {
    Abs,
    Ceil,
    Floor,
    Round,
    Sqrt,
    Exp,
    Ln,
    Log10,
    Pow,
    Min,
    Max,
}

/// Operators by how strongly they bind, weakest first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("==", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<=", Operator::LessEqual),
        (">=", Operator::GreaterEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

impl Expression {
    /// Understands an expression.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > TEXT_MAX {
            return Err(format!("the script is longer than [{TEXT_MAX}] bytes"));
        }
        let trimmed = text.trim().trim_end_matches(';').trim_end();
        let start = match trimmed.strip_prefix("return") {
            Some(rest) if rest.starts_with([' ', '(', '\n']) => rest,
            _ => trimmed,
        };
        let mut reader = Reader {
            text: start,
            at: 0,
            depth: 0,
        };
        let node = reader.choice()?;
        reader.space();
        if reader.at < start.len() {
            return Err(reader.unexpected());
        }
        Ok(Expression {
            node,
            params: BTreeMap::new(),
        })
    }

    /// The same with numbers of its own.
    #[must_use]
    pub fn with_params(self, params: BTreeMap<String, f64>) -> Self {
        Expression { params, ..self }
    }

    /// Its value with these numbers; comparisons are 1 where they hold and 0 elsewhere.
    ///
    /// # Errors
    /// [`AggError::Invalid`] when it uses a name that was not given.
    pub fn value(&self, names: &[&str], numbers: &[f64]) -> Result<f64, AggError> {
        self.node.value(&|name| {
            let at = names.iter().position(|known| *known == name);
            let given = at.and_then(|at| numbers.get(at));
            given.or_else(|| self.params.get(name)).copied()
        })
    }
}

impl Node {
    fn value(&self, number: &impl Fn(&str) -> Option<f64>) -> Result<f64, AggError> {
        Ok(match self {
            Node::Number(value) => *value,
            Node::Null => f64::NAN,
            Node::Name(name) => number(name).ok_or_else(|| {
                AggError::invalid(format!(
                    "the script uses [{name}], which is not in buckets_path"
                ))
            })?,
            Node::Negated(node) => -node.value(number)?,
            Node::Not(node) => truth(!holds(node.value(number)?)),
            Node::Choice(condition, yes, no) => {
                if holds(condition.value(number)?) {
                    yes.value(number)?
                } else {
                    no.value(number)?
                }
            }
            Node::Pair(operator, a, b) => operator.apply(a.value(number)?, b.value(number)?),
            Node::Call(function, nodes) => {
                let values: Result<Vec<f64>, AggError> =
                    nodes.iter().map(|node| node.value(number)).collect();
                function.apply(&values?)
            }
        })
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn holds(value: f64) -> bool {
    value != 0.0 && !value.is_nan()
}

impl Operator {
    #[allow(
        clippy::float_cmp,
        reason = "a script that compares numbers means just that"
    )]
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Operator::Or => truth(holds(a) || holds(b)),
            Operator::And => truth(holds(a) && holds(b)),
            Operator::Equal => truth(a == b),
            Operator::NotEqual => truth(a != b),
            Operator::Less => truth(a < b),
            Operator::LessEqual => truth(a <= b),
            Operator::Greater => truth(a > b),
            Operator::GreaterEqual => truth(a >= b),
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            Operator::Remainder => a % b,
        }
    }
}

impl Function {
    fn named(name: &str) -> Option<(Self, usize)> {
        Some(match name {
            "abs" => (Function::Abs, 1),
            "ceil" => (Function::Ceil, 1),
            "floor" => (Function::Floor, 1),
            "round" => (Function::Round, 1),
            "sqrt" => (Function::Sqrt, 1),
            "exp" => (Function::Exp, 1),
            "log" | "ln" => (Function::Ln, 1),
            "log10" => (Function::Log10, 1),
            "pow" => (Function::Pow, 2),
            "min" => (Function::Min, 2),
            "max" => (Function::Max, 2),
            _ => return None,
        })
    }

    fn apply(self, values: &[f64]) -> f64 {
        let (a, b) = (values[0], values.get(1).copied().unwrap_or(f64::NAN));
        match self {
            Function::Abs => a.abs(),
            Function::Ceil => a.ceil(),
            Function::Floor => a.floor(),
            Function::Round => (a + 0.5).floor(),
            Function::Sqrt => a.sqrt(),
            Function::Exp => a.exp(),
            Function::Ln => a.ln(),
            Function::Log10 => a.log10(),
            Function::Pow => a.powf(b),
            Function::Min => a.min(b),
            Function::Max => a.max(b),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) {
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn unexpected(&self) -> String {
        match self.rest().chars().next() {
            None => "the script ends too early".to_string(),
            Some(c) => format!("unexpected [{c}] at byte {} of the script", self.at),
        }
    }

    fn choice(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the script is nested more than [{DEPTH_MAX}] deep"));
        }
        let condition = self.pair(0)?;
        let node = if self.take("?") {
            let yes = self.choice()?;
            self.expect(":")?;
            let no = self.choice()?;
            Node::Choice(Box::new(condition), Box::new(yes), Box::new(no))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    fn pair(&mut self, level: usize) -> Result<Node, String> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.pair(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(token, _)| self.take(token)) {
            let right = self.pair(level + 1)?;
            left = Node::Pair(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, String> {
        let mut signs = Vec::new();
        loop {
            if self.take("-") {
                signs.push('-');
            } else if self.take("!") {
                signs.push('!');
            } else {
                break;
            }
        }
        let mut node = self.atom()?;
        for sign in signs.into_iter().rev() {
            node = match sign {
                '-' => Node::Negated(Box::new(node)),
                _ => Node::Not(Box::new(node)),
            };
        }
        Ok(node)
    }

    fn atom(&mut self) -> Result<Node, String> {
        if self.take("(") {
            let node = self.choice()?;
            self.expect(")")?;
            return Ok(node);
        }
        if self
            .rest()
            .starts_with(|c: char| c.is_ascii_digit() || c == '.')
        {
            return self.number();
        }
        let word = self.word();
        match word.as_str() {
            "" => Err(self.unexpected()),
            "true" => Ok(Node::Number(1.0)),
            "false" => Ok(Node::Number(0.0)),
            "null" => Ok(Node::Null),
            "params" if self.take(".") => Ok(Node::Name(self.word())),
            "params" if self.take("[") => {
                self.space();
                let quote = self
                    .rest()
                    .chars()
                    .next()
                    .filter(|c| matches!(c, '\'' | '"'));
                let quote = quote.ok_or_else(|| self.unexpected())?;
                let text = &self.rest()[1..];
                let end = text.find(quote).ok_or_else(|| self.unexpected())?;
                let name = text[..end].to_string();
                self.at += end + 2;
                self.expect("]")?;
                Ok(Node::Name(name))
            }
            "Math" if self.take(".") => {
                let name = self.word();
                self.call(&name)
            }
            name if Function::named(name).is_some()
                && self.rest().trim_start().starts_with('(') =>
            {
                self.call(name)
            }
            name => Ok(Node::Name(name.to_string())),
        }
    }

    fn word(&mut self) -> String {
        self.space();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self
            .rest()
            .find(|c| !is_part(c))
            .unwrap_or(self.rest().len());
        let word = self.rest()[..end].to_string();
        self.at += end;
        word
    }

    fn number(&mut self) -> Result<Node, String> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = self
            .rest()
            .find(|c| !is_part(c))
            .unwrap_or(self.rest().len());
        let value = self.rest()[..end].parse();
        let value = value.map_err(|_| self.unexpected())?;
        self.at += end;
        // A letter may say how wide the number is.
        if self.rest().starts_with(['L', 'l', 'f', 'F', 'd', 'D']) {
            self.at += 1;
        }
        Ok(Node::Number(value))
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let (function, count) =
            Function::named(name).ok_or_else(|| format!("unknown function [{name}]"))?;
        self.expect("(")?;
        let mut nodes = vec![self.choice()?];
        while self.take(",") {
            nodes.push(self.choice()?);
        }
        self.expect(")")?;
        if nodes.len() != count {
            return Err(format!("[{name}] takes {count} argument(s)"));
        }
        Ok(Node::Call(function, nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_values() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("params.a / params['b'] * 100", 50.0),
            ("return params.a > 1 && params.b <= 4 ? 10 : -20;", 10.0),
            ("a - b - 1", -3.0),
            ("!(a == 2)", 0.0),
            ("Math.max(a, b) % 3", 1.0),
            ("Math.round(2.5) + 1L", 4.0),
            ("params.a != null && params.b == null ? 1 : 2", 2.0),
            ("params.a * params.own", 20.0),
        ] {
            let expression = Expression::parse(text).unwrap();
            let own = [("own", 10.0), ("a", 7.0)].map(|(name, number)| (name.to_string(), number));
            let expression = expression.with_params(BTreeMap::from(own));
            let value = expression.value(&["a", "b"], &[2.0, 4.0]).unwrap();
            assert!((value - expected).abs() < 1e-12, "{text}: {value}");
        }
    }

    #[test]
    fn programs_are_refused() {
        for text in [
            "",
            "int x = 3; return x",
            "1 +",
            "foo(1)",
            "(1",
            "Math.pow(1)",
        ] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
        let deep = "(".repeat(1_000);
        assert!(Expression::parse(&deep).is_err());
        let unknown = Expression::parse("params.c").unwrap();
        assert!(unknown.value(&["a"], &[1.0]).is_err());
    }
}
