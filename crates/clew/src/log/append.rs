//! `clew log append`: standard input becomes entries, many at a time.

use std::io::{Read, StdinLock};
use std::os::fd::AsFd;

use anyhow::{Context, bail};
use clap::Args;
use clew_log::{Compression, Durability};
use indicatif::ProgressBar;

use super::append_local::LocalWriter;
use super::append_remote::RemoteWriter;
use super::bar;
use super::lines::{Batches, Cut, Limits};
use super::place::{LogPlace, Writing};
use super::summary::{Summary, SummaryFormat};

/// Entries of one batch, all or none of which are appended.
const BATCH_LINES_MAX: usize = 4096;
const BATCH_BYTES: usize = 1 << 20;

const EXAMPLES: &str = "\
Examples:
  clew log append --data ./data --stream audit --lines < audit.txt
      one entry for each line; the stream is made if it is missing
  clew log append --data ./data --stream images --header type=png < a.png
      the whole input is one entry
  tail -F app.log | clew log append --url http://127.0.0.1:19530 --stream app --lines --acks
      through a server, telling of each batch as it becomes durable
  clew log append --data ./data --stream audit --lines --producer-id 7 --sequence 1 < audit.txt
      may be repeated after a crash: what is there already is not appended again";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AppendArguments {
    #[command(flatten)]
    place: LogPlace,
    #[command(flatten)]
    how: How,
    /// Each line is an entry, without its line end (\n); otherwise the whole input is one.
    #[arg(long)]
    lines: bool,
    /// Append only behind this entry of the stream (0: the stream is empty), and with nothing of
    /// others in between.
    #[arg(long, value_name = "LLSN")]
    expect_last: Option<u64>,
    /// Number of the first batch; the following batches count on.
    #[arg(long, value_name = "N", requires = "producer_id")]
    sequence: Option<u64>,
}

/// What holds for every batch.
#[derive(Clone, Debug, Args)]
pub(crate) struct How {
    /// Stream to append to.
    #[arg(long, value_name = "NAME")]
    pub(crate) stream: String,
    /// When an entry counts as appended: `memory`, `os` or `sync`.
    #[arg(long, value_name = "WORD", default_value = "sync")]
    pub(crate) durability: Durability,
    /// How batches are stored: `none`, `lz4` or `zstd`.
    #[arg(long, value_name = "WORD", default_value = "none")]
    pub(crate) compression: Compression,
    /// Header of every entry; may be repeated.
    #[arg(long = "header", value_name = "KEY=VALUE", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// Lets the log recognise a repetition: a number of the caller's own.
    #[arg(long, value_name = "N", requires = "sequence")]
    pub(crate) producer_id: Option<u64>,
    /// Append only in this epoch of the stream.
    #[arg(long, value_name = "N")]
    pub(crate) epoch: Option<u64>,
    /// Print each batch's positions as it is acknowledged.
    #[arg(long)]
    pub(crate) acks: bool,
    /// What the summary looks like.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: SummaryFormat,
}

/// What is different for every batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub(crate) sequence: Option<u64>,
    pub(crate) expect_last: Option<u64>,
}

/// Takes batches without waiting for each of them.
pub(crate) trait BatchWriter {
    fn entry_bytes_max(&self) -> usize;
    /// Hands over a batch. Blocks while too much is on its way; an error may be an earlier batch's.
    fn append(&mut self, payloads: &[&[u8]], batch: Batch) -> anyhow::Result<()>;
    /// Waits until everything is acknowledged.
    fn finish(self) -> anyhow::Result<Summary>;
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_string(), value.to_string())),
        _ => Err("a header has the form KEY=VALUE".to_string()),
    }
}

pub(crate) fn run(arguments: &AppendArguments) -> anyhow::Result<()> {
    let how = &arguments.how;
    let summary = match arguments.place.open_to_write()? {
        Writing::Local(log) => {
            let writer = LocalWriter::open(log.clone(), how)?;
            let summary = feed(arguments, writer)?;
            log.close()?;
            summary
        }
        Writing::Remote(remote) => feed(arguments, RemoteWriter::open(*remote, how)?)?,
    };
    summary.print(&how.stream, how.format)?;
    Ok(())
}

