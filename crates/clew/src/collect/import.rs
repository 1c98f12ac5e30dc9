//! `clew collect import`: the configuration of another shipper as one of ours, and what could not be carried over.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use clew_collect::config::{
    import_filebeat, import_fluent_bit, import_logstash, import_promtail, import_vector,
    is_of_fluent_bit, is_of_promtail, is_of_vector,
};

use super::configured::unmarked;
use crate::given_file;

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The configuration of a Filebeat, a Fluent Bit, a Vector or a Promtail, or a pipeline of a Logstash.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What it is of; told by its name and by what is in it when not given.
    #[arg(long, value_name = "NAME")]
    from: Option<Shipper>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shipper {
    Filebeat,
    FluentBit,
    Logstash,
    Promtail,
    Vector,
}

pub(super) fn run(arguments: &ImportArguments) -> anyhow::Result<()> {
    let file = &arguments.file;
    let text = given_file::read_text(file, given_file::CONFIG_BYTES_MAX)?;
    let text = unmarked(&text);
    let name = file.display().to_string();
    if let (None, Some(other)) = (arguments.from, of_another(text)) {
        bail!(
            "{name} is of {other}, which is not carried over: Filebeat, Fluent Bit, Logstash, Promtail and Vector are (--from)"
        );
    }
    let is_pipeline = file.extension().is_some_and(|ending| ending == "conf");
    let imported = match arguments.from {
        Some(Shipper::Logstash) => import_logstash(&name, text, patterns)?,
        Some(Shipper::FluentBit) => import_fluent_bit(&name, text)?,
        None if is_of_fluent_bit(text) => import_fluent_bit(&name, text)?,
        Some(Shipper::Vector) => import_vector(&name, text)?,
        Some(Shipper::Promtail) => import_promtail(&name, text)?,
        None if is_of_vector(text) => import_vector(&name, text)?,
        None if is_of_promtail(text) => import_promtail(&name, text)?,
        None if is_pipeline => import_logstash(&name, text, patterns)?,
        Some(Shipper::Filebeat) | None => import_filebeat(&name, text)?,
    };
    std::io::stdout().write_all(imported.config.as_bytes())?;
    let mut told = std::io::stderr().lock();
    for one in &imported.left_out {
        // Who reads the configuration alone is not kept from it.
        let _ = writeln!(told, "{name}: {one}");
    }
    Ok(())
}

/// The patterns of a folder of a Logstash, or of one file of them; nothing where it cannot be read, or is larger than any is.
fn patterns(folder: &str) -> Option<String> {
    /// The ones that come with Logstash have 60 kB.
    const BYTES_MAX: usize = 4 << 20;
    let mut files: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => {
            let paths = entries.flatten().map(|entry| entry.path());
            paths.filter(|path| path.is_file()).collect()
        }
        Err(_) => vec![PathBuf::from(folder)],
    };
    files.sort();
    let mut all = String::new();
    for file in files {
        let bytes_left = BYTES_MAX.saturating_sub(all.len()) as u64;
        all.push_str(&given_file::read_text(&file, bytes_left).ok()?);
        all.push('\n');
    }
    Some(all)
}

/// What begins lines of the configurations of shippers that are not carried over: all of these of one.
const OTHERS: [(&str, &[&str]); 6] = [
    ("an OpenTelemetry Collector", &["receivers:", "exporters:"]),
    ("rsyslog", &["module(load="]),
    ("rsyslog", &["$ModLoad "]),
    ("syslog-ng", &["@version:", "source "]),
    ("Fluentd", &["<source>", "</source>"]),
    ("Grafana Alloy", &["loki.source.", "loki.write "]),
];

/// The shipper that a text looks like a configuration of, if it is none that is carried over.
fn of_another(text: &str) -> Option<&'static str> {
    let begins = |mark: &&str| {
        text.lines()
            .any(|line| line.trim_start().starts_with(*mark))
    };
    let mut others = OTHERS.iter();
    let other = others.find(|(_, marks)| marks.iter().all(begins));
    other.map(|(shipper, _)| *shipper)
}
