//! `_reindex`: documents of one index copied into another, from this node or from another cluster.

use std::sync::Arc;

use clew_engine::{EngineError, Purpose, ResolveOptions, Slice};
use clew_query::{Query, Script, SortKey};
use serde_json::Value;

use super::remote::Remote;
use super::scripted;
use super::spec::{
    DocsMax, Here, Job, Origin, PAGE_DEFAULT, Routing, SHOWN_ALONE, Slices, Target, Verb,
    not_taken, order, page, proceeds, slices_of, whole,
};
use super::speed::Speed;
use super::start;
use crate::dsl::{self, DslError, Field};
use crate::http::error::ApiError;
use crate::http::place::Spot;
use crate::http::reply::Reply;
use crate::http::source_filter::SourceFilter;
use crate::search::{read_slice, resolve_documents, search_parts};
use crate::state::call::Call;
use crate::state::stored_scripts;

/// What the body says.
struct Asked {
    from: String,
    /// Another cluster, where `from` is there.
    remote: Option<Remote>,
    query: Query,
    sort: Option<Vec<SortKey>>,
    page: Option<i64>,
    slice: Option<Slice>,
    target: Target,
    docs_max: DocsMax,
    script: Option<Arc<Script>>,
    proceed: bool,
}

/// `POST /_reindex`.
pub(crate) async fn reindex(call: Call) -> Result<Reply, ApiError> {
    let slices = slices_of(&call)?;
    let speed = Speed::of(&call)?;
    call.params.time("scroll")?;
    if call.params.has("pipeline") {
        return Err(ApiError::illegal_argument(
            "_reindex doesn't support [pipeline] as a query parameter. Specify it in the [dest] \
             object instead.",
        ));
    }
    let body = call.json_object()?;
    let mut asked = stored_scripts::reading(&call.api.engine, || call.read(&body, read))?;
    let docs_max = asked.docs_max.with_param(&call)?.limit(slices.asked())?;
    slices.check(asked.slice)?;
    check_alias(&call, &asked.target.index)?;
    call.api.engine.check_made(&asked.target.index)?;
    let (origin, slices) = match asked.remote.take() {
        Some(remote) => (elsewhere(&call, &asked, (remote, slices))?, 1),
        None => here(&call, &mut asked, slices).await?,
    };
    let from = match &origin {
        Origin::Elsewhere(remote) => format!("[{}]", remote.described()),
        Origin::Here(_) => String::new(),
    };
    let job = Job {
        slices,
        origin,
        page: asked.page.map_or(Ok(PAGE_DEFAULT), page)?,
        slice: asked.slice,
        docs_max,
        pipeline: asked.target.pipeline.clone(),
        script: asked.script,
        proceed: asked.proceed,
        refresh: call.params.flag("refresh", false)?,
        speed,
        description: format!(
            "reindex from {from}[{}] to [{}]",
            asked.from, asked.target.index
        ),
        verb: Verb::Copy(asked.target),
    };
    start(call, job, "indices:data/write/reindex").await
}

/// Documents of indexes of this node, and into how many parts they are cut.
async fn here(call: &Call, asked: &mut Asked, slices: Slices) -> Result<(Origin, u32), ApiError> {
    resolve_documents(call, &asked.from, &mut asked.query).await?;
    let options = ResolveOptions::default();
    let resolved = call.open(&asked.from, options, Purpose::Read).await?;
    let target = written_index(call, &asked.target.index);
    if resolved.iter().any(|index| index.name() == target) {
        return Err(ApiError::validation(&format!(
            "reindex cannot write into an index its reading from [{target}]"
        )));
    }
    let pinned = call.api.engine.pin(&resolved)?;
    let slices = slices.of(&pinned);
    let here = Here {
        sort: order(asked.sort.take(), &pinned)?,
        pinned,
        parts: search_parts(call, &resolved, options).await?,
        query: asked.query.clone(),
    };
    Ok((Origin::Here(Box::new(here)), slices))
}

/// The name of the index that takes the writes to a name, which may be an alias. A name that takes none the writes refuse.
fn written_index(call: &Call, name: &str) -> String {
    let engine = &call.api.engine;
    match engine.open_written((name, None), &call.access, Purpose::Watch) {
        Ok((index, _)) => index.name().to_string(),
        Err(_) => name.to_string(),
    }
}

