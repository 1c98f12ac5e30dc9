//! What a part of the API that stands by itself (a [`Wing`], in a crate of its own) has of the rest. It sees nothing else of
//! this crate, so that everything else may change without it.

pub use crate::http::error::{ApiError, Cause};
pub use crate::http::params::Params;
pub use crate::http::reply::Reply;
pub use crate::http::request_memory::{RequestMemory, json_bytes};
pub use crate::indices::index_mapping::shown_mapping;
pub use crate::routes::{Endpoint, Group, Wing, endpoint};
pub use crate::search::{clear_scroll, next_page, run as search};
pub use crate::state::api::Api;
pub use crate::state::call::Call;
pub use crate::state::tasks::cancelled_error;
