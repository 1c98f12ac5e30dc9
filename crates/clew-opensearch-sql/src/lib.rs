//! SQL and PPL over REST: a statement becomes a plan, as much of the plan as a search can do becomes
//! the body of one, and its answer goes through the rest of the plan.
//!
//! ```
//! use clew_opensearch::fixture::Node;
//! use clew_platform::SimDisk;
//! use serde_json::json;
//!
//! let node = Node::open(&SimDisk::new(), &[clew_opensearch_sql::WING])?;
//! node.ask("PUT /books/_doc/1?refresh=true", json!({"year": 1851}));
//! let statement = json!({"query": "SELECT year FROM books WHERE year < 1900"});
//! let (status, answer) = node.ask("POST /_plugins/_sql", statement);
//! assert_eq!((status, &answer["datarows"]), (200, &json!([[1851]])));
//! # Ok::<(), clew_engine::EngineError>(())
//! ```
//!
//! Rooms: `statement` (what is written becomes a plan), `pushed` (what of a plan a search does), `stages` (what is done with its
//! rows), `functions` (of one row); below them the columns of indexes (`fields`) and rows with theirs (`table`). Beside them what
//! endpoints need: requests, answers, cursors, figures.
//!
//! Deliberately absent: subqueries that depend on the row around them, and a second way to search.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod error;

mod fields;

mod table;

mod functions;

mod statement;

mod stages;

mod pushed;

mod delete;

mod catalog;

mod cursor;

mod figures;

mod format;

mod request;

mod explain;

mod routes;

mod settings;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use catalog::Catalog;
use clew_engine::{Purpose, ResolveOptions};
use clew_opensearch::wing::{ApiError, Call, Reply, shown_mapping};
use cursor::Cursor;
use delete::deleted;
use error::SqlError;
use explain::{explained, told_plan};
use fields::Fields;
use format::Format;
use pushed::push::{Pushed, RowSource};
use pushed::scan::ScanSource;
use request::Request;
pub use routes::WING;
use serde_json::{Value, json};
use stages::subquery::SubqueryResult;
use statement::plan::{Plan, ROWS_MAX, Statement, Subquery};
use table::{Columns, Table};

/// Which language a statement is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Sql,
    Ppl,
}

/// More rows than these go through stages away from the async threads.
const INLINE_ROWS_MAX: usize = 100;

/// URI parameters of statements.
const PARAMS: &[&str] = &["format", "sanitize", "mode"];

/// `POST /_plugins/_sql`.
async fn sql(call: Call) -> Result<Reply, ApiError> {
    let answer = answer(&call, Language::Sql).await;
    figures::note(&call, Language::Sql, &answer);
    Ok(told(answer, Language::Sql))
}

/// `POST /_plugins/_ppl`.
async fn ppl(call: Call) -> Result<Reply, ApiError> {
    let answer = answer(&call, Language::Ppl).await;
    figures::note(&call, Language::Ppl, &answer);
    Ok(told(answer, Language::Ppl))
}

/// `POST /_plugins/_sql/_explain`.
async fn explain_sql(call: Call) -> Result<Reply, ApiError> {
    Ok(told(explained(&call, Language::Sql).await, Language::Sql))
}

/// `POST /_plugins/_ppl/_explain`.
async fn explain_ppl(call: Call) -> Result<Reply, ApiError> {
    Ok(told(explained(&call, Language::Ppl).await, Language::Ppl))
}

/// `POST /_plugins/_sql/close`.
async fn close(call: Call) -> Result<Reply, ApiError> {
    Ok(told(closed(&call).await, Language::Sql))
}

/// `GET /_plugins/_sql/stats`, and the same of PPL.
async fn stats(call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&figures::shown(&call)))
}

/// `GET /_plugins/_query/_datasources`: what there is besides the node's own indexes, which is nothing. Dashboards asks.
async fn data_sources(_: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!([])))
}

/// Errors of statements have a shape of their own.
fn told(answer: Result<Reply, SqlError>, language: Language) -> Reply {
    answer.unwrap_or_else(|error| error.reply(language))
}

