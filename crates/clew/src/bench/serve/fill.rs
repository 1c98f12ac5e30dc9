//! The load phase: batches are made ahead by a thread of their own and sent by some clients at once, as fast as the server
//! takes them. A batch that is refused because it is too much is sent again; any other failure ends it.

use std::sync::Arc;
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

/// Sends all batches.
pub(super) async fn fill(
    server: &Server,
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
    // Dropped, it ends those that still send when one has failed.
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        let sending = Sending {
            connection: Connection::new(server),
            judge,
            bar: bar.clone(),
        };
        tasks.spawn(sending.run(receiver.clone()));
    }
    drop(receiver);
    let mut filled = Filled::default();
    while let Some(ended) = tasks.join_next().await {
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
}

impl Sending {
    async fn run(mut self, batches: Arc<Mutex<mpsc::Receiver<Batch>>>) -> anyhow::Result<Filled> {
        let mut filled = Filled::default();
        loop {
            let batch = batches.lock().await.recv().await;
            let Some(batch) = batch else {
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
