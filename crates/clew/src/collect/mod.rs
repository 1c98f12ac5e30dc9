//! `clew collect`: the collector with progress bars, until everything is read or Ctrl-C.

mod configured;
mod engine_sink;
mod explain;
mod figures;
mod import;
mod page;
mod report;
mod status;
mod told;
mod within;

pub(crate) use figures::Figures;
pub(crate) use within::Within;

use std::cell::Cell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use clew_collect::config::CollectConfig;
use clew_collect::{
    BulkOptions, BulkSink, CollectOptions, Counters, FeedAddress, LineSink, Mode, ParserChoice,
    ParserName, Progress, RunFigures, Sink, StopToken, World, ensure_unused, shown_url,
};
use clew_platform::{RealClock, RealDisk};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::config::LoggingConfig;
use crate::logging;
use crate::login;
use crate::open_files;
use crate::profile::OwnProfile;

const EXAMPLES: &str = "\
Examples:
  clew collect /var/log --parse auto --to http://127.0.0.1:9200
  clew collect '/srv/app/*.log' --parse json --to http://127.0.0.1:9200 --index app
  clew collect /var/log/nginx --parse nginx --to http://127.0.0.1:9200 --once
  clew collect --config collect.yaml --dry-run
  clew collect test app.log
  clew collect test app.log --config collect.yaml
  clew collect status --registry clew-registry.json
  clew collect import filebeat.yml > collect.yaml";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct CollectArguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Files, folders or patterns.
    #[arg(
        required_unless_present = "config",
        conflicts_with = "config",
        value_name = "PATH"
    )]
    paths: Vec<PathBuf>,
    /// Configuration: inputs, processors, outputs (docs/collect.md).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Read everything there is and show the documents instead of sending them; no position is remembered.
    #[arg(long)]
    dry_run: bool,
    /// What the lines are: `auto` or a parser's name.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        conflicts_with = "config"
    )]
    parse: String,
    /// Server to send to.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:9200",
        conflicts_with = "config"
    )]
    to: String,
    /// Index to write to.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "logs",
        conflicts_with = "config"
    )]
    index: String,
    /// File that remembers how far each file was read.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "clew-registry.json",
        conflicts_with = "config"
    )]
    registry: PathBuf,
    /// Stop when everything is read instead of waiting for more.
    #[arg(long)]
    once: bool,
    /// Also take a profile of this process until it ends: .svg is a flame graph, .pb.gz pprof's file, .folded collapsed stacks.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// No progress, no report: errors only.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show what a parser, and each processor of a configuration, makes of the lines of a file.
    Test(explain::TestArguments),
    /// Show how far each file was read, and how much of it is left.
    Status(status::StatusArguments),
    /// Print the configuration of a Filebeat, a Fluent Bit, a Vector or a Promtail, or a pipeline of a Logstash, as one of the
    /// collector.
    Import(import::ImportArguments),
}

pub(crate) fn run(arguments: &CollectArguments) -> anyhow::Result<()> {
    let level = match arguments.quiet {
        true => "error",
        // Where inputs listen is told, since a port may be the system's choice, and which parser was chosen for a file.
        false => "warn,clew_collect::feed=info,clew_collect::parse=info,clew::collect=info",
    };
    logging::start(&LoggingConfig {
        level: level.to_string(),
        ..LoggingConfig::default()
    })?;
    match &arguments.what {
        Some(What::Test(test)) => return explain::run(test),
        Some(What::Status(status)) => return status::run(status),
        Some(What::Import(import)) => return import::run(import),
        None => {}
    }
    open_files::raise_limit()?;
    let profile = OwnProfile::start(arguments.profile.as_deref())?;
    let told = told::Told::listen(arguments.config.clone())?;
    let mut config = configuration(arguments)?;
    let begun = Cell::new(false);
    collect(arguments, config.as_ref(), &told.stop(), &begun)?;
    // What was delivered is remembered, so that the next run goes on where this one ended.
    while told.begins_again() {
        begun.set(false);
        let next = configuration(arguments).and_then(|next| {
            collect(arguments, next.as_ref(), &told.stop(), &begun)?;
            Ok(next)
        });
        match next {
            Err(error) if !begun.get() => {
                let error = format!("{error:#}");
                tracing::error!(
                    error,
                    "what the configuration says cannot be opened, the old one goes on"
                );
                collect(arguments, config.as_ref(), &told.stop(), &begun)?;
            }
            next => config = next?,
        }
    }
    profile.map_or(Ok(()), OwnProfile::end)
}

/// The configuration that the command line names.
fn configuration(arguments: &CollectArguments) -> anyhow::Result<Option<CollectConfig>> {
    let file = arguments.config.as_deref();
    file.map(configured::read).transpose()
}

