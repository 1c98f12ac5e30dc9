//! `_plugins/_ism/policies`: policies kept by name, with the numbers by which clients change them safely.

use axum::http::{Method, StatusCode};
use clew_engine::{DefinitionChange, Definitions, PRIMARY_TERM};
use clew_opensearch::wing::{ApiError, Call, Cause, Reply, any_overlap};
use clew_platform::whole_ms;
use clew_schema::glob::matches as glob;
use serde_json::{Value, json};

use super::managed::POLICY;
use super::new_indexes::attach_new;
use super::policy::{self, Policy};
use crate::running::RunningActions;

/// The number of the last change of any policy.
const SEQUENCE: &str = "ism_sequence";
const POLICIES_MAX: usize = 1000;
const PAGE_DEFAULT: u64 = 20;
const ID_BYTES_MAX: usize = 512;

/// A policy with its numbers, as it is kept.
pub(super) struct KeptPolicy {
    pub(super) version: u64,
    pub(super) seq_no: u64,
    pub(super) policy: Value,
}

impl KeptPolicy {
    fn read(value: &Value) -> Self {
        KeptPolicy {
            version: value["version"].as_u64().unwrap_or(1),
            seq_no: value["seq_no"].as_u64().unwrap_or(0),
            policy: value["policy"].clone(),
        }
    }

    pub(super) fn find(definitions: &Definitions, id: &str) -> Option<Self> {
        definitions.get(POLICY, id).map(Self::read)
    }

    fn shown(&self, id: &str) -> Value {
        json!({
            "_id": id,
            "_version": self.version,
            "_seq_no": self.seq_no,
            "_primary_term": PRIMARY_TERM,
            "policy": self.policy,
        })
    }
}

/// `PUT /_plugins/_ism/policies/{id}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    check_id(&id)?;
    let given = condition(&call)?;
    let mut body = call.definition()?;
    let body = body["policy"].take();
    let parsed = Policy::parse(&body)?;
    let now = call.api.engine.now();
    let body = policy::completed(body, &id, whole_ms(now));
    let (api, access) = (call.api.clone(), call.access.clone());
    let name = id.clone();
    let (kept, glsn) = blocking(move || {
        let work = api.part::<RunningActions>();
        let _one = work.lock();
        // What was made before is the old templates' business.
        attach_new(&api.engine)?;
        let mut kept = None;
        let decide = |all: &Definitions| {
            let old = KeptPolicy::find(all, &name);
            check_version(&name, old.as_ref(), given)?;
            check_templates(all, &name, &parsed)?;
            if old.is_none() && all.of(POLICY).count() >= POLICIES_MAX {
                let reason = format!("more than [{POLICIES_MAX}] policies");
                return Err(ApiError::illegal_argument(reason));
            }
            let next = KeptPolicy {
                version: old.map_or(1, |old| old.version + 1),
                seq_no: next_number(all),
                policy: body,
            };
            let value = json!({
                "version": next.version, "seq_no": next.seq_no, "policy": next.policy,
            });
            let changes = vec![
                DefinitionChange::put(POLICY, &name, value),
                DefinitionChange::put(SEQUENCE, POLICY, json!(next.seq_no)),
            ];
            kept = Some(next);
            Ok(changes)
        };
        let glsn = api.engine.change_definitions(&access, decide)?;
        Ok((kept, glsn))
    })
    .await?;
    let kept = kept.expect("a change that was made says what is kept now");
    let mut shown = kept.shown(&id);
    shown["policy"] = json!({"policy": shown["policy"]});
    let status = match kept.version {
        1 => StatusCode::CREATED,
        _ => StatusCode::OK,
    };
    Ok(Reply::json(&shown).with_status(status).at(glsn))
}

/// `GET|HEAD /_plugins/_ism/policies/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?;
    let kept = call
        .api
        .engine
        .with_definitions(|all| KeptPolicy::find(all, id));
    match kept {
        Some(_) if call.method == Method::HEAD => Ok(Reply::empty(StatusCode::OK)),
        None if call.method == Method::HEAD => Ok(Reply::empty(StatusCode::NOT_FOUND)),
        Some(kept) => Ok(Reply::json(&kept.shown(id))),
        None => Err(status_error(StatusCode::NOT_FOUND, "Policy not found")),
    }
}

