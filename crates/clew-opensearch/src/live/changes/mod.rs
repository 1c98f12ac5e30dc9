//! The changes of documents as the log holds them, for whoever keeps something else up to date:
//! a cache, a queue, another store. A reader holds a position and nothing else.

mod tail;

use std::time::Duration;

use clew_engine::{Change, ChangeLimits, ChangePage, IndexHandle, PRIMARY_TERM, Purpose};
use clew_log::Glsn;
use tokio::time::Instant;

use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::params::Params;
use crate::http::reply::Reply;
use crate::state::call::Call;

pub(crate) use tail::{PARAMS as TAIL_PARAMS, tail};

/// The URI parameters of `_changes`.
pub(crate) const PARAMS: &[&str] = &[
    "from",
    "size",
    "timeout",
    "_source",
    "expand_wildcards",
    "ignore_unavailable",
    "allow_no_indices",
];

const SIZE_DEFAULT: u64 = 1000;
const SIZE_MAX: u64 = 10_000;
/// A page ends where its entries of the log come to this.
const PAGE_BYTES_MAX: usize = 8 << 20;
/// Longest wait for a change.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What a request for changes asks for.
struct Wish {
    from: Glsn,
    limits: ChangeLimits,
    wait: Duration,
    with_source: bool,
}

impl Wish {
    fn read(params: &Params) -> Result<Self, ApiError> {
        let size = params.unsigned("size")?.unwrap_or(SIZE_DEFAULT);
        if size == 0 || size > SIZE_MAX {
            return Err(ApiError::illegal_argument(format!(
                "[size] must be between 1 and {SIZE_MAX}, found [{size}]"
            )));
        }
        let wait = params.time("timeout")?.unwrap_or_default();
        if wait > WAIT_MAX {
            return Err(ApiError::illegal_argument(format!(
                "[timeout] must be at most [{}s]",
                WAIT_MAX.as_secs()
            )));
        }
        Ok(Wish {
            from: Glsn::new(params.unsigned("from")?.unwrap_or(0)),
            limits: ChangeLimits {
                changes_max: usize::try_from(size).unwrap_or(usize::MAX),
                bytes_max: PAGE_BYTES_MAX,
            },
            wait,
            with_source: params.flag("_source", true)?,
        })
    }
}

/// `GET /{index}/_changes`: a page from a position on; without any change yet, waits for one as
/// long as `timeout` says.
pub(crate) async fn page(call: Call) -> Result<Reply, ApiError> {
    let wish = Wish::read(&call.params)?;
    let deadline = Instant::now() + wish.wait;
    let mut names = call.api.engine.watch_names();
    let mut at = wish.from;
    let page = loop {
        let page = next_page(&call, at, wish.limits).await?;
        let is_late = Instant::now() >= deadline;
        if !page.changes.is_empty() || is_late {
            break page;
        }
        at = page.next;
        tokio::select! {
            waited = call.api.engine.wait_changes(at) => waited?,
            changed = names.changed() => changed?,
            () = tokio::time::sleep_until(deadline) => break page,
            () = call.api.stopped() => break page,
        }
    };
    let mut json = JsonWriter::with_capacity(256 * page.changes.len() + 64);
    json.begin_object().key("changes").begin_array();
    for change in &page.changes {
        write_change(&mut json, change, wish.with_source);
    }
    json.end_array();
    let log = call.api.engine.log();
    json.unsigned_field("next", page.next.get())
        .unsigned_field("first", log.first().get())
        .unsigned_field("last", log.durable().get())
        .end_object();
    Ok(Reply::written(json).at(page.next.previous()))
}

/// The page of the request's indexes that begins at a position.
async fn next_page(call: &Call, at: Glsn, limits: ChangeLimits) -> Result<ChangePage, ApiError> {
    let indices = readable(call)?;
    call.blocking(move |engine| engine.changes(&indices, at, limits))
        .await
}

/// The request's indexes. A log knows no filters, so what an alias hides must not be read past it.
fn readable(call: &Call) -> Result<Vec<IndexHandle>, ApiError> {
    let options = call.resolve_options()?;
    let expression = call.index_expression();
    let resolved = call
        .api
        .engine
        .open((expression, options), &call.access, Purpose::Read)?;
    for found in &resolved {
        if found.through().iter().any(|alias| alias.filter.is_some()) {
            return Err(ApiError::illegal_argument(format!(
                "the changes of [{}] cannot be read through an alias with a filter",
                found.name()
            )));
        }
    }
    Ok(resolved)
}

fn write_change(json: &mut JsonWriter, change: &Change, with_source: bool) {
    let operation = if change.source.is_some() {
        "index"
    } else {
        "delete"
    };
    json.begin_object()
        .unsigned_field("glsn", change.glsn.get())
        .string_field("op", operation)
        .string_field("_index", change.index.name())
        .string_field("_id", &change.id)
        .unsigned_field("_version", change.version)
        .unsigned_field("_seq_no", change.seq_no)
        .unsigned_field("_primary_term", PRIMARY_TERM);
    if let Some(routing) = &change.routing {
        json.string_field("_routing", routing);
    }
    let is_shown = with_source && change.index.mapping().is_source_enabled();
    if let Some(source) = change.source.as_ref().filter(|_| is_shown) {
        json.key("_source").raw(source);
    }
    json.end_object();
}
