//! `clew log scan` and `clew log read`: a range, or one entry.

use anyhow::bail;
use clap::Args;
use clew_log::{Glsn, Llsn, LogReader, Order, Range, Scan, Selection, StreamId};
use clew_log_grpc::proto;
use jiff::Timestamp;

use super::names::{self, Names};
use super::place::{LogPlace, Reading};
use super::print::{Format, FormatArguments, Printer};
use super::record::Record;
use super::remote::{Client, Remote, refused};
use super::time;

const SCAN_EXAMPLES: &str = "\
Examples:
  clew log scan --data ./data --from 1 --limit 10 --format json
      the oldest entries of all streams
  clew log scan --data ./data --stream audit --lines > audit.txt
      one stream's payloads, one a line
  clew log scan --url http://127.0.0.1:19530 --stream audit --since 10m
      what came in the last ten minutes
  clew log scan --data ./data --stream audit --llsn --from 100 --to 200 --reverse
      by positions of the stream, the last one first";

const READ_EXAMPLES: &str = "\
Examples:
  clew log read --data ./data --glsn 17
  clew log read --data ./data --stream audit --llsn 3 --format json";

#[derive(Debug, Args)]
#[command(after_help = SCAN_EXAMPLES)]
pub(crate) struct ScanArguments {
    #[command(flatten)]
    place: LogPlace,
    #[command(flatten)]
    range: RangeArguments,
    /// Print only so many entries.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    format: FormatArguments,
}

#[derive(Debug, Args)]
struct RangeArguments {
    /// Only entries of this stream, by name or number; may be repeated.
    #[arg(long = "stream", value_name = "STREAM")]
    streams: Vec<String>,
    /// First position; the oldest entry if not given.
    #[arg(long, value_name = "POSITION")]
    from: Option<u64>,
    /// End before this position; behind the newest entry if not given.
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
    /// Positions are those of the one stream (LLSN), not of the whole log (GLSN).
    #[arg(long, requires = "streams", conflicts_with = "since")]
    llsn: bool,
    /// Entries from a time on: RFC 3339, or how long ago (90s, 10m, 2h, 1d).
    #[arg(long, value_name = "TIME", conflicts_with = "from")]
    since: Option<String>,
    /// The last entry first.
    #[arg(long)]
    reverse: bool,
}

#[derive(Debug, Args)]
#[command(after_help = READ_EXAMPLES)]
pub(crate) struct ReadArguments {
    #[command(flatten)]
    place: LogPlace,
    /// Position in the whole log.
    #[arg(long, value_name = "N", conflicts_with_all = ["stream", "llsn"], required_unless_present = "llsn")]
    glsn: Option<u64>,
    /// Stream, by name or number.
    #[arg(long, value_name = "STREAM", requires = "llsn")]
    stream: Option<String>,
    /// Position in the stream.
    #[arg(long, value_name = "N", requires = "stream")]
    llsn: Option<u64>,
    #[command(flatten)]
    format: FormatArguments,
}

pub(crate) fn scan(arguments: &ScanArguments) -> anyhow::Result<()> {
    let range = &arguments.range;
    if range.llsn && range.streams.len() != 1 {
        bail!("--llsn needs one --stream: each stream has its own LLSNs");
    }
    let since = range.since.as_deref();
    let since_ms = since
        .map(|text| time::parse(text, Timestamp::now()))
        .transpose()?;
    let mut place = arguments.place.open_to_read()?;
    let mut printer = printer(&mut place, &arguments.format, arguments.limit)?;
    match place {
        Reading::Local(reader) => {
            if let Some(mut scan) = range.open(&reader, since_ms)? {
                while printer.left > 0
                    && let Some(entry) = scan.next()
                {
                    printer.print(&Record::from(entry?))?;
                }
            }
        }
        Reading::Remote(remote) => {
            let request = proto::ScanRequest {
                limit: arguments.limit.unwrap_or(0),
                ..range.request(since_ms)
            };
            // To the server no limit and a limit of 0 are the same.
            if arguments.limit != Some(0) {
                print_remote(*remote, request, &mut printer)?;
            }
        }
    }
    printer.flush()?;
    Ok(())
}

/// A printer that knows the place's streams, unless they are not shown.
pub(crate) fn printer(
    place: &mut Reading,
    arguments: &FormatArguments,
    limit: Option<u64>,
) -> anyhow::Result<Printer> {
    let names = match arguments.format() {
        Format::Lines => Names::default(),
        Format::Text | Format::Json => Names::new(names::list(place)?),
    };
    Ok(Printer::new(arguments.format(), names, limit))
}

fn print_remote(
    mut remote: Remote,
    request: proto::ScanRequest,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let ask = async |client: &mut Client| client.scan(request).await;
    let mut replies = remote.call(ask)?;
    while let Some(reply) = remote
        .runtime
        .block_on(replies.message())
        .map_err(refused)?
    {
        for entry in &reply.entries {
            printer.print(&Record::from(entry))?;
        }
    }
    Ok(())
}

