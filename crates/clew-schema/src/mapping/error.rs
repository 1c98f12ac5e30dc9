//! Why a mapping was refused: kinds with what they are about. What a client is told of them, its protocol says.

use crate::date::DateError;

/// Why a mapping was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// What was written cannot be read.
    #[error("{reason}")]
    Unreadable {
        /// What kind of thing it is.
        kind: UnreadableKind,
        /// What is wrong, in the words of the reader's protocol.
        reason: String,
    },
    /// Something kept can only be read with a [`MappingReader`](super::MappingReader), and none was handed in.
    #[error("{what} cannot be read without a reader of the protocol that wrote it")]
    NoReader {
        /// What cannot be read.
        what: &'static str,
    },
    /// A kept mapping is none.
    #[error("a kept mapping makes no sense: {reason}")]
    Kept {
        /// What is wrong with it.
        reason: String,
    },
    /// A name cannot be one of a field or an object.
    #[error("[{name}] cannot be the name of a field: {problem}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        problem: NameProblem,
    },
    /// The field exists with another type.
    #[error("field [{path}] is of type [{from}], not [{to}]")]
    Conflict {
        /// Field path.
        path: String,
        /// Type it has.
        from: &'static str,
        /// Type asked for.
        to: &'static str,
    },
    /// No derived field can have this type.
    #[error("derived fields cannot be of type [{type_name}]")]
    DerivedType {
        /// The type.
        type_name: String,
    },
    /// There is a field where an object is asked for, or would be needed.
    #[error("[{path}] is a field of type [{from}], not an object")]
    NotAnObject {
        /// Field path.
        path: String,
        /// Type it has.
        from: &'static str,
    },
    /// Of what is there and what is asked for one is an object, and the other a field or an alias.
    #[error("[{path}] is an object, or would become one")]
    NotAField {
        /// The path.
        path: String,
    },
    /// A multi-field has no field that it belongs to.
    #[error("multi-field [{path}] has no field that it belongs to")]
    LoneMultiField {
        /// Its path.
        path: String,
    },
    /// Documents were indexed with what would change.
    #[error("{} parameters of field [{path}] cannot be changed", changes.len())]
    Parameters {
        /// Field path.
        path: String,
        /// What would change.
        changes: Vec<ParameterChange>,
    },
    /// A field whose column should change is not there, or no vector.
    #[error("[{path}] is not a vector field")]
    NoSuchVector {
        /// Field path.
        path: String,
    },
    /// A format of dates is not understood.
    #[error(transparent)]
    Format(#[from] DateError),
    /// The index has no such analyzer.
    #[error("there is no analyzer [{name}]")]
    UnknownAnalyzer {
        /// Its name.
        name: String,
    },
    /// The index has no such normalizer.
    #[error("there is no normalizer [{name}] for field [{path}]")]
    UnknownNormalizer {
        /// Field path.
        path: String,
        /// Its name.
        name: String,
    },
    /// The index has no such similarity.
    #[error("there is no similarity [{name}] for field [{path}]")]
    UnknownSimilarity {
        /// Field path.
        path: String,
        /// Its name.
        name: String,
    },
    /// A pattern of a dynamic template is no regular expression.
    #[error("[{pattern}] is no regular expression")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The name of the template.
        template: String,
    },
    /// What an object says of being nested cannot change.
    #[error("object [{path}] cannot change how it is nested")]
    Nested {
        /// Path of the object.
        path: String,
        /// What would change.
        change: NestedChange,
    },
    /// Whether the content of an object is looked at cannot change.
    #[error("object [{path}] cannot change whether it is looked at")]
    ObjectEnabled {
        /// Path of the object.
        path: String,
    },
    /// There is a field where an alias is asked for.
    #[error("[{alias}] is a field of type [{from}], not an alias")]
    NotAnAlias {
        /// The alias.
        alias: String,
        /// Type of the field.
        from: &'static str,
    },
    /// An alias stands for nothing that it can stand for.
    #[error("alias [{alias}] cannot stand for [{path}]: {problem}")]
    AliasTarget {
        /// The alias.
        alias: String,
        /// What it would stand for.
        path: String,
        /// Why not.
        problem: AliasProblem,
    },
    /// A field's values cannot be copied where they are to be.
    #[error("values of [{from}] cannot be copied to [{to}]: {problem}")]
    Copy {
        /// The field's path.
        from: String,
        /// The other path.
        to: String,
        /// Why not.
        problem: CopyProblem,
    },
    /// A field and an alias have the same path.
    #[error("[{alias}] is both a field and an alias")]
    AliasIsField {
        /// The path.
        alias: String,
    },
    /// What is joined cannot become what is asked for.
    #[error("{} relations of join field [{path}] cannot be changed", changes.len())]
    Joins {
        /// Field path.
        path: String,
        /// What would change.
        changes: Vec<JoinChange>,
    },
    /// Kinds of documents would have several kinds of parents.
    #[error("[{}] of join field [{path}] have several parents", children.join(", "))]
    ManyParents {
        /// Field path.
        path: String,
        /// The kinds.
        children: Vec<String>,
    },
    /// A join field has too many kinds of documents.
    #[error("join field [{path}] has [{count}] relations, at most [{max}] are possible")]
    TooManyRelations {
        /// Field path.
        path: String,
        /// How many it has.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A join field lies inside an object, or is a multi-field.
    #[error("join field [{path}] is not at the top")]
    JoinInside {
        /// Field path.
        path: String,
    },
    /// There is another join field.
    #[error("[{path}] would be a second join field")]
    SecondJoin {
        /// Path of the new one.
        path: String,
    },
    /// Too many fields.
    #[error("more than [{max}] fields")]
    TooManyFields {
        /// The limit.
        max: usize,
    },
    /// Too many objects that are documents of their own.
    #[error("more than [{max}] nested objects")]
    TooManyNested {
        /// The limit.
        max: usize,
    },
    /// A name is too long.
    #[error("the name [{name}] has more than [{max}] characters")]
    NameTooLong {
        /// Its beginning.
        name: String,
        /// The limit.
        max: usize,
    },
    /// Objects inside objects too often.
    #[error("object [{path}] lies deeper than [{max}]")]
    TooDeep {
        /// The limit.
        max: usize,
        /// The object that is too deep.
        path: String,
    },
}

