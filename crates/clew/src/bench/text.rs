//! `clew bench text`: documents of one's own, lines of JSON, indexed by the engine as in an index whose mapping nobody wrote, and
//! searched for words. No server stands between: what that adds, `clew bench serve` measures.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, anyhow, bail, ensure};
use clap::{Args, ValueEnum};
use clew_engine::{
    Access, Action, Engine, EngineOptions, IndexSettings, OpType, Pinned, Purpose, SearchRequest,
    TranslogDurability, WriteOperation,
};
use clew_platform::{RealClock, RealDisk, process_cpu_time};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::begun::Begun;
use super::folder::Folder;
use super::given::one_or_more;
use super::report::{Report, quantile};
use super::results;

/// Documents of one write.
const BATCH: usize = 1000;
/// Longer lines are refused.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Names of the index and of its field.
const INDEX: &str = "documents";
const FIELD: &str = "text";

#[derive(Debug, Args)]
pub(crate) struct TextBench {
    /// Documents, an object of JSON on a line each.
    #[arg(long, value_name = "FILE.jsonl")]
    corpus: PathBuf,
    /// The member of these that is searched, a text; nothing else of them is kept.
    #[arg(long, value_name = "NAME", default_value = "text")]
    field: String,
    /// What is searched for, the words of a search on a line each.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// How the words of a search are joined, a row of results each [default: or,and].
    #[arg(long, value_enum, value_delimiter = ',')]
    join: Vec<Join>,
    /// Hits to find.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = one_or_more)]
    k: usize,
    /// Passes over all searches, after one that is not counted.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = one_or_more)]
    rounds: usize,
    /// Leave the segments as they were written, which are merged into one otherwise.
    #[arg(long)]
    no_merge: bool,
    /// Folder for the index; a folder below it is used and removed [default: that of temporary files].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Also write the rows to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How words are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Join {
    /// Any of them.
    Or,
    /// All of them.
    And,
    /// In this order, one beside the other.
    Phrase,
}

impl Join {
    fn name(self) -> &'static str {
        match self {
            Join::Or => "or",
            Join::And => "and",
            Join::Phrase => "phrase",
        }
    }

    /// The query of some words.
    fn query(self, words: &str) -> Value {
        match self {
            Join::Or | Join::And => {
                json!({"match": {FIELD: {"query": words, "operator": self.name()}}})
            }
            Join::Phrase => json!({"match_phrase": {FIELD: {"query": words}}}),
        }
    }
}

/// An engine that has the documents.
struct Filled<'a> {
    engine: &'a Engine,
    runtime: Runtime,
    pinned: Pinned,
}

pub(crate) fn run(bench: &TextBench, begun: &Begun) -> anyhow::Result<()> {
    results::check_writable(bench.json.as_deref())?;
    let mut searches = Vec::new();
    each_line(&bench.queries, |_, line| {
        searches.push(line.to_owned());
        Ok(())
    })?;
    ensure!(
        !searches.is_empty(),
        "{} has no searches",
        bench.queries.display()
    );
    let below = bench.dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = Folder::new(&below, "text", begun)?;
    let options = EngineOptions::new(&folder.0);
    let engine = Engine::start(options, Arc::new(RealDisk), Arc::new(RealClock::new()))?;
    let report = Report::new(begun, bench.json.as_deref());
    let measured = measure(bench, &engine, &searches, &report);
    // Its folder is removed afterwards.
    let closed = engine.close().map_err(anyhow::Error::from);
    measured.and(closed)?;
    report.write()
}

fn measure(
    bench: &TextBench,
    engine: &Engine,
    searches: &[String],
    report: &Report,
) -> anyhow::Result<()> {
    let pinned = build(bench, engine, report)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?;
    let filled = Filled {
        engine,
        runtime,
        pinned,
    };
    let joins = match bench.join.as_slice() {
        [] => &[Join::Or, Join::And][..],
        given => given,
    };
    for join in joins {
        let metrics = filled.search(bench, *join, searches)?;
        report.add(
            "search",
            json!({"join": join.name(), "k": bench.k}),
            metrics,
        )?;
    }
    Ok(())
}

