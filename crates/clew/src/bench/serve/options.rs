//! The options that all load tests have, and what they come to.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Args;

use super::http::{Login, Server};
use super::load::Plan;
use crate::login;

/// Clients that wait for requests to become due, unless it is said how many.
const OPEN_CLIENTS: u16 = 64;
/// Each client holds a connection, and some 100 KiB.
const CLIENTS_MAX: i64 = 4096;

#[derive(Clone, Debug, Args)]
pub(super) struct LoadOptions {
    /// The server: OpenSearch's REST API, of Clew or of OpenSearch.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:9200")]
    pub(super) url: String,
    /// Who asks, where the server wants to know: name and password; without it, who CLEW_LOGIN says.
    #[arg(long, value_name = "NAME:PASSWORD", value_parser = user)]
    user: Option<String>,
    /// Clients at once, a measurement each; each asks again when it has its answer [default: 1,2,4,8,16; 64 with --rate].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=CLIENTS_MAX))]
    concurrency: Vec<u16>,
    /// Open loop: requests due each second, a measurement each, whether the server keeps up or not; latency counts from
    /// when a request was due.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = rate)]
    rate: Vec<f64>,
    /// Seconds of each measurement.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    seconds: Duration,
    /// Seconds of the same load before each measurement, not counted.
    #[arg(long, value_name = "S", default_value = "1", value_parser = pause)]
    warm_up: Duration,
    /// Seconds after which a request has failed.
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_out: Duration,
    /// Seed of documents and requests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Name of the index that is made.
    #[arg(long, value_name = "NAME", default_value = "clew_bench", value_parser = index_name)]
    pub(super) index: String,
    /// Delete an index of this name that is there already.
    #[arg(long)]
    pub(super) replace: bool,
    /// Leave the index at the end.
    #[arg(long)]
    pub(super) keep: bool,
    /// Shards of the index.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) shards: u32,
    /// Documents of a request while loading.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) batch: u32,
    /// Clients while loading.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=CLIENTS_MAX))]
    pub(super) load_clients: u16,
    /// Leave out the merge after loading, and waiting for what is built then.
    #[arg(long)]
    pub(super) no_merge: bool,
    /// Threads of this program that drive the clients.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: u16,
    /// The server's process, if it runs on this machine: its processor time for each request is told, too.
    #[arg(long, value_name = "PID")]
    pub(super) pid: Option<u32>,
    /// Also write the rows to this file.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl LoadOptions {
    pub(super) fn server(&self, url: &str, login: Login) -> anyhow::Result<Server> {
        let user = match &self.user {
            Some(user) => Some(user.clone()),
            None => login::said_by_environment()?,
        };
        Server::new(url, login, user.as_deref(), self.time_out)
    }

    /// The measurements of each kind of request, in order.
    pub(super) fn plans(&self) -> Vec<Plan> {
        let plan = |concurrency: u16, rate| Plan {
            concurrency: concurrency.into(),
            rate,
            warm_up: self.warm_up,
            time: self.seconds,
        };
        let clients = match (self.concurrency.as_slice(), self.rate.is_empty()) {
            ([], true) => &[1, 2, 4, 8, 16],
            ([], false) => &[OPEN_CLIENTS][..],
            (given, _) => given,
        };
        let of_rates = |&clients: &u16| match self.rate.is_empty() {
            true => vec![plan(clients, None)],
            false => {
                let rates = self.rate.iter();
                rates.map(|rate| plan(clients, Some(*rate))).collect()
            }
        };
        clients.iter().flat_map(of_rates).collect()
    }

    pub(super) fn is_open_loop(&self) -> bool {
        !self.rate.is_empty()
    }
}

/// A name and a password, as a login has to be.
fn user(text: &str) -> anyhow::Result<String> {
    ensure!(text.contains(':'), "it has to be of the form NAME:PASSWORD");
    Ok(text.to_owned())
}

/// A positive number of seconds, up to a day.
fn seconds(text: &str) -> anyhow::Result<Duration> {
    let given = pause(text)?;
    ensure!(!given.is_zero(), "it has to be more than none");
    Ok(given)
}

/// A number of seconds, up to a day.
fn pause(text: &str) -> anyhow::Result<Duration> {
    let given: f64 = text.parse()?;
    ensure!(
        (0.0..=86_400.0).contains(&given),
        "seconds lie between 0 and 86400"
    );
    Ok(Duration::from_secs_f64(given))
}

fn rate(text: &str) -> anyhow::Result<f64> {
    let given: f64 = text.parse()?;
    ensure!(
        (0.001..=1e7).contains(&given),
        "rates lie between 0.001 and 10,000,000 a second"
    );
    Ok(given)
}

/// A name that every server takes, and that paths can be made of.
fn index_name(text: &str) -> anyhow::Result<String> {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    if text.len() > 200
        || !text.bytes().all(is_plain)
        || !text.starts_with(|c: char| c.is_ascii_lowercase())
    {
        bail!(
            "a name is of small letters, digits, `-` and `_`, begins with a letter, and has at most 200"
        );
    }
    Ok(text.to_owned())
}
