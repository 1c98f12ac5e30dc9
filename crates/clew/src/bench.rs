//! `clew bench`: measures the parts of this binary on anyone's data, and writes what it measured as
//! JSON that another program can compare.

mod report;
mod vectors;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Build a vector column from .npy files and search it.
    #[command(
        after_help = "Example:\n  clew bench vectors --base base.npy --queries queries.npy \
                      --truth truth.npy --metric cosine --ef-search 32,64,128 --json out.json"
    )]
    Vectors(vectors::VectorsArguments),
}

/// Runs one benchmark.
pub(crate) fn run(arguments: &BenchArguments) -> anyhow::Result<()> {
    match &arguments.command {
        BenchCommand::Vectors(arguments) => vectors::run(arguments),
    }
}
