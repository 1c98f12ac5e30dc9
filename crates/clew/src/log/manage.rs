//! The streams themselves: listed, made, sealed, trimmed, removed.

use std::io::Write;

use clap::Args;
use clew_log::Log;
use clew_log_grpc::tonic::{Response, Status};
use clew_log_grpc::{proto, streams};
use serde_json::json;

use super::names;
use super::place::{LogPlace, Writing};
use super::remote::{Client, refused};
use super::summary::SummaryFormat;
use super::time;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  clew log streams --data ./data
  clew log streams --url http://127.0.0.1:19530 --format json")]
pub(crate) struct StreamsArguments {
    #[command(flatten)]
    place: LogPlace,
    /// What a stream looks like; `json` is one object a line.
    #[arg(long, value_enum, default_value = "text")]
    format: SummaryFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  clew log create --data ./data audit")]
pub(crate) struct CreateArguments {
    #[command(flatten)]
    one: OneStream,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  clew log seal --url http://127.0.0.1:19530 audit
      appends are refused from now on, and what was appended is durable")]
pub(crate) struct SealArguments {
    #[command(flatten)]
    one: OneStream,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  clew log unseal --url http://127.0.0.1:19530 audit
      prints the new epoch, which writers may insist on: append --epoch N")]
pub(crate) struct UnsealArguments {
    #[command(flatten)]
    one: OneStream,
}

#[derive(Debug, Args)]
struct OneStream {
    #[command(flatten)]
    place: LogPlace,
    /// Stream, by name or number.
    #[arg(value_name = "STREAM")]
    stream: String,
    /// How the stream is printed.
    #[arg(long, value_enum, default_value = "text")]
    format: SummaryFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  clew log delete --data ./data audit old-audit")]
pub(crate) struct DeleteArguments {
    #[command(flatten)]
    place: LogPlace,
    /// Streams, by name or number; all are removed in one step.
    #[arg(value_name = "STREAM", required = true)]
    streams: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  clew log trim --data ./data --stream audit --llsn 1000
      entries 1 to 1000 of one stream
  clew log trim --data ./data --glsn 5000
      everything up to a position, in all streams with a name")]
pub(crate) struct TrimArguments {
    #[command(flatten)]
    place: LogPlace,
    /// Stream to trim, by name or number.
    #[arg(long, value_name = "STREAM", requires = "llsn")]
    stream: Option<String>,
    /// Last entry of the stream to forget.
    #[arg(
        long,
        value_name = "N",
        requires = "stream",
        required_unless_present = "glsn"
    )]
    llsn: Option<u64>,
    /// Last position of the log to forget, in all streams with a name.
    #[arg(long, value_name = "N", conflicts_with_all = ["stream", "llsn"])]
    glsn: Option<u64>,
}

pub(crate) fn streams(arguments: &StreamsArguments) -> anyhow::Result<()> {
    let mut place = arguments.place.open_to_read()?;
    let streams = names::list(&mut place)?;
    let mut out = std::io::stdout().lock();
    match arguments.format {
        SummaryFormat::Json => {
            for info in &streams {
                writeln!(out, "{}", object(info))?;
            }
        }
        SummaryFormat::Text => write!(out, "{}", table(&streams))?,
    }
    Ok(())
}

pub(crate) fn create(arguments: &CreateArguments) -> anyhow::Result<()> {
    let stream = arguments.one.stream.clone();
    let request = proto::CreateStreamRequest { stream };
    arguments
        .one
        .change(streams::create, async |client: &mut Client| {
            client.create_stream(request).await
        })
}

pub(crate) fn seal(arguments: &SealArguments) -> anyhow::Result<()> {
    let stream = arguments.one.stream.clone();
    let request = proto::SealStreamRequest { stream };
    arguments
        .one
        .change(streams::seal, async |client: &mut Client| {
            client.seal_stream(request).await
        })
}

pub(crate) fn unseal(arguments: &UnsealArguments) -> anyhow::Result<()> {
    let stream = arguments.one.stream.clone();
    let request = proto::UnsealStreamRequest { stream };
    arguments
        .one
        .change(streams::unseal, async |client: &mut Client| {
            client.unseal_stream(request).await
        })
}

pub(crate) fn delete(arguments: &DeleteArguments) -> anyhow::Result<()> {
    let names = &arguments.streams;
    let request = proto::DeleteStreamRequest {
        streams: names.clone(),
    };
    change(
        &arguments.place,
        |log| streams::delete(log, names),
        async |client: &mut Client| client.delete_stream(request).await,
    )?;
    writeln!(std::io::stdout(), "deleted {}", names.join(", "))?;
    Ok(())
}

pub(crate) fn trim(arguments: &TrimArguments) -> anyhow::Result<()> {
    use proto::trim_request::{InStream, Until};
    let until = match (&arguments.stream, arguments.llsn) {
        (Some(stream), Some(llsn)) => Until::Stream(InStream {
            stream: stream.clone(),
            llsn,
        }),
        _ => Until::Glsn(arguments.glsn.unwrap_or(0)),
    };
    let request = proto::TrimRequest { until: Some(until) };
    let reply = change(
        &arguments.place,
        |log| streams::trim(log, &request),
        async |client: &mut Client| client.trim(request.clone()).await,
    )?;
    let mut out = std::io::stdout();
    match (&arguments.stream, reply.first_llsn) {
        (Some(stream), Some(first)) => writeln!(out, "{stream} begins at LLSN {first}")?,
        _ => writeln!(out, "the log begins at GLSN {}", reply.first_glsn)?,
    }
    Ok(())
}

/// Does something to a log, by itself or through a server.
fn change<T>(
    place: &LogPlace,
    local: impl FnOnce(&Log) -> Result<T, Status>,
    remote: impl AsyncFnOnce(&mut Client) -> Result<Response<T>, Status>,
) -> anyhow::Result<T> {
    match place.open_to_write()? {
        Writing::Local(log) => {
            let changed = local(&log).map_err(refused)?;
            log.close()?;
            Ok(changed)
        }
        Writing::Remote(mut server) => server.call(remote),
    }
}

impl OneStream {
    fn change(
        &self,
        local: impl FnOnce(&Log, &str) -> Result<proto::StreamInfo, Status>,
        remote: impl AsyncFnOnce(&mut Client) -> Result<Response<proto::StreamInfo>, Status>,
    ) -> anyhow::Result<()> {
        let info = change(&self.place, |log| local(log, &self.stream), remote)?;
        let mut out = std::io::stdout();
        match self.format {
            SummaryFormat::Json => writeln!(out, "{}", object(&info))?,
            SummaryFormat::Text => write!(out, "{}", table(&[info]))?,
        }
        Ok(())
    }
}

fn object(info: &proto::StreamInfo) -> serde_json::Value {
    json!({
        "stream": info.number,
        "name": info.name,
        "first_llsn": info.first_llsn,
        "last_llsn": info.last_llsn,
        "entries": entries(info),
        "sealed": info.sealed,
        "epoch": info.epoch,
        "created": time::format(info.created_ms),
    })
}

fn entries(info: &proto::StreamInfo) -> u64 {
    (info.last_llsn + 1).saturating_sub(info.first_llsn)
}

fn table(streams: &[proto::StreamInfo]) -> String {
    let names = streams
        .iter()
        .map(|info| info.name.as_deref().unwrap_or("-"));
    let width = names.map(str::len).max().unwrap_or(0).max("NAME".len());
    let mut table = format!(
        "{:<width$}  {:>10}  {:>12}  {:>12}  {:>12}  {:>5}  STATE\n",
        "NAME", "NUMBER", "ENTRIES", "FIRST", "LAST", "EPOCH"
    );
    for info in streams {
        let state = if info.sealed { "sealed" } else { "open" };
        table += &format!(
            "{:<width$}  {:>10}  {:>12}  {:>12}  {:>12}  {:>5}  {state}\n",
            info.name.as_deref().unwrap_or("-"),
            info.number,
            entries(info),
            info.first_llsn,
            info.last_llsn,
            info.epoch,
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_listed_in_columns() {
        let named = proto::StreamInfo {
            number: 1 << 31,
            name: Some("a-long-name".into()),
            first_llsn: 3,
            last_llsn: 12,
            sealed: true,
            epoch: 2,
            created_ms: 1000,
        };
        let plain = proto::StreamInfo {
            number: 1,
            first_llsn: 1,
            ..proto::StreamInfo::default()
        };
        assert_eq!(object(&named)["entries"], 10);
        assert_eq!(object(&plain)["entries"], 0);
        let table = table(&[plain, named]);
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|row| row.split_whitespace().collect())
            .collect();
        assert_eq!(rows[1], ["-", "1", "0", "1", "0", "0", "open"]);
        assert_eq!(
            rows[2],
            ["a-long-name", "2147483648", "10", "3", "12", "2", "sealed"]
        );
        let widths: Vec<usize> = table.lines().map(|row| row.rfind(' ').unwrap()).collect();
        assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
    }
}
