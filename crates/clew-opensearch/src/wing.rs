//! What a part of the API that stands by itself (a [`Wing`], in a crate of its own) has of the rest. It sees nothing else of
//! this crate, so that everything else may change without it.

// What such a part is, and a request with its answer.
pub use crate::http::error::{ApiError, Cause};
pub use crate::http::params::Params;
pub use crate::http::reply::Reply;
pub use crate::http::request_memory::{RequestMemory, json_bytes};
pub use crate::routes::{Endpoint, Group, Wing, endpoint};
pub use crate::state::api::Api;
pub use crate::state::call::Call;
pub use crate::state::tasks::cancelled_error;

// Reading values.
pub use crate::http::setting_values::{Flat as FlatSettings, parse_bytes, parse_time};
pub use crate::indices::aliases::{AliasBody, read_aliases};
pub use crate::indices::templates::{any_overlap, read_names};
pub use clew_ingest::template::filled as filled_template;
pub use clew_ingest::{Alone, Document, Pipeline, grok_patterns};
pub use regex::Regex;

// Searches, and writes to what they find.
pub use crate::documents::by_query::delete_found;
pub use crate::search::{clear_scroll, next_page, run as search};

// What endpoints do with indexes.
pub use crate::indices::aliases::{aliases_of, is_wanted};
pub use crate::indices::data_streams::refuse_write_index;
pub use crate::indices::filling::is_unfinished;
pub use crate::indices::index_mapping::shown_mapping;
pub use crate::indices::index_settings::change as change_settings;
pub use crate::indices::maintenance::merge;
pub use crate::indices::resize::prepare_shrink;
pub use crate::indices::rollover::{
    find as written_index, finish as finish_rollover, next_name as next_index_name,
};
pub use crate::indices::snapshots::{
    is_taken as is_snapshot_taken, prepare_of as prepare_snapshot,
};
