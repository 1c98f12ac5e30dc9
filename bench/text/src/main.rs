//! A contender of the text benchmark: holds one index and answers rounds of queries.
//!
//! `clew-bench-text clew|ordered|tantivy DOCS QUERIES SEGMENTS FOLDER` builds the index in the folder, tells how long
//! that took, and then reads one order a line: `time MODE CLASS` answers the nanoseconds of CPU time of this
//! thread for each query of the class, `top MODE CLASS` the scores of each query's first ten and how many
//! matches were told. The same orders are understood by the contenders in Java and C++.
//!
//! `ordered` is Clew with `index.merge.reorder`. With `lengths`, `sorts` or `shared` in place of a contender it tells what reading a document's length costs, what
//! sorted searches do, or what it brings to read a shard's segments on several threads.

mod bare;
mod clew;
mod lengths;
mod queries;
mod shared;
mod sorts;

use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::{Context, bail};
use clew::Columns;
use queries::{Class, Queries};
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static ALLOCATOR: clew_platform::Mimalloc = clew_platform::Mimalloc;

/// Hits of every search.
const TOP: usize = 10;
/// How far `count` counts, as searches over HTTP do when they do not say otherwise.
const COUNTED: u64 = 10_000;

/// What is wanted beside the first ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing.
    Top,
    /// The number of matches.
    Count,
}

/// What a query found.
struct Found {
    scores: Vec<f32>,
    count: u64,
}

/// An index and the way to search it.
trait Contender {
    /// What is done once for a query, outside the measured time: reading what the user wrote.
    fn prepare(&mut self, class: &Class, text: &str) -> anyhow::Result<()>;
    /// Runs the prepared query at a place.
    fn run(&self, at: usize, mode: Mode) -> anyhow::Result<Found>;
    /// Forgets the prepared queries.
    fn clear(&mut self);
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, docs, queries, segments, folder] = &arguments[..] else {
        bail!(
            "usage: clew-bench-text clew|ordered|tantivy|lengths|sorts DOCS QUERIES SEGMENTS FOLDER"
        );
    };
    let queries = Queries::read(Path::new(queries))?;
    let (segments, docs, folder) = (segments.parse()?, Path::new(docs), Path::new(folder));
    let told = match kind.as_str() {
        "lengths" => Some(lengths::measure(docs, &queries, folder)?),
        "shared" => Some(shared::measure(docs, &queries, (segments, folder))?),
        "sorts" => Some(sorts::measure(docs, segments, folder)?),
        _ => None,
    };
    if let Some(told) = told {
        writeln!(std::io::stdout(), "{told}")?;
        return Ok(());
    }
    let before = nanoseconds(ClockId::ProcessCPUTime);
    let mut contender: Box<dyn Contender> = match kind.as_str() {
        "clew" => Box::new(clew::Clew::build(docs, segments, (folder, Columns::None))?),
        "ordered" => {
            anyhow::ensure!(segments == 1, "an order is that of one segment");
            Box::new(clew::Clew::ordered(docs, folder)?)
        }
        "tantivy" => Box::new(bare::Bare::build(docs, segments)?),
        other => bail!("no contender {other}"),
    };
    let built = nanoseconds(ClockId::ProcessCPUTime) - before;
    let mut out = std::io::stdout().lock();
    writeln!(out, "built {built}")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let [order, mode, class] = words[..] else {
            bail!("no order: {line}");
        };
        let mode = match mode {
            "top" => Mode::Top,
            "count" => Mode::Count,
            other => bail!("no mode {other}"),
        };
        let answer = answer(&mut *contender, &queries, (order, mode, class))?;
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(
    contender: &mut dyn Contender,
    queries: &Queries,
    (order, mode, class): (&str, Mode, &str),
) -> anyhow::Result<String> {
    let texts = queries
        .of(class)
        .with_context(|| format!("no class {class}"))?;
    let class = Class::parse(class)?;
    contender.clear();
    for text in texts {
        contender.prepare(&class, text)?;
    }
    let mut words = Vec::with_capacity(texts.len());
    for at in 0..texts.len() {
        let before = nanoseconds(ClockId::ThreadCPUTime);
        let found = contender.run(at, mode)?;
        let spent = nanoseconds(ClockId::ThreadCPUTime) - before;
        words.push(match order {
            "time" => spent.to_string(),
            _ => {
                let scores: Vec<String> = found.scores.iter().map(f32::to_string).collect();
                format!("{}:{}", found.count, scores.join(","))
            }
        });
    }
    Ok(words.join(" "))
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// The documents of a file, in so many equal parts.
fn parts(docs: &Path, segments: usize) -> anyhow::Result<Vec<Vec<String>>> {
    let text =
        std::fs::read_to_string(docs).with_context(|| format!("cannot read {}", docs.display()))?;
    let lines: Vec<String> = text.lines().map(str::to_string).collect();
    let size = lines.len().div_ceil(segments).max(1);
    Ok(lines.chunks(size).map(<[String]>::to_vec).collect())
}

/// The groups of a document: filters over a half and a tenth of all.
fn groups(number: usize) -> Vec<&'static str> {
    let mut groups = Vec::new();
    if number % 2 == 1 {
        groups.push("half");
    }
    if number % 10 == 3 {
        groups.push("tenth");
    }
    groups
}
