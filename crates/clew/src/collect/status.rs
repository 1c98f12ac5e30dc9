//! `clew collect status`: how far each file of a registry was read, and how much of it is left.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clew_platform::{RealClock, RealDisk};
use indicatif::HumanBytes;

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The registry; a collector may be using it.
    #[arg(long, value_name = "FILE", default_value = "clew-registry.json")]
    registry: PathBuf,
}

pub(super) fn run(arguments: &StatusArguments) -> anyhow::Result<()> {
    let files = clew_collect::status(&RealDisk, &RealClock::new(), &arguments.registry)?;
    let mut out = std::io::stdout().lock();
    for file in &files {
        let behind = match file.lag_bytes {
            None => "-".to_owned(),
            Some(bytes) => format!("{} {:.1}s", HumanBytes(bytes), file.lag.as_secs_f64()),
        };
        let fit = file.fit.as_ref();
        let fit = fit.map_or_else(String::new, |fit| format!("  (chosen: {fit})"));
        writeln!(
            out,
            "{:<14} {:>12} {behind:>20}  {}{fit}",
            file.parser.as_deref().unwrap_or("-"),
            HumanBytes(file.offset_bytes).to_string(),
            file.path.display()
        )?;
    }
    let lag: u64 = files.iter().filter_map(|file| file.lag_bytes).sum();
    writeln!(out, "{} files, {} behind", files.len(), HumanBytes(lag))?;
    Ok(())
}
