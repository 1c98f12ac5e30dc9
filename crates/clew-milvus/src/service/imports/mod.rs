//! Bulk imports: their calls, and the work behind them, which is done one after the other.
//!
//! Files are read twice. First every row is checked as an insert checks it, so that a row that is wrong leaves nothing behind;
//! then they are inserted, part by part. What a job comes to is kept with the catalog. A job that the server was stopped in has failed.

mod told;

pub(crate) use told::DETAILS;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{DefinitionChange, Engine, EngineError, Purpose};
use clew_platform::{Panicked, caught};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;
use told::told;

use super::{Call, Service};
use crate::bulk::{Input, JOBS_MAX, Job, JobFile, Part, Reader, State, Style, forgotten, inputs};
use crate::collection::Collection;
use crate::error::{MilvusError, Result};
use crate::proto::*;
use crate::rows::columns;

/// The kind of jobs among the engine's definitions.
const IMPORTS: &str = "milvus_import";
/// After what time a part is tried again that found no room, and how often.
const AGAIN_AFTER: Duration = Duration::from_millis(500);
const TRIES_MAX: usize = 1_200;

/// A job that is to be done.
struct Work {
    job: Job,
    call: Call,
    inputs: Vec<Input>,
    style: Style,
}

/// The two readings of a file.
#[derive(Clone, Copy)]
enum Step {
    Check,
    Write,
}

impl Step {
    /// Its place among the figures of a file.
    fn place(self) -> usize {
        match self {
            Step::Check => 0,
            Step::Write => 1,
        }
    }
}

/// The jobs of a node.
pub(super) struct Imports {
    /// Where files may lie; nowhere without it.
    folder: Option<PathBuf>,
    jobs: Mutex<BTreeMap<i64, Job>>,
    waiting: Mutex<VecDeque<Work>>,
    wake: Notify,
}

impl Imports {
    /// The jobs that are kept.
    pub(super) fn open(engine: &Engine, folder: Option<PathBuf>) -> Imports {
        let mut jobs: BTreeMap<i64, Job> = engine.with_definitions(|all| {
            let kept = all.of(IMPORTS);
            let read = kept.filter_map(|(_, value)| Job::deserialize(value).ok());
            read.map(|job| (job.id, job)).collect()
        });
        for job in jobs.values_mut().filter(|job| !job.state.is_ended()) {
            let why = "the server was stopped before the import was through: some of its rows may be there";
            job.end(Some(why), engine.clock().epoch_ms());
        }
        Imports {
            folder,
            jobs: Mutex::new(jobs),
            waiting: Mutex::default(),
            wake: Notify::new(),
        }
    }

    fn change(&self, id: i64, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.jobs.lock().get_mut(&id) {
            change(job);
        }
    }
}

impl Service {
    pub(crate) async fn import(
        &self,
        call: Call,
        request: ImportRequest,
    ) -> Result<ImportResponse> {
        let opened = self.open_named(&call, &request, Purpose::Write)?;
        let collection = &opened.named.collection;
        if !request.partition_name.is_empty() {
            if collection.has_partition_key() {
                return Err(MilvusError::Import(
                    "not allow to set partition name for collection with partition key".into(),
                ));
            }
            collection.check_partitions(std::slice::from_ref(&request.partition_name))?;
        }
        let style = style_of(&request.options)?;
        let Some(folder) = self.imports().folder.clone() else {
            return Err(MilvusError::Unsupported(
                "a bulk import, as imports.path says of no folder that files may lie in,".into(),
            ));
        };
        let files = request.files;
        let inputs = self.beside(move |_| inputs(&folder, &files)).await?;
        let file = |input: &Input| JobFile {
            name: input.names.join(","),
            bytes: input.bytes,
            ..JobFile::default()
        };
        let job = Job {
            id: self.new_id(),
            database: opened.named.database.clone(),
            collection: opened.named.name.clone(),
            collection_id: collection.id,
            partition: request.partition_name,
            files: inputs.iter().map(file).collect(),
            state: State::Pending,
            reason: String::new(),
            began_ms: self.engine().clock().epoch_ms(),
            ended_ms: 0,
        };
        let id = job.id;
        let work = Work {
            job,
            call,
            inputs,
            style,
        };
        self.beside(move |service| service.begin_import(work))
            .await?;
        Ok(ImportResponse {
            tasks: vec![id],
            ..ImportResponse::default()
        })
    }

