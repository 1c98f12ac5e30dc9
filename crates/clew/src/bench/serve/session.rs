//! One run against a server: the index is made, filled, measured and removed, and what was found is written down, also
//! where the server goes away on the way.

use std::io::{IsTerminal, Write};
use std::slice::Iter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressBarIter, ProgressFinish, ProgressStyle};
use serde_json::{Map, Value, json};

use super::super::begun::STOPPED;
use super::super::columns::{count, figure};
use super::super::report::row;
use super::super::results::{self, Results, Row};
use super::api::Api;
use super::fill::{Batch, Senders, fill};
use super::http::{Call, Connection, Failure, Reply, Server};
use super::load::{Judgement, Measured, Plan, Workload, drive};
use super::options::LoadOptions;
use super::process::cpu_time;
use crate::signals::stop_signal;

/// Whoever is refused because it is too much asks again after this long, so many times.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);
const REFUSALS_MAX: u32 = 600;
/// So often, with such pauses, it is looked whether a run that ended early has left its index.
const LAST_LOOKS: u32 = 4;
/// So long it waits for the answers to what it had asked for.
const LAST_ANSWERS_MAX: Duration = Duration::from_secs(30);

/// How often it is shown how long something has taken.
const SHOWN_EVERY: Duration = Duration::from_millis(200);
/// What is built behind an answer is asked for so often, and so long.
const PENDING_PAUSE: Duration = Duration::from_millis(100);
const PENDING_MAX: Duration = Duration::from_secs(6 * 3600);

/// A run.
pub(super) struct Session {
    pub(super) options: LoadOptions,
    pub(super) api: Arc<dyn Api>,
    server: Server,
    connection: Connection,
    /// What the server said it is.
    version: String,
    /// Whether there is an index of ours.
    is_made: bool,
    /// Those that load, as far as they are at a request.
    senders: Senders,
    rows: Vec<Row>,
}

impl Session {
    /// Asks the server what it is. Whatever is in the way of a run is found out here, before anything takes long.
    pub(super) async fn connect(
        options: LoadOptions,
        api: Arc<dyn Api>,
        server: Server,
    ) -> anyhow::Result<Self> {
        results::check_writable(options.json.as_deref())?;
        let mut session = Session {
            connection: Connection::new(&server),
            version: String::new(),
            is_made: false,
            senders: Senders::default(),
            rows: Vec::new(),
            options,
            api,
            server,
        };
        if let Some(pid) = session.options.pid {
            cpu_time(pid)?;
        }
        let told = session.connection.ask(&session.api.version()).await;
        if let Err(Failure::Broken(why)) = &told {
            bail!(
                "what answers there is no server of this API ({}): the connection broke: {why}",
                session.api.name()
            );
        }
        let told = told?;
        if let Judgement::Failed(why) = (session.api.judge())(&told) {
            bail!(
                "what answers there is no server of this API ({}), or lets nobody in: {why}",
                session.api.name()
            );
        }
        session.version = session.api.read_version(&told).with_context(|| {
            format!(
                "what answers there is no server of this API ({})",
                session.api.name()
            )
        })?;
        let name = session.options.index.clone();
        let exists = session.connection.ask(&session.api.exists(&name)).await?;
        if session.api.read_exists(&exists) {
            if !session.options.replace {
                bail!(
                    "there is an index `{name}` already: --replace deletes it, --index names another"
                );
            }
            session.ask(&session.api.delete(&name)).await?;
        }
        Ok(session)
    }

    /// Sends one request, again while it is refused as too much, and wants an answer that is none of failure.
    pub(super) async fn ask(&mut self, call: &Call) -> anyhow::Result<Reply> {
        for _ in 0..REFUSALS_MAX {
            let reply = self.connection.ask(call).await;
            let reply = reply.with_context(|| format!("{} {}", call.method, call.path))?;
            match (self.api.judge())(&reply) {
                Judgement::Answered => return Ok(reply),
                Judgement::Refused => tokio::time::sleep(REFUSED_PAUSE).await,
                Judgement::Failed(why) => bail!("{} {}: {why}", call.method, call.path),
            }
        }
        bail!(
            "{} {}: refused as too much for long",
            call.method,
            call.path
        )
    }

