//! Runs the searches of a plan, through the same path as `_search`, and makes rows of their answers.

use std::sync::Arc;

use axum::http::StatusCode;
use bytes::Bytes;
use clew_opensearch::wing::{
    ApiError, Call, Cause, Reply, clear_scroll, json_bytes, next_page, search,
};
use serde_json::{Map, Value, json};

use crate::error::SqlError;
use crate::fields::Field;
use crate::pushed::groups::Groups;
use crate::pushed::hit::value_of;
use crate::pushed::push::{Hits, Pushed, RowSource};
use crate::stages::budget::Budget;
use crate::statement::plan::{SCANNED_MAX, Stage};
use crate::table::{Row, Table};

/// Groups of an answer.
const GROUPS_MAX: usize = 65_536;
/// Documents of a page, where there are several.
const PAGE_ROWS: usize = 5_000;
/// Answers longer than this are read away from the async threads.
const INLINE_BYTES_MAX: usize = 64 * 1024;
/// Hits of a search whose answer is wanted as it is, unless the statement says how many.
const HITS: usize = 200;
/// How long a page stays open for the next.
const PAGE_KEEP_ALIVE: &str = "1m";

/// The indexes that a plan reads, and the largest window that all of them allow.
pub(crate) struct ScanSource<'c> {
    pub(crate) call: &'c Call,
    pub(crate) indices: String,
    pub(crate) window: usize,
    /// How many rows there are where the plan does not say.
    pub(crate) rows_max: usize,
}

/// What one search brought.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    /// How many documents match.
    pub(crate) total: usize,
    /// What the next page of documents is read by.
    pub(crate) scroll: Option<String>,
    /// The key that the next page of groups comes behind.
    after: Option<Value>,
}

impl ScanSource<'_> {
    /// All rows that a plan's search has.
    pub(crate) async fn rows(&self, pushed: &Arc<Pushed>) -> Result<Table, SqlError> {
        let rows = match &pushed.read {
            RowSource::Groups(_) => self.groups(pushed).await?,
            RowSource::Hits(hits) => self.hits(hits, pushed).await?,
        };
        Ok(Table {
            columns: pushed.columns(),
            rows,
        })
    }

    /// The answer of the search itself, as `_search` gives it.
    pub(crate) async fn found(&self, pushed: &Pushed, hits: &Hits) -> Result<Reply, SqlError> {
        let mut body = pushed.body();
        // Times stand in the documents, too, as they were written there.
        body.remove("fields");
        let sources = hits.sources();
        if !sources.is_empty() {
            body.insert("_source".into(), sources.into());
        }
        let wanted = hits.limit.unwrap_or(HITS);
        let left = self.window.saturating_sub(hits.offset);
        body.insert("from".into(), hits.offset.into());
        body.insert("size".into(), wanted.min(left).into());
        let call = self.call.within("", String::new())?;
        let options = call.resolve_options()?;
        let bytes = search(&call, &self.indices, options, Value::Object(body)).await?;
        Ok(Reply::raw_json(bytes))
    }

    async fn groups(&self, pushed: &Arc<Pushed>) -> Result<Vec<Row>, SqlError> {
        let mut body = pushed.body();
        let enough = match pushed.rest.first() {
            Some(Stage::Limit { count, offset }) => offset.saturating_add(*count),
            _ => usize::MAX,
        };
        let mut rows = Vec::new();
        loop {
            let page = self.search(pushed, body.clone(), None).await?;
            rows.extend(page.rows);
            let Some(after) = page.after.filter(|_| rows.len() < enough) else {
                return Ok(rows);
            };
            if rows.len() >= GROUPS_MAX {
                let details = format!("there are more than {GROUPS_MAX} groups");
                return Err(SqlError::semantic(details));
            }
            Groups::after(&mut body, after);
        }
    }

    async fn hits(&self, hits: &Hits, pushed: &Arc<Pushed>) -> Result<Vec<Row>, SqlError> {
        let wanted = match hits.limit {
            Some(limit) => limit,
            None if pushed.needs_all() => usize::MAX,
            None => self.rows_max,
        };
        let end = hits.offset.saturating_add(wanted);
        if end <= self.window {
            let mut body = pushed.body();
            body.insert("from".into(), hits.offset.into());
            body.insert("size".into(), wanted.into());
            return Ok(self.search(pushed, body, None).await?.rows);
        }
        let mut page = self.first_page(pushed, PAGE_ROWS).await?;
        if page.total.min(end) > SCANNED_MAX {
            self.close(page.scroll.as_deref()).await?;
            return Err(SqlError::semantic(format!(
                "{} documents would have to be read, more than {SCANNED_MAX}",
                page.total.min(end)
            )));
        }
        let mut rows = Vec::new();
        let mut budget = Budget::of(&self.call.memory);
        loop {
            let spent = page
                .rows
                .iter()
                .flatten()
                .try_for_each(|value| budget.spend(value));
            rows.append(&mut page.rows);
            match page.scroll {
                None => break,
                Some(scroll) if rows.len() >= end || spent.is_err() => {
                    self.close(Some(&scroll)).await?;
                    spent?;
                    break;
                }
                Some(scroll) => page = self.next_page(pushed, &scroll).await?,
            }
        }
        rows.truncate(end);
        rows.drain(..hits.offset.min(rows.len()));
        Ok(rows)
    }

    /// The first of several pages.
    pub(crate) async fn first_page(
        &self,
        pushed: &Arc<Pushed>,
        size: usize,
    ) -> Result<Page, SqlError> {
        let mut body = pushed.body();
        body.insert("size".into(), size.min(self.window).into());
        body.insert("track_total_hits".into(), true.into());
        let page = self.search(pushed, body, Some(PAGE_KEEP_ALIVE)).await?;
        self.closed_at_end(page).await
    }

    /// The page behind another.
    pub(crate) async fn next_page(
        &self,
        pushed: &Arc<Pushed>,
        scroll: &str,
    ) -> Result<Page, SqlError> {
        let body = json!({"scroll_id": scroll, "scroll": PAGE_KEEP_ALIVE});
        let reply = next_page(self.call.within("", body.to_string())?).await?;
        let page = read(self.call, pushed, reply.body).await?;
        self.closed_at_end(page).await
    }

    /// Nothing comes behind a page without rows.
    async fn closed_at_end(&self, mut page: Page) -> Result<Page, SqlError> {
        if page.rows.is_empty() {
            self.close(page.scroll.take().as_deref()).await?;
        }
        Ok(page)
    }

    pub(crate) async fn close(&self, scroll: Option<&str>) -> Result<(), SqlError> {
        match scroll {
            Some(scroll) => close(self.call, scroll).await,
            None => Ok(()),
        }
    }

    async fn search(
        &self,
        pushed: &Arc<Pushed>,
        body: Map<String, Value>,
        scroll: Option<&str>,
    ) -> Result<Page, SqlError> {
        let params = scroll.map_or(String::new(), |keep_alive| format!("scroll={keep_alive}"));
        let call = self.call.within(&params, String::new())?;
        let options = call.resolve_options()?;
        let bytes = search(&call, &self.indices, options, Value::Object(body)).await?;
        read(self.call, pushed, Bytes::from(bytes)).await
    }
}

