//! Search pipelines: steps that change a search before it runs, and its answer afterwards.

mod after;
mod before;
mod figures;
mod fusion;
mod gathered;
mod processors;
mod script;
mod step;
mod store;
mod told;
mod two_phase;

use clew_engine::{Fusion, Index, Purpose};
use clew_schema::text_of;
use figures::{Counts, Figures, Halves};
use processors::{AFTER, BEFORE, Pipeline};
use serde_json::{Map, Value, json};
use told::Told;

use crate::http::error::ApiError;
use crate::http::params::Params;
use crate::http::request_memory::{RequestMemory, json_bytes};
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::stored_scripts;

pub(crate) use store::{delete, get, put};

/// The setting of an index that names its pipeline.
const DEFAULT_SETTING: &str = "index.search.default_pipeline";
/// What asks to be told what each step did, in the URI and in a body.
const VERBOSE: &str = "verbose_pipeline";

/// What the steps of one search tell each other, by names.
type Context = Map<String, Value>;

/// A pipeline under way: what its first half leaves for its second.
pub(crate) struct Running {
    pipeline: Pipeline,
    /// Where the whole of it is counted.
    counted: Vec<Halves>,
    context: Context,
    /// Parameters of the URI that are left when the steps have seen those that say something of the search.
    params: Option<Params>,
    /// What each step did, if a search asks for that.
    told: Option<Told>,
}

/// The steps that there are before and after a search, as a node's information shows them.
pub(crate) fn supported() -> Value {
    let listed = |names: &[&str]| -> Vec<Value> {
        let names = names.iter();
        names.map(|name| json!({"type": name})).collect()
    };
    json!({"request_processors": listed(BEFORE), "response_processors": listed(AFTER)})
}

/// What pipelines did, for `_nodes/stats`.
pub(crate) fn stats(api: &Api) -> Value {
    api.parts.get::<Figures>().shown(&api.engine)
}

/// The pipeline of a search, after its first half has changed the search's body. A pipeline that
/// comes with the search wins over one that is named, and that over the index's own.
pub(crate) fn begin(
    call: &Call,
    expression: &str,
    body: &mut Value,
) -> Result<Option<Running>, ApiError> {
    let verbose = call.params.flag(VERBOSE, takes_verbose(body))?;
    let Some((pipeline, counted)) = chosen(call, expression, body)? else {
        if verbose {
            return Err(ApiError::illegal_argument(
                "The 'verbose pipeline' option requires a search pipeline to be defined.",
            ));
        }
        return Ok(None);
    };
    let mut running = Running {
        params: None,
        context: Context::new(),
        told: verbose.then(Told::default),
        pipeline,
        counted,
    };
    if running.pipeline.changes_requests() && body.is_object() {
        running.change_request(call, body)?;
    }
    Ok(Some(running))
}

/// Takes out of a body whether it asks to be told of the steps; what is no answer to that stays, and is refused with it.
fn takes_verbose(body: &mut Value) -> bool {
    let Some(members) = body.as_object_mut() else {
        return false;
    };
    match members.get(VERBOSE) {
        Some(Value::Bool(verbose)) => {
            let verbose = *verbose;
            members.remove(VERBOSE);
            verbose
        }
        _ => false,
    }
}

/// The pipeline that a search goes through, and where what it does is counted.
fn chosen(
    call: &Call,
    expression: &str,
    body: &mut Value,
) -> Result<Option<(Pipeline, Vec<Halves>)>, ApiError> {
    let given = body
        .as_object_mut()
        .and_then(|members| members.remove("search_pipeline"));
    let read = |name: &str, body: &Value| {
        stored_scripts::reading(&call.api.engine, || Pipeline::parse(name, body))
    };
    if let Some(inline @ Value::Object(_)) = &given {
        let pipeline = read("_ad_hoc_pipeline", inline)?;
        return Ok(Some((pipeline, Vec::new())));
    }
    let named = call.params.get("search_pipeline").map(String::from);
    let given = given.filter(|name| name.is_string() || name.is_number());
    let named = named.or(given.as_ref().map(text_of));
    let Some(name) = named.or_else(|| default_of(call, expression)) else {
        return Ok(None);
    };
    if name == "_none" {
        return Ok(None);
    }
    let found = store::find(call, &name)
        .ok_or_else(|| ApiError::illegal_argument(format!("Pipeline {name} is not defined")))?;
    let mut pipeline = read(&name, &found)?;
    let figures = call.api.parts.get::<Figures>();
    let counted = figures.count(&name, &mut pipeline);
    Ok(Some((pipeline, counted)))
}

