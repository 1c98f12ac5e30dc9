//! What OpenSearch's clients are told of a mapping that was refused: the one table from kinds to names and sentences.

use clew_schema::similarity::CLASSIC_REFUSED;
use clew_schema::{
    AliasProblem, CopyProblem, FieldParameter, JoinChange, MappingError, NameProblem, NestedChange,
    ParameterChange, UnreadableKind,
};

pub(crate) const MALFORMED: &str = "mapper_parsing_exception";
pub(crate) const ILLEGAL: &str = "illegal_argument_exception";
/// The similarity that Lucene began with.
const CLASSIC: &str = "classic";

/// OpenSearch's name for this kind of error.
pub fn error_type(error: &MappingError) -> &'static str {
    match error {
        MappingError::Unreadable { kind, .. } => match kind {
            UnreadableKind::Mapping => MALFORMED,
            UnreadableKind::Value | UnreadableKind::Flag { .. } => ILLEGAL,
            UnreadableKind::Number => "number_format_exception",
            UnreadableKind::Shape => "parse_exception",
        },
        MappingError::AliasTarget {
            problem: AliasProblem::OtherNested { .. },
            ..
        } => ILLEGAL,
        MappingError::NoReader { .. }
        | MappingError::Kept { .. }
        | MappingError::LoneMultiField { .. }
        | MappingError::NoSuchVector { .. }
        | MappingError::UnknownNormalizer { .. }
        | MappingError::AliasTarget { .. }
        | MappingError::TooManyRelations { .. }
        | MappingError::SecondJoin { .. } => MALFORMED,
        MappingError::Name { problem, .. } => match problem {
            NameProblem::Empty => ILLEGAL,
            NameProblem::EmptyPart | NameProblem::BlankPart => MALFORMED,
        },
        MappingError::UnknownSimilarity { name, .. } if name != CLASSIC => MALFORMED,
        MappingError::UnknownSimilarity { .. }
        | MappingError::Conflict { .. }
        | MappingError::Format(_)
        | MappingError::UnknownAnalyzer { .. }
        | MappingError::DerivedType { .. }
        | MappingError::Pattern { .. }
        | MappingError::NotAnObject { .. }
        | MappingError::NotAField { .. }
        | MappingError::Parameters { .. }
        | MappingError::Nested { .. }
        | MappingError::ObjectEnabled { .. }
        | MappingError::NotAnAlias { .. }
        | MappingError::AliasIsField { .. }
        | MappingError::Copy { .. }
        | MappingError::Joins { .. }
        | MappingError::ManyParents { .. }
        | MappingError::JoinInside { .. }
        | MappingError::TooManyFields { .. }
        | MappingError::TooManyNested { .. }
        | MappingError::NameTooLong { .. }
        | MappingError::TooDeep { .. } => ILLEGAL,
    }
}

/// What caused it, with OpenSearch's name and sentence, where that is told besides.
pub fn error_cause(error: &MappingError) -> Option<(&'static str, String)> {
    match error {
        MappingError::Unreadable {
            kind: UnreadableKind::Flag { text },
            ..
        } => Some((ILLEGAL, neither_true_nor_false(text))),
        _ => None,
    }
}

/// What is said of a text that is no switch.
pub(crate) fn neither_true_nor_false(text: &str) -> String {
    format!("Failed to parse value [{text}] as only [true] or [false] are allowed.")
}

/// Refuses what a mapping says, for a reason in OpenSearch's words.
pub(crate) fn refuse<T>(reason: String) -> Result<T, MappingError> {
    Err(MappingError::unreadable(reason))
}

/// Refuses a number that a parameter of a vector cannot have.
pub(crate) fn out_of_range(key: &str) -> Result<(), MappingError> {
    refuse(format!(
        "Validation Failed: parameter validation failed for Integer parameter [{key}]."
    ))
}

/// The name of a parameter of a field, as it is told with that of the field.
pub(crate) fn with_field(path: &str, key: &str) -> String {
    format!("{}.{key}", last(path))
}