/// Cuts the input into batches and hands them over.
fn feed(arguments: &AppendArguments, mut writer: impl BatchWriter) -> anyhow::Result<Summary> {
    let stdin = std::io::stdin().lock();
    let bar = bar::of_bytes(length_of(&stdin));
    let mut numbers = Numbers {
        sequence: arguments.sequence,
        expect_last: arguments.expect_last,
    };
    if arguments.lines {
        let limits = Limits {
            // A repetition must be cut as the first attempt was.
            cut: match arguments.sequence {
                Some(_) => Cut::WhenFull,
                None => Cut::AsItArrives,
            },
            batch_lines_max: BATCH_LINES_MAX,
            batch_bytes: BATCH_BYTES,
            line_bytes_max: writer.entry_bytes_max(),
        };
        let mut batches = Batches::new(bar.wrap_read(stdin), limits);
        while let Some(lines) = batches.next()? {
            let batch = numbers.take(lines.len());
            writer.append(&lines, batch)?;
        }
    } else {
        let payload = whole(stdin, &bar, writer.entry_bytes_max())?;
        writer.append(&[&payload], numbers.take(1))?;
    }
    bar.finish_and_clear();
    writer.finish()
}

fn whole(input: impl Read, bar: &ProgressBar, bytes_max: usize) -> anyhow::Result<Vec<u8>> {
    let mut payload = Vec::new();
    bar.wrap_read(input)
        .take(bytes_max as u64 + 1)
        .read_to_end(&mut payload)
        .context("cannot read the input")?;
    if payload.len() > bytes_max {
        bail!(
            "the input is longer than an entry may be ({bytes_max} bytes); --lines makes each line an entry"
        );
    }
    Ok(payload)
}

/// How long the input is, if it is a file.
fn length_of(stdin: &StdinLock<'_>) -> Option<u64> {
    let file = std::fs::File::from(stdin.as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// The numbers of the batch after those taken.
struct Numbers {
    sequence: Option<u64>,
    expect_last: Option<u64>,
}

impl Numbers {
    fn take(&mut self, entries: usize) -> Batch {
        let batch = Batch {
            sequence: self.sequence,
            expect_last: self.expect_last,
        };
        self.sequence = self.sequence.map(|sequence| sequence + 1);
        self.expect_last = self.expect_last.map(|last| last + entries as u64);
        batch
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        append: AppendArguments,
    }

    fn parse(more: &[&str]) -> Result<AppendArguments, clap::Error> {
        let arguments = ["append", "--stream", "s"].iter().chain(more);
        Command::try_parse_from(arguments).map(|command| command.append)
    }

    #[test]
    fn arguments_have_their_defaults_and_say_what_is_missing() {
        let plain = parse(&["--data", "d"]).unwrap();
        assert_eq!(plain.how.durability, Durability::Sync);
        assert_eq!(plain.how.compression, Compression::None);
        assert!(!plain.lines);
        let all = parse(&[
            "--url",
            "http://h:1",
            "--lines",
            "--durability",
            "os",
            "--compression",
            "zstd",
            "--header",
            "a=b=c",
            "--header",
            "d=",
            "--producer-id",
            "7",
            "--sequence",
            "0",
            "--expect-last",
            "0",
            "--epoch",
            "2",
        ]);
        let all = all.unwrap();
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        assert_eq!(all.how.headers, [pair("a", "b=c"), pair("d", "")]);
        assert_eq!(all.how.durability, Durability::Os);
        for (wrong, said) in [
            (&[][..], "--data"),
            (&["--data", "d", "--url", "u"], "cannot be used with"),
            (&["--data", "d", "--durability", "fast"], "fast"),
            (&["--data", "d", "--header", "=x"], "KEY=VALUE"),
            (&["--data", "d", "--producer-id", "7"], "--sequence"),
            (&["--data", "d", "--sequence", "7"], "--producer-id"),
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn batches_count_on() {
        let mut numbers = Numbers {
            sequence: Some(5),
            expect_last: Some(0),
        };
        numbers.take(3);
        let second = numbers.take(1);
        assert_eq!((second.sequence, second.expect_last), (Some(6), Some(3)));
    }
}
