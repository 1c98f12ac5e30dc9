//! `clew bench serve vectors`: an index of vectors over a server's API, effort by load, with recall.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::ensure;
use clap::Args;
use serde_json::{Value, json};

use super::super::vectors::Metric;
use super::api::{Api, Collection, GraphEngine};
use super::figures::{LoadTable, metrics};
use super::fill::Batch;
use super::http::Login;
use super::load::Repeated;
use super::milvus::Milvus;
use super::milvus_grpc::MilvusGrpc;
use super::opensearch::OpenSearch;
use super::options::LoadOptions;
use super::points::{PointFiles, Points};
use super::session::{Session, once_each, say, until_stopped, waiting};

#[derive(Debug, Args)]
pub(super) struct VectorsLoad {
    #[command(flatten)]
    pub(super) load: LoadOptions,
    /// Ask this server by Milvus' RESTful API v2 instead, which is served on the port of Milvus' gRPC (19530).
    #[arg(long, value_name = "URL", conflicts_with = "url")]
    milvus: Option<String>,
    /// Ask this server by Milvus' gRPC instead.
    #[arg(long, value_name = "URL", conflicts_with_all = ["url", "milvus"])]
    milvus_grpc: Option<String>,
    /// Vectors that are made, in clusters.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    rows: u32,
    /// Dimensions of these.
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=16_000))]
    dims: u16,
    /// Different vectors that are searched for.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    query_count: u32,
    /// Vectors to store instead of made ones: an .npy matrix of f32.
    #[arg(long, value_name = "FILE", requires = "queries", conflicts_with_all = ["rows", "dims", "query_count"])]
    base: Option<PathBuf>,
    /// Vectors to search for.
    #[arg(long, value_name = "FILE", requires = "base", conflicts_with_all = ["rows", "dims", "query_count"])]
    queries: Option<PathBuf>,
    /// Exact neighbours of each query, nearest first, an .npy matrix of row numbers; computed unless given.
    #[arg(long, value_name = "FILE", requires = "base", conflicts_with_all = ["rows", "dims", "query_count"])]
    truth: Option<PathBuf>,
    /// How vectors are compared.
    #[arg(long, value_enum, default_value = "l2")]
    metric: Metric,
    /// Links per vector.
    #[arg(long, value_name = "N", default_value_t = 16)]
    m: u16,
    /// Candidates considered for a new vector's links.
    #[arg(long, value_name = "N", default_value_t = 128)]
    ef_construction: u16,
    /// The library that OpenSearch builds the graph with; Clew takes both names for its own.
    #[arg(long, value_enum, default_value = "faiss", conflicts_with_all = ["milvus", "milvus_grpc"])]
    engine: GraphEngine,
    /// Candidates that a search keeps, a measurement of each load for each.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "32,64,128,256", value_parser = effort)]
    ef_search: Vec<usize>,
    /// Neighbours to find.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    k: u32,
}

pub(super) async fn run(given: &VectorsLoad) -> anyhow::Result<()> {
    let (api, url, login): (Arc<dyn Api>, _, _) = match (&given.milvus, &given.milvus_grpc) {
        (Some(url), _) => (Arc::new(Milvus), url, Login::Bearer),
        (None, Some(url)) => (Arc::new(MilvusGrpc), url, Login::Grpc),
        (None, None) => (Arc::new(OpenSearch), &given.load.url, Login::Basic),
    };
    let server = given.load.server(url, login)?;
    let mut session = Session::connect(given.load.clone(), api, server).await?;
    let outcome = until_stopped(measure(given, &mut session)).await;
    session.close(outcome).await
}