/// What kind of thing cannot be read in what was written of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnreadableKind {
    /// The mapping is not made as one is.
    Mapping,
    /// A value cannot be where it is.
    Value,
    /// A text should be a number.
    Number,
    /// A value has not the shape of what belongs there.
    Shape,
    /// A text should say yes or no.
    Flag {
        /// The text.
        text: String,
    },
}

impl MappingError {
    /// The error of a reader about the mapping itself, in the words of its protocol.
    pub fn unreadable(reason: impl Into<String>) -> Self {
        Self::unfit(UnreadableKind::Mapping, reason)
    }

    /// The error of a reader about something in a mapping, in the words of its protocol.
    pub fn unfit(kind: UnreadableKind, reason: impl Into<String>) -> Self {
        MappingError::Unreadable {
            kind,
            reason: reason.into(),
        }
    }

    pub(super) fn kept(reason: impl Into<String>) -> Self {
        MappingError::Kept {
            reason: reason.into(),
        }
    }
}

/// What of a field cannot change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterChange {
    /// The parameter.
    pub parameter: FieldParameter,
    /// What it is; absent where it is nothing.
    pub from: Option<String>,
    /// What it would become.
    pub to: Option<String>,
}

/// What of a field documents are indexed with, in the order in which changes of several are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldParameter {
    /// Whether it can be searched.
    Indexed,
    /// Whether values can be sorted and gathered in buckets.
    DocValues,
    /// Whether its values are handed out by themselves.
    Store,
    /// What an explicit null stands for.
    NullValue,
    /// What is kept of a word's places.
    IndexOptions,
    /// Whether lengths count, which may only end.
    Norms,
    /// Whether vectors of words are handed out.
    TermVector,
    /// The analyzer of a text.
    Analyzer,
    /// What weighs its terms.
    Similarity,
    /// What makes the terms of a keyword alike.
    Normalizer,
    /// How far the values of a text are from each other.
    PositionGap,
    /// Whether words can be sorted and gathered in buckets.
    Fielddata,
    /// Whether pairs of words are kept, too.
    Phrases,
    /// Which beginnings of words are kept, too.
    Prefixes,
    /// How many words are kept together for what is still being typed.
    Neighbours,
    /// Whether gaps count among words.
    CountGaps,
    /// The format of dates.
    Format,
    /// The format in which dates are shown.
    PrintFormat,
    /// The language of dates.
    Locale,
    /// What every document has.
    Value,
    /// Steps between whole numbers.
    ScalingFactor,
    /// Whether more of a feature is better.
    Impact,
    /// What a vector column is made for.
    Mode,
    /// How small the codes of vectors are.
    CompressionLevel,
    /// Numbers of a vector.
    Dimension,
    /// The type of a vector's numbers.
    Element,
    /// How far vectors are from each other.
    Space,
    /// What a vector column is searched through.
    Method,
    /// Whether spaces of a completion count.
    Separators,
    /// Whether words that its analyzer leaves out count.
    Gaps,
    /// What completions are told apart by.
    Contexts,
    /// Whether documents are handed out as they came.
    Enabled,
    /// Which parts of them are.
    Includes,
    /// Which parts of them are not.
    Excludes,
    /// Whether every document must name its routing.
    Required,
}

