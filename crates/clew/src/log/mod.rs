//! `clew log`: the log as a thing of its own: written, read, followed, looked after and checked,
//! in a data folder or through a server.

mod append;
mod append_local;
mod append_remote;
pub(crate) mod bar;
mod inspect;
mod lines;
mod manage;
mod names;
mod place;
mod print;
mod record;
mod remote;
mod scan;
mod summary;
mod tail;
mod time;

use clap::{Args, Subcommand};

pub(crate) use summary::SummaryFormat;

const EXAMPLES: &str = "\
Examples:
  clew log append --data ./data --stream audit --lines < audit.txt
      one entry for each line, durable when it returns
  clew log scan --data ./data --stream audit --lines
      the same lines back
  clew log tail --url http://127.0.0.1:19530 --stream audit
      follow a server's stream
  clew log verify ./data
      check every byte";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogArguments {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// Append standard input to a stream.
    Append(append::AppendArguments),
    /// Print one entry.
    Read(scan::ReadArguments),
    /// Print the entries of a range, then end.
    Scan(scan::ScanArguments),
    /// Print entries as they arrive, from now on or from a position on, until Ctrl-C.
    Tail(tail::TailArguments),
    /// List the streams.
    Streams(manage::StreamsArguments),
    /// Make a stream.
    Create(manage::CreateArguments),
    /// Remove streams with all their entries.
    Delete(manage::DeleteArguments),
    /// End appends to a stream.
    Seal(manage::SealArguments),
    /// Open a sealed stream again, under its next epoch.
    Unseal(manage::UnsealArguments),
    /// Forget the oldest entries.
    Trim(manage::TrimArguments),
    /// Check every byte of a log; each damaged place is printed.
    Verify(inspect::VerifyArguments),
    /// Print what the files of a log hold, piece by piece.
    Dump(inspect::DumpArguments),
}

pub(crate) fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    match &arguments.command {
        LogCommand::Append(arguments) => append::run(arguments),
        LogCommand::Read(arguments) => scan::read(arguments),
        LogCommand::Scan(arguments) => scan::scan(arguments),
        LogCommand::Tail(arguments) => tail::run(arguments),
        LogCommand::Streams(arguments) => manage::streams(arguments),
        LogCommand::Create(arguments) => manage::create(arguments),
        LogCommand::Delete(arguments) => manage::delete(arguments),
        LogCommand::Seal(arguments) => manage::seal(arguments),
        LogCommand::Unseal(arguments) => manage::unseal(arguments),
        LogCommand::Trim(arguments) => manage::trim(arguments),
        LogCommand::Verify(arguments) => inspect::verify(arguments),
        LogCommand::Dump(arguments) => inspect::dump(arguments),
    }
}
