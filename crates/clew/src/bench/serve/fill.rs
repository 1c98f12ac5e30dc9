//! The load phase: batches are made ahead by a thread of their own and sent by some clients at once, as fast as the server
//! takes them. A batch that is refused because it is too much is sent again; any other failure ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use super::http::{Call, Connection, Reply, Server};
use super::load::Judgement;

/// Whoever was refused waits so long before the next try.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);
/// This many refusals in a row are no weather any more: a minute of them.
const REFUSALS_MAX: u32 = 600;

/// Documents of one request.
pub(super) struct Batch {
    pub(super) call: Call,
    pub(super) documents: u64,
}

/// What loading took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled {
    pub(super) documents: u64,
    /// From the first request to the last answer.
    pub(super) seconds: f64,
    pub(super) refusals: u64,
}

/// Those that send. Each has a handle, so that it can be told when none is left.
#[derive(Clone, Debug, Default)]
pub(super) struct Senders(Arc<()>);

impl Senders {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// Clients that end after the request that they are at when nobody waits for them any more: what a server has begun to do it goes
/// on with, and only its answer tells that it has ended.
struct Clients {
    tasks: JoinSet<anyhow::Result<Filled>>,
    is_over: Arc<AtomicBool>,
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.tasks.detach_all();
    }
}

/// Sends all batches; dropped, or when a client has failed, the others end soon, as `senders` tells.
pub(super) async fn fill(
    (server, senders): (&Server, &Senders),
    clients: usize,
    batches: impl Iterator<Item = Batch> + Send + 'static,
    judge: fn(&Reply) -> Judgement,
    bar: &ProgressBar,
) -> anyhow::Result<Filled> {
    let (sender, receiver) = mpsc::channel(2 * clients);
    // It ends with the last batch, or when nobody takes them any more.
    let maker = tokio::task::spawn_blocking(move || {
        for batch in batches {
            if sender.blocking_send(batch).is_err() {
                break;
            }
        }
    });
    let receiver = Arc::new(Mutex::new(receiver));
    let start = Instant::now();
    let mut all = Clients {
        tasks: JoinSet::new(),
        is_over: Arc::default(),
    };
    for _ in 0..clients {
        let sending = Sending {
            connection: Connection::new(server),
            judge,
            bar: bar.clone(),
            is_over: all.is_over.clone(),
            _one: senders.clone(),
        };
        all.tasks.spawn(sending.run(receiver.clone()));
    }
    drop(receiver);
    let mut filled = Filled::default();
    while let Some(ended) = all.tasks.join_next().await {
        let one = ended.context("a client broke down")??;
        filled.documents += one.documents;
        filled.refusals += one.refusals;
    }
    filled.seconds = start.elapsed().as_secs_f64();
    maker.await.context("making documents broke down")?;
    Ok(filled)
}

/// One client.
struct Sending {
    connection: Connection,
    judge: fn(&Reply) -> Judgement,
    bar: ProgressBar,
    is_over: Arc<AtomicBool>,
    _one: Senders,
}

impl Sending {
    async fn run(mut self, batches: Arc<Mutex<mpsc::Receiver<Batch>>>) -> anyhow::Result<Filled> {
        let mut filled = Filled::default();
        loop {
            let batch = batches.lock().await.recv().await;
            let Some(batch) = batch.filter(|_| !self.is_over.load(Ordering::Relaxed)) else {
                return Ok(filled);
            };
            filled.refusals += self.send(&batch.call).await?;
            filled.documents += batch.documents;
            self.bar.inc(batch.documents);
        }
    }

    /// Sends a batch until it is taken; gives how often it was refused.
    async fn send(&mut self, call: &Call) -> anyhow::Result<u64> {
        for refusals in 0..REFUSALS_MAX {
            if refusals > 0 && self.is_over.load(Ordering::Relaxed) {
                break;
            }
            let reply = self.connection.ask(call).await;
            match (self.judge)(&reply.context("loading")?) {
                Judgement::Answered => return Ok(refusals.into()),
                Judgement::Refused => tokio::time::sleep(REFUSED_PAUSE).await,
                Judgement::Failed(why) => bail!("loading: documents were refused: {why}"),
            }
        }
        bail!("loading: the server refused the same documents {REFUSALS_MAX} times as too much")
    }
}
