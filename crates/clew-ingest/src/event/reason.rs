//! Why a step could not do its work on an event, and what counters call it.

/// Why a step could not do its work on an event. Costs nothing to make: a line that fails is no dearer than one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{}", self.as_str())]
pub enum Reason {
    /// A field that must be there is not.
    Missing,
    /// A text is not as its pattern.
    NoMatch,
    /// A text is not JSON, or not an object.
    NotJson,
    /// A text is not XML.
    NotXml,
    /// A text does not spell a value of the type asked for.
    NotConvertible,
    /// A text is no date of the formats asked for.
    NotADate,
    /// A field inside another one that is no object.
    NotAnObject,
    /// A field that must not be there yet is there.
    AlreadyThere,
    /// More names than one pipeline remembers.
    TooManyNames,
    /// A text longer than is taken apart, or one that an expression takes too many steps on.
    TooLong,
    /// What a step without a plan of its own says of a document.
    Unfit,
    /// A program came upon something that it has no answer to.
    Program,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 12] = [
        Reason::Missing,
        Reason::NoMatch,
        Reason::NotJson,
        Reason::NotXml,
        Reason::NotConvertible,
        Reason::NotADate,
        Reason::NotAnObject,
        Reason::AlreadyThere,
        Reason::TooManyNames,
        Reason::TooLong,
        Reason::Unfit,
        Reason::Program,
    ];

    /// The reason's name, for counters.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Missing => "missing_field",
            Reason::NoMatch => "no_match",
            Reason::NotJson => "not_json",
            Reason::NotXml => "not_xml",
            Reason::NotConvertible => "not_convertible",
            Reason::NotADate => "not_a_date",
            Reason::NotAnObject => "not_an_object",
            Reason::AlreadyThere => "already_there",
            Reason::TooManyNames => "too_many_names",
            Reason::TooLong => "too_long",
            Reason::Unfit => "unfit",
            Reason::Program => "program_failed",
        }
    }
}
