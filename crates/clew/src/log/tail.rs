//! `clew log tail`: entries as they arrive.

use std::sync::mpsc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use clew_log::{Glsn, LogReader, Order, Range, Selection};
use clew_log_grpc::proto;
use clew_log_grpc::proto::subscribe_request::Start;
use jiff::Timestamp;

use super::names::Names;
use super::place::{LogPlace, Reading};
use super::print::{FormatArguments, Printer};
use super::record::Record;
use super::remote::{Remote, refused};
use super::scan::{find_all, printer};
use super::time;
use crate::signals;

/// How often a quiet log is looked at. The folder of another process gives no sign of news.
const TAIL_EVERY: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  clew log tail --data ./data
      every write of a data folder as it arrives
  clew log tail --url http://127.0.0.1:19530 --stream audit --since 1h --format json
      one stream of a server, beginning an hour ago";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TailArguments {
    #[command(flatten)]
    place: LogPlace,
    /// Only entries of this stream, by name or number; may be repeated.
    #[arg(long = "stream", value_name = "STREAM")]
    streams: Vec<String>,
    /// First position; behind the newest entry if not given.
    #[arg(long, value_name = "GLSN")]
    from: Option<u64>,
    /// Begin at a time: RFC 3339, or how long ago (90s, 10m, 2h, 1d).
    #[arg(long, value_name = "TIME", conflicts_with = "from")]
    since: Option<String>,
    /// End after so many entries.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// With --url: whether entries are shown once they are written or once they are durable.
    #[arg(long, value_enum, default_value = "sync", conflicts_with = "data")]
    visible: Visible,
    #[command(flatten)]
    format: FormatArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Visible {
    Os,
    Sync,
}

pub(crate) fn run(arguments: &TailArguments) -> anyhow::Result<()> {
    let since = arguments.since.as_deref();
    let since_ms = since
        .map(|text| time::parse(text, Timestamp::now()))
        .transpose()?;
    let mut place = arguments.place.open_to_read()?;
    let mut printer = printer(&mut place, &arguments.format, arguments.limit)?;
    match place {
        Reading::Local(reader) => Local::open(arguments, since_ms, *reader)?.follow(&mut printer),
        Reading::Remote(mut remote) => {
            let request = arguments.request(since_ms);
            follow_remote(&mut remote, request, &mut printer)
        }
    }
}

/// A data folder that is being followed.
struct Local {
    reader: LogReader,
    /// What is next; streams and order stay as they are.
    next: Glsn,
    streams: Vec<clew_log::StreamId>,
}

impl Local {
    fn open(
        arguments: &TailArguments,
        since_ms: Option<u64>,
        reader: LogReader,
    ) -> anyhow::Result<Self> {
        let streams = find_all(&reader, &arguments.streams)?;
        let found = match (arguments.from, since_ms) {
            (Some(from), _) => Some(Glsn::new(from)),
            (None, Some(ms)) => reader.first_at_or_after(ms, &streams)?,
            (None, None) => None,
        };
        Ok(Local {
            next: found.unwrap_or(reader.last().next()),
            reader,
            streams,
        })
    }

    fn follow(mut self, printer: &mut Printer) -> anyhow::Result<()> {
        let stopped = stop_channel()?;
        while printer.left > 0 {
            self.print_new(printer)?;
            match stopped.recv_timeout(TAIL_EVERY) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            self.reader.refresh()?;
        }
        Ok(())
    }

    fn print_new(&mut self, printer: &mut Printer) -> anyhow::Result<()> {
        let end = self.reader.last().next();
        if self.next >= end {
            return Ok(());
        }
        let mut scan = self.reader.scan_with(&Selection {
            range: Range::Glsn {
                from: self.next,
                to: end,
            },
            streams: self.streams.clone(),
            order: Order::Forward,
        })?;
        while printer.left > 0
            && let Some(entry) = scan.next()
        {
            let record = Record::from(entry?);
            if printer.misses_name(record.stream) {
                let streams = self.reader.streams();
                let streams = streams.iter().map(clew_log_grpc::stream_info).collect();
                printer.names = Names::after_a_look_for(record.stream, streams);
            }
            printer.print(&record)?;
        }
        self.next = end;
        printer.flush()?;
        Ok(())
    }
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

impl TailArguments {
    fn request(&self, since_ms: Option<u64>) -> proto::SubscribeRequest {
        let visible = match self.visible {
            Visible::Os => proto::Durability::Os,
            Visible::Sync => proto::Durability::Sync,
        };
        proto::SubscribeRequest {
            start: match (self.from, since_ms) {
                (Some(from), _) => Some(Start::Glsn(from)),
                (None, Some(ms)) => Some(Start::TimeMs(ms)),
                (None, None) => None,
            },
            streams: self.streams.clone(),
            visible: visible.into(),
            name: "clew log tail".to_string(),
            ..proto::SubscribeRequest::default()
        }
    }
}

fn follow_remote(
    remote: &mut Remote,
    request: proto::SubscribeRequest,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let Remote { client, runtime } = remote;
    runtime.block_on(async {
        let stopped = signals::stop_requested();
        tokio::pin!(stopped);
        let mut replies = client
            .subscribe(request)
            .await
            .map_err(refused)?
            .into_inner();
        while printer.left > 0 {
            let reply = tokio::select! {
                reply = replies.message() => reply.map_err(refused)?,
                stopped = &mut stopped => return Ok(stopped?),
            };
            let Some(reply) = reply else { break };
            for entry in &reply.entries {
                if printer.left == 0 {
                    break;
                }
                if printer.misses_name(entry.stream) {
                    let listed = client.list_streams(proto::ListStreamsRequest {}).await;
                    let streams = listed.map_err(refused)?.into_inner().streams;
                    printer.names = Names::after_a_look_for(entry.stream, streams);
                }
                printer.print(&Record::from(entry))?;
            }
            printer.flush()?;
        }
        Ok(())
    })
}
