//! `clew bench`: measures the product's parts on the machine at hand and prints a table; with
//! `--json` also writes it down for comparisons.

mod log;
mod report;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// The log: scans, appends, subscriptions, recovery, beside what the disk itself does.
    Log(log::LogBench),
}

pub(crate) fn run(arguments: &BenchArguments) -> anyhow::Result<()> {
    match &arguments.part {
        Part::Log(bench) => log::run(bench),
    }
}
