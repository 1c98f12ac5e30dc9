//! `clew collect`: the collector with progress bars, until everything is read or Ctrl-C.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use clew_collect::{
    BulkOptions, BulkSink, CollectOptions, CollectReport, Counters, Mode, ParserChoice, ParserName,
    Progress, StopToken, World,
};
use clew_platform::{RealClock, RealDisk};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

use crate::config::LoggingConfig;
use crate::login;
use crate::{logging, signals};

const EXAMPLES: &str = "\
Examples:
  clew collect /var/log --parse auto --to http://127.0.0.1:9200
  clew collect '/srv/app/*.log' --parse json --to http://127.0.0.1:9200 --index app
  clew collect /var/log/nginx --parse nginx --to http://127.0.0.1:9200 --once";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CollectArguments {
    /// Files, folders or patterns.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What the lines are: `auto` or a parser's name.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    parse: String,
    /// Server to send to.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:9200")]
    to: String,
    /// Index to write to.
    #[arg(long, value_name = "NAME", default_value = "logs")]
    index: String,
    /// File that remembers how far each file was read.
    #[arg(long, value_name = "FILE", default_value = "clew-registry.json")]
    registry: PathBuf,
    /// Stop when everything is read instead of waiting for more.
    #[arg(long)]
    once: bool,
    /// No progress, no report: errors only.
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(arguments: &CollectArguments) -> anyhow::Result<()> {
    let level = if arguments.quiet { "error" } else { "warn" };
    logging::start(&LoggingConfig {
        level: level.to_string(),
        ..LoggingConfig::default()
    })?;
    let mut options = CollectOptions::new(arguments.paths.clone(), arguments.registry.clone());
    options.files[0].parse = match &arguments.parse[..] {
        "auto" => ParserChoice::Auto,
        name => ParserChoice::Named(name.parse::<ParserName>()?),
    };
    options.mode = if arguments.once {
        Mode::Once
    } else {
        Mode::Follow
    };
    options.index.clone_from(&arguments.index);
    options.validate()?;
    let stop = StopToken::new();
    stop_on_signals(&stop)?;
    let login = login::from_environment()?;
    let target = BulkOptions {
        authorization: login.map(|login| format!("Basic {}", login.base64())),
        ..BulkOptions::new(&arguments.to, &options.index)
    };
    let mut sink = BulkSink::new(target, stop.clone())
        .with_context(|| format!("cannot send to {}", arguments.to))?;
    let bar = Bar::new(arguments.quiet, arguments.once);
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &bar,
        stop: &stop,
    };
    let report = clew_collect::run(&options, world, &mut sink)?;
    bar.0.finish_and_clear();
    if !arguments.quiet {
        print_report(&report);
    }
    Ok(())
}

/// Stops the collector on the first signal; its current batch is finished or forgotten safely.
fn stop_on_signals(stop: &StopToken) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let stop = stop.clone();
    // The thread has no owner to join it: it ends with the process, and holds nothing but a flag.
    std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(move || {
            if let Err(error) = runtime.block_on(signals::stop_requested()) {
                tracing::error!(%error, "cannot listen for signals");
            }
            stop.stop();
        })?;
    Ok(())
}

struct Bar(ProgressBar);

impl Bar {
    fn new(quiet: bool, once: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let template = if once {
            "{bar:40} {bytes}/{total_bytes} {bytes_per_sec}  {msg}"
        } else {
            "{spinner} {bytes} read  {msg}"
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        Bar(ProgressBar::new(0).with_style(style))
    }
}

impl Progress for Bar {
    fn report(&self, counters: &Counters) {
        self.0.set_length(counters.bytes_total);
        self.0.set_position(counters.bytes_read);
        let events = HumanCount(counters.events_acked);
        self.0
            .set_message(format!("{} files, {events} events", counters.files_found));
    }
}

fn print_report(report: &CollectReport) {
    let counters = &report.counters;
    for file in report.files.iter().filter(|file| !file.parser.is_empty()) {
        let size = HumanBytes(file.offset_bytes).to_string();
        eprintln!(
            "  read     {:<14} {size:>12}  {}",
            file.parser,
            file.path.display()
        );
    }
    for skipped in &report.skipped {
        eprintln!(
            "  skipped  {:<27}  {}",
            skipped.reason.to_string(),
            skipped.path.display()
        );
    }
    eprintln!(
        "{} files read, {} skipped: {} lines, {} events sent, {} already there, {} refused, \
         {} lines their parser could not take, {} retries",
        counters.files_found,
        counters.files_skipped,
        HumanCount(counters.lines_read),
        HumanCount(counters.events_acked),
        HumanCount(counters.events_duplicate),
        HumanCount(counters.events_rejected),
        HumanCount(counters.parse_errors),
        HumanCount(counters.retries),
    );
}