async fn measure(given: &VectorsLoad, session: &mut Session) -> anyhow::Result<()> {
    let points = Arc::new(given.points()?);
    let k = usize::try_from(given.k)?;
    ensure!(
        k <= points.rows,
        "{k} neighbours are wanted of {} vectors",
        points.rows
    );
    let truth = {
        let (points, waits) = (points.clone(), waiting("exact neighbours"));
        let truth = tokio::task::spawn_blocking(move || points.truth(k)).await;
        waits.finish_and_clear();
        truth??
    };
    let params = json!({
        "rows": points.rows, "dims": points.dims, "metric": format!("{:?}", given.metric).to_lowercase(),
        "shards": given.load.shards, "m": given.m, "ef_construction": given.ef_construction,
    });
    load(given, session, &points, &params).await?;
    let table = LoadTable {
        lead: "ef_search",
        found: &["recall"],
        is_open_loop: given.load.is_open_loop(),
        tells_cpu: given.load.pid.is_some(),
    };
    say(&table.head())?;
    for &ef_search in &given.ef_search {
        let work = Arc::new(searches(session, &points, k, ef_search));
        // Once through all queries before any clock runs: which are found does not depend on the load.
        let what = format!("ef {ef_search}");
        let recall = recall(session, &what, &work, &truth).await?;
        for plan in given.load.plans() {
            let measured = session.measure(plan, &work, &what).await?;
            say(&table.line(
                &ef_search.to_string(),
                plan,
                &measured,
                &[format!("{recall:.4}")],
            ))?;
            let mut params = plan.params(&params);
            params["k"] = k.into();
            params["ef_search"] = ef_search.into();
            let mut found = metrics(plan, &measured);
            found.insert("recall".to_owned(), recall.into());
            session.add("search", params, found);
            session.check(&measured)?;
        }
    }
    Ok(())
}

async fn load(
    given: &VectorsLoad,
    session: &mut Session,
    points: &Arc<Points>,
    params: &Value,
) -> anyhow::Result<()> {
    let collection = Collection {
        name: given.load.index.clone(),
        dims: points.dims,
        space: points.space,
        shards: given.load.shards,
        m: given.m,
        ef_construction: given.ef_construction,
        engine: given.engine,
    };
    session.create(&session.api.create(&collection)).await?;
    let (api, points, name) = (session.api.clone(), points.clone(), collection.name);
    let (rows, batch) = (points.rows, usize::try_from(given.load.batch)?);
    let batches = (0..rows).step_by(batch).map(move |first| {
        let last = rows.min(first + batch);
        let made: Vec<Vec<f32>> = (first..last).map(|row| points.row(row)).collect();
        Batch {
            call: api.insert(&name, first, &made),
            documents: made.len() as u64,
        }
    });
    session.load(rows as u64, batches, params).await
}

impl VectorsLoad {
    fn points(&self) -> anyhow::Result<Points> {
        let space = self.metric.space();
        if let (Some(base), Some(queries)) = (&self.base, &self.queries) {
            let files = PointFiles {
                base: base.clone(),
                queries: queries.clone(),
                truth: self.truth.clone(),
            };
            return Points::read(&files, space);
        }
        let sizes = (
            usize::try_from(self.rows)?,
            usize::try_from(self.query_count)?,
            self.dims.into(),
        );
        Ok(Points::made(sizes, space, self.load.seed))
    }
}

/// A number of candidates that every server takes.
fn effort(text: &str) -> anyhow::Result<usize> {
    let given: usize = text.parse()?;
    ensure!(given > 0, "a search keeps one candidate at least");
    Ok(given)
}

/// The searches of one effort.
fn searches(session: &Session, points: &Points, k: usize, ef_search: usize) -> Repeated {
    let name = &session.options.index;
    let call = |query| {
        let vector = points.query(query);
        session.api.search(name, &vector, k, ef_search)
    };
    Repeated {
        calls: (0..points.queries).map(call).collect(),
        judge: session.api.judge(),
    }
}

/// The share of the true neighbours that the searches find, each asked once.
async fn recall(
    session: &mut Session,
    what: &str,
    searches: &Repeated,
    truth: &[Vec<u64>],
) -> anyhow::Result<f64> {
    let (mut found, mut wanted) = (0, 0);
    for (call, nearest) in once_each(&format!("{what}, recall"), &searches.calls).zip(truth) {
        let reply = session.ask(call).await?;
        let hits = session.api.read_hits(&reply)?;
        found += nearest.iter().filter(|row| hits.contains(row)).count();
        wanted += nearest.len();
    }
    Ok(found as f64 / wanted as f64)
}
