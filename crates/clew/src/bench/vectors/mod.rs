//! `clew bench vectors`: builds a column as the product would, maps it, and searches it with each
//! effort asked for. Every query is timed on its own, or with the others that are searched for at once; recall is counted
//! against a file of exact neighbours.

mod bar;
pub(super) mod npy;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bar::Bar;
use clap::{Args, ValueEnum};
use clew_platform::{Disk, Mapped, RealDisk, advise_random, process_cpu_time, thread_cpu_time};
use clew_vector::{
    BuildWatch, Column, ColumnBuilder, ColumnOptions, Element, GraphChoice, HnswOptions,
    ImageOptions, IvfOptions, ListCodes, Method, Scratch, SearchOutcome, SearchRequest, Space,
};
use npy::Matrix;
use serde_json::json;

use super::begun::Begun;
use super::folder::Folder;
use super::given::one_or_more;
use super::report::Report;
use super::results;

/// Queries are repeated until this much time has passed.
const SEARCH_TIME_MIN: Duration = Duration::from_millis(500);
/// Graphs of one data set come out the same on every run on one thread.
const SEED: u64 = 0x636c_6577;

#[derive(Debug, Args)]
pub(crate) struct VectorsArguments {
    /// Vectors to store: an .npy matrix of f32.
    #[arg(long, value_name = "FILE")]
    base: PathBuf,
    /// Vectors to search for.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Exact neighbours of each query, nearest first: an .npy matrix of row numbers.
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// How vectors are compared.
    #[arg(long, value_enum, default_value = "l2")]
    metric: Metric,
    /// What vectors are stored as.
    #[arg(long, value_enum, default_value = "f32")]
    element: Stored,
    /// What the column is searched through.
    #[arg(long, value_enum, default_value = "auto")]
    method: Way,
    /// Inverted lists, with `--method ivf` or `ivf-pq`; 0 leaves the choice to the number of vectors.
    #[arg(long, value_name = "N", default_value_t = 0)]
    lists: u32,
    /// Lists gone through, instead of `--ef-search`; one row of results each.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = one_or_more)]
    probes: Vec<usize>,
    /// Shares of the true neighbours that shall be found, above 0 and up to 1, instead of `--ef-search`; one row of results each.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    target_recall: Vec<f64>,
    /// Links per vector.
    #[arg(long, value_name = "N", default_value_t = 16)]
    m: u16,
    /// Candidates considered for a new vector's links.
    #[arg(long, value_name = "N", default_value_t = 128)]
    ef_construction: u16,
    /// Candidates that a search keeps; one row of results each.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "32,64,128", value_parser = one_or_more)]
    ef_search: Vec<usize>,
    /// Neighbours to find.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = one_or_more)]
    k: usize,
    /// Threads that build, and that search.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = one_or_more)]
    threads: usize,
    /// Queries that a thread searches for at once, which share what they read.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = one_or_more)]
    at_once: usize,
    /// Leave out the reading of the whole column beforehand, to measure one that is larger than memory.
    #[arg(long)]
    cold: bool,
    /// Keep the column here: used if the file exists, written if not.
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Write the results here.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How vectors are compared.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Metric {
    L2,
    Cosine,
    Ip,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Way {
    /// What an index of a graph gets: the graph, or lists where they are measured to be faster.
    Auto,
    /// An HNSW graph.
    Graph,
    /// Inverted lists, of codes chosen by the number of dimensions.
    Ivf,
    /// Inverted lists of product codes of four dimensions.
    IvfPq,
}

impl Way {
    fn method(self, lists: u32) -> Method {
        let codes = match self {
            Way::Auto | Way::Graph => return Method::Graph,
            Way::Ivf => ListCodes::Chosen,
            Way::IvfPq => ListCodes::Product,
        };
        Method::Lists(IvfOptions { lists, codes })
    }
}

/// How much work a search is worth.
#[derive(Clone, Copy, Debug)]
enum Effort {
    Ef(usize),
    Probes(usize),
    TargetRecall(f64),
}

impl Effort {
    /// Those that a run is asked for.
    fn asked_for(arguments: &VectorsArguments) -> Vec<Effort> {
        let recalls = arguments.target_recall.iter().copied();
        let probes = arguments.probes.iter().copied();
        let mut efforts: Vec<Effort> = recalls.map(Effort::TargetRecall).collect();
        efforts.extend(probes.map(Effort::Probes));
        if efforts.is_empty() {
            efforts.extend(arguments.ef_search.iter().copied().map(Effort::Ef));
        }
        efforts
    }

    /// Its name and value among the parameters of a row.
    fn param(self) -> (&'static str, serde_json::Value) {
        match self {
            Effort::Ef(ef_search) => ("ef_search", json!(ef_search)),
            Effort::Probes(probes) => ("probes", json!(probes)),
            Effort::TargetRecall(target) => ("target_recall", json!(target)),
        }
    }
}

/// A type of element that vectors of any numbers may be stored as.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Stored {
    F32,
    F16,
    Bf16,
}

impl Stored {
    fn element(self) -> Element {
        match self {
            Stored::F32 => Element::F32,
            Stored::F16 => Element::F16,
            Stored::Bf16 => Element::Bf16,
        }
    }
}

impl Metric {
    pub(super) fn space(self) -> Space {
        match self {
            Metric::L2 => Space::L2,
            Metric::Cosine => Space::Cosine,
            Metric::Ip => Space::InnerProduct,
        }
    }
}

/// Runs the benchmark.
pub(crate) fn run(arguments: &VectorsArguments, begun: &Begun) -> anyhow::Result<()> {
    results::check_writable(arguments.json.as_deref())?;
    let queries = npy::floats(&arguments.queries)?;
    let truth = npy::indices(&arguments.truth)?;
    ensure!(queries.rows > 0, "there are no queries");
    ensure!(
        truth.rows == queries.rows && truth.columns >= arguments.k,
        "truth is {} x {}, but there are {} queries of {} neighbours",
        truth.rows,
        truth.columns,
        queries.rows,
        arguments.k
    );
    let report = Report::new(begun, arguments.json.as_deref());
    let column = column(arguments, (queries.columns, &truth), (&report, begun))?;
    for effort in Effort::asked_for(arguments) {
        let bench = Bench {
            column: &column,
            queries: &queries,
            truth: &truth,
            arguments,
            effort,
        };
        bench.run(&report)?;
    }
    report.write()
}

/// Opens the column, which is built first unless it lies ready; `dims` are those of the queries.
fn column(
    arguments: &VectorsArguments,
    asked: (usize, &Matrix<u64>),
    (report, begun): (&Report, &Begun),
) -> anyhow::Result<Column<Mapped>> {
    let kept = arguments.image.as_deref();
    if let Some(path) = kept.filter(|path| path.exists()) {
        return open(path, arguments.cold);
    }
    let image = build(arguments, asked, report)?;
    // Beside where it is to lie, so that it can be moved there once it is whole: a run that is ended before leaves nothing that
    // the next one takes for a column, nor anything else.
    let below = match kept.map(Path::parent) {
        Some(Some(parent)) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        Some(_) => PathBuf::from("."),
        None => std::env::temp_dir(),
    };
    let folder = Folder::new(&below, "vectors", begun)?;
    let whole = folder.0.join("image");
    std::fs::write(&whole, image).with_context(|| format!("writing {}", whole.display()))?;
    let path = match kept {
        Some(path) => {
            std::fs::rename(&whole, path).with_context(|| format!("writing {}", path.display()))?;
            path
        }
        // The map stays when the name goes.
        None => whole.as_path(),
    };
    open(path, arguments.cold)
}

fn open(path: &Path, cold: bool) -> anyhow::Result<Column<Mapped>> {
    let bytes = RealDisk
        .map(path)
        .with_context(|| format!("mapping {}", path.display()))?;
    let column = Column::open_mapped(bytes, advise_random)?;
    if !cold {
        // Checksums are compared at first touch; the first query shall not pay for it here.
        column.verify()?;
    }
    Ok(column)
}

fn build(
    arguments: &VectorsArguments,
    (dims, truth): (usize, &Matrix<u64>),
    report: &Report,
) -> anyhow::Result<Vec<u8>> {
    let base = npy::floats(&arguments.base)?;
    ensure!(base.rows > 0, "there are no vectors");
    ensure!(
        base.columns == dims,
        "vectors have {} dimensions, and queries {dims}",
        base.columns
    );
    truth.check_below(base.rows)?;
    let mut builder = ColumnBuilder::new(ColumnOptions {
        hnsw: HnswOptions {
            m: arguments.m,
            ef_construction: arguments.ef_construction,
        },
        element: arguments.element.element(),
        method: arguments.method.method(arguments.lists),
        exact_structure: arguments.method != Way::Auto,
        ..ColumnOptions::new(base.columns, arguments.metric.space())
    })?;
    for row in 0..base.rows {
        builder.push(u32::try_from(row)?, base.row(row))?;
    }
    let rows = base.rows;
    drop(base);
    let how = ImageOptions {
        graph: GraphChoice::WhenWorthIt,
        seed: SEED,
        threads: arguments.threads,
    };
    let mut image = Vec::new();
    let (wall, cpu) = (Instant::now(), process_cpu_time());
    let watch = BuildWatch::default();
    let bar = Bar::start(watch.progress.clone());
    builder.watched_by(watch).write(how, &mut image)?;
    drop(bar);
    let cpu = process_cpu_time().saturating_sub(cpu).as_secs_f64();
    let params = match arguments.method {
        Way::Auto | Way::Graph => json!({
            "m": arguments.m, "ef_construction": arguments.ef_construction,
            "threads": arguments.threads,
        }),
        Way::Ivf | Way::IvfPq => json!({
            "method": format!("{:?}", arguments.method), "lists": arguments.lists,
            "threads": arguments.threads,
        }),
    };
    let wall = wall.elapsed().as_secs_f64();
    let column = Column::open(image.as_slice())?;
    let sizes = column.sizes();
    let mut metrics = json!({
        "vectors_per_s": rows as f64 / wall,
        "vectors_per_cpu_s": rows as f64 / cpu,
        "bytes": image.len(),
        "walk_bytes_per_vector": (sizes.graph + sizes.lists + sizes.codes) as f64 / rows as f64,
    });
    if let Some(choice) = column.choice() {
        // A structure that is not good enough has no price.
        let price = |ns: f32| json!(ns.is_finite().then_some(ns / 1e3));
        metrics["chosen_at_recall"] = json!(choice.recall);
        metrics["graph_us"] = price(choice.graph_ns);
        metrics["lists_us"] = price(choice.lists_ns);
    }
    report.add("build", params, metrics)?;
    Ok(image)
}

/// Bytes that this process has had read from disk; 0 where the system does not say.
fn read_bytes() -> f64 {
    let counters = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = counters
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0.0)
}

