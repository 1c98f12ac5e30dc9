//! `clew log`: reads a data folder's log from outside, also while a server writes it.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use clew_log::{EntryRef, Glsn, Log, LogReader, StreamId};
use clew_platform::RealDisk;

use crate::signals;

/// How often a quiet log is looked at. The folder of another process gives no sign of news.
const TAIL_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// Print the entries from a position on, then end.
    #[command(
        after_help = "Example:\n  clew log scan --data ./data --from 1 --limit 10 --format json"
    )]
    Scan(ReadArguments),
    /// Print entries as they arrive, from now on or from a position on, until Ctrl-C.
    #[command(after_help = "Example:\n  clew log tail --data ./data")]
    Tail(ReadArguments),
}

#[derive(Debug, Args)]
struct ReadArguments {
    /// Data folder of a server.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// First position; `scan` begins at the oldest entry, `tail` behind the newest one.
    #[arg(long, value_name = "GLSN")]
    from: Option<u64>,
    /// Print only so many entries.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Only entries of this stream.
    #[arg(long, value_name = "ID")]
    stream: Option<u32>,
    /// What an entry looks like.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Position, stream and content in columns.
    Text,
    /// One JSON object a line.
    Json,
    /// The payload's bytes, one entry a line.
    Lines,
}

pub(crate) fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    let (LogCommand::Scan(read) | LogCommand::Tail(read)) = &arguments.command;
    let dir = read.data.join("log");
    let mut reader = Log::open_read_only(Arc::new(RealDisk), &dir)
        .with_context(|| format!("cannot read the log in {}", dir.display()))?;
    let mut printer = Printer {
        out: BufWriter::new(std::io::stdout()),
        format: read.format,
        stream: read.stream.map(StreamId::new),
        left: read.limit.unwrap_or(u64::MAX),
    };
    match &arguments.command {
        LogCommand::Scan(_) => {
            let from = read.from.map_or(reader.first(), Glsn::new);
            printer.print_from(&reader, from)?;
            Ok(())
        }
        LogCommand::Tail(_) => tail(&mut reader, read.from.map(Glsn::new), &mut printer),
    }
}

fn tail(
    reader: &mut LogReader,
    from: Option<Glsn>,
    printer: &mut Printer<impl Write>,
) -> anyhow::Result<()> {
    let stopped = stop_channel()?;
    let mut next = from.unwrap_or(reader.last().next());
    while printer.left > 0 {
        next = printer.print_from(reader, next)?;
        match stopped.recv_timeout(TAIL_EVERY) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        reader.refresh()?;
    }
    Ok(())
}

/// Receives once the process is asked to stop.
fn stop_channel() -> anyhow::Result<mpsc::Receiver<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(move || {
            if runtime.block_on(signals::stop_requested()).is_ok() {
                // The receiver may have ended by itself.
                let _ = sender.send(());
            }
        })?;
    Ok(receiver)
}

struct Printer<W: Write> {
    out: W,
    format: Format,
    stream: Option<StreamId>,
    left: u64,
}

impl<W: Write> Printer<W> {
    /// Prints the entries from a position to the end; the position after the last.
    fn print_from(&mut self, reader: &LogReader, from: Glsn) -> anyhow::Result<Glsn> {
        let mut next = from;
        if from > reader.last() {
            return Ok(next);
        }
        let mut scan = reader.scan(from)?;
        while self.left > 0
            && let Some(entry) = scan.next()
        {
            let entry = entry?;
            next = entry.glsn.next();
            if self.stream.is_none_or(|stream| stream == entry.stream) {
                self.print(&entry)?;
                self.left -= 1;
            }
        }
        self.out.flush()?;
        Ok(next)
    }

    fn print(&mut self, entry: &EntryRef<'_>) -> anyhow::Result<()> {
        let (glsn, llsn, stream) = (entry.glsn, entry.llsn, entry.stream);
        match self.format {
            Format::Lines => {
                self.out.write_all(entry.payload)?;
                writeln!(self.out)?;
            }
            Format::Text => {
                let content = clew_engine::describe_entry(stream, entry.payload);
                writeln!(
                    self.out,
                    "{:>10} {:>5}:{:<10} {content}",
                    glsn.get(),
                    stream.get(),
                    llsn.get()
                )?;
            }
            Format::Json => {
                let mut object = serde_json::json!({
                    "glsn": glsn.get(), "stream": stream.get(), "llsn": llsn.get(),
                });
                let content = clew_engine::describe_entry(stream, entry.payload);
                if let (Some(object), serde_json::Value::Object(content)) =
                    (object.as_object_mut(), content)
                {
                    object.extend(content);
                }
                writeln!(self.out, "{object}")?;
            }
        }
        Ok(())
    }
}
