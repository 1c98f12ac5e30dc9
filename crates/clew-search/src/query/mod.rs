//! What the query tree means: its translation into tantivy's queries.
//!
//! [`compile()`] gives field paths and JSON scalars a meaning under one shard's mapping and statistics, so that scores
//! equal OpenSearch's. Queries that documents have (`percolate`) are compiled and tried here too.
//! Deliberately absent: any protocol's JSON, and running the query (that is `search`).

mod at_doc;
mod automaton;
mod column_range;
mod compile;
mod constant;
mod covered;
mod derived;
mod describe;
mod each;
mod forward;
mod function;
mod held;
mod interval;
mod join;
mod leaf;
mod literal;
mod matching;
mod near;
mod objects;
mod percolate;
mod phrase;
mod points;
mod predicate;
mod profile;
mod query_string;
mod regexp;
pub(crate) mod relatives;
mod resolver;
mod shapes;
mod source_phrase;
mod spelled_out;
mod steady;
mod vectors;
mod weighed;

pub use compile::{CompileContext, Plan, compile, plan, postings_max};
pub use derived::{DerivedPath, DerivedValues, OpenDerived};
pub use describe::describe;
pub use matching::{matching, matching_within, may_match};
pub use percolate::{DocumentMatcher, Matched, Needs, Percolated, Percolations, stored_query};
pub use profile::{
    Collecting, QueriesProfile, QueryProfile, QueryRecorder, RescoreProfile, Stopwatch, Timing,
};
pub use regexp::Regexp;
pub use relatives::JoinRelation;
pub use resolver::{KnnResolver, SegmentHits};
pub use source_phrase::texts_at;
pub use spelled_out::describe_in;
pub use vectors::{VectorAnswers, VectorStage};

pub(crate) use automaton::Wildcard;
pub(crate) use compile::{
    TokenPlace, dictionary_terms, is_graph, matches_max, places, plan_nested, plan_part,
    plan_recorded, query_analyzer, search_fields, ways,
};
pub(crate) use constant::{DocumentSet, prefix_end};
pub(crate) use describe::{WHOLE_DOCUMENT, describe_unboosted};
pub(crate) use each::{each_block, each_scored};
pub(crate) use function::script::{CompiledScript, OpenScript};
pub use function::script::{GivenValue, OpenValueScript, ValueScript};
pub(crate) use function::value::{Function, NumberColumn};
pub(crate) use literal::text_of;
pub(crate) use matching::{matching_plan, segment_answer, unscored};
pub(crate) use objects::{may_find_objects, may_find_others};
pub(crate) use profile::CollectorKind;
pub use query_string::longest_expression;
pub(crate) use query_string::tree as query_string_tree;
pub(crate) use spelled_out::in_each_field;

#[cfg(test)]
mod tests;
