//! Trees as expressions, with no more parentheses than the grammar asks for, and trees made at random.

use proptest::prelude::*;

use crate::expr::tree::{Expr, Kind, Operator, Path, Step};

/// How tightly what stands behind a value binds, what stands in front of one, and what needs nothing.
const MEMBERSHIP: u8 = 8;
const PREFIX: u8 = 12;
const ATOM: u8 = 15;

pub(super) fn node(kind: Kind) -> Expr {
    Expr { at: 0, kind }
}

/// The tree without where its parts stood.
pub(super) fn placeless(mut expr: Expr) -> Expr {
    expr.at = 0;
    let boxed = |inner: Box<Expr>| Box::new(placeless(*inner));
    let all = |items: Vec<Expr>| items.into_iter().map(placeless).collect();
    expr.kind = match expr.kind {
        Kind::List(items) => Kind::List(all(items)),
        Kind::Not(inner) => Kind::Not(boxed(inner)),
        Kind::Negative(inner) => Kind::Negative(boxed(inner)),
        Kind::Inverted(inner) => Kind::Inverted(boxed(inner)),
        Kind::Exists(inner) => Kind::Exists(boxed(inner)),
        Kind::Binary(operator, left, right) => Kind::Binary(operator, boxed(left), boxed(right)),
        Kind::In {
            value,
            list,
            negated,
        } => Kind::In {
            value: boxed(value),
            list: boxed(list),
            negated,
        },
        Kind::IsNull { value, negated } => Kind::IsNull {
            value: boxed(value),
            negated,
        },
        Kind::Call {
            name,
            arguments,
            named,
        } => Kind::Call {
            name,
            arguments: all(arguments),
            named: named
                .into_iter()
                .map(|(key, value)| (key, placeless(value)))
                .collect(),
        },
        plain => plain,
    };
    expr
}

pub(super) fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Or => "or",
        Operator::And => "and",
        Operator::BitOr => "|",
        Operator::BitXor => "^",
        Operator::BitAnd => "&",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterEqual => ">=",
        Operator::Like => "like",
        Operator::Matches => "=~",
        Operator::MatchesNot => "!~",
        Operator::ShiftLeft => "<<",
        Operator::ShiftRight => ">>",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Modulo => "%",
        Operator::Power => "**",
    }
}

fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        Kind::Binary(operator, ..) => operator.strength(),
        Kind::In { .. } => MEMBERSHIP,
        Kind::Not(_) | Kind::Negative(_) | Kind::Inverted(_) | Kind::Exists(_) => PREFIX,
        Kind::Integer(number) if *number < 0 => PREFIX,
        Kind::Float(number) if *number < 0.0 => PREFIX,
        _ => ATOM,
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The expression, in parentheses if it binds less tightly than `least`.
fn within(expr: &Expr, least: u8) -> String {
    match strength(expr) < least {
        true => format!("({})", printed(expr)),
        false => printed(expr),
    }
}

/// A tree as an expression.
pub(super) fn printed(expr: &Expr) -> String {
    let joined = |items: &[Expr]| items.iter().map(printed).collect::<Vec<_>>().join(", ");
    match &expr.kind {
        Kind::Bool(value) => value.to_string(),
        Kind::Integer(value) => value.to_string(),
        Kind::Float(value) => format!("{value:?}"),
        Kind::Text(text) => quoted(text),
        Kind::List(items) => format!("[{}]", joined(items)),
        Kind::Template(name) => format!("{{{name}}}"),
        Kind::Instant(text) => format!("ISO {}", quoted(text)),
        Kind::Interval(text) => format!("INTERVAL {}", quoted(text)),
        Kind::Path(path) => {
            let step = |step: &Step| match step {
                Step::Member(name) => format!("[{}]", quoted(name)),
                Step::Element(number) => format!("[{number}]"),
                Step::Part(name) => format!("[{name}]"),
            };
            let steps: String = path.steps.iter().map(step).collect();
            format!("{}{steps}", path.name)
        }
        Kind::Not(inner) => format!("not {}", within(inner, PREFIX)),
        Kind::Negative(inner) => format!("- {}", within(inner, PREFIX)),
        Kind::Inverted(inner) => format!("~ {}", within(inner, PREFIX)),
        Kind::Exists(inner) => format!("exists {}", within(inner, PREFIX)),
        Kind::Binary(operator, left, right) => {
            let least = operator.strength();
            let (left, right) = (within(left, least), within(right, least + 1));
            format!("{left} {} {right}", symbol(*operator))
        }
        Kind::In {
            value,
            list,
            negated,
        } => {
            let word = if *negated { "not in" } else { "in" };
            let (value, list) = (within(value, MEMBERSHIP), within(list, MEMBERSHIP + 1));
            format!("{value} {word} {list}")
        }
        Kind::IsNull { value, negated } => {
            let word = if *negated { "is not null" } else { "is null" };
            format!("{} {word}", within(value, ATOM))
        }
        Kind::Call {
            name,
            arguments,
            named,
        } => {
            let named = named
                .iter()
                .map(|(key, value)| format!("{key} = {}", printed(value)));
            let all: Vec<String> = arguments.iter().map(printed).chain(named).collect();
            format!("{name}({})", all.join(", "))
        }
    }
}

