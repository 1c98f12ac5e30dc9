//! `clew bench serve bulk`: events written into an empty index, as many as the time allows; a fresh index for each load.
//! What was acknowledged is counted afterwards: a server that loses documents is fast and useless.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::ensure;
use clap::Args;
use serde_json::json;

use super::super::columns::figure;
use super::corpus::Corpus;
use super::figures::{LoadTable, metrics};
use super::http::{Call, Login, Reply};
use super::load::{Judgement, Measured, Plan, Workload};
use super::opensearch::{self, OpenSearch};
use super::options::LoadOptions;
use super::search;
use super::session::{Session, say, until_stopped};

#[derive(Debug, Args)]
pub(super) struct BulkLoad {
    #[command(flatten)]
    pub(super) load: LoadOptions,
}

pub(super) async fn run(given: &BulkLoad) -> anyhow::Result<()> {
    let server = given.load.server(&given.load.url, Login::Basic)?;
    let mut session = Session::connect(given.load.clone(), Arc::new(OpenSearch), server).await?;
    let outcome = until_stopped(measure(given, &mut session)).await;
    session.close(outcome).await
}

async fn measure(given: &BulkLoad, session: &mut Session) -> anyhow::Result<()> {
    let corpus = Arc::new(Corpus::new(given.load.seed));
    let table = LoadTable {
        lead: "batch",
        found: &["docs/s", "MB/s"],
        is_open_loop: given.load.is_open_loop(),
        tells_cpu: given.load.pid.is_some(),
    };
    say(&table.head())?;
    let plans = given.load.plans();
    for (at, &plan) in plans.iter().enumerate() {
        let name = given.load.index.clone();
        session
            .create(&[search::create(&name, given.load.shards)])
            .await?;
        let work = Arc::new(Writes::new(given, corpus.clone()));
        let measured = session.measure(plan, &work, "writing").await?;
        report(given, session, plan, (&work, &measured), &table)?;
        session.check(&measured)?;
        work.check_count(session).await?;
        if at + 1 < plans.len() {
            session.delete().await?;
        }
    }
    Ok(())
}

fn report(
    given: &BulkLoad,
    session: &mut Session,
    plan: Plan,
    (work, measured): (&Writes, &Measured),
    table: &LoadTable,
) -> anyhow::Result<()> {
    let documents = (measured.answered * u64::from(given.load.batch)) as f64;
    let docs_per_s = documents / measured.seconds.max(f64::MIN_POSITIVE);
    let mb_per_s = docs_per_s * work.bytes_per_document() / 1e6;
    let figures = [docs_per_s, mb_per_s].map(figure);
    say(&table.line(&given.load.batch.to_string(), plan, measured, &figures))?;
    let params = json!({"batch": given.load.batch, "shards": given.load.shards});
    let mut found = metrics(plan, measured);
    found.insert("documents".to_owned(), documents.into());
    found.insert("docs_per_s".to_owned(), docs_per_s.into());
    found.insert("mb_per_s".to_owned(), mb_per_s.into());
    session.add("bulk", plan.params(&params), found);
    Ok(())
}

/// Bulk requests of new events.
struct Writes {
    corpus: Arc<Corpus>,
    index: String,
    batch: u64,
    /// Requests that were made, and their bytes.
    made: AtomicU64,
    made_bytes: AtomicU64,
    /// Requests that were acknowledged, the warm-up's with them.
    taken: AtomicU64,
}

impl Writes {
    fn new(given: &BulkLoad, corpus: Arc<Corpus>) -> Self {
        Writes {
            corpus,
            index: given.load.index.clone(),
            batch: given.load.batch.into(),
            made: AtomicU64::new(0),
            made_bytes: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }

    fn bytes_per_document(&self) -> f64 {
        let documents = self.made.load(Ordering::Relaxed) * self.batch;
        self.made_bytes.load(Ordering::Relaxed) as f64 / documents.max(1) as f64
    }

    /// What was acknowledged has to be there; what failed may be.
    async fn check_count(&self, session: &mut Session) -> anyhow::Result<()> {
        session.ask(&opensearch::refresh(&self.index)).await?;
        let reply = session.ask(&opensearch::count(&self.index)).await?;
        let found = opensearch::read_count(&reply)?;
        let acknowledged = self.taken.load(Ordering::Relaxed) * self.batch;
        ensure!(
            found >= acknowledged,
            "{acknowledged} documents were acknowledged, and {found} are there"
        );
        Ok(())
    }
}

impl Workload for Writes {
    fn call(&self, number: u64) -> Call {
        let first = number * self.batch;
        let call = search::events(&self.corpus, &self.index, first..first + self.batch);
        self.made.fetch_add(1, Ordering::Relaxed);
        self.made_bytes
            .fetch_add(call.body.len() as u64, Ordering::Relaxed);
        call
    }

    fn judge(&self, reply: &Reply) -> Judgement {
        let judgement = opensearch::judge(reply);
        if judgement == Judgement::Answered {
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
        judgement
    }
}