/// Documents of another cluster, which are not cut into parts.
fn elsewhere(
    call: &Call,
    asked: &Asked,
    (remote, slices): (Remote, Slices),
) -> Result<Origin, ApiError> {
    if slices != Slices::Number(1) {
        let number = match slices {
            Slices::Auto => 0,
            Slices::Number(number) => number,
        };
        return Err(ApiError::validation(&format!(
            "reindex from remote sources doesn't support slices > 1 but was [{number}]"
        )));
    }
    let remote = remote.allowed(call, &asked.from)?;
    Ok(Origin::Elsewhere(Box::new(remote)))
}

/// Refuses a target that is no alias, where the request wants one.
fn check_alias(call: &Call, target: &str) -> Result<(), ApiError> {
    if call.params.flag("require_alias", false)? && !call.api.engine.is_alias(target) {
        let index = target.to_string();
        return Err(EngineError::NotAnAlias { index }.into());
    }
    Ok(())
}

/// What a body may have.
const KNOWN: [&str; 6] = ["source", "dest", "max_docs", "size", "conflicts", "script"];

fn read(body: &Value) -> Result<Asked, ApiError> {
    let mut asked = Asked {
        from: String::new(),
        remote: None,
        query: Query::match_all(),
        sort: None,
        page: None,
        slice: None,
        target: Target {
            index: String::new(),
            create: false,
            external: None,
            routing: Routing::Keep,
            kept: SourceFilter::All,
            pipeline: None,
        },
        docs_max: DocsMax::default(),
        script: None,
        proceed: false,
    };
    for member in Field::all("reindex", body)? {
        let (key, value) = (member.name, member.value);
        let read = match key {
            "source" => read_source(&mut asked, member.object()?),
            "dest" => read_target(&mut asked.target, member.object()?),
            "max_docs" | "size" => whole(value).and_then(|most| asked.docs_max.set(most)),
            "conflicts" => proceeds(value.as_str()).map(|proceed| asked.proceed = proceed),
            "script" => scripted::read(value).map(|script| asked.script = Some(script)),
            _ => return Err(member.unknown(&KNOWN).into()),
        };
        read.map_err(|error| match key {
            // Readers of scripts, and what is looked at when all is read, say all that there is to say.
            "script" => error,
            _ if error.is_kind("action_request_validation_exception") => error,
            _ => error.or_at(Spot::start_of(value)).in_field("reindex", key),
        })?;
    }
    let mut failures = Vec::new();
    if asked.from.is_empty() {
        failures.push("use _all if you really want to copy from all existing indexes");
    }
    if asked.target.index.is_empty() {
        failures.push("index must be specified");
    }
    if asked.target.create && asked.target.external.is_some() {
        failures.push("create operations only support internal versioning. use index instead");
    }
    if !failures.is_empty() {
        return Err(ApiError::validations(&failures));
    }
    Ok(asked)
}

fn read_source(asked: &mut Asked, value: &Value) -> Result<(), ApiError> {
    let Value::Object(source) = value else {
        return Ok(());
    };
    let remote = source.get("remote").filter(|remote| !remote.is_null());
    let remote = remote.map(|remote| Remote::read(remote, source));
    asked.remote = remote.transpose()?;
    for (key, value) in source {
        match key.as_str() {
            "index" => {
                asked.from = match value {
                    Value::Array(names) => {
                        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                        names.join(",")
                    }
                    Value::String(name) => name.clone(),
                    other => {
                        return Err(ApiError::illegal_argument(format!(
                            "Expected [index] to be a list or a string but was [{other}]"
                        )));
                    }
                }
            }
            // What another cluster is asked it reads itself.
            "query" | "sort" if asked.remote.is_some() => {}
            "slice" if asked.remote.is_some() => {
                return Err(ApiError::validation(&format!(
                    "reindex from remote sources doesn't support source.slice but was [{value}]"
                )));
            }
            "query" => asked.query = dsl::parse_query(value)?,
            "size" => asked.page = Some(whole(value)?),
            "slice" => asked.slice = Some(read_slice(value)?),
            "sort" => asked.sort = Some(dsl::parse_sort(value)?),
            "_source" => match SourceFilter::from_json(value)? {
                SourceFilter::None => {
                    return Err(ApiError::validation(
                        "_source:false is not supported in this context",
                    ));
                }
                // There it is left out before it is sent.
                _ if asked.remote.is_some() => {}
                kept => asked.target.kept = kept,
            },
            "remote" => {}
            shown if SHOWN_ALONE.contains(&shown) => {}
            other => return Err(not_taken(other, value)),
        }
    }
    Ok(())
}

