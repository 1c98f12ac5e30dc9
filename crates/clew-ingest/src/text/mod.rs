//! Taking texts apart: functions from a line to where its parts stand in it. They know neither documents nor events, and
//! allocate nothing for a line, so that steps of pipelines and the collector's plans share them.

mod civil;
mod csv;
mod dissect;
mod json;
mod moment;
mod months;
mod pairs;
mod pattern;
mod separator;
mod span;
mod zones;

pub use civil::{Civil, IsoTimes, SECOND_BYTES, Times, short_month};
pub(crate) use csv::{Cell, Csv};
pub(crate) use dissect::{Dissect, Key, KeyKind, KeySpans};
pub(crate) use json::{Member, any_item, is_json, members};
pub(crate) use moment::Moment;
pub(crate) use months::Months;
pub use months::reads_dates_of;
pub(crate) use pairs::{Pair, PairValue, Values, logfmt, pairs, quoted_pairs};
pub(crate) use pattern::{Decision, Machine, Pattern, usual_patterns};
pub(crate) use span::LINE_BYTES_MAX;
pub use span::Span;
pub use zones::named_zone_ms;