/// What of being nested cannot change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestedChange {
    /// Whether values go into the enclosing document too.
    IncludeInParent,
    /// Whether values go into the whole document too.
    IncludeInRoot,
    /// It is a plain object, and would become nested.
    ToNested,
    /// It is nested, and would become a plain object.
    ToPlain,
}

/// What of a join field cannot change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinChange {
    /// A kind with children would have none.
    ParentRemoved {
        /// The kind.
        parent: String,
    },
    /// A kind would lose a kind of children.
    ChildRemoved {
        /// The kind of children.
        child: String,
    },
    /// A kind of children would get children.
    ParentOfChild {
        /// The kind.
        parent: String,
    },
    /// A kind with children would become a kind of children.
    ChildOfParent {
        /// The kind.
        child: String,
    },
}

/// Why an alias cannot stand for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AliasProblem {
    /// That is the alias itself.
    Itself,
    /// That is another alias.
    OtherAlias,
    /// There is no such field.
    NoField,
    /// That is in another nested object.
    OtherNested {
        /// The nested object that the alias is in.
        from: Option<String>,
        /// The one that the field is in.
        to: Option<String>,
    },
}

impl std::fmt::Display for AliasProblem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            AliasProblem::Itself => "that is the alias itself",
            AliasProblem::OtherAlias => "that is another alias",
            AliasProblem::NoField => "there is no such field",
            AliasProblem::OtherNested { .. } => "that is in another nested object",
        })
    }
}

/// Why a field's values cannot be copied to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyProblem {
    /// The field is one of several of a value.
    FromMultiField,
    /// There is one of several of a value.
    ToMultiField,
    /// There is an object.
    ToObject,
    /// There is a nested object that the field is not in.
    OtherNested {
        /// The nested object that the field is in.
        from: Option<String>,
        /// The one that the path is in.
        to: Option<String>,
    },
}

impl std::fmt::Display for CopyProblem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            CopyProblem::FromMultiField => "the field is one of several of a value",
            CopyProblem::ToMultiField => "the other one is one of several of a value",
            CopyProblem::ToObject => "there is an object",
            CopyProblem::OtherNested { .. } => "that is in another nested object",
        })
    }
}

/// Why no field or object can have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// There is nothing of it.
    Empty,
    /// There is nothing before a dot, behind one or between two.
    EmptyPart,
    /// There is only white space before a dot, behind one or between two.
    BlankPart,
}

impl NameProblem {
    /// Why no field can have this name, dots in it making objects.
    pub fn of(name: &str) -> Option<Self> {
        if name.is_empty() {
            Some(NameProblem::Empty)
        } else if name.split('.').any(str::is_empty) {
            Some(NameProblem::EmptyPart)
        } else if name.split('.').any(|part| part.trim().is_empty()) {
            Some(NameProblem::BlankPart)
        } else {
            None
        }
    }
}

impl std::fmt::Display for NameProblem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            NameProblem::Empty => "it is empty",
            NameProblem::EmptyPart => "a part of it is empty",
            NameProblem::BlankPart => "a part of it is only white space",
        })
    }
}
