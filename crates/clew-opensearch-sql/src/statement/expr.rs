//! Expressions, which SQL and PPL have in common.

use serde_json::Value;

use crate::functions::regexes::FITS;

/// An expression over the columns of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    /// A text, a number, true, false, null, or a list of names for functions that take one.
    Literal(Value),
    Column(String),
    /// The star of `count(*)`.
    Star,
    Binary(Op, Box<Expr>, Box<Expr>),
    /// Kept flat: a thousand alternatives are not a thousand levels.
    Logic(Logic, Vec<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>),
    In(Box<Expr>, Vec<Expr>),
    Call(Call),
}

/// How conditions are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
}

/// What stands between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
}

impl Op {
    /// Whether the result is a number.
    pub(crate) fn is_arithmetic(self) -> bool {
        matches!(
            self,
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Modulo
        )
    }

    /// The comparison that says the same with its sides swapped.
    pub(crate) fn swapped(self) -> Op {
        match self {
            Op::Less => Op::Greater,
            Op::LessOrEqual => Op::GreaterOrEqual,
            Op::Greater => Op::Less,
            Op::GreaterOrEqual => Op::LessOrEqual,
            other => other,
        }
    }
}

/// A function and what it is called with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// In lower case.
    pub(crate) name: String,
    pub(crate) args: Vec<Expr>,
    /// `count(DISTINCT x)`.
    pub(crate) distinct: bool,
    /// `operator='and'` of functions that search.
    pub(crate) options: Vec<(String, Value)>,
}

/// Functions that ask the index, so that only a search can answer them.
pub(crate) const RELEVANCE: &[&str] = &[
    "match",
    "matchquery",
    "match_query",
    "match_phrase",
    "matchphrase",
    "matchphrasequery",
    "match_phrase_prefix",
    "match_bool_prefix",
    "multi_match",
    "multimatch",
    "multimatchquery",
    "query_string",
    "query",
    "simple_query_string",
    "wildcard_query",
    "wildcardquery",
];

/// Functions over all rows of a group.
pub(crate) const AGGREGATES: &[&str] = &[
    "count",
    "distinct_count",
    "dc",
    "sum",
    "avg",
    "min",
    "max",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "percentile",
    "percentile_approx",
    "take",
];

impl Expr {
    pub(crate) fn column(name: impl Into<String>) -> Expr {
        Expr::Column(name.into())
    }

    pub(crate) fn call(name: &str, args: Vec<Expr>) -> Expr {
        Expr::Call(Call {
            name: name.to_string(),
            args,
            distinct: false,
            options: Vec::new(),
        })
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        matches!(self, Expr::Call(call) if AGGREGATES.contains(&call.name.as_str()))
    }

    /// Whether it, or a part of it, searches for something.
    pub(crate) fn is_search(&self) -> bool {
        self.any(
            &|part| matches!(part, Expr::Call(call) if RELEVANCE.contains(&call.name.as_str())),
        )
    }

    /// Whether this or a part of it is what is looked for.
    pub(crate) fn any(&self, wanted: &dyn Fn(&Expr) -> bool) -> bool {
        wanted(self) || self.parts().into_iter().any(|part| part.any(wanted))
    }

    /// Adds the names of all columns.
    pub(crate) fn columns(&self, names: &mut Vec<String>) {
        match self {
            Expr::Column(name) => names.push(name.clone()),
            other => other
                .parts()
                .into_iter()
                .for_each(|part| part.columns(names)),
        }
    }

    /// How many parts it has, itself one of them.
    pub(crate) fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Expr::size).sum::<usize>()
    }

    fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_) | Expr::Column(_) | Expr::Star => Vec::new(),
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Logic(_, parts) => parts.iter().collect(),
            Expr::Not(part) | Expr::IsNull(part) => vec![part],
            Expr::In(part, list) => std::iter::once(&**part).chain(list).collect(),
            Expr::Call(call) => call.args.iter().collect(),
        }
    }

    /// The same with parts replaced, the outermost first; what was put in is not looked into.
    pub(crate) fn replaced(self, change: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
        if let Some(new) = change(&self) {
            return new;
        }
        let mut inner = |part: Box<Expr>| Box::new(part.replaced(change));
        match self {
            Expr::Binary(op, left, right) => {
                let left = inner(left);
                Expr::Binary(op, left, inner(right))
            }
            Expr::Not(part) => Expr::Not(inner(part)),
            Expr::IsNull(part) => Expr::IsNull(inner(part)),
            Expr::In(part, list) => {
                let part = inner(part);
                Expr::In(
                    part,
                    list.into_iter().map(|item| item.replaced(change)).collect(),
                )
            }
            Expr::Logic(logic, parts) => Expr::Logic(
                logic,
                parts
                    .into_iter()
                    .map(|part| part.replaced(change))
                    .collect(),
            ),
            Expr::Call(mut call) => {
                call.args = call
                    .args
                    .into_iter()
                    .map(|arg| arg.replaced(change))
                    .collect();
                Expr::Call(call)
            }
            leaf @ (Expr::Literal(_) | Expr::Column(_) | Expr::Star) => leaf,
        }
    }

    /// The value, where it is the same for all rows: literals, and times made from texts.
    pub(crate) fn constant(&self) -> Option<Value> {
        match self {
            Expr::Literal(value) => Some(value.clone()),
            Expr::Call(call) if matches!(call.name.as_str(), "timestamp" | "date" | "datetime") => {
                match call.args.as_slice() {
                    [Expr::Literal(text @ Value::String(_))] => Some(text.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The conditions that all have to hold.
pub(crate) fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Logic(Logic::And, parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// `REGEXP` where its result is shown, which is 1 or 0 as in OpenSearch; all else stays as it is.
pub(crate) fn as_number(expr: Expr) -> Expr {
    if matches!(&expr, Expr::Call(call) if call.name == FITS) {
        return Expr::call("cast", vec![expr, Expr::Literal("integer".into())]);
    }
    expr
}