fn read_target(target: &mut Target, value: &Value) -> Result<(), ApiError> {
    for member in Field::all("dest", value)? {
        match (member.name, member.value.as_str()) {
            ("index", Some(name)) => target.index = name.to_string(),
            ("op_type", Some("create")) => target.create = true,
            ("op_type", Some("index")) | ("version_type", Some("internal")) => {}
            ("version_type", Some("external" | "external_gt")) => target.external = Some(false),
            ("version_type", Some("external_gte")) => target.external = Some(true),
            ("routing", Some("keep")) => target.routing = Routing::Keep,
            ("routing", Some("discard")) => target.routing = Routing::Discard,
            ("routing", Some(other)) => {
                let set = other.strip_prefix('=').ok_or_else(|| {
                    let words = "routing must be unset, [keep], [discard] or [=<some new value>]";
                    ApiError::validation(words)
                })?;
                target.routing = Routing::Set(set.to_string());
            }
            ("pipeline", Some(name)) => target.pipeline = Some(name.to_string()),
            ("op_type", Some(other)) => {
                let reason = format!("opType must be 'create' or 'index', found: [{other}]");
                return Err(member.wrong(DslError::illegal(reason)).into());
            }
            ("version_type", Some(other)) => {
                let reason = format!("No version type match [{other}]");
                return Err(member.wrong(DslError::illegal(reason)).into());
            }
            ("index" | "op_type" | "version_type" | "routing" | "pipeline", None) => {
                return Err(member.other_sort().into());
            }
            _ => {
                let known = ["index", "op_type", "version_type", "routing", "pipeline"];
                return Err(member.unknown(&known).into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_body_is_read_or_refused_with_a_reason() {
        let asked = read(&json!({
            "source": {"index": ["a", "b"], "size": 5},
            "dest": {"index": "c", "op_type": "create", "routing": "=x"},
            "conflicts": "proceed",
        }));
        let asked = asked.ok().unwrap();
        let shown = json!({
            "source": {"index": "a", "track_scores": true, "aggs": {}, "version": true},
            "dest": {"index": "b"},
        });
        assert!(read(&shown).is_ok());
        assert_eq!(asked.from, "a,b");
        assert!(asked.target.create && asked.proceed);
        assert_eq!(asked.target.routing, Routing::Set("x".to_string()));
        for (body, reason) in [
            (json!({"dest": {"index": "b"}}), "_all"),
            (json!({"source": {"index": "a"}}), "index must be specified"),
            (
                json!({"source": {"index": "a"}, "dest": {"index": "b", "version_type": "external_gte", "op_type": "create"}}),
                "create operations only support internal versioning",
            ),
            (
                json!({"source": {"index": "a"}, "dest": {"index": "b", "routing": "x"}}),
                "Validation Failed: 1: routing must be unset, [keep], [discard]",
            ),
            (
                json!({"source": {"index": "a"}, "dest": {"index": "b"}, "x": 1}),
                "[x]",
            ),
            (
                json!({"source": {"index": "a", "remote": {}}, "dest": {"index": "b"}}),
                "[host] must be specified to reindex from a remote cluster",
            ),
            (
                json!({"source": {"index": "a", "remote": {"host": "http://a:9"}, "slice": {"id": 0, "max": 2}},
                       "dest": {"index": "b"}}),
                "doesn't support source.slice but was [{\\\"id\\\":0,\\\"max\\\":2}]",
            ),
            (
                json!({"source": {"index": "a", "from": 1}, "dest": {"index": "b"}}),
                "from is not supported in this context",
            ),
            (
                json!({"source": {"index": "a", "junk": {}}, "dest": {"index": "b"}}),
                "Unknown key for a START_OBJECT in [junk].",
            ),
            (
                json!({"source": {"index": "a", "size": "cat"}, "dest": {"index": "b"}}),
                "For input string",
            ),
            (
                json!({"source": {"index": "a"}, "dest": {"index": "b"}, "size": 4, "max_docs": 5}),
                "two different values [4] and [5]",
            ),
        ] {
            let error = read(&body).err().unwrap();
            let text = String::from_utf8(error.body()).unwrap();
            assert!(text.contains(reason), "{text}");
        }
    }
}
