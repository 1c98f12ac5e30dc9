//! An expression as it was written: what stands where, and nothing of what it means.

/// An expression, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    /// The byte where it begins.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Expr>),
    /// `ISO '…'`: a moment, as it was written.
    Instant(String),
    /// `INTERVAL '…'`: a length of time.
    Interval(String),
    /// A value that comes beside the expression.
    Template(String),
    /// A field, and the way into it.
    Path(Path),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Inverted(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    In {
        value: Box<Expr>,
        list: Box<Expr>,
        negated: bool,
    },
    /// Whether it has no value.
    IsNull {
        value: Box<Expr>,
        negated: bool,
    },
    Exists(Box<Expr>),
    Call {
        name: String,
        arguments: Vec<Expr>,
        /// `name=value` behind them.
        named: Vec<(String, Expr)>,
    },
}

impl Expr {
    /// Whether parts of it are nested deeper than this. A chain of `and`, or of `or`, is one level: whoever walks it goes
    /// along it instead of into it.
    pub(super) fn is_deeper_than(&self, most: usize) -> bool {
        let mut left = vec![(self, 1)];
        while let Some((expr, depth)) = left.pop() {
            if depth > most {
                return true;
            }
            let chain = match &expr.kind {
                Kind::Binary(own @ (Operator::And | Operator::Or), ..) => Some(*own),
                _ => None,
            };
            for inside in expr.children() {
                let goes_on = matches!(&inside.kind, Kind::Binary(own, ..) if Some(*own) == chain);
                left.push((inside, depth + usize::from(!goes_on)));
            }
        }
        false
    }

    /// Whether it, or a part of it, is such a one.
    pub(super) fn any(&self, is_it: &dyn Fn(&Expr) -> bool) -> bool {
        self.find(is_it).is_some()
    }

    /// It, or a part of it, that is such a one.
    pub(super) fn find(&self, is_it: &dyn Fn(&Expr) -> bool) -> Option<&Expr> {
        let mut left = vec![self];
        while let Some(one) = left.pop() {
            if is_it(one) {
                return Some(one);
            }
            left.extend(one.children());
        }
        None
    }

    pub(super) fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            Kind::List(items) => items.iter_mut().collect(),
            Kind::Not(inner)
            | Kind::Negative(inner)
            | Kind::Inverted(inner)
            | Kind::IsNull { value: inner, .. }
            | Kind::Exists(inner) => vec![&mut **inner],
            Kind::Binary(_, left, right) => vec![&mut **left, &mut **right],
            Kind::In { value, list, .. } => vec![&mut **value, &mut **list],
            Kind::Call {
                arguments, named, ..
            } => {
                let named = named.iter_mut().map(|(_, value)| value);
                arguments.iter_mut().chain(named).collect()
            }
            _ => Vec::new(),
        }
    }

    fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::List(items) => items.iter().collect(),
            Kind::Not(inner)
            | Kind::Negative(inner)
            | Kind::Inverted(inner)
            | Kind::IsNull { value: inner, .. }
            | Kind::Exists(inner) => vec![&**inner],
            Kind::Binary(_, left, right) => vec![&**left, &**right],
            Kind::In { value, list, .. } => vec![&**value, &**list],
            Kind::Call {
                arguments, named, ..
            } => {
                let named = named.iter().map(|(_, value)| value);
                arguments.iter().chain(named).collect()
            }
            Kind::Bool(_)
            | Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Instant(_)
            | Kind::Interval(_)
            | Kind::Template(_)
            | Kind::Path(_) => Vec::new(),
        }
    }
}

/// A field, and the way into it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Member(String),
    Element(usize),
    /// A part of a struct, whose name is not quoted.
    Part(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Like,
    Matches,
    MatchesNot,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
}

impl Operator {
    /// How tightly it binds: more is tighter.
    pub(super) fn strength(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::BitOr => 3,
            Operator::BitXor => 4,
            Operator::BitAnd => 5,
            Operator::Equal | Operator::NotEqual => 6,
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => 7,
            // Membership binds with 8.
            Operator::ShiftLeft | Operator::ShiftRight => 9,
            Operator::Add | Operator::Subtract => 10,
            Operator::Multiply | Operator::Divide | Operator::Modulo => 11,
            // What stands in front of a value binds with 12.
            Operator::Power => 13,
            Operator::Like | Operator::Matches | Operator::MatchesNot => 14,
        }
    }

    pub(super) fn is_comparison(self) -> bool {
        matches!(self.strength(), 6 | 7)
    }

    pub(super) fn is_order(self) -> bool {
        self.strength() == 7
    }

    /// The same with its sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Operator::Less => Operator::Greater,
            Operator::LessEqual => Operator::GreaterEqual,
            Operator::Greater => Operator::Less,
            Operator::GreaterEqual => Operator::LessEqual,
            same => same,
        }
    }

    /// What holds where it does not.
    pub(super) fn negated(self) -> Self {
        match self {
            Operator::Less => Operator::GreaterEqual,
            Operator::LessEqual => Operator::Greater,
            Operator::Greater => Operator::LessEqual,
            Operator::GreaterEqual => Operator::Less,
            Operator::Equal => Operator::NotEqual,
            Operator::NotEqual => Operator::Equal,
            same => same,
        }
    }
}
