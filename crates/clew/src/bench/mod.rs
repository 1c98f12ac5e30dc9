//! `clew bench`: measures the product's parts on the machine at hand and prints a table; with
//! `--json` also writes it down, for comparisons.

mod begun;
mod columns;
mod folder;
mod given;
mod results;

mod report;

mod collect;
mod compare;
mod log;
mod plot;
mod serve;
mod text;
mod vectors;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use self::begun::until_stopped;
use crate::profile::OwnProfile;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    part: Part,
    /// Also take a profile of this process meanwhile: .svg is a flame graph, .pb.gz pprof's file, .folded collapsed stacks.
    #[arg(long, global = true, value_name = "FILE")]
    profile: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// The log: scans, appends, subscriptions, recovery, beside what the disk itself does.
    Log(log::LogBench),
    /// The collector: lines a second of processor time, file to file.
    #[command(
        after_help = "Example:\n  clew bench collect app.log --processors \\\n    \
                      '[{dissect: {field: message, pattern: \"%{a} %{b}\"}}, {remove: {field: message}}]'"
    )]
    Collect(collect::CollectBench),
    /// Vector search: builds a column from .npy files and searches it.
    #[command(
        after_help = "Example:\n  clew bench vectors --base base.npy --queries queries.npy \
                      --truth truth.npy --metric cosine --ef-search 32,64,128 --json out.json"
    )]
    Vectors(vectors::VectorsArguments),
    /// Text search: indexes documents of one's own and searches them.
    #[command(
        after_help = "Example:\n  clew bench text --corpus documents.jsonl --field text \
                      --queries queries.txt --join or,and,phrase --json out.json"
    )]
    Text(text::TextBench),
    /// A running server under load, over its own API.
    Serve(serve::ServeBench),
    /// What changed between two sets of results, and what of it is more than chance.
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareArguments),
    /// Curves of results, as an SVG.
    #[command(after_help = plot::EXAMPLES)]
    Plot(plot::PlotArguments),
}

pub(crate) fn run(arguments: BenchArguments) -> anyhow::Result<()> {
    let profile = OwnProfile::start(arguments.profile.as_deref())?;
    let outcome = match arguments.part {
        Part::Log(bench) => until_stopped(move |begun| log::run(&bench, begun)),
        Part::Collect(bench) => until_stopped(move |begun| collect::run(&bench, begun)),
        Part::Vectors(bench) => until_stopped(move |begun| vectors::run(&bench, begun)),
        Part::Text(bench) => until_stopped(move |begun| text::run(&bench, begun)),
        // It has an index to remove.
        Part::Serve(bench) => serve::run(&bench),
        Part::Compare(arguments) => compare::run(&arguments),
        Part::Plot(arguments) => plot::run(&arguments),
    };
    // What fails on the way was watched, too; why it failed says more than that its profile could not be written.
    outcome.and(profile.map_or(Ok(()), OwnProfile::end))
}
