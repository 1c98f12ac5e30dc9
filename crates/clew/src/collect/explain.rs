//! `clew collect test`: what each step of a configuration makes of the lines of a file.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use clew_collect::{Explainer, Times};
use jiff::tz::TimeZone;

use super::configured;

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
    /// Lines that are shown.
    #[arg(long, value_name = "N", default_value_t = 10)]
    lines: usize,
}

pub(super) fn run(arguments: &TestArguments) -> anyhow::Result<()> {
    let config = configured::read(&arguments.config)?;
    let Some(input) = config.inputs.get(arguments.input) else {
        let count = config.inputs.len();
        bail!(
            "the configuration has {count} inputs, none is number {}",
            arguments.input
        )
    };
    let processors = [&input.processors[..], &config.processors[..]].concat();
    let path = arguments.file.display().to_string();
    let file =
        std::fs::File::open(&arguments.file).with_context(|| format!("cannot open {path}"))?;
    let lines = BufReader::new(file).lines().take(arguments.lines);
    let lines: Vec<String> = lines
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot read {path}"))?;
    let mut times = Times::new(TimeZone::system());
    times.now_ms = jiff::Timestamp::now().as_millisecond();
    times.newest_ms = times.now_ms;
    let sample = (path.as_str(), &lines.join("\n")[..]);
    let mut explainer = Explainer::new(input.parse, &processors, sample, times)?;
    let mut out = std::io::stdout().lock();
    for line in &lines {
        writeln!(out, "{line}")?;
        for one in explainer.explain(&path, line) {
            writeln!(out, "  {:<20} {}", one.step, one.document)?;
            if let Some(why) = one.ended {
                writeln!(out, "  {:<20} ended: {why}", "")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