/// Indexes the documents; what of them is searched.
fn build(bench: &TextBench, engine: &Engine, report: &Report) -> anyhow::Result<Pinned> {
    let access = Access::everything();
    let settings = IndexSettings {
        refresh_interval: None,
        durability: TranslogDurability::Async,
        ..IndexSettings::default()
    };
    let (began, cpu) = (Instant::now(), process_cpu_time());
    engine.create_index(&access, INDEX, settings, Default::default())?;
    let documents = fill(bench, engine)?;
    let index = engine.open_exactly(INDEX, &access, Purpose::Read)?;
    engine.refresh(&index)?;
    if !bench.no_merge {
        engine.force_merge(&index, 1)?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let cpu = process_cpu_time().saturating_sub(cpu).as_secs_f64();
    let corpus = bench.corpus.file_name().unwrap_or_default();
    let count = documents as f64;
    report.add(
        "build",
        json!({"corpus": corpus.to_string_lossy(), "merged": !bench.no_merge}),
        json!({
            "documents": documents, "seconds": seconds, "docs_per_s": count / seconds,
            "cpu_us_per_document": cpu * 1e6 / count,
        }),
    )?;
    Ok(engine.pin(std::slice::from_ref(&index))?)
}

/// Writes all documents; how many there are.
fn fill(bench: &TextBench, engine: &Engine) -> anyhow::Result<u64> {
    let mut written = 0;
    let mut batch = Vec::with_capacity(BATCH);
    each_line(&bench.corpus, |number, line| {
        batch.push(operation(bench, number, line)?);
        if batch.len() == BATCH {
            written += write(engine, std::mem::take(&mut batch))?;
        }
        Ok(())
    })?;
    if !batch.is_empty() {
        written += write(engine, batch)?;
    }
    ensure!(written > 0, "{} has no documents", bench.corpus.display());
    Ok(written)
}

/// The write of a line's document, with its text alone.
fn operation(bench: &TextBench, number: usize, line: &str) -> anyhow::Result<WriteOperation> {
    let place = || format!("line {number} of {}", bench.corpus.display());
    let document: Value = serde_json::from_str(line).with_context(place)?;
    let text = document.get(&bench.field).and_then(Value::as_str);
    let text = text.with_context(|| format!("{} has no text [{}]", place(), bench.field))?;
    Ok(WriteOperation {
        index: INDEX.to_owned(),
        require_alias: false,
        id: Some(number.to_string()),
        routing: None,
        action: Action::index(json!({FIELD: text}).to_string(), OpType::Index),
        condition: None,
    })
}

fn write(engine: &Engine, operations: Vec<WriteOperation>) -> anyhow::Result<u64> {
    let results = engine.write(&Access::everything(), operations).results;
    let count = results.len() as u64;
    for result in results {
        result?;
    }
    Ok(count)
}

impl Filled<'_> {
    /// Searches for everything, in rounds, one after the other.
    fn search(&self, bench: &TextBench, join: Join, searches: &[String]) -> anyhow::Result<Value> {
        let reader = clew_opensearch::dsl::query_reader();
        let mut queries = Vec::with_capacity(searches.len());
        for words in searches {
            let query = reader.read(join.query(words).to_string().as_bytes());
            queries.push(query.map_err(|refused| anyhow!("{words:?}: {}", refused.reason))?);
        }
        let (mut took_us, mut hits, mut cpu_s) = (Vec::new(), 0, 0.0);
        // The first warms what the others find warm.
        for round in 0..=bench.rounds {
            let cpu = process_cpu_time();
            hits = 0;
            for query in &queries {
                let request = SearchRequest {
                    size: bench.k,
                    ..SearchRequest::new(self.pinned.clone(), query.clone())
                };
                let began = Instant::now();
                let found = self.runtime.block_on(self.engine.search(request))?;
                let took = began.elapsed();
                if let Some(failed) = found.failures.first() {
                    bail!("a search failed: {}", failed.error);
                }
                hits += found.total.map_or(0, |total| total.value);
                if round > 0 {
                    took_us.push(took.as_secs_f64() * 1e6);
                }
            }
            if round > 0 {
                cpu_s += process_cpu_time().saturating_sub(cpu).as_secs_f64();
            }
        }
        let count = took_us.len() as f64;
        let whole_s = took_us.iter().sum::<f64>() / 1e6;
        Ok(json!({
            "qps": count / whole_s, "cpu_us": cpu_s * 1e6 / count,
            "p50_us": quantile(&mut took_us, 0.5), "p99_us": quantile(&mut took_us, 0.99),
            "hits": hits as f64 / queries.len() as f64,
        }))
    }
}

/// Gives each line that is not blank, counted from 1, without the blanks around it.
fn each_line(
    path: &Path,
    mut each: impl FnMut(usize, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let unread = || format!("cannot read {}", path.display());
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).with_context(unread)?);
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let mut bounded = file.by_ref().take(LINE_BYTES_MAX);
        let read = bounded.read_line(&mut line).with_context(unread)?;
        if read == 0 {
            break;
        }
        ensure!(
            (read as u64) < LINE_BYTES_MAX,
            "line {number} of {} is longer than {LINE_BYTES_MAX} bytes",
            path.display()
        );
        let text = line.trim();
        if !text.is_empty() {
            each(number, text)?;
        }
    }
    Ok(())
}