/// One run; `begun` tells whether it has opened what it reads from and sends to.
fn collect(
    arguments: &CollectArguments,
    config: Option<&CollectConfig>,
    stop: &StopToken,
    begun: &Cell<bool>,
) -> anyhow::Result<()> {
    // What a dry run remembers goes with its folder.
    let folder = folder_of_dry_run(arguments.dry_run)?;
    let figures = Arc::new(Figures::default());
    // The page of metrics ends with the run.
    let mut page = None;
    let (options, mut sink) = match (config, &folder) {
        (Some(config), None) => {
            ensure_unused(&RealDisk, &config.general.registry)?;
            if let Some(metrics) = &config.general.metrics {
                page = Some(page::Page::open(metrics.listen, Arc::clone(&figures))?);
            }
            let sink = configured::sinks(config, None, stop)?;
            (config.options(mode(arguments))?, sink)
        }
        (None, None) => given(arguments, stop)?,
        (_, Some(folder)) => dry(arguments, config, folder)?,
    };
    options.validate()?;
    let bar = Bar::new(arguments.quiet, options.mode == Mode::Once);
    let progress = Watched {
        bar: &bar,
        figures: page.is_some().then_some(&*figures),
        begun,
    };
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &progress,
        stop,
    };
    let report = clew_collect::run(&options, world, sink.as_mut())?;
    bar.0.finish_and_clear();
    if !arguments.quiet {
        report::print(&report);
    }
    match stop.is_stopped() {
        // What is still to come is delivered by the next run, and nobody waits for this one.
        true => Ok(()),
        false => {
            report::refusals(&report, &options.dead_letter_path())?;
            report::unread(&report, &arguments.paths)
        }
    }
}

fn mode(arguments: &CollectArguments) -> Mode {
    match arguments.once || arguments.dry_run {
        true => Mode::Once,
        false => Mode::Follow,
    }
}

/// The run of either, with its documents on standard output.
fn dry(
    arguments: &CollectArguments,
    config: Option<&CollectConfig>,
    folder: &Folder,
) -> anyhow::Result<(CollectOptions, Box<dyn Sink>)> {
    let mut options = match config {
        Some(config) => config.options(Mode::Once)?,
        None => options(arguments)?,
    };
    options.registry = folder.0.join("registry.json");
    for feed in &mut options.feeds {
        if let FeedAddress::Kafka(kafka) = &mut feed.address {
            kafka.only_looking();
        }
    }
    Ok((options, Box::new(LineSink::new(std::io::stdout()))))
}

/// The run that the command line asks for.
fn given(
    arguments: &CollectArguments,
    stop: &StopToken,
) -> anyhow::Result<(CollectOptions, Box<dyn Sink>)> {
    let options = options(arguments)?;
    let sink = bulk(&arguments.to, &options.index, stop)?;
    Ok((options, sink))
}

fn options(arguments: &CollectArguments) -> anyhow::Result<CollectOptions> {
    let mut options = CollectOptions::new(arguments.paths.clone(), arguments.registry.clone());
    options.files[0].parse = parser(&arguments.parse)?;
    options.mode = mode(arguments);
    options.index.clone_from(&arguments.index);
    Ok(options)
}

/// The parser that is named, or `auto`.
fn parser(name: &str) -> anyhow::Result<ParserChoice> {
    Ok(match name {
        "auto" => ParserChoice::Auto,
        name => ParserChoice::Named(name.parse::<ParserName>()?),
    })
}

/// What the environment has to log in with, as a header says it.
fn login() -> anyhow::Result<Option<String>> {
    let login = login::from_environment()?;
    Ok(login.map(|login| format!("Basic {}", login.base64())))
}

/// The sink for a server, with the login that the environment has.
fn bulk(url: &str, index: &str, stop: &StopToken) -> anyhow::Result<Box<dyn Sink>> {
    let target = BulkOptions {
        authorization: login()?,
        ..BulkOptions::new(url, index)
    };
    let sink = BulkSink::new(target, stop.clone());
    Ok(Box::new(sink.with_context(|| {
        format!("cannot send to {}", shown_url(url))
    })?))
}

/// A folder for what a dry run remembers, removed with it.
struct Folder(PathBuf);

fn folder_of_dry_run(wanted: bool) -> anyhow::Result<Option<Folder>> {
    if !wanted {
        return Ok(None);
    }
    let path = std::env::temp_dir().join(format!("clew-dry-run-{}", std::process::id()));
    std::fs::create_dir_all(&path)
        .with_context(|| format!("cannot make the folder {}", path.display()))?;
    Ok(Some(Folder(path)))
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Who looks at a run: people, and Prometheus if it is asked for.
struct Watched<'a> {
    bar: &'a Bar,
    figures: Option<&'a Figures>,
    /// Set with the first report.
    begun: &'a Cell<bool>,
}

impl Progress for Watched<'_> {
    fn report(&self, counters: &Counters) {
        self.begun.set(true);
        self.bar.report(counters);
    }

    fn wants_figures(&self) -> bool {
        self.figures.is_some_and(Progress::wants_figures)
    }

    fn figures(&self, figures: RunFigures) {
        if let Some(kept) = self.figures {
            kept.figures(figures);
        }
    }
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
