//! `clew`: one binary that collects logs and documents, keeps them in one ordered log, and
//! searches them. This crate reads the command line and the configuration and puts the parts
//! together; it is the only one that knows them all.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod aside;

mod calls;

mod figure;

mod given_file;

mod given_folder;

mod health;

mod http;

mod tls_files;

mod remote_clusters;

mod spans;

mod config;

mod engine_options;

mod log_metrics;

mod logging;

mod login;

mod open_files;

mod openmetrics;

mod output_file;

mod process_metrics;

mod signals;

mod log;

mod profile;

mod bench;

mod collect;

mod metrics;

mod retention;

mod serve;

mod verify;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clew_collect::SinkError;
use clew_platform::{CountingAllocator, Mimalloc};
use clew_profile::SamplingAllocator;

/// Indexing allocates small and often; this allocator measures faster at it than the system's.
#[global_allocator]
static ALLOCATOR: CountingAllocator<SamplingAllocator<Mimalloc>> =
    CountingAllocator(SamplingAllocator(Mimalloc));

const EXAMPLES: &str = "\
Examples:
  clew serve --data ./data
      serve the OpenSearch REST API on http://127.0.0.1:9200, Milvus' API and the log on port 19530
  clew collect /var/log --parse auto --to http://127.0.0.1:9200
      follow this machine's logs into the index `logs`
  curl 'http://127.0.0.1:9200/logs/_search?q=error&pretty'
      search them
  clew log tail --data ./data
      watch every write arrive";

const PROFILE_EXAMPLES: &str = "\
Examples:
  clew profile --seconds 30 -o flame.svg
      a flame graph of the time that a server spends on the processors
  clew profile --mode off --exact -o off.svg
      where its threads are blocked, by every context switch
  clew profile --mode heap -o heap.pb.gz && go tool pprof -top heap.pb.gz
      what holds its memory
  clew profile --from 14:00 --to 14:05 -o slow.svg
      what was kept of five minutes, where the server has profile.continuous
  clew profile -o before.pb.gz; ...; clew profile -o after.pb.gz; clew profile diff before.pb.gz after.pb.gz -o diff.svg
      what has changed";

/// Search for logs and embeddings: one durable, ordered log and the indexes over it.
#[derive(Debug, Parser)]
#[command(name = "clew", version, about, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a data folder over HTTP and gRPC.
    Serve(serve::ServeArguments),
    /// Read log files and send them to a server.
    Collect(collect::CollectArguments),
    /// Append to the log, read it, follow it, look after it.
    Log(log::LogArguments),
    /// Check every byte of a data folder.
    Verify(verify::VerifyArguments),
    /// Take damaged files out of a data folder, and bring back what the log still has.
    Repair(verify::RepairArguments),
    /// Show where a running server spends its time and its memory.
    #[command(after_help = PROFILE_EXAMPLES)]
    Profile(profile::ProfileArguments),
    /// Measure this build on this machine.
    Bench(bench::BenchArguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Collect(arguments) => collect::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Repair(arguments) => verify::repair(&arguments),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Bench(arguments) => bench::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // As `head` does: nothing is wrong.
        Err(error) if is_unread(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever reads this may have gone, too, which `eprintln!` takes for a defect.
            let _ = writeln!(std::io::stderr(), "clew: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the reader of our own output has gone. A connection that breaks is told by an error that only has such a one inside,
/// and is a failure.
fn is_unread(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        || error
            .chain()
            .any(|cause| matches!(cause.downcast_ref::<SinkError>(), Some(SinkError::Unread)))
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::{fmt, io};

    use super::*;

    #[derive(Debug)]
    struct Connection(io::Error);

    impl fmt::Display for Connection {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the connection has failed")
        }
    }

    impl Error for Connection {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    /// The command line takes one that is missing for excused where something else keeps it out.
    #[test]
    fn an_option_is_not_left_without_the_one_that_it_needs() {
        for line in [
            "profile --to 14:00",
            "profile --to 14:00 --seconds 3",
            "profile --to 14:00 --rate 9",
            "profile --to 14:00 --mode off --exact",
            "bench serve vectors --queries q.npy --rows 5",
            "bench serve vectors --truth t.npy --dims 5",
            "collect test a.log --input 1 --parse json",
        ] {
            let words = ["clew"].into_iter().chain(line.split(' '));
            assert!(Arguments::try_parse_from(words).is_err(), "{line}");
        }
    }

    #[test]
    fn a_connection_that_breaks_is_a_failure_and_a_reader_that_goes_is_none() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_unread(&anyhow::Error::from(broken())));
        let told = anyhow::Error::from(broken())
            .context("cannot write")
            .context("at the end");
        assert!(is_unread(&told));
        assert!(is_unread(&anyhow::Error::from(SinkError::Unread)));
        assert!(!is_unread(&anyhow::Error::from(Connection(broken()))));
    }
}
