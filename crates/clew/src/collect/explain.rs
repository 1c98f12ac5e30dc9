//! `clew collect test`: what each step of a configuration makes of the lines of a file.

use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use clew_collect::{CollectOptions, Explainer, Mode, Times};
use jiff::tz::TimeZone;

use super::configured;

/// First bytes of the file that are looked at.
const FILE_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// File whose lines are shown.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The configuration; without one the parser alone is shown.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What the lines are, where no configuration says it: `auto` or a parser's name.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        conflicts_with = "config"
    )]
    parse: String,
    /// The input whose processors are shown, counted from 0.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "config",
        conflicts_with = "parse"
    )]
    input: usize,
    /// Events that are shown.
    #[arg(long, value_name = "N", default_value_t = 10)]
    lines: usize,
}

pub(super) fn run(arguments: &TestArguments) -> anyhow::Result<()> {
    let options = options(arguments)?;
    let path = arguments.file.display().to_string();
    let file =
        std::fs::File::open(&arguments.file).with_context(|| format!("cannot open {path}"))?;
    let mut start = Vec::new();
    file.take(FILE_BYTES_MAX)
        .read_to_end(&mut start)
        .with_context(|| format!("cannot read {path}"))?;
    if start.is_empty() {
        bail!("{path} is empty: there is nothing to show");
    }
    let mut times = Times::new(TimeZone::system());
    times.now_ms = jiff::Timestamp::now().as_millisecond();
    times.newest_ms = times.now_ms;
    let file = (path.as_str(), start.as_slice());
    let mut explainer = Explainer::new(&options, arguments.input, file, times)?;
    let mut out = std::io::stdout().lock();
    if let (parser, Some(fit)) = explainer.parser() {
        writeln!(out, "parser {}, chosen: {fit}\n", parser.as_str())?;
    }
    for event in explainer.explain(&start, arguments.lines) {
        writeln!(out, "{}", event.text)?;
        for one in event.steps {
            writeln!(out, "  {:<20} {}", one.step, one.document)?;
            if let Some(why) = one.ended {
                writeln!(out, "  {:<20} ended: {why}", "")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The run that is asked about.
fn options(arguments: &TestArguments) -> anyhow::Result<CollectOptions> {
    let Some(file) = &arguments.config else {
        let paths = vec![arguments.file.clone()];
        // Nothing is remembered there.
        let mut options = CollectOptions::new(paths, PathBuf::from("registry.json"));
        options.files[0].parse = super::parser(&arguments.parse)?;
        return Ok(options);
    };
    let config = configured::read(file)?;
    if arguments.input >= config.inputs.len() {
        let count = config.inputs.len();
        bail!(
            "the configuration has {count} inputs, none is number {}",
            arguments.input
        )
    }
    Ok(config.options(Mode::Once)?)
}
