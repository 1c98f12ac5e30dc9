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
        of: Box<Node>,
        key: Box<Node>,
        /// What makes the new value of the one that is there and this one.
        operator: Option<Operator>,
        value: Box<Node>,
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
    Arithmetic,
    Cast,
    Null,
    Bounds,
    ArrayBounds,
    TextBounds,
    NumberFormat,
    DateFormat,
    NoElement,
    Unsupported,
    /// One that was made, or caught, before.
    Again,
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
    /// The variables around it, which it may see wherever it is called.
    #[serde(default)]
    pub(super) around: Vec<usize>,
    /// How deep its tree is at most.
    #[serde(default)]
    pub(super) depth: usize,
    /// What it names by `::`, instead of a body.
    #[serde(default)]
    pub(super) named: Option<Named>,
}

/// What `::` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Named {
    /// A method of a value.
    Of(Box<Node>, String),
    /// A function of a class, or a method of the first argument.
    Class(String, String),
    /// Functions of the script's own with one name, by their places.
    Own(Vec<usize>),
}

/// Something gets a value, and has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Assign {
    pub(super) target: Target,
    /// What makes the new value of the one that is there and this one.
    pub(super) operator: Option<Operator>,
    pub(super) value: Node,
    /// Whether what was there before is the value of it all, as of `x++`.
    pub(super) before: bool,
}

/// What gets a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Target {
    Variable(usize, Type),
    /// A member of a map, or an item of a list.
    Member(Box<Node>, Box<Node>),
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
    /// Whole numbers of 32 bits.
    Int,
    /// Whole numbers of 16 bits.
    Short,
    /// Whole numbers of 8 bits.
    Byte,
    /// Letters.
    Char,
}

/// Types of variables that may hold anything here.
const ANYTHING: &[&str] = &[
    "def",
    "AbstractList",
    "AbstractMap",
    "ArrayDeque",
    "ArrayList",
    "BiConsumer",
    "BiFunction",
    "BiPredicate",
    "BinaryOperator",
    "CharSequence",
    "Collection",
    "Comparator",
    "Consumer",
    "ChronoUnit",
    "Date",
    "DayOfWeek",
    "Deque",
    "DateTimeFormatter",
    "DoubleStream",
    "Duration",
    "Entry",
    "Exception",
    "Function",
    "GeoPoint",
    "HashMap",
    "HashSet",
    "Instant",
    "IntFunction",
    "IntPredicate",
    "IntStream",
    "IntUnaryOperator",
    "Iterable",
    "Iterator",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "ListIterator",
    "LocalDate",
    "LocalDateTime",
    "LocalTime",
    "Locale",
    "LongStream",
    "Map",
    "Map.Entry",
    "Matcher",
    "Month",
    "NavigableMap",
    "Number",
    "Object",
    "Optional",
    "OptionalDouble",
    "OptionalInt",
    "OptionalLong",
    "Pattern",
    "Period",
    "Predicate",
    "Queue",
    "Set",
    "SimpleDateFormat",
    "SortedMap",
    "SortedSet",
    "Stack",
    "Stream",
    "StringBuffer",
    "StringBuilder",
    "StringTokenizer",
    "Supplier",
    "TimeZone",
    "ToDoubleFunction",
    "ToIntFunction",
    "ToLongFunction",
    "TreeMap",
    "TreeSet",
    "UnaryOperator",
    "Vector",
    "ZoneId",
    "ZoneOffset",
    "ZonedDateTime",
];

impl Type {
    /// The type that a variable or a cast names.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "long" => Type::Whole,
            "int" => Type::Int,
            "short" => Type::Short,
            "byte" => Type::Byte,
            "float" | "double" => Type::Float,
            "boolean" => Type::Bool,
            "String" => Type::Text,
            "char" => Type::Char,
            // What is boxed may be null, too.
            "Integer" | "Long" | "Short" | "Byte" | "Float" | "Double" | "Boolean"
            | "Character" => Type::Any,
            name if ANYTHING.contains(&name) => Type::Any,
            _ => return None,
        })
    }

    /// Whether what it holds is computed with in 32 bits.
    pub(super) fn is_int(self) -> bool {
        matches!(self, Type::Int | Type::Short | Type::Byte | Type::Char)
    }

    /// Its name in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Any => "def",
            Type::Whole => "long",
            Type::Float => "double",
            Type::Bool => "boolean",
            Type::Text => "java.lang.String",
            Type::Int => "int",
            Type::Short => "short",
            Type::Byte => "byte",
            Type::Char => "char",
        }
    }
}

/// Something with a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Node {
    Null,
    Bool(bool),
    /// A whole number of 32 bits where it fits in these.
    Whole(i64),
    /// One of 64 bits.
    Long(i64),
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
    /// The same of whole numbers of 32 bits, which makes another one.
    PairOfInts(Operator, Box<Node>, Box<Node>),
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
    Assign(Box<Assign>),
    /// A list of so many items, of such lists: how many on each level, and what stands at the end.
    Array(Vec<Node>, Box<Node>),
    Function(String, Vec<Node>),
    /// A call of a function of the script's own, by its place among these.
    Own(usize, Vec<Node>),
    Member {
        of: Box<Node>,
        name: String,
        /// Whether null has null for all its members.
        safe: bool,
        /// The byte of the text where its dot is.
        #[serde(default)]
        at: usize,
    },
    Index(Box<Node>, Box<Node>),
    Call {
        of: Box<Node>,
        name: String,
        arguments: Vec<Node>,
        safe: bool,
        /// The byte of the text where its dot is.
        #[serde(default)]
        at: usize,
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
    "AbstractList",
    "ArrayList",
    "Set",
    "HashSet",
    "Collection",
    "Iterable",
    "Map",
    "HashMap",
    "String",
    "CharSequence",
    "Character",
    "StringBuilder",
    "Number",
    "Integer",
    "Long",
    "Short",
    "Byte",
    "Double",
    "Float",
    "Boolean",
    "ZonedDateTime",
    "Duration",
    "Instant",
    "LocalDate",
    "LocalDateTime",
    "LocalTime",
    "DayOfWeek",
    "Month",
    "Period",
    "LinkedHashMap",
    "TreeMap",
    "TreeSet",
    "def",
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
