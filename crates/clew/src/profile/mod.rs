//! `clew profile`: takes a profile of a running server and keeps it as a flame graph, as pprof's file or as collapsed stacks;
//! `clew profile diff` draws what changed between two. The server's side is in [`endpoints`].

mod asked;
mod continuous;
mod endpoints;
mod itself;
mod remote;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use clew_profile::{Format, Profile};

use crate::{given_file, output_file};

pub(crate) use self::continuous::{FOLDER as KEPT_FOLDER, KeptProfiles, damage_of_kept};
pub(crate) use self::endpoints::{ProfileEndpoints, routes};
pub(crate) use self::itself::OwnProfile;
use self::remote::{ANSWER_MAX, Answer};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProfileArguments {
    #[command(flatten)]
    capture: CaptureArguments,
    #[command(subcommand)]
    command: Option<ProfileCommand>,
}

#[derive(Debug, Subcommand)]
enum ProfileCommand {
    /// Draw what changed between two captures: red has grown, blue has shrunk, each as a share of its whole.
    Diff(DiffArguments),
    /// Fetch what a server that counts (`make pgo-server`) has counted, for `make pgo PROFILES=FILE` to train a build by.
    Training(TrainingArguments),
}

/// Which server is asked.
#[derive(Debug, Args)]
struct ServerArguments {
    /// The server; CLEW_LOGIN=user:password says who asks.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:9200")]
    url: String,
}

#[derive(Debug, Args)]
struct CaptureArguments {
    /// What to watch.
    #[arg(long, value_enum, default_value = "on")]
    mode: Mode,
    /// How long to watch, 1 to 300 seconds; `heap` looks once. Ctrl-C ends it early, with what was seen until then.
    #[arg(long, value_name = "N", default_value_t = asked::SECONDS_DEFAULT)]
    seconds: u64,
    /// Looks a second at each thread, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = asked::RATE_DEFAULT)]
    rate: u32,
    /// Off the processors: see every context switch, where the kernel lets the server.
    #[arg(long)]
    exact: bool,
    /// What to show: `cpu` or `samples`, `blocked` or `runqueue`, `inuse_space`, `inuse_objects`, `alloc_space` or
    /// `alloc_objects`.
    #[arg(long, value_name = "NAME")]
    value: Option<String>,
    /// Show what was kept from this moment on instead (profile.continuous): a time of today or yesterday, `14:05`, a date with
    /// one, `2026-11-25 14:05`, or a moment, `2026-11-25T14:05:00Z`.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["seconds", "rate", "exact"])]
    from: Option<String>,
    /// Until then; without it until now.
    #[arg(long, value_name = "TIME", requires = "from", conflicts_with_all = ["seconds", "rate", "exact"])]
    to: Option<String>,
    #[command(flatten)]
    server: ServerArguments,
    /// The file to write: .svg or .html is a flame graph, .pb.gz pprof's file, .folded or .txt collapsed stacks.
    #[arg(short, long, value_name = "FILE", default_value = "flame.svg")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Time on the processors.
    On,
    /// Time off them: blocked, or waiting for one.
    Off,
    /// Memory, in use and allocated.
    Heap,
}

#[derive(Debug, Args)]
struct DiffArguments {
    /// The capture before, as pprof's file or collapsed stacks.
    old: PathBuf,
    /// The capture after.
    new: PathBuf,
    /// What to compare, as `runqueue` or `alloc_space`; without it what both files show by themselves.
    #[arg(long, value_name = "NAME")]
    value: Option<String>,
    /// The flame graph to write.
    #[arg(short, long, value_name = "FILE", default_value = "diff.svg")]
    output: PathBuf,
}

#[derive(Debug, Args)]
struct TrainingArguments {
    #[command(flatten)]
    server: ServerArguments,
    /// The file to write.
    #[arg(short, long, value_name = "FILE", default_value = "clew.profraw")]
    output: PathBuf,
}

pub(crate) fn run(arguments: &ProfileArguments) -> anyhow::Result<()> {
    match &arguments.command {
        Some(ProfileCommand::Diff(arguments)) => diff(arguments),
        Some(ProfileCommand::Training(arguments)) => fetched(&arguments.output, || {
            remote::training(&arguments.server.url)
        }),
        None => capture(&arguments.capture),
    }
}

fn capture(arguments: &CaptureArguments) -> anyhow::Result<()> {
    let format = format_of(&arguments.output)?;
    if arguments.exact && arguments.mode != Mode::Off {
        bail!("--exact goes with --mode off");
    }
    fetched(&arguments.output, || remote::capture(arguments, format))
}

/// Writes what a server hands out to a file.
fn fetched(output: &Path, ask: impl FnOnce() -> anyhow::Result<Answer>) -> anyhow::Result<()> {
    // A file that cannot be written should not be found out when the capture is over.
    output_file::check_writable(output)?;
    let Answer { bytes, how } = ask()?;
    output_file::write(output, &bytes)?;
    writeln!(std::io::stderr(), "{how}")?;
    told(output)
}

fn diff(arguments: &DiffArguments) -> anyhow::Result<()> {
    let format = format_of(&arguments.output)?;
    if !matches!(format, Format::Svg | Format::Html) {
        bail!("a difference is drawn: name a file that ends in .svg or .html");
    }
    let read = |path: &Path| {
        let told = || format!("cannot read {}", path.display());
        let bytes = given_file::read(path, ANSWER_MAX)?;
        Profile::read(&bytes).with_context(told)
    };
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let mut picture = Vec::new();
    clew_profile::difference(&old, &new, arguments.value.as_deref(), &mut picture)?;
    if format == Format::Html {
        let mut page = Vec::new();
        clew_profile::html_page(&picture, &mut page)?;
        picture = page;
    }
    output_file::write(&arguments.output, &picture)?;
    told(&arguments.output)
}

fn format_of(path: &Path) -> anyhow::Result<Format> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let format = Format::by_name(extension.unwrap_or_default());
    format.with_context(|| {
        format!(
            "{} tells no format by its name: .svg or .html is a flame graph, .pb.gz pprof's file, .folded or .txt collapsed stacks",
            path.display()
        )
    })
}

fn told(path: &Path) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{}", path.display())?;
    Ok(())
}
