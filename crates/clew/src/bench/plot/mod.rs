//! `clew bench plot`: curves of what was measured, as an SVG: recall against queries a second, latency against load, cost
//! against size. Any parameter or metric can stand on an axis.

mod curves;
mod scale;
mod svg;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;

use curves::{Axes, curves, param};

use super::results::Results;
use crate::output_file;

pub(crate) const EXAMPLES: &str = "\
Examples:
  clew bench serve vectors --concurrency 1,4 --ef-search 32,64,128,256 --json out.json
  clew bench plot out.json -o recall.svg
      recall and queries a second, a curve for each number of clients
  clew bench plot out.json -o load.svg --x qps --y p99_ms
      latency as the load grows, a curve for each effort
  clew bench plot clew.json opensearch.json -o both.svg --only kind=phrase
  clew bench plot growth.json -o growth.svg --x rows --y cpu_us --by kind

An axis whose values reach over more than a factor of ten is logarithmic. Several samples of one point are its median.";

#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// Results, as `--json` wrote them; with several, each has curves of its own.
    #[arg(value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,
    /// The picture.
    #[arg(long, short, value_name = "FILE.svg")]
    out: PathBuf,
    /// Parameter or metric to the right [default: recall where rows have one, else qps].
    #[arg(long, value_name = "NAME")]
    x: Option<String>,
    /// Parameter or metric upwards [default: qps beside recall, else p99_ms].
    #[arg(long, value_name = "NAME")]
    y: Option<String>,
    /// Parameters (or `name`) that tell curves apart [default: all that differ, but for what a curve runs along].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    by: Vec<String>,
    /// Only rows of these parameters, or of this name (name=search).
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = filter)]
    only: Vec<(String, String)>,
    /// What stands above.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

fn filter(text: &str) -> anyhow::Result<(String, String)> {
    let (key, value) = text
        .split_once('=')
        .context("a key and a value are wanted, key=value")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub(crate) fn run(arguments: &PlotArguments) -> anyhow::Result<()> {
    let ending = arguments.out.extension();
    ensure!(
        ending.is_none_or(|ending| ending == "svg"),
        "{} would hold no picture of that kind: name a file that ends in .svg",
        arguments.out.display()
    );
    let mut rows = Vec::new();
    for path in &arguments.files {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let read = Results::read(path)?.rows;
        rows.extend(read.into_iter().map(|row| (name.clone(), row)));
    }
    rows.retain(|(_, row)| {
        arguments
            .only
            .iter()
            .all(|(key, value)| param(row, key).as_ref() == Some(value))
    });
    ensure!(!rows.is_empty(), "no row is as --only asks");
    let axes = Axes::of(&rows, arguments.x.as_deref(), arguments.y.as_deref());
    let curves = curves(&rows, &axes, &arguments.by)?;
    let title = arguments.title.clone();
    let title = title.unwrap_or_else(|| format!("{} by {}", axes.y, axes.x));
    let picture = svg::draw(&title, &axes, &curves);
    output_file::write(&arguments.out, picture.as_bytes())
}