/// One effort's part of the benchmark.
struct Bench<'a> {
    column: &'a Column<Mapped>,
    queries: &'a Matrix<f32>,
    truth: &'a Matrix<u64>,
    arguments: &'a VectorsArguments,
    effort: Effort,
}

/// What a search finds, and what it touches for that on the mean.
struct Work {
    recall: f64,
    codes: f64,
    vectors: f64,
    bytes: f64,
}

/// What one thread measured.
#[derive(Default)]
struct Measured {
    latencies_us: Vec<f64>,
    cpu_s: f64,
}

impl Bench<'_> {
    fn run(&self, report: &Report) -> anyhow::Result<()> {
        // Counted first, apart from the clock; this also warms the memory.
        let work = self.work()?;
        let read = read_bytes();
        let start = Instant::now();
        let next = AtomicUsize::new(0);
        let mut measured = Vec::new();
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let work = || scope.spawn(|| self.search_until(start + SEARCH_TIME_MIN, &next));
            let threads: Vec<_> = (0..self.arguments.threads.max(1)).map(|_| work()).collect();
            for thread in threads {
                let one = thread.join().ok().context("a search thread panicked")??;
                measured.push(one);
            }
            Ok(())
        })?;
        let wall_s = start.elapsed().as_secs_f64();
        let cpu_s: f64 = measured.iter().map(|one| one.cpu_s).sum();
        let mut latencies: Vec<f64> = measured
            .into_iter()
            .flat_map(|one| one.latencies_us)
            .collect();
        latencies.sort_unstable_by(f64::total_cmp);
        let count = latencies.len();
        let at = |percent: usize| latencies[(count * percent / 100).min(count - 1)];
        let (name, value) = self.effort.param();
        let mut params = json!({
            name: value, "k": self.arguments.k, "threads": self.arguments.threads,
        });
        // Rows of searches one by one have the parameters that they have always had, so that they can be compared.
        if self.arguments.at_once > 1 {
            params["at_once"] = json!(self.arguments.at_once);
        }
        let metrics = json!({
            "recall": work.recall,
            "codes": work.codes,
            "vectors": work.vectors,
            "bytes_touched": work.bytes,
            "qps": count as f64 / wall_s,
            "read_bytes": (read_bytes() - read) / count as f64,
            "cpu_us": cpu_s / count as f64 * 1e6,
            "p50_us": at(50),
            "p99_us": at(99),
        });
        report.add("search", params, metrics)
    }

    fn request(&self, query: usize) -> SearchRequest<'_> {
        let mut request = SearchRequest::new(self.queries.row(query), self.arguments.k);
        match self.effort {
            Effort::Ef(ef_search) => request.ef_search = ef_search,
            Effort::Probes(probes) => request.probes = Some(probes),
            Effort::TargetRecall(target) => {
                #[allow(clippy::cast_possible_truncation, reason = "a share of few digits")]
                let target = target as f32;
                request.target_recall = Some(target);
            }
        }
        request
    }

    fn search(&self, query: usize, scratch: &mut Scratch) -> anyhow::Result<SearchOutcome> {
        Ok(self.column.search(&self.request(query), scratch)?)
    }

    /// Searches for as many as go together, of which this is the first; behind the last query comes the first again.
    fn search_at_once(&self, first: usize, scratch: &mut Scratch) -> anyhow::Result<()> {
        let rows = self.queries.rows;
        if self.arguments.at_once == 1 {
            self.search(first % rows, scratch)?;
            return Ok(());
        }
        let queries = first..first + self.arguments.at_once;
        let requests: Vec<SearchRequest<'_>> =
            queries.map(|query| self.request(query % rows)).collect();
        let found = self
            .column
            .search_batch(&requests, std::slice::from_mut(scratch));
        for one in found {
            one?;
        }
        Ok(())
    }

    fn work(&self) -> anyhow::Result<Work> {
        let (mut scratch, mut found) = (Scratch::default(), 0);
        let (mut codes, mut vectors, mut bytes) = (0, 0, 0);
        let k = self.arguments.k;
        for query in 0..self.queries.rows {
            let truth = &self.truth.row(query)[..k];
            let outcome = self.search(query, &mut scratch)?;
            let hits = outcome.hits.iter();
            found += hits.filter(|hit| truth.contains(&hit.doc.into())).count();
            codes += outcome.profile.codes;
            vectors += outcome.profile.vectors + outcome.profile.reranked;
            bytes += outcome.profile.bytes_read;
        }
        let mean = |total: u64| total as f64 / self.queries.rows as f64;
        Ok(Work {
            recall: found as f64 / (self.queries.rows * k) as f64,
            codes: mean(codes),
            vectors: mean(vectors),
            bytes: mean(bytes),
        })
    }

    fn search_until(&self, end: Instant, next: &AtomicUsize) -> anyhow::Result<Measured> {
        let mut measured = Measured::default();
        let mut scratch = Scratch::default();
        let cpu = thread_cpu_time();
        let mut now = Instant::now();
        // All queries at least once: the last ones may be the hard ones.
        loop {
            let at_once = self.arguments.at_once;
            let at = next.fetch_add(at_once, Ordering::Relaxed);
            if now >= end && at >= self.queries.rows {
                break;
            }
            self.search_at_once(at, &mut scratch)?;
            let done = Instant::now();
            let took_us = (done - now).as_secs_f64() * 1e6;
            let of_each = std::iter::repeat_n(took_us, at_once);
            measured.latencies_us.extend(of_each);
            now = done;
        }
        measured.cpu_s = thread_cpu_time().saturating_sub(cpu).as_secs_f64();
        Ok(measured)
    }
}

#[cfg(test)]
mod tests;
