//! Why a query or an aggregation was refused or failed. Each may be inside the other.

mod aggregation;
mod index_failure;
mod no_score;
mod query;
mod script;

pub use aggregation::{
    AggError, AggErrorKind, go_on_reducing, refusal_of_text, sorted_in_time, unless_overdue,
};
pub use index_failure::{index_disk_error, index_reason};
pub use no_score::NoScore;
pub use query::{
    QueryError, go_on, go_on_in_set, hold_in_set, number_refusal, unless_stopped,
    unless_stopped_in_set,
};
pub use script::{ScriptError, ScriptErrorKind};