/// OpenSearch's sentence for it.
pub fn reason(error: &MappingError) -> String {
    match error {
        MappingError::Unreadable { .. }
        | MappingError::NoReader { .. }
        | MappingError::Kept { .. }
        | MappingError::Format(_)
        | MappingError::LoneMultiField { .. }
        | MappingError::NoSuchVector { .. }
        | MappingError::TooManyRelations { .. } => error.to_string(),
        MappingError::Name { name, problem } => name_reason(name, *problem),
        MappingError::Conflict { path, from, to } => {
            format!("mapper [{path}] cannot be changed from type [{from}] to [{to}]")
        }
        MappingError::DerivedType { type_name } => {
            format!("Type [{type_name}] isn't supported in Derived field context.")
        }
        MappingError::NotAnObject { path, from } => {
            format!("mapper [{path}] cannot be changed from type [{from}] to [ObjectMapper]")
        }
        MappingError::NotAField { path } => {
            format!("can't merge a non object mapping [{path}] with an object mapping")
        }
        MappingError::Parameters { path, changes } => {
            let changes: Vec<String> = changes.iter().map(parameter_reason).collect();
            let changes = changes.join("\n\t");
            format!("Mapper for [{path}] conflicts with existing mapper:\n\t{changes}")
        }
        MappingError::UnknownAnalyzer { name } => {
            format!("analyzer [{name}] has not been configured in mappings")
        }
        MappingError::UnknownNormalizer { path, name } => {
            format!("normalizer [{name}] not found for field [{}]", last(path))
        }
        MappingError::UnknownSimilarity { name, .. } if name == CLASSIC => {
            CLASSIC_REFUSED.to_string()
        }
        MappingError::UnknownSimilarity { path, name } => {
            format!(
                "Unknown Similarity type [{name}] for field [{}]",
                last(path)
            )
        }
        MappingError::Pattern { pattern, template } => format!(
            "Pattern [{pattern}] of type [regex] is invalid. Cannot create dynamic template [{template}]."
        ),
        MappingError::Nested { change, .. } => nested_reason(*change),
        MappingError::ObjectEnabled { path } => {
            format!("the [enabled] parameter can't be updated for the object mapping [{path}]")
        }
        MappingError::NotAnAlias { .. }
        | MappingError::AliasTarget { .. }
        | MappingError::AliasIsField { .. } => alias_reason(error),
        MappingError::Copy { from, to, problem } => copy_reason((from, to), problem),
        MappingError::Joins { .. }
        | MappingError::ManyParents { .. }
        | MappingError::JoinInside { .. }
        | MappingError::SecondJoin { .. } => join_reason(error),
        MappingError::TooManyFields { max } => {
            format!("Limit of total fields [{max}] has been exceeded")
        }
        MappingError::TooManyNested { max } => {
            format!("Limit of nested fields [{max}] has been exceeded")
        }
        MappingError::NameTooLong { name, max } => {
            format!("Field name [{name}] is longer than the limit of [{max}] characters")
        }
        MappingError::TooDeep { max, path } => {
            format!("Limit of mapping depth [{max}] has been exceeded due to object field [{path}]")
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn name_reason(name: &str, problem: NameProblem) -> String {
    match problem {
        NameProblem::Empty => "name cannot be empty string".to_string(),
        NameProblem::EmptyPart => format!(
            "object field starting or ending with a [.] makes object resolution ambiguous: [{name}]"
        ),
        NameProblem::BlankPart => {
            format!("object field cannot contain only whitespace: ['{name}']")
        }
    }
}

fn parameter_reason(change: &ParameterChange) -> String {
    let parameter = change.parameter;
    let shown = |value: &Option<String>| match value {
        Some(value) => value.clone(),
        None if parameter == FieldParameter::Normalizer => "default".to_string(),
        None => "null".to_string(),
    };
    format!(
        "Cannot update parameter [{}] from [{}] to [{}]",
        parameter_name(parameter),
        shown(&change.from),
        shown(&change.to)
    )
}

fn parameter_name(parameter: FieldParameter) -> &'static str {
    match parameter {
        FieldParameter::Fielddata => "fielddata",
        FieldParameter::PositionGap => "position_increment_gap",
        FieldParameter::Phrases => "index_phrases",
        FieldParameter::Prefixes => "index_prefixes",
        FieldParameter::Neighbours => "max_shingle_size",
        FieldParameter::CountGaps => "enable_position_increments",
        FieldParameter::PrintFormat => "print_format",
        FieldParameter::Locale => "locale",
        FieldParameter::Impact => "positive_score_impact",
        FieldParameter::Gaps => "preserve_position_increments",
        FieldParameter::Contexts => "contexts",
        FieldParameter::Indexed => "index",
        FieldParameter::Store => "store",
        FieldParameter::DocValues => "doc_values",
        FieldParameter::Normalizer => "normalizer",
        FieldParameter::Similarity => "similarity",
        FieldParameter::NullValue => "null_value",
        FieldParameter::IndexOptions => "index_options",
        FieldParameter::Norms => "norms",
        FieldParameter::TermVector => "term_vector",
        FieldParameter::Analyzer => "analyzer",
        FieldParameter::Format => "format",
        FieldParameter::Value => "value",
        FieldParameter::ScalingFactor => "scaling_factor",
        FieldParameter::Mode => "mode",
        FieldParameter::CompressionLevel => "compression_level",
        FieldParameter::Dimension => "dimension",
        FieldParameter::Element => "data_type",
        FieldParameter::Space => "space_type",
        FieldParameter::Method => "method",
        FieldParameter::Separators => "preserve_separators",
        FieldParameter::Enabled => "enabled",
        FieldParameter::Includes => "includes",
        FieldParameter::Excludes => "excludes",
        FieldParameter::Required => "required",
    }
}

fn nested_reason(change: NestedChange) -> String {
    let parameter = match change {
        NestedChange::IncludeInParent => "include_in_parent",
        NestedChange::IncludeInRoot => "include_in_root",
        NestedChange::ToNested => {
            return "cannot change object mapping from non-nested to nested".to_string();
        }
        NestedChange::ToPlain => {
            return "cannot change object mapping from nested to non-nested".to_string();
        }
    };
    format!("the [{parameter}] parameter can't be updated on a nested object mapping")
}

fn alias_reason(error: &MappingError) -> String {
    match error {
        MappingError::NotAnAlias { alias, from } => {
            format!("mapper [{alias}] cannot be changed from type [{from}] to [FieldAliasMapper]")
        }
        MappingError::AliasTarget {
            alias,
            path,
            problem,
        } => {
            let why = match problem {
                AliasProblem::Itself => "an alias cannot refer to itself.".to_string(),
                AliasProblem::OtherAlias => "an alias cannot refer to another alias.".to_string(),
                AliasProblem::NoField => {
                    "an alias must refer to an existing field in the mappings.".to_string()
                }
                AliasProblem::OtherNested { from, to } => {
                    scopes_reason(from.as_deref(), to.as_deref())
                }
            };
            format!("Invalid [path] value [{path}] for field alias [{alias}]: {why}")
        }
        MappingError::AliasIsField { alias } => {
            format!(
                "Cannot merge a field alias mapping [{alias}] with a mapping that is not for a field alias."
            )
        }
        other => other.to_string(),
    }
}

fn scopes_reason(from: Option<&str>, to: Option<&str>) -> String {
    let from = match from {
        Some(object) => format!("The alias's nested scope is [{object}]"),
        None => "The alias is not nested".to_string(),
    };
    let to = match to {
        Some(object) => format!("the target's nested scope is [{object}]."),
        None => "the target is not nested.".to_string(),
    };
    format!("an alias must have the same nested scope as its target. {from}, but {to}")
}

fn copy_reason((from, to): (&str, &str), problem: &CopyProblem) -> String {
    match problem {
        CopyProblem::FromMultiField => {
            format!("[copy_to] may not be used to copy from a multi-field: [{from}]")
        }
        CopyProblem::ToMultiField => {
            format!("[copy_to] may not be used to copy to a multi-field: [{to}]")
        }
        CopyProblem::ToObject => {
            format!("Cannot copy to field [{to}] since it is mapped as an object")
        }
        CopyProblem::OtherNested { from, to } => {
            let [from, to] = [from, to].map(|object| object.as_deref().unwrap_or("null"));
            format!(
                "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to the current nested document or any of its parents, however one [copy_to] directive is trying to copy data from nested object [{from}] to [{to}]"
            )
        }
    }
}

fn join_reason(error: &MappingError) -> String {
    match error {
        MappingError::Joins { path, changes } => {
            let changes: Vec<String> = changes
                .iter()
                .map(|change| join_change_reason(path, change))
                .collect();
            format!(
                "Mapper for [{path}] conflicts with existing mapping:\n[{}]",
                changes.join(", ")
            )
        }
        MappingError::ManyParents { path, children } => {
            let each = children.iter();
            let each: Vec<String> = each
                .map(|child| format!("[{child}] cannot have multiple parents"))
                .collect();
            format!(
                "invalid definition for join field [{}]:\n[{}]",
                last(path),
                each.join(", ")
            )
        }
        MappingError::JoinInside { path } => {
            format!("join field [{path}] cannot be added inside an object or in a multi-field")
        }
        MappingError::SecondJoin { .. } => {
            "Field [_parent_join] is defined more than once".to_string()
        }
        other => other.to_string(),
    }
}

fn join_change_reason(path: &str, change: &JoinChange) -> String {
    match change {
        JoinChange::ParentRemoved { parent } => {
            format!("cannot remove parent [{parent}] in join field [{path}]")
        }
        JoinChange::ChildRemoved { child } => {
            format!("cannot remove child [{child}] in join field [{path}]")
        }
        JoinChange::ParentOfChild { parent } => {
            format!("cannot create parent [{parent}] from an existing child")
        }
        JoinChange::ChildOfParent { child } => {
            format!("cannot create child [{child}] from an existing parent")
        }
    }
}
