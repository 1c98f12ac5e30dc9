//! `clew bench serve search`: an index of log events, searched with questions of several kinds, each measured by itself.

use std::sync::Arc;

use axum::http::Method;
use clap::Args;
use serde_json::{Value, json};

use super::super::columns::figure;
use super::corpus::{Corpus, QuestionKind};
use super::figures::{LoadTable, metrics};
use super::fill::Batch;
use super::http::{Call, Login};
use super::load::Repeated;
use super::opensearch::{self, OpenSearch};
use super::options::LoadOptions;
use super::session::{Session, once_each, say, until_stopped};

#[derive(Debug, Args)]
pub(super) struct SearchLoad {
    #[command(flatten)]
    pub(super) load: LoadOptions,
    /// Events that are loaded.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rows: u64,
    /// Kinds of questions [default: all].
    #[arg(long, value_enum, value_delimiter = ',')]
    kind: Vec<QuestionKind>,
    /// Different questions of a kind.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    query_count: u64,
}

pub(super) async fn run(given: &SearchLoad) -> anyhow::Result<()> {
    let server = given.load.server(&given.load.url, Login::Basic)?;
    let mut session = Session::connect(given.load.clone(), Arc::new(OpenSearch), server).await?;
    let outcome = until_stopped(measure(given, &mut session)).await;
    session.close(outcome).await
}

async fn measure(given: &SearchLoad, session: &mut Session) -> anyhow::Result<()> {
    let corpus = Arc::new(Corpus::new(given.load.seed));
    let params = json!({"rows": given.rows, "shards": given.load.shards});
    load(given, session, &corpus, &params).await?;
    let table = LoadTable {
        lead: "kind",
        found: &["hits"],
        is_open_loop: given.load.is_open_loop(),
        tells_cpu: given.load.pid.is_some(),
    };
    say(&table.head())?;
    let kinds = match given.kind.as_slice() {
        [] => &QuestionKind::ALL,
        given => given,
    };
    for &kind in kinds {
        let work = Arc::new(questions(given, &corpus, kind));
        let hits = mean_hits(session, &work, kind).await?;
        for plan in given.load.plans() {
            let measured = session.measure(plan, &work, kind.name()).await?;
            say(&table.line(kind.name(), plan, &measured, &[figure(hits)]))?;
            let mut params = plan.params(&params);
            params["kind"] = kind.name().into();
            let mut found = metrics(plan, &measured);
            found.insert("hits".to_owned(), hits.into());
            session.add("search", params, found);
            session.check(&measured)?;
        }
    }
    Ok(())
}

async fn load(
    given: &SearchLoad,
    session: &mut Session,
    corpus: &Arc<Corpus>,
    params: &Value,
) -> anyhow::Result<()> {
    let name = given.load.index.clone();
    session.create(&[create(&name, given.load.shards)]).await?;
    let (corpus, rows, batch) = (corpus.clone(), given.rows, u64::from(given.load.batch));
    let batches = (0..rows.div_ceil(batch)).map(move |number| {
        let first = number * batch;
        let last = rows.min(first + batch);
        Batch {
            call: events(&corpus, &name, first..last),
            documents: last - first,
        }
    });
    session.load(rows, batches, params).await
}

/// Makes an index of events.
pub(super) fn create(name: &str, shards: u32) -> Call {
    Call::json(Method::PUT, &format!("/{name}"), &Corpus::index(shards))
}

/// A bulk request of the events of these numbers.
pub(super) fn events(corpus: &Corpus, name: &str, numbers: std::ops::Range<u64>) -> Call {
    let mut lines = Vec::new();
    for number in numbers {
        corpus.append(number, &mut lines);
    }
    opensearch::bulk(name, lines)
}

fn questions(given: &SearchLoad, corpus: &Corpus, kind: QuestionKind) -> Repeated {
    let question = |number| {
        let body = corpus.question(kind, number, given.rows);
        opensearch::search(&given.load.index, &body)
    };
    Repeated {
        calls: (0..given.query_count).map(question).collect(),
        judge: opensearch::judge,
    }
}

/// What a question finds on the mean, as the server counts it (up to 10,000); each is asked once, which warms it, too.
async fn mean_hits(
    session: &mut Session,
    work: &Repeated,
    kind: QuestionKind,
) -> anyhow::Result<f64> {
    let mut hits = 0;
    for call in once_each(&format!("{}, hits", kind.name()), &work.calls) {
        hits += opensearch::read_count(&session.ask(call).await?)?;
    }
    Ok(hits as f64 / work.calls.len() as f64)
}