/// `GET /_plugins/_ism/policies`.
pub(crate) async fn list(call: Call) -> Result<Reply, ApiError> {
    let params = &call.params;
    let query = params.get("queryString").unwrap_or("*");
    let mut all: Vec<(String, KeptPolicy)> = call.api.engine.with_definitions(|all| {
        let wanted = all.of(POLICY).filter(|(id, _)| is_asked_for(query, id));
        let read = |(id, value): (&str, &Value)| (id.to_string(), KeptPolicy::read(value));
        wanted.map(read).collect()
    });
    match params
        .get("sortField")
        .unwrap_or("policy.policy_id.keyword")
    {
        "policy.policy_id.keyword" | "policy.policy_id" => {}
        "policy.description.keyword" => {
            let description =
                |kept: &KeptPolicy| kept.policy["description"].as_str().map(String::from);
            all.sort_by_cached_key(|(_, kept)| description(kept));
        }
        "policy.last_updated_time" | "policy.policy.last_updated_time" => {
            all.sort_by_key(|(_, kept)| kept.policy["last_updated_time"].as_u64());
        }
        other => {
            let reason = format!("cannot sort policies by [{other}]");
            return Err(ApiError::illegal_argument(reason));
        }
    }
    descending(&call)?.then(|| all.reverse());
    let total = all.len();
    let shown = page(&call, all)?;
    let shown: Vec<Value> = shown
        .map(|(id, kept)| {
            json!({
                "_id": id, "_seq_no": kept.seq_no, "_primary_term": PRIMARY_TERM,
                "policy": kept.policy,
            })
        })
        .collect();
    let body = json!({"policies": shown, "total_policies": total});
    Ok(Reply::json(&body))
}

/// `DELETE /_plugins/_ism/policies/{id}`. Indexes that follow the policy go on by what they have of it.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    let (api, access) = (call.api.clone(), call.access.clone());
    let name = id.clone();
    let (numbers, glsn) = blocking(move || {
        let work = api.part::<RunningActions>();
        let _one = work.lock();
        attach_new(&api.engine)?;
        let mut numbers = None;
        let decide = |all: &Definitions| {
            let Some(old) = KeptPolicy::find(all, &name) else {
                return Ok::<_, ApiError>(Vec::new());
            };
            let seq_no = next_number(all);
            numbers = Some((old.version + 1, seq_no));
            Ok(vec![
                DefinitionChange::remove(POLICY, &name),
                DefinitionChange::put(SEQUENCE, POLICY, json!(seq_no)),
            ])
        };
        let glsn = api.engine.change_definitions(&access, decide)?;
        Ok((numbers, glsn))
    })
    .await?;
    let Some((version, seq_no)) = numbers else {
        return Err(status_error(StatusCode::NOT_FOUND, "Policy not found"));
    };
    let body = json!({
        "_index": ".opendistro-ism-config",
        "_id": id,
        "_version": version,
        "result": "deleted",
        "forced_refresh": true,
        "_shards": {"total": 1, "successful": 1, "failed": 0},
        "_seq_no": seq_no,
        "_primary_term": PRIMARY_TERM,
    });
    Ok(Reply::json(&body).at(glsn))
}

fn next_number(all: &Definitions) -> u64 {
    let last = all.get(SEQUENCE, POLICY).and_then(Value::as_u64);
    last.map_or(0, |last| last + 1)
}

fn check_id(id: &str) -> Result<(), ApiError> {
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        return Err(ApiError::illegal_argument(format!(
            "a policy's id has 1 to {ID_BYTES_MAX} bytes"
        )));
    }
    Ok(())
}

/// The numbers that the policy must have, when the request says so.
fn condition(call: &Call) -> Result<Option<(u64, u64)>, ApiError> {
    let (number, term) = ("if_seq_no", "if_primary_term");
    match (call.params.unsigned(number)?, call.params.unsigned(term)?) {
        (None, None) => Ok(None),
        (Some(number), Some(term)) => Ok(Some((number, term))),
        _ => Err(ApiError::illegal_argument(
            "[if_seq_no] and [if_primary_term] must be given together",
        )),
    }
}