/// Does one half of a pipeline, counted everywhere.
fn counting<T>(
    counted: &[Halves],
    half: fn(&Halves) -> &Counts,
    work: impl FnOnce() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    match counted.split_first() {
        Some((first, rest)) => half(first).during(|| counting(rest, half, work)),
        None => work(),
    }
}

/// The pipeline of the indexes that are searched, where all of them name the same.
fn default_of(call: &Call, expression: &str) -> Option<String> {
    if expression.is_empty() {
        return None;
    }
    let named = |index: &Index| index.settings().given.get(DEFAULT_SETTING).cloned();
    // Mostly it is the name of one, which costs least.
    let one = |name| {
        let engine = &call.api.engine;
        engine.open_exactly(name, &call.access, Purpose::Read)
    };
    if let Ok(index) = one(expression) {
        return named(&index);
    }
    let options = call.resolve_options().ok()?;
    // What cannot be resolved is refused by the search.
    let indices = call
        .api
        .engine
        .open((expression, options), &call.access, Purpose::Read)
        .ok()?;
    let mut all = indices.iter().map(|found| named(found));
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first))
        .then_some(first)
}

impl Running {
    /// Changes a search's body, in which the URI's part of the search stands from then on.
    fn change_request(&mut self, call: &Call, body: &mut Value) -> Result<(), ApiError> {
        self.params = Some(gathered::into_body(&call.params, body)?);
        if self.told.is_some() {
            // Each step is told with the body before it and the one behind it.
            let copies = self.pipeline.steps_before().saturating_mul(2);
            let bytes = json_bytes(&call.body).saturating_mul(copies);
            call.memory.take(bytes)?;
        }
        let now_ms = call.api.engine.now_ms();
        let (context, told) = (&mut self.context, self.told.as_mut());
        let pipeline = &self.pipeline;
        let change = || pipeline.change_request(body, (context, now_ms), told);
        counting(&self.counted, |halves| &halves.before, change)
    }

    /// The parameters of the URI that say something of the search still.
    pub(crate) fn params<'c>(&'c self, call: &'c Call) -> &'c Params {
        self.params.as_ref().unwrap_or(&call.params)
    }

    /// How the rankings of so many queries become one, if the pipeline says that.
    pub(crate) fn fusion(&self, queries: usize) -> Result<Option<Fusion>, ApiError> {
        let fusion = self.pipeline.fusion();
        if let Some(fusion) = fusion {
            fusion::check(fusion, queries)?;
        }
        Ok(fusion.cloned())
    }

    /// Changes a search's answer, and tells there of the steps if that was asked for.
    pub(crate) fn finish(
        mut self,
        answer: Vec<u8>,
        memory: &RequestMemory,
    ) -> Result<Vec<u8>, ApiError> {
        let steps = self.pipeline.steps_after();
        if steps == 0 && self.told.as_ref().is_none_or(Told::is_empty) {
            return Ok(answer);
        }
        // As it is read, and the new one beside it.
        let read_bytes = json_bytes(&answer).saturating_add(answer.len());
        // Each step is told with the hits before it and those behind it.
        let copies = match self.told {
            None => 1,
            Some(_) => steps.saturating_mul(3).saturating_add(1),
        };
        let _read = memory.hold(read_bytes.saturating_mul(copies))?;
        let mut value: Value = serde_json::from_slice(&answer)
            .map_err(|error| ApiError::internal(error.to_string()))?;
        if steps > 0 {
            let (pipeline, context) = (&self.pipeline, &self.context);
            let told = self.told.as_mut();
            let change = || pipeline.change_answer(&mut value, context, told);
            counting(&self.counted, |halves| &halves.after, change)?;
        }
        if let Some(told) = self.told {
            told.write(&mut value);
        }
        serde_json::to_vec(&value).map_err(|error| ApiError::internal(error.to_string()))
    }
}