impl RangeArguments {
    fn request(&self, since_ms: Option<u64>) -> proto::ScanRequest {
        use proto::scan_request::{GlsnRange, LlsnRange, Range};
        let range = match self.llsn {
            true => Range::Llsn(LlsnRange {
                stream: self.streams.first().cloned().unwrap_or_default(),
                from: self.from,
                to: self.to,
            }),
            false => Range::Glsn(GlsnRange {
                from: self.from,
                to: self.to,
                from_time_ms: since_ms,
                streams: self.streams.clone(),
            }),
        };
        let order = match self.reverse {
            true => proto::Order::Backward,
            false => proto::Order::Forward,
        };
        proto::ScanRequest {
            range: Some(range),
            order: order.into(),
            ..proto::ScanRequest::default()
        }
    }

    /// The scan of a data folder; `None` when no entry is late enough.
    fn open(&self, reader: &LogReader, since_ms: Option<u64>) -> anyhow::Result<Option<Scan>> {
        let streams = find_all(reader, &self.streams)?;
        let to = self.to.unwrap_or(u64::MAX);
        let range = match (self.llsn, streams.first()) {
            (true, Some(stream)) => Range::Llsn {
                stream: *stream,
                from: Llsn::new(self.from.unwrap_or(0)),
                to: Llsn::new(to),
            },
            _ => {
                let from = match (self.from, since_ms) {
                    (Some(from), _) => Some(Glsn::new(from)),
                    (None, Some(ms)) => reader.first_at_or_after(ms, &streams)?,
                    (None, None) => Some(Glsn::ZERO),
                };
                let Some(from) = from else { return Ok(None) };
                let to = Glsn::new(to);
                Range::Glsn { from, to }
            }
        };
        let order = match self.reverse {
            true => Order::Backward,
            false => Order::Forward,
        };
        let streams = match range {
            Range::Glsn { .. } => streams,
            Range::Llsn { .. } => Vec::new(),
        };
        let selection = Selection {
            range,
            streams,
            order,
        };
        Ok(Some(reader.scan_with(&selection)?))
    }
}

/// The numbers of streams given by name or number.
pub(crate) fn find_all(reader: &LogReader, streams: &[String]) -> anyhow::Result<Vec<StreamId>> {
    let found = streams.iter().map(|name| Ok(reader.stream(name)?.id));
    found.collect()
}

pub(crate) fn read(arguments: &ReadArguments) -> anyhow::Result<()> {
    let mut place = arguments.place.open_to_read()?;
    let mut printer = printer(&mut place, &arguments.format, None)?;
    let at = match (arguments.glsn, &arguments.stream, arguments.llsn) {
        (None, Some(stream), Some(llsn)) => Err((stream, llsn)),
        (glsn, ..) => Ok(glsn.unwrap_or(0)),
    };
    match place {
        Reading::Local(reader) => {
            let entry = match at {
                Ok(glsn) => reader.read(Glsn::new(glsn))?,
                Err((stream, llsn)) => {
                    let id = reader.stream(stream)?.id;
                    reader.read_at(id, Llsn::new(llsn))?
                }
            };
            printer.print(&Record::from(&clew_log_grpc::entry(entry)))?;
        }
        Reading::Remote(mut remote) => {
            use proto::read_request::{InStream, Position};
            let position = match at {
                Ok(glsn) => Position::Glsn(glsn),
                Err((stream, llsn)) => Position::Stream(InStream {
                    stream: stream.clone(),
                    llsn,
                }),
            };
            let request = proto::ReadRequest {
                position: Some(position),
            };
            let ask = async |client: &mut Client| client.read(request).await;
            printer.print(&Record::from(&remote.call(ask)?))?;
        }
    }
    printer.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    enum Command {
        Scan(ScanArguments),
        Read(ReadArguments),
    }

    fn check(arguments: &str, error: Option<&str>) {
        let words = std::iter::once("clew").chain(arguments.split(' '));
        match (Command::try_parse_from(words), error) {
            (Ok(_), None) => {}
            (Err(refused), Some(said)) => {
                assert!(refused.to_string().contains(said), "{arguments}: {refused}");
            }
            (parsed, _) => panic!("{arguments}: {parsed:?}"),
        }
    }

    #[test]
    fn arguments_that_contradict_each_other_are_refused() {
        check("scan --data d", None);
        check(
            "scan --data d --stream a --stream 7 --since 10m --to 9 --reverse",
            None,
        );
        check("scan --data d --stream a --llsn --from 1", None);
        check("scan", Some("--data"));
        check("scan --data d --url u", Some("cannot be used with"));
        check("scan --data d --llsn", Some("--stream"));
        check(
            "scan --data d --from 1 --since 1d",
            Some("cannot be used with"),
        );
        check(
            "scan --data d --stream a --llsn --since 1d",
            Some("cannot be used with"),
        );
        check(
            "scan --data d --lines --format json",
            Some("cannot be used with"),
        );
        check("read --data d --glsn 1", None);
        check("read --data d --stream a --llsn 1", None);
        check("read --data d", Some("--glsn"));
        check("read --data d --llsn 1", Some("--stream"));
        check(
            "read --data d --glsn 1 --stream a --llsn 1",
            Some("cannot be used with"),
        );
    }
}