fn check_version(
    id: &str,
    old: Option<&KeptPolicy>,
    given: Option<(u64, u64)>,
) -> Result<(), ApiError> {
    let reason = match (old, given) {
        (None, None) => return Ok(()),
        (Some(old), Some(given)) if (old.seq_no, PRIMARY_TERM) == given => return Ok(()),
        (Some(old), None) => format!(
            "[{id}]: version conflict, document already exists (current version [{}])",
            old.version
        ),
        (Some(old), Some((number, term))) => format!(
            "[{id}]: version conflict, required seqNo [{number}], primary term [{term}]. current \
             document has seqNo [{}] and primary term [{PRIMARY_TERM}]",
            old.seq_no
        ),
        (None, Some((number, term))) => format!(
            "[{id}]: version conflict, required seqNo [{number}], primary term [{term}]. but no \
             document was found"
        ),
    };
    let kind = "version_conflict_engine_exception";
    Err(ApiError::new(
        StatusCode::CONFLICT,
        Cause::new(kind, reason),
    ))
}

/// Two policies that want the same indexes with the same priority would leave it to chance.
fn check_templates(all: &Definitions, id: &str, policy: &Policy) -> Result<(), ApiError> {
    let others = all.of(POLICY).filter(|(other, _)| *other != id);
    for (other, value) in others {
        let Ok(other_policy) = Policy::parse(&value["policy"]) else {
            continue;
        };
        for template in &policy.templates {
            let clash = other_policy.templates.iter().find(|theirs| {
                theirs.priority == template.priority
                    && any_overlap(&theirs.patterns, &template.patterns)
            });
            if let Some(clash) = clash {
                return Err(ApiError::illegal_argument(format!(
                    "New policy {id} has an ISM template with index pattern [{}] matching existing \
                     policy templates [{other} => [{}]], please use a different priority than {}",
                    template.patterns.join(", "),
                    clash.patterns.join(", "),
                    template.priority
                )));
            }
        }
    }
    Ok(())
}

/// An error of the plugin's own, of which there is only a status and a reason.
pub(super) fn status_error(status: StatusCode, reason: impl Into<String>) -> ApiError {
    ApiError::new(status, Cause::new("status_exception", reason))
}

/// Whether a name matches all the words of `queryString`, which are patterns, or those on one side of an `OR`. One behind a `-`
/// must not match: Dashboards leaves data streams out so.
pub(super) fn is_asked_for(query: &str, name: &str) -> bool {
    let words: Vec<&str> = query
        .split_whitespace()
        .filter(|word| *word != "AND")
        .collect();
    let fits = |word: &&str| match word.strip_prefix('-') {
        Some(unwanted) => !glob(unwanted, name),
        None => glob(word, name),
    };
    let mut sides = words.split(|word| *word == "OR");
    words.is_empty() || sides.any(|side| !side.is_empty() && side.iter().all(fits))
}

/// Whether `sortOrder` says so.
pub(super) fn descending(call: &Call) -> Result<bool, ApiError> {
    match call.params.get("sortOrder") {
        None | Some("asc") => Ok(false),
        Some("desc") => Ok(true),
        Some(other) => Err(ApiError::illegal_argument(format!(
            "No enum constant for [sortOrder]: {other}"
        ))),
    }
}

/// The part of a list that `from` and `size` ask for.
pub(super) fn page<T>(call: &Call, all: Vec<T>) -> Result<impl Iterator<Item = T>, ApiError> {
    let number = |name, default| {
        let given = call.params.unsigned(name)?.unwrap_or(default);
        Ok::<_, ApiError>(usize::try_from(given).unwrap_or(usize::MAX))
    };
    let (from, size) = (number("from", 0)?, number("size", PAGE_DEFAULT)?);
    Ok(all.into_iter().skip(from).take(size))
}

/// Runs something that blocks where blocking is allowed.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await?
}