    /// Keeps a job, and has it done when its turn comes.
    fn begin_import(&self, work: Work) -> Result<()> {
        let imports = self.imports();
        let over = {
            let mut jobs = imports.jobs.lock();
            let over = forgotten(&jobs, &work.job).ok_or_else(|| {
                MilvusError::Import(format!(
                    "The number of jobs has reached the limit, please try again later. jobNum={}, jobLimit={JOBS_MAX}",
                    jobs.len()
                ))
            })?;
            jobs.retain(|id, _| !over.contains(id));
            jobs.insert(work.job.id, work.job.clone());
            over
        };
        let removed = over
            .iter()
            .map(|id| DefinitionChange::remove(IMPORTS, &id.to_string()));
        let id = work.job.id;
        if let Err(error) = self.keep_import(&work.job, removed.collect()) {
            imports.jobs.lock().remove(&id);
            return Err(error);
        }
        imports.waiting.lock().push_back(work);
        imports.wake.notify_one();
        Ok(())
    }

    /// Makes what is known of a job durable, with other changes.
    fn keep_import(&self, job: &Job, mut changes: Vec<DefinitionChange>) -> Result<()> {
        let put = DefinitionChange::put(IMPORTS, &job.id.to_string(), json!(job));
        changes.push(put);
        let access = Call::own().access;
        self.engine()
            .change_definitions(&access, |_| Ok::<_, MilvusError>(changes))?;
        Ok(())
    }

    /// Does imports for as long as it is polled.
    pub(super) async fn run_imports(&self) {
        loop {
            let next = self.imports().waiting.lock().pop_front();
            match next {
                Some(work) => self.run_import(&work).await,
                None => self.imports().wake.notified().await,
            }
        }
    }

    async fn run_import(&self, work: &Work) {
        let id = work.job.id;
        self.imports()
            .change(id, |job| job.state = State::Importing);
        // The jobs behind one that runs into a defect have their turn all the same.
        let read = caught(self.read_inputs(work)).await;
        let outcome = read.unwrap_or_else(|Panicked| Err(EngineError::Panicked.into()));
        let failed = outcome.err().map(|error| error.to_string());
        let known = self.imports().jobs.lock().get(&id).cloned();
        let Some(mut job) = known else { return };
        job.end(failed.as_deref(), self.engine().clock().epoch_ms());
        tracing::info!(job = id, failed = job.reason, "a bulk import has ended");
        // What is told of it is durable, if it can be.
        let ended = job.clone();
        let kept = self
            .beside(move |service| service.keep_import(&ended, Vec::new()))
            .await;
        if let Err(error) = kept {
            tracing::warn!(job = id, %error, "how a bulk import has ended is not kept");
        }
        self.imports().change(id, |known| *known = job);
    }

    async fn read_inputs(&self, work: &Work) -> Result<()> {
        for step in [Step::Check, Step::Write] {
            for (at, input) in work.inputs.iter().enumerate() {
                let read = self.read_input(work, (at, input), step).await;
                read.map_err(|error| match error {
                    MilvusError::Import(why) => {
                        MilvusError::Import(format!("{}: {why}", input.name()))
                    }
                    other => other,
                })?;
            }
        }
        Ok(())
    }