async fn closed(call: &Call) -> Result<Reply, SqlError> {
    let request = Request::of(call)?;
    let cursor = request
        .cursor
        .ok_or_else(|| SqlError::argument("[cursor] is missing"))?;
    pushed::scan::close(call, &Cursor::read(&cursor)?.scroll).await?;
    Ok(Reply::json(&json!({"succeeded": true})))
}

async fn answer(call: &Call, language: Language) -> Result<Reply, SqlError> {
    settings::check_enabled(call, language)?;
    let format = Format::of(call, language)?;
    let request = Request::of(call)?;
    if let (Some(text), Language::Sql) = (&request.cursor, language) {
        return next_page(call, format, Cursor::read(text)?).await;
    }
    if language == Language::Sql {
        settings::check_delete(call, &request.query)?;
    }
    let table = match request.statement(language)? {
        Statement::Explain(plan) => return told_plan(call, plan, request.filter).await,
        Statement::ShowSources { stages } => {
            Catalog::sources().through(&stages, &call.memory)?.shown()
        }
        Statement::ShowTables { like } => shown_tables(call, &like)?,
        Statement::Describe {
            table,
            columns,
            stages,
        } => {
            let told = described(call, &table, &columns).await?;
            told.through(&stages, &call.memory)?.shown()
        }
        Statement::Delete(plan) => deleted(call, plan, request.filter).await?,
        Statement::Rows(plan) if plan.indices.is_none() => {
            one_row(call, &resolved(call, plan).await?)?
        }
        Statement::Rows(plan) => {
            let plan = resolved(call, plan).await?;
            let (source, pushed) = planned(call, plan, request.filter.clone()).await?;
            if let (RowSource::Hits(hits), Format::Json, false) =
                (&pushed.read, format, pushed.needs_all())
            {
                return source.found(&pushed, hits).await;
            }
            let may_page = language == Language::Sql && format == Format::Jdbc;
            if let (RowSource::Hits(hits), 1.., true) = (&pushed.read, request.fetch_size, may_page)
                && pushed.is_paged()
            {
                figures::note_pages(call);
                let size = request.fetch_size.min(source.window);
                let page = source.first_page(&pushed, size).await?;
                let cursor = Cursor {
                    scroll: String::new(),
                    query: request.query,
                    parameters: request.parameters,
                    left: hits.limit.unwrap_or(usize::MAX),
                    size,
                };
                return paged(&source, format, &pushed, (page, cursor)).await;
            }
            let rows_max = source.rows_max;
            let table = source.rows(&pushed).await?;
            let memory = call.memory.clone();
            let takes_long = table.rows.len() > INLINE_ROWS_MAX || pushed.has_others();
            return pushed::scan::off_thread(call, takes_long, move || {
                let mut table = table.through(&pushed.rest, &memory)?.shown();
                if !pushed.is_limited() {
                    table.rows.truncate(rows_max);
                }
                Ok(format.reply(&table, table.rows.len(), None))
            })
            .await;
        }
    };
    Ok(format.reply(&table, table.rows.len(), None))
}

/// The fields, with names like a pattern, of indexes.
async fn described(call: &Call, table: &str, columns: &str) -> Result<Table, SqlError> {
    let (_, fields) = source(call, table).await?;
    let catalog = Catalog {
        cluster: &call.api.options.cluster_name,
    };
    Ok(catalog.fields(table, &fields, columns))
}

/// What a plan makes of one row without columns.
fn one_row(call: &Call, plan: &Plan) -> Result<Table, SqlError> {
    let one = Table {
        columns: Columns::default(),
        rows: vec![Vec::new()],
    };
    one.through(&plan.stages, &call.memory)
}

/// A plan with the values and rows of its subqueries, which are done one after the other.
async fn resolved(call: &Call, mut plan: Plan) -> Result<Plan, SqlError> {
    let mut found = Vec::new();
    for subquery in std::mem::take(&mut plan.subqueries) {
        let Subquery {
            plan: mut inner,
            is_rows,
        } = subquery;
        inner.with_values(&found)?;
        let table = if inner.indices.is_none() {
            one_row(call, &inner)?
        } else {
            let (mut source, pushed) = planned(call, inner, None).await?;
            source.rows_max = ROWS_MAX;
            let table = source.rows(&pushed).await?;
            let memory = call.memory.clone();
            let takes_long = table.rows.len() > INLINE_ROWS_MAX || pushed.has_others();
            pushed::scan::off_thread(call, takes_long, move || {
                table.through(&pushed.rest, &memory)
            })
            .await?
        };
        found.push(SubqueryResult::of(table, is_rows)?);
    }
    plan.with_values(&found)?;
    Ok(plan)
}

