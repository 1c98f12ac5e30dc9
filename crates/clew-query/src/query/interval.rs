//! What a protocol asks for: a rule over the words of a field.

use super::program::Script;
use super::words::Fuzziness;
use serde::{Deserialize, Serialize};

/// A query on intervals of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// Field path.
    pub field: String,
    /// What a document must hold.
    pub rule: IntervalRule,
    /// How matches score.
    pub scoring: IntervalScoring,
    /// Factor on the score.
    pub boost: f32,
}

/// How the intervals of a document become a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntervalScoring {
    /// By how many there are and how tight, between 0 and 1, as `intervals` does.
    Proximity,
    /// By BM25 of the words, each interval counting by its tightness, as span queries do.
    Words,
}

/// The order that joined rules must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum IntervalMode {
    /// One after the other.
    Ordered,
    /// Any order; intervals may overlap.
    #[default]
    Unordered,
    /// Any order, none over another.
    UnorderedNoOverlap,
}

/// How an interval must lie to those of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntervalRelation {
    /// One of the filter's lies within it.
    Containing,
    /// None of the filter's lies within it.
    NotContaining,
    /// It lies within one of the filter's.
    ContainedBy,
    /// It lies within none of the filter's.
    NotContainedBy,
    /// It shares a position with one of the filter's.
    Overlapping,
    /// It shares a position with none of the filter's.
    NotOverlapping,
    /// It ends before one of the filter's begins.
    Before,
    /// It begins after one of the filter's ends.
    After,
}

impl IntervalRelation {
    /// Whether a document without an interval of the filter cannot match.
    pub fn needs_filter(self) -> bool {
        !matches!(
            self,
            IntervalRelation::NotContaining
                | IntervalRelation::NotContainedBy
                | IntervalRelation::NotOverlapping
        )
    }
}

/// What gives intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum IntervalRule {
    /// The words of a text.
    Match {
        /// The text to analyze.
        text: String,
        /// Another analyzer than the field's.
        analyzer: Option<String>,
        /// Order of the words.
        mode: IntervalMode,
        /// At most so many positions between the words.
        max_gaps: Option<u32>,
    },
    /// One word as it is indexed.
    Word(String),
    /// Words with this beginning, minding no case when the flag is set.
    Prefix(String, bool),
    /// Words that match a pattern of `*` and `?`.
    Wildcard(String, bool),
    /// Words that match a regular expression as a whole.
    Regexp(String, bool),
    /// Words within an edit distance.
    Fuzzy(String, Fuzziness),
    /// A pattern or word, with its letters changed as an analyzer changes them.
    Normalized {
        /// Another analyzer than the field's.
        analyzer: Option<String>,
        /// The pattern or word.
        rule: Box<IntervalRule>,
    },
    /// All rules.
    AllOf {
        /// The rules.
        rules: Vec<IntervalRule>,
        /// Order of their intervals.
        mode: IntervalMode,
        /// At most so many positions between their intervals.
        max_gaps: Option<u32>,
    },
    /// Any of the rules.
    AnyOf(Vec<IntervalRule>),
    /// A rule's intervals that lie to a filter's as wanted.
    Related {
        /// The rule.
        rule: Box<IntervalRule>,
        /// How they must lie.
        relation: IntervalRelation,
        /// What gives the other intervals.
        filter: Box<IntervalRule>,
    },
    /// A rule's intervals that a script holds of.
    Scripted {
        /// The rule.
        rule: Box<IntervalRule>,
        /// The script, for [`ScriptPurpose::Interval`](super::ScriptPurpose::Interval).
        script: Box<Script>,
    },
    /// A rule's intervals, made longer at both ends.
    Extended {
        /// The rule.
        rule: Box<IntervalRule>,
        /// So many positions before.
        before: u32,
        /// So many positions after.
        after: u32,
    },
    /// A rule's intervals that end before a position.
    First {
        /// The rule.
        rule: Box<IntervalRule>,
        /// The position.
        end: u32,
    },
    /// A rule over another field, whose positions are taken as this field's.
    InField {
        /// Path of the other field.
        field: String,
        /// The rule.
        rule: Box<IntervalRule>,
    },
}