/// Ends what pages are read from; it may have ended by itself.
pub(crate) async fn close(call: &Call, scroll: &str) -> Result<(), SqlError> {
    let body = json!({"scroll_id": [scroll]}).to_string();
    clear_scroll(call.within("", body)?).await?;
    Ok(())
}

/// Reads an answer, a long one away from the async threads. Its rows stay with the statement.
async fn read(call: &Call, pushed: &Arc<Pushed>, bytes: Bytes) -> Result<Page, SqlError> {
    let memory = &call.memory;
    let _read = memory.hold(json_bytes(&bytes).saturating_add(bytes.len()))?;
    // Of each hit its values alone are kept.
    memory.take(json_bytes(&bytes) / 2)?;
    let pushed = pushed.clone();
    off_thread(call, bytes.len() > INLINE_BYTES_MAX, move || {
        let answer = serde_json::from_slice(&bytes);
        let answer: Value = answer.map_err(|error| ApiError::internal(error.to_string()))?;
        check_whole(&answer)?;
        Ok(page_of(&pushed, &answer))
    })
    .await
}

/// Does what takes long where it does not hold up others.
pub(crate) async fn off_thread<T: Send + 'static>(
    call: &Call,
    takes_long: bool,
    work: impl FnOnce() -> Result<T, SqlError> + Send + 'static,
) -> Result<T, SqlError> {
    match takes_long {
        true => call.off_thread(work).await?,
        false => work(),
    }
}

/// Refuses an answer that lacks the documents of a shard: rows have no place to say so.
fn check_whole(answer: &Value) -> Result<(), ApiError> {
    let Some(reason) = answer.pointer("/_shards/failures/0/reason") else {
        return Ok(());
    };
    let reason = reason["reason"].as_str().unwrap_or_default();
    let cause = Cause::new("no_shard_available_action_exception", reason);
    Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause))
}

fn page_of(pushed: &Pushed, answer: &Value) -> Page {
    let hits = match &pushed.read {
        RowSource::Hits(hits) => hits,
        RowSource::Groups(groups) => {
            let (rows, after) = groups.rows(answer);
            return Page {
                rows,
                after,
                ..Page::default()
            };
        }
    };
    let found = answer.pointer("/hits/hits").and_then(Value::as_array);
    let max_score = answer.pointer("/hits/max_score").unwrap_or(&Value::Null);
    let value = |field: &Field, hit: &Value| match field.path.as_str() {
        "_maxscore" => max_score.clone(),
        _ => value_of(field, hit),
    };
    let row = |hit: &Value| {
        hits.columns
            .iter()
            .map(|(_, field)| value(field, hit))
            .collect()
    };
    let total = answer.pointer("/hits/total/value").and_then(Value::as_u64);
    Page {
        rows: found.into_iter().flatten().map(row).collect(),
        total: usize::try_from(total.unwrap_or(0)).unwrap_or(usize::MAX),
        scroll: answer
            .get("_scroll_id")
            .and_then(Value::as_str)
            .map(String::from),
        after: None,
    }
}
