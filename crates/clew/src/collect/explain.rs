//! `clew collect test`: what each step of a configuration makes of the lines of a file.

use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use clew_collect::{Explainer, Mode, Times};
use jiff::tz::TimeZone;

use super::configured;

/// First bytes of the file that are looked at.
const FILE_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// File whose lines are shown.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The configuration.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The input whose processors are shown, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    input: usize,
    /// Events that are shown.
    #[arg(long, value_name = "N", default_value_t = 10)]
    lines: usize,
}

pub(super) fn run(arguments: &TestArguments) -> anyhow::Result<()> {
    let config = configured::read(&arguments.config)?;
    if arguments.input >= config.inputs.len() {
        let count = config.inputs.len();
        bail!(
            "the configuration has {count} inputs, none is number {}",
            arguments.input
        )
    }
    let options = config.options(Mode::Once)?;
    let path = arguments.file.display().to_string();
    let file =
        std::fs::File::open(&arguments.file).with_context(|| format!("cannot open {path}"))?;
    let mut start = Vec::new();
    file.take(FILE_BYTES_MAX)
        .read_to_end(&mut start)
        .with_context(|| format!("cannot read {path}"))?;
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
