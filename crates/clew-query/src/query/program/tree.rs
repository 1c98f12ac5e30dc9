//! The tree of a script.

use serde::{Deserialize, Serialize};

use super::pattern::Pattern;

/// A statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Statement {
    /// A variable gets a value.
    Set {
        place: usize,
        kind: Type,
        /// Whether a fraction may be cut off to fit the variable.
        cut: bool,
        value: Node,
    },
    /// A member of a map, or an item of a list, gets a value.
    Put {
        of: Node,
        key: Node,
        /// What makes the new value of the one that is there and this one.
        operator: Option<Operator>,
        value: Node,
    },
    If(Node, Vec<Statement>, Vec<Statement>),
    Loop {
        condition: Option<Node>,
        step: Vec<Statement>,
        body: Vec<Statement>,
    },
    Each {
        place: usize,
        list: Node,
        body: Vec<Statement>,
    },
    Return(Option<Node>),
    /// What may fail, and what is done then.
    Try {
        body: Vec<Statement>,
        catches: Vec<Catch>,
    },
    /// The script fails, for a reason of its own.
    Throw(Thrown, Node),
    Value(Node),
    Break,
    Continue,
    /// What comes next begins at this byte of the text.
    At(usize),
}

/// What a script calls its own failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Thrown {
    Argument,
    State,
    Runtime,
    Other,
}

/// What is done about a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Catch {
    /// The class of failures that it is there for.
    pub(super) class: String,
    /// The variable that has the failure.
    pub(super) place: usize,
    pub(super) body: Vec<Statement>,
}

/// What a script does with each item of a list, say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Lambda {
    /// The variables that it is called with.
    pub(super) places: Vec<usize>,
    pub(super) body: Vec<Statement>,
}

/// A function of the script's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Own {
    /// The variables that it is called with, and what each may hold.
    pub(super) places: Vec<(usize, Type)>,
    /// All its variables; each call has its own.
    pub(super) variables: std::ops::Range<usize>,
    /// How deep its tree is at most.
    pub(super) depth: usize,
    /// What it gives back.
    pub(super) kind: Type,
    pub(super) body: Vec<Statement>,
}

/// What a variable may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Type {
    /// Anything.
    Any,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Float,
    /// Truth values.
    Bool,
    /// Texts.
    Text,
}

impl Type {
    /// The type that a variable or a cast names.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "def" | "List" | "Map" | "Object" | "ZonedDateTime" | "Instant" | "ArrayList"
            | "HashMap" | "LinkedHashMap" | "Set" | "HashSet" | "LinkedHashSet" | "LinkedList"
            | "Collection" | "Iterable" | "Date" | "Number" | "GeoPoint" | "Pattern"
            | "Matcher" | "CharSequence" => Type::Any,
            "int" | "long" | "short" | "byte" | "Integer" | "Long" => Type::Whole,
            "float" | "double" | "Float" | "Double" => Type::Float,
            "boolean" | "Boolean" => Type::Bool,
            "String" | "char" => Type::Text,
            _ => return None,
        })
    }

    /// Its name in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Any => "def",
            Type::Whole => "long",
            Type::Float => "double",
            Type::Bool => "boolean",
            Type::Text => "java.lang.String",
        }
    }
}

/// Something with a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Whole(i64),
    Float(f64),
    Text(String),
    /// A regular expression.
    Pattern(Box<Pattern>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Params,
    /// What the script is there to change.
    Context,
    Source,
    Score,
    Now,
    Variable(usize),
    /// All values of a field.
    Values(usize),
    /// The first value of a field, or an error.
    Value(usize),
    /// Whether the mapping has a field.
    IsMapped(usize),
    /// How near a vector is.
    Measure(usize),
    Not(Box<Node>),
    Negated(Box<Node>),
    Flipped(Box<Node>),
    Pair(Operator, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// The first unless it is null, else the second.
    Otherwise(Box<Node>, Box<Node>),
    Cast(Type, Box<Node>),
    /// Whether a value is of a class.
    Is(Box<Node>, String),
    /// Only an argument of a call.
    Lambda(Lambda),
    Function(String, Vec<Node>),
    /// A call of a function of the script's own, by its place among these.
    Own(usize, Vec<Node>),
    Member {
        of: Box<Node>,
        name: String,
        /// Whether null has null for all its members.
        safe: bool,
    },
    Index(Box<Node>, Box<Node>),
    Call {
        of: Box<Node>,
        name: String,
        arguments: Vec<Node>,
        safe: bool,
    },
}

/// What makes two values one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Operator {
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// Whether a regular expression matches somewhere.
    Find,
    /// Whether it matches the whole.
    Match,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    /// As it is written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::BitOr => "|",
            Operator::BitXor => "^",
            Operator::BitAnd => "&",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::Find => "=~",
            Operator::Match => "==~",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
            Operator::ShiftRightUnsigned => ">>>",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }
}

/// Classes that values can be asked for.
pub(super) const CLASSES: &[&str] = &[
    "List",
    "ArrayList",
    "Set",
    "Collection",
    "Iterable",
    "Map",
    "HashMap",
    "String",
    "CharSequence",
    "Number",
    "Integer",
    "Long",
    "Double",
    "Float",
    "Boolean",
    "ZonedDateTime",
    "Object",
];

/// Where among the levels classes are asked for.
pub(super) const CLASS_LEVEL: usize = 4;

/// Operators by how strongly they bind, weakest first; `&&` and `||` bind less than all of them.
pub(super) const LEVELS: [&[Operator]; 9] = [
    &[Operator::BitOr],
    &[Operator::BitXor],
    &[Operator::BitAnd],
    &[Operator::Equal, Operator::NotEqual],
    &[
        Operator::LessEqual,
        Operator::GreaterEqual,
        Operator::Less,
        Operator::Greater,
    ],
    &[
        Operator::ShiftLeft,
        Operator::ShiftRightUnsigned,
        Operator::ShiftRight,
    ],
    &[Operator::Find, Operator::Match],
    &[Operator::Add, Operator::Subtract],
    &[Operator::Multiply, Operator::Divide, Operator::Remainder],
];
