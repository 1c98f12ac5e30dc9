//! `clew bench compare`: what changed between two sets of results, and what of it is more than chance. As Go's benchstat
//! does it: medians with confidence intervals, the Mann-Whitney U test, and the geometric mean over all rows.
//!
//! It judges nothing: the exit code does not depend on what it finds.

mod better;
mod compared;
mod samples;
mod statistics;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::Args;

use compared::Comparison;
use samples::Side;

use super::results;
use crate::output_file;

pub(crate) const EXAMPLES: &str = "\
Examples:
  clew bench compare old.json new.json
  clew bench compare --old a1.json a2.json --new b1.json b2.json --metric qps,p99_ms
      several files of each side: each is a sample

A single run of each tells little: four samples of each side are needed to tell a difference from chance, six for a
confidence interval. Take turns, so that a machine that grows slower harms both alike (old, new, new, old):
  for n in 1 3; do
    OLD bench vectors … --json old-$n.json;      NEW bench vectors … --json new-$n.json
    NEW bench vectors … --json new-$((n+1)).json; OLD bench vectors … --json old-$((n+1)).json
  done
  clew bench compare --old old-?.json --new new-?.json";

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Results before, as `--json` wrote them.
    #[arg(value_name = "OLD.json", conflicts_with_all = ["old", "new"], requires = "new_file")]
    old_file: Option<PathBuf>,
    /// Results after.
    #[arg(value_name = "NEW.json")]
    new_file: Option<PathBuf>,
    /// Several files of results before.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "new")]
    old: Vec<PathBuf>,
    /// Several files of results after.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "old")]
    new: Vec<PathBuf>,
    /// Only these metrics.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    metric: Vec<String>,
    /// Differences whose p-value is below this are said to be some.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Also write the comparison to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(arguments: &CompareArguments) -> anyhow::Result<()> {
    ensure!(
        arguments.alpha > 0.0 && arguments.alpha < 1.0,
        "--alpha is {}, and has to lie between 0 and 1",
        arguments.alpha
    );
    results::check_writable(arguments.json.as_deref())?;
    let (old, new) = match (&arguments.old_file, &arguments.new_file) {
        (Some(old), Some(new)) => (vec![old.clone()], vec![new.clone()]),
        _ => (arguments.old.clone(), arguments.new.clone()),
    };
    if old.is_empty() {
        bail!("two files are needed, or --old and --new; `clew bench compare --help` has examples");
    }
    let (old, new) = (Side::read(&old)?, Side::read(&new)?);
    let comparison = Comparison::of(&old, &new, &arguments.metric, arguments.alpha)?;
    write!(std::io::stdout(), "{}", text::of(&comparison))?;
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&comparison.json())?;
        output_file::write(path, (text + "\n").as_bytes())?;
    }
    Ok(())
}