const OPERATORS: [Operator; 22] = [
    Operator::Or,
    Operator::And,
    Operator::BitOr,
    Operator::BitXor,
    Operator::BitAnd,
    Operator::Equal,
    Operator::NotEqual,
    Operator::Less,
    Operator::LessEqual,
    Operator::Greater,
    Operator::GreaterEqual,
    Operator::Like,
    Operator::Matches,
    Operator::MatchesNot,
    Operator::ShiftLeft,
    Operator::ShiftRight,
    Operator::Add,
    Operator::Subtract,
    Operator::Multiply,
    Operator::Divide,
    Operator::Modulo,
    Operator::Power,
];

fn leaf() -> impl Strategy<Value = Expr> {
    let step = prop_oneof![
        "[a-zA-Z .\"\\\\]{0,4}".prop_map(Step::Member),
        (0_usize..100).prop_map(Step::Element),
    ];
    let steps = prop::collection::vec(step, 0..3);
    let name = prop::sample::select(vec!["a", "b2", "_c", "r", "Or", "$meta"]);
    prop_oneof![
        any::<bool>().prop_map(Kind::Bool),
        any::<i64>().prop_map(Kind::Integer),
        (-100_i64..100).prop_map(Kind::Integer),
        (-1e9..1e9).prop_map(Kind::Float),
        "[a-z\"'\\\\\n%_ü€]{0,6}".prop_map(Kind::Text),
        "[a-z_]{1,4}".prop_map(Kind::Template),
        "[a-z0-9:'\"-]{0,6}".prop_map(Kind::Instant),
        "[PTDH0-9]{0,6}".prop_map(Kind::Interval),
        "[a-z]{1,4}".prop_map(|part| {
            let (name, steps) = ("$".to_string(), vec![Step::Member(part)]);
            Kind::Path(Path { name, steps })
        }),
        (name, steps).prop_map(|(name, steps)| {
            let name = name.to_string();
            Kind::Path(Path { name, steps })
        }),
    ]
    .prop_map(node)
}

/// `a < b < c` is read as a range, and a number with a sign as that number.
fn readable(kind: Kind) -> Expr {
    node(match kind {
        Kind::Binary(operator, left, _)
            if operator.is_order()
                && matches!(&left.kind, Kind::Binary(inner, ..) if inner.is_order()) =>
        {
            left.kind
        }
        Kind::Negative(inner) if matches!(inner.kind, Kind::Integer(_) | Kind::Float(_)) => {
            inner.kind
        }
        other => other,
    })
}

/// Any tree that can be written.
pub(super) fn tree() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(6, 48, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let items = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::vec(("[a-z_]{1,5}", inner), 0..2);
        let operator = prop::sample::select(OPERATORS.to_vec());
        prop_oneof![
            4 => (operator, boxed.clone(), boxed.clone())
                .prop_map(|(operator, left, right)| Kind::Binary(operator, left, right)),
            1 => boxed.clone().prop_map(Kind::Not),
            1 => boxed.clone().prop_map(Kind::Negative),
            1 => boxed.clone().prop_map(Kind::Inverted),
            1 => boxed.clone().prop_map(Kind::Exists),
            1 => items.clone().prop_map(Kind::List),
            1 => (boxed.clone(), boxed.clone(), any::<bool>())
                .prop_map(|(value, list, negated)| Kind::In { value, list, negated }),
            1 => (boxed, any::<bool>())
                .prop_map(|(value, negated)| Kind::IsNull { value, negated }),
            1 => ("f[a-z_]{0,5}", items, named)
                .prop_map(|(name, arguments, named)| Kind::Call { name, arguments, named }),
        ]
        .prop_map(readable)
    })
}