    /// Reads one input to its end; of its parts all are checked, or all are written.
    async fn read_input(
        &self,
        work: &Work,
        (at, input): (usize, &Input),
        step: Step,
    ) -> Result<()> {
        let (input, style) = (input.clone(), work.style.clone());
        let collection = self.imported_into(work)?;
        let opened = move |_: &Service| Reader::open(&input, &style, &collection);
        let mut reader = self.beside(opened).await?;
        let mut tries = 0;
        loop {
            let collection = self.imported_into(work)?;
            let read = move |service: &Service| {
                let part = reader.part(&collection, &service.limits().memory);
                let part = part.map(|part| part.map(|part| Rows::of(&collection, part)));
                Ok((reader, part))
            };
            let part;
            (reader, part) = self.beside(read).await?;
            let rows = match part {
                Err(MilvusError::RateLimit(_)) if tries < TRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(AGAIN_AFTER).await;
                    continue;
                }
                Err(error) => return Err(error),
                Ok(None) => return Ok(()),
                Ok(Some(rows)) => rows?,
            };
            tries = 0;
            let count = u64::from(rows.count);
            self.import_rows(work, rows, step).await?;
            let (place, given) = (step.place(), reader.given());
            self.imports().change(work.job.id, |job| {
                let Some(file) = job.files.get_mut(at) else {
                    return;
                };
                if let (Some(read), Some(done)) =
                    (file.read.get_mut(place), file.rows.get_mut(place))
                {
                    *read = given;
                    *done += count;
                }
            });
        }
    }

    /// What a job imports into, if that is still what it was.
    fn imported_into(&self, work: &Work) -> Result<Arc<Collection>> {
        let Job {
            database,
            collection,
            collection_id,
            ..
        } = &work.job;
        let opened = self.open(&work.call, (database, collection), Purpose::Write)?;
        if opened.named.collection.id != *collection_id {
            return Err(MilvusError::CollectionNotFound {
                database: database.clone(),
                collection: collection.clone(),
            });
        }
        Ok(opened.named.collection)
    }

    /// Checks rows, or inserts them; what finds no room beside others is tried again.
    async fn import_rows(&self, work: &Work, rows: Rows, step: Step) -> Result<()> {
        let Rows {
            columns,
            count,
            before,
            room: _room,
        } = rows;
        let request = Arc::new(InsertRequest {
            db_name: work.job.database.clone(),
            collection_name: work.job.collection.clone(),
            partition_name: work.job.partition.clone(),
            fields_data: columns,
            num_rows: count,
            ..InsertRequest::default()
        });
        let mut tries = 0;
        loop {
            let (call, request) = (&work.call, request.clone());
            let done = match step {
                Step::Check => self.check_rows(call, request).await,
                Step::Write => self.insert_rows(call, request).await.map(|_| ()),
            };
            match done {
                Err(MilvusError::RateLimit(_)) if tries < TRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(AGAIN_AFTER).await;
                }
                Err(error) => {
                    return Err(MilvusError::Import(format!(
                        "of {count} rows from row {before} on: {error}"
                    )));
                }
                Ok(()) => return Ok(()),
            }
        }
    }

    pub(crate) async fn get_import_state(
        &self,
        call: Call,
        request: GetImportStateRequest,
    ) -> Result<GetImportStateResponse> {
        let job = self.imports().jobs.lock().get(&request.task).cloned();
        let job = job.filter(|job| call.sees_collection((&job.database, &job.collection)));
        let job = job.ok_or_else(|| {
            let id = request.task;
            MilvusError::Import(format!("import job does not exist, jobID={id}"))
        })?;
        Ok(told(&job))
    }

    /// The jobs of a database, or of one of its collections; of more than the limit the latest.
    pub(crate) async fn list_import_tasks(
        &self,
        call: Call,
        request: ListImportTasksRequest,
    ) -> Result<ListImportTasksResponse> {
        let database = call.database(&request.db_name);
        let named = match request.collection_name.as_str() {
            "" => None,
            name => {
                let opened = self.open(&call, (database, name), Purpose::Show)?;
                Some(opened.named.collection.id)
            }
        };
        self.collections().check_database(database)?;
        let limit = match usize::try_from(request.limit) {
            Ok(0) | Err(_) => usize::MAX,
            Ok(limit) => limit,
        };
        let jobs = self.imports().jobs.lock();
        let listed = jobs.values().rev().filter(|job| {
            let is_named = named.is_none_or(|id| id == job.collection_id);
            let place = (job.database.as_str(), job.collection.as_str());
            job.database == database && is_named && call.sees_collection(place)
        });
        let mut tasks: Vec<GetImportStateResponse> = listed.take(limit).map(told).collect();
        tasks.reverse();
        Ok(ListImportTasksResponse {
            tasks,
            ..ListImportTasksResponse::default()
        })
    }
}

/// Rows of a part, as an insert takes them.
struct Rows {
    columns: Vec<FieldData>,
    count: u32,
    /// Rows of the input before these.
    before: u64,
    /// Held for as long as the rows are.
    room: clew_platform::Reservation,
}

impl Rows {
    fn of(collection: &Collection, part: Part) -> Result<Rows> {
        let Part { rows, before, room } = part;
        let columns = columns(collection, &rows, false).map_err(|why| {
            MilvusError::Import(format!(
                "of {} rows from row {before} on: {why}",
                rows.len()
            ))
        })?;
        Ok(Rows {
            columns,
            count: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            before,
            room,
        })
    }
}

/// What the options of an import say.
fn style_of(options: &[KeyValuePair]) -> Result<Style> {
    let option = |name: &str| {
        let found = options.iter().find(|pair| pair.key == name);
        found.map(|pair| pair.value.as_str())
    };
    for (name, what) in [("backup", "a backup"), ("l0_import", "deletions")] {
        if option(name).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Err(MilvusError::Unsupported(format!("an import of {what}")));
        }
    }
    Style::read(option("sep"), option("nullkey"))
}
