//! The run that a configuration file asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clew_collect::config::{BufferConfig, CollectConfig, OutputConfig, OutputKind, OutputTls};
use clew_collect::{
    AllSinks, BulkOptions, BulkSink, FileSink, FileSinkOptions, HttpOptions, HttpSink, LineSink,
    Mode, PatientDisk, Sink, StopToken, check, shown_url,
};
use clew_engine::Engine;
use clew_platform::RealDisk;
use tokio::runtime::Handle;

use super::engine_sink::EngineSink;
use crate::given_file;

/// Reads a configuration.
pub(super) fn read(file: &Path) -> anyhow::Result<CollectConfig> {
    let text = given_file::read_text(file, given_file::CONFIG_BYTES_MAX)?;
    let name = file.display().to_string();
    let variable = |name: &str| std::env::var(name).ok();
    let mut config = CollectConfig::parse(&name, unmarked(&text), &variable)?;
    config.read_files(&RealDisk)?;
    Ok(config)
}

/// A text without the mark of its encoding, which some editors put in front.
pub(super) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads a configuration, and compiles what it has, for what is wrong with it.
pub(super) fn checked(file: &Path) -> anyhow::Result<()> {
    let options = read(file)?.options(Mode::Follow)?;
    options.validate()?;
    Ok(check(&options)?)
}

/// The server that a collector runs in.
pub(super) struct Host {
    pub(super) engine: Engine,
    pub(super) runtime: Handle,
}

/// Where a run sends to.
pub(super) fn sinks(
    config: &CollectConfig,
    host: Option<&Host>,
    stop: &StopToken,
) -> anyhow::Result<Box<dyn Sink>> {
    let mut sinks = Vec::new();
    let mut waiting = Vec::new();
    for (number, output) in config.outputs.iter().enumerate() {
        let while_away = config.buffer_while_away(number);
        sinks.push(sink((number, output, while_away.as_ref()), host, stop)?);
        waiting.extend(while_away.map(|buffer| buffer.folder));
    }
    tell_left(&config.waiting_folder(), &waiting);
    Ok(match sinks.len() {
        1 => sinks.remove(0),
        _ => Box::new(AllSinks::new(sinks)),
    })
}

/// Tells of what waits for outputs that the configuration no longer has.
fn tell_left(folder: &Path, known: &[PathBuf]) {
    let paths = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    for left in paths(folder) {
        let holds_events = |file: &PathBuf| file.extension().is_some_and(|end| end == "buffer");
        if !known.contains(&left) && paths(&left).iter().any(holds_events) {
            let folder = left.display();
            tracing::warn!(%folder, "events wait for an output that is not in the configuration any more: one that has this folder as its buffer sends them");
        }
    }
}

/// The sink of the output with this number, with the buffer that is used while it is away if it has none of its own.
fn sink(
    (number, output, while_away): (usize, &OutputConfig, Option<&BufferConfig>),
    host: Option<&Host>,
    stop: &StopToken,
) -> anyhow::Result<Box<dyn Sink>> {
    let tls = output.tls.as_ref().map(OutputTls::ready).transpose()?;
    let own = output.authorization()?;
    let named = |place: &str| format!("outputs[{number}] ({place})");
    Ok(match (&output.kind, host) {
        (OutputKind::Bulk(output), Some(Host { engine, runtime })) if output.url.is_none() => {
            let (engine, runtime) = (engine.clone(), runtime.clone());
            let placing = output.placing().map_err(anyhow::Error::msg)?;
            let sink = EngineSink::new(engine, placing, runtime, stop.clone());
            let name = named("this server");
            buffered(output.buffer.as_ref(), (&name, Box::new(sink)), stop)?
        }
        (OutputKind::Bulk(output), _) => {
            let login = match own {
                Some(own) => Some(own),
                None => super::login()?,
            };
            let options = BulkOptions {
                tls,
                ..output.options(login)
            };
            let sink = BulkSink::new(options, stop.clone())
                .with_context(|| format!("cannot send to {}", shown_url(output.url())))?;
            let buffer = output.buffer.as_ref().or(while_away);
            let name = named(&shown_url(output.url()));
            buffered(buffer, (&name, Box::new(sink)), stop)?
        }
        (OutputKind::Http(output), _) => {
            let options = output.options();
            let options = HttpOptions {
                tls,
                authorization: own.or(options.authorization),
                ..options
            };
            let sink = HttpSink::new(options, stop.clone())
                .with_context(|| format!("cannot send to {}", shown_url(&output.url)))?;
            let buffer = output.buffer.as_ref().or(while_away);
            let name = named(&shown_url(&output.url));
            buffered(buffer, (&name, Box::new(sink)), stop)?
        }
        (OutputKind::Kafka(kafka), _) => {
            let sink = kafka
                .open(output.secured()?, stop.clone())
                .with_context(|| format!("cannot write to {}", kafka.brokers))?;
            let buffer = kafka.buffer.as_ref().or(while_away);
            buffered(buffer, (&named(&kafka.brokers), sink), stop)?
        }
        (OutputKind::Stdout, _) => Box::new(LineSink::new(std::io::stdout())),
        (OutputKind::File(file), _) => {
            let options = FileSinkOptions {
                path: std::path::absolute(&file.path)
                    .with_context(|| format!("cannot find {}", file.path.display()))?,
                rotate_bytes: file.rotate_bytes,
                files_kept: file.files_kept,
                compression: file.compression,
                sync: file.sync,
            };
            let disk = PatientDisk::new(Arc::new(RealDisk), stop.clone());
            let sink = FileSink::new(Arc::new(disk), options);
            // A reload that would fail at its first batch leaves the old configuration running.
            sink.check()?;
            Box::new(sink)
        }
    })
}

/// The sink of an output of this name, with the buffer in front of it that is asked for.
fn buffered(
    buffer: Option<&BufferConfig>,
    (name, sink): (&str, Box<dyn Sink + Send>),
    stop: &StopToken,
) -> anyhow::Result<Box<dyn Sink>> {
    let Some(buffer) = buffer else {
        return Ok(sink);
    };
    let disk = Arc::new(RealDisk);
    Ok(Box::new(buffer.open(disk, (name, sink), stop.clone())?))
}
