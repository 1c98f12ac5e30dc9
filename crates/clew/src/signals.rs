//! Being told to stop.

use std::io;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};

/// Of threads that work beside: what the first thread of a process has.
const STACK_BYTES: usize = 8 << 20;

/// Ends when the process is asked to stop (SIGINT or SIGTERM).
pub(crate) async fn stop_requested() -> std::io::Result<()> {
    stop_signal()?.await;
    Ok(())
}

/// The same, listening from this call on: whoever stops a process as soon as it says that it serves
/// must not kill it.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends when a part of the program is told to stop by the one that began it.
pub(crate) async fn until_stopped(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a stop too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// The same for a server, which also ends when its terminal goes (SIGHUP), as others do: killed, it would flush nothing. Not where
/// whoever started it had that ignored, as `nohup` does.
pub(crate) fn server_stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let asked = stop_signal()?;
    let mut hangup = match ignores_hangup() {
        true => None,
        false => Some(signal(SignalKind::hangup())?),
    };
    Ok(async move {
        let hung_up = async {
            if let Some(hangup) = &mut hangup {
                hangup.recv().await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = asked => {}
            () = hung_up => {}
        }
    })
}

/// Whether the process was started with SIGHUP ignored, which is also taken to be so where the system does not tell.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    // One bit each, from the signal of number one on.
    ignored.is_none_or(|signals| signals & 1 != 0)
}

/// Work on a thread of its own, which this one may leave behind when the process is told to stop.
pub(crate) struct Beside<T> {
    runtime: Runtime,
    stop: Pin<Box<dyn Future<Output = ()>>>,
    told: oneshot::Receiver<T>,
    worker: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Beside<T> {
    /// Begins it. From then on SIGINT and SIGTERM end nothing by themselves.
    pub(crate) fn begin(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let stop = listening(&runtime)?;
        let (tell, told) = oneshot::channel();
        let worker = thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                // Nobody may be there any more to hear it.
                let _ = tell.send(work());
            })?;
        Ok(Beside {
            runtime,
            stop,
            told,
            worker: Some(worker),
        })
    }

    /// What it comes to; none when the process is told to stop before, after which it can be asked again.
    ///
    /// # Panics
    /// Where the work does.
    pub(crate) fn wait(&mut self) -> io::Result<Option<T>> {
        let (told, stop) = (&mut self.told, &mut self.stop);
        let ended = self.runtime.block_on(async {
            tokio::select! {
                biased;
                outcome = told => Some(outcome),
                () = stop => None,
            }
        });
        match ended {
            Some(Ok(outcome)) => Ok(Some(outcome)),
            // It says nothing where it breaks down.
            Some(Err(silent)) => match self.worker.take().map(JoinHandle::join) {
                Some(Err(panic)) => resume_unwind(panic),
                _ => Err(io::Error::other(silent)),
            },
            None => {
                self.stop = listening(&self.runtime)?;
                Ok(None)
            }
        }
    }

    /// The same for so long at most, whatever the process is told.
    pub(crate) fn wait_for(&mut self, time: Duration) -> Option<T> {
        let told = &mut self.told;
        let in_time = async { tokio::time::timeout(time, told).await };
        self.runtime.block_on(in_time).ok()?.ok()
    }
}

/// Ends when the process is told to stop from now on.
fn listening(runtime: &Runtime) -> io::Result<Pin<Box<dyn Future<Output = ()>>>> {
    let _entered = runtime.enter();
    Ok(Box::pin(stop_signal()?))
}