/// A plan behind its search. What the rest of it makes of no rows says whether it can be done at all.
async fn planned<'c>(
    call: &'c Call,
    plan: Plan,
    filter: Option<Value>,
) -> Result<(ScanSource<'c>, Arc<Pushed>), SqlError> {
    let (source, fields) = source(call, plan.indices.as_deref().unwrap_or_default()).await?;
    let mut pushed = Pushed::of(plan.flattened(&fields)?, &fields)?;
    let mut rest = pushed.rest.clone();
    rest.iter_mut()
        .for_each(statement::plan::Stage::forget_rows);
    Table::empty(pushed.columns()).through(&rest, &call.memory)?;
    if let Some(filter) = filter {
        pushed.add_query(filter);
    }
    Ok((source, Arc::new(pushed)))
}

/// The indexes of an expression, and the fields that they have together.
async fn source<'c>(call: &'c Call, indices: &str) -> Result<(ScanSource<'c>, Fields), SqlError> {
    let found = call
        .indices_with(indices, ResolveOptions::default(), Purpose::Read)
        .await?;
    let mut fields = Fields::default();
    for index in &found {
        fields.add_mapping(&shown_mapping(index));
    }
    let window = found
        .iter()
        .map(|index| index.settings().max_result_window)
        .min();
    let Some(window) = window else {
        return Err(SqlError::no_such_index(indices));
    };
    let source = ScanSource {
        call,
        indices: indices.to_string(),
        window: window.min(ROWS_MAX),
        rows_max: settings::rows_max(call),
    };
    Ok((source, fields))
}

/// The indexes with names like a pattern, hidden ones left out.
fn shown_tables(call: &Call, like: &str) -> Result<Table, SqlError> {
    let resolved = call
        .api
        .engine
        .open(
            ("*", ResolveOptions::default()),
            &call.access,
            Purpose::Read,
        )
        .map_err(ApiError::from)?;
    let names = resolved.iter().map(|found| found.name().to_string());
    let mut names: Vec<String> = names
        .filter(|name| functions::like::like(name, like))
        .collect();
    names.sort();
    Ok(Catalog {
        cluster: &call.api.options.cluster_name,
    }
    .tables(names.into_iter()))
}

async fn next_page(call: &Call, format: Format, cursor: Cursor) -> Result<Reply, SqlError> {
    let Statement::Rows(plan) = statement::select::parse(&cursor.query, cursor.parameters.clone())?
    else {
        return Err(SqlError::argument("the cursor cannot be read"));
    };
    let (source, pushed) = planned(call, resolved(call, plan).await?, None).await?;
    let page = source.next_page(&pushed, &cursor.scroll).await?;
    paged(&source, format, &pushed, (page, cursor)).await
}

/// Answers with a page, and the cursor for the next while there may be one.
async fn paged(
    source: &ScanSource<'_>,
    format: Format,
    pushed: &Arc<Pushed>,
    (mut page, mut cursor): (pushed::scan::Page, Cursor),
) -> Result<Reply, SqlError> {
    let total = match &pushed.read {
        RowSource::Hits(hits) => page.total.min(hits.limit.unwrap_or(usize::MAX)),
        RowSource::Groups(_) => page.total,
    };
    page.rows.truncate(cursor.left);
    cursor.left -= page.rows.len();
    let is_last = cursor.left == 0 || page.rows.len() < cursor.size;
    if is_last {
        source.close(page.scroll.take().as_deref()).await?;
    }
    let next = page
        .scroll
        .map(|scroll| Cursor { scroll, ..cursor }.written());
    let rows = Table {
        columns: pushed.columns(),
        rows: page.rows,
    };
    let (pushed, memory) = (pushed.clone(), source.call.memory.clone());
    pushed::scan::off_thread(source.call, rows.rows.len() > INLINE_ROWS_MAX, move || {
        let table = rows.through(&pushed.rest, &memory)?.shown();
        Ok(format.reply(&table, total, next))
    })
    .await
}