    /// Makes the index by these requests, in order.
    pub(super) async fn create(&mut self, calls: &[Call]) -> anyhow::Result<()> {
        for call in calls {
            // Whoever is stopped before the answer has it made, too.
            let was_made = std::mem::replace(&mut self.is_made, true);
            if let Err(error) = self.ask(call).await {
                // Without an answer it may be made; one of this name that another made meanwhile, which the answer tells, is not
                // ours to remove.
                let failure = error.downcast_ref::<Failure>();
                let is_open = matches!(failure, Some(Failure::Broken(_) | Failure::Late(_)));
                self.is_made = was_made || is_open;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes the index after a run that ended early. What it had asked for is still being done then, and makes the index, or
    /// makes it anew: servers make one for documents that have none.
    async fn delete_at_last(&mut self) -> anyhow::Result<()> {
        let name = self.options.index.clone();
        let began = Instant::now();
        while self.senders.count() > 0 && began.elapsed() < LAST_ANSWERS_MAX {
            tokio::time::sleep(REFUSED_PAUSE).await;
        }
        for look in 0..LAST_LOOKS {
            if look > 0 {
                tokio::time::sleep(REFUSED_PAUSE).await;
            }
            let exists = self.connection.ask(&self.api.exists(&name)).await?;
            if self.api.read_exists(&exists) {
                self.delete().await?;
            }
        }
        Ok(())
    }

    pub(super) async fn delete(&mut self) -> anyhow::Result<()> {
        let call = self.api.delete(&self.options.index);
        self.ask(&call).await?;
        self.is_made = false;
        Ok(())
    }

    /// The load phase: sends all batches, makes them searchable, and prints one line of what it took.
    pub(super) async fn load(
        &mut self,
        total: u64,
        batches: impl Iterator<Item = Batch> + Send + 'static,
        params: &Value,
    ) -> anyhow::Result<()> {
        let clients = usize::from(self.options.load_clients);
        let bar = bar("loading", "{human_pos}/{human_len} documents {eta}", total);
        let judge = self.api.judge();
        let cpu = self.cpu_time();
        let to = (&self.server, &self.senders);
        let filled = fill(to, clients, batches, judge, &bar).await;
        bar.finish_and_clear();
        let filled = filled?;
        let cpu_us = cpu_us(cpu, self.cpu_time(), filled.documents);
        let began = Instant::now();
        let refresh = self.api.refresh(&self.options.index);
        self.ask(&refresh).await?;
        let refreshed = began.elapsed().as_secs_f64();
        let mut metrics = json!({
            "documents": filled.documents, "seconds": filled.seconds,
            "docs_per_s": filled.documents as f64 / filled.seconds, "refresh_s": refreshed,
            "refusals": filled.refusals,
        });
        if let Some(cpu_us) = cpu_us {
            metrics["cpu_us_per_document"] = cpu_us.into();
        }
        let mut line = format!(
            "loaded {} documents in {:.2} s, {} docs/s; searchable after {refreshed:.2} s more",
            count(filled.documents),
            filled.seconds,
            figure(filled.documents as f64 / filled.seconds),
        );
        if let Some(merged) = self.merge().await? {
            metrics["merge_s"] = merged.into();
            line += &format!(", merged after {merged:.2} s more");
        }
        say(&line)?;
        let mut params = params.clone();
        params["batch"] = self.options.batch.into();
        params["clients"] = clients.into();
        self.add("load", params, object(metrics));
        Ok(())
    }

    /// Seconds that merging took, where it is wanted.
    async fn merge(&self) -> anyhow::Result<Option<f64>> {
        if self.options.no_merge {
            return Ok(None);
        }
        let name = &self.options.index;
        let (waits, began) = (waiting("merging"), Instant::now());
        // It takes as long as it takes, which is no failure.
        let mut patient = Connection::new(&self.server.patient());
        let reply = patient.ask(&self.api.merge(name)).await?;
        if let Judgement::Failed(why) = (self.api.judge())(&reply) {
            bail!("merging, which --no-merge leaves out: {why}");
        }
        if let Some(pending) = self.api.pending(name) {
            while self.api.read_pending(&patient.ask(&pending).await?) {
                if began.elapsed() > PENDING_MAX {
                    bail!(
                        "merging, which --no-merge leaves out, has not ended after {PENDING_MAX:?}"
                    );
                }
                tokio::time::sleep(PENDING_PAUSE).await;
            }
        }
        waits.finish_and_clear();
        Ok(Some(began.elapsed().as_secs_f64()))
    }

    /// Processor time of the server so far, where it can be looked at.
    fn cpu_time(&self) -> Option<Duration> {
        cpu_time(self.options.pid?).ok()
    }

    /// Loads the server as planned, with a bar that says so; `what` is what it is loaded with.
    pub(super) async fn measure<W: Workload>(
        &self,
        plan: Plan,
        work: &Arc<W>,
        what: &str,
    ) -> anyhow::Result<Measured> {
        let what = format!("{what}, clients: {}", plan.concurrency);
        let bar = bar(&what, "{eta}", 0);
        let cpu = self.cpu_time();
        let measured = drive(&self.server, plan, work.clone(), &bar).await;
        bar.finish_and_clear();
        let mut measured = measured?;
        measured.cpu_us = cpu_us(cpu, self.cpu_time(), measured.sent);
        Ok(measured)
    }

    /// Adds a row; every row tells the protocol.
    pub(super) fn add(&mut self, name: &str, mut params: Value, metrics: Map<String, Value>) {
        params["api"] = self.api.name().into();
        self.rows.push(row(name, params, Value::Object(metrics)));
    }

    /// Ends the run where the server went away, and tells of failures where it did not, and of a time in which nothing could be
    /// measured.
    pub(super) fn check(&self, measured: &Measured) -> anyhow::Result<()> {
        let first = measured.first_failure.as_deref().unwrap_or("none is known");
        if measured.is_gone {
            bail!(
                "the server went away: {} failures, the first: {first}",
                measured.failures
            );
        }
        if measured.failures > 0 {
            writeln!(
                std::io::stderr(),
                "{} failures, the first: {first}",
                measured.failures
            )?;
        }
        if measured.answered + measured.refusals + measured.failures == 0 {
            writeln!(
                std::io::stderr(),
                "no request that began in these {:.3} s has ended: more --seconds, or smaller requests, would tell something",
                measured.seconds
            )?;
        }
        Ok(())
    }

    /// Writes the rows, removes the index, and hands on how the run ended.
    pub(super) async fn close(mut self, outcome: anyhow::Result<()>) -> anyhow::Result<()> {
        // A run that measured nothing leaves the file as it was.
        if let Some(path) = &self.options.json
            && (outcome.is_ok() || !self.rows.is_empty())
        {
            let mut results = Results::of(std::mem::take(&mut self.rows));
            let version = self.version.clone();
            results.machine.insert("server".to_owned(), version.into());
            results.write(path)?;
        }
        let dropped = match self.is_made && !self.options.keep {
            true if outcome.is_err() => self.delete_at_last().await,
            true => self.delete().await,
            false => Ok(()),
        };
        // Why the run failed says more than that the index could not be removed then.
        outcome.and(dropped)
    }
}

/// What a run comes to. Who is told to stop on the way (SIGINT, SIGTERM) leaves off: what was measured until then is written,
/// and the index removed, as after any other end.
pub(super) async fn until_stopped(
    run: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let stop = stop_signal().context("cannot listen for signals")?;
    tokio::select! {
        outcome = run => outcome,
        () = stop => bail!("{STOPPED}"),
    }
}

/// Microseconds of processor time for each of so many things.
fn cpu_us(before: Option<Duration>, after: Option<Duration>, things: u64) -> Option<f64> {
    let took = after?.saturating_sub(before?);
    (things > 0).then(|| took.as_secs_f64() * 1e6 / things as f64)
}

/// A line on standard output.
pub(super) fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Questions that are asked one after the other, with a bar.
pub(super) fn once_each<'c>(what: &str, calls: &'c [Call]) -> ProgressBarIter<Iter<'c, Call>> {
    let count = calls.len() as u64;
    bar(what, "{human_pos}/{human_len} queries {eta}", count).wrap_iter(calls.iter())
}

/// Tells how long something has taken that nobody knows the end of; to be finished, and else cleared with whoever holds it.
pub(super) fn waiting(what: &str) -> ProgressBar {
    let shown = shown(what, "{elapsed}", 0);
    if !shown.is_hidden() {
        shown.tick();
        shown.enable_steady_tick(SHOWN_EVERY);
    }
    shown
}

fn bar(what: &str, tail: &str, length: u64) -> ProgressBar {
    shown(what, &format!("{{bar:40}} {tail}"), length)
}

/// A line on a terminal's standard error.
fn shown(what: &str, how: &str, length: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{msg:32}} {how}");
    let style = ProgressStyle::with_template(&template).expect("the template is valid");
    ProgressBar::new(length)
        .with_style(style)
        .with_message(what.to_owned())
        .with_finish(ProgressFinish::AndClear)
}
