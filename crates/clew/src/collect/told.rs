//! What a running collector is told by signals: to stop, or to read its configuration again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clew_collect::StopToken;
use tokio::signal::unix::{SignalKind, signal};

use super::configured;
use crate::signals;

/// Listens for as long as the process lives.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Ends the run that is going on.
    stop: Mutex<StopToken>,
    again: AtomicBool,
}

impl Told {
    /// Starts to listen. A configuration that cannot be read again leaves the run as it is.
    pub(super) fn listen(config: Option<PathBuf>) -> anyhow::Result<Told> {
        let told = Told::default();
        let own = told.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // Listens from here on: a signal that comes before the first run counts.
        let (stop, mut hangup) = {
            let _entered = runtime.enter();
            (signals::stop_signal()?, signal(SignalKind::hangup())?)
        };
        let listen = async move {
            tokio::pin!(stop);
            loop {
                tokio::select! {
                    () = &mut stop => return own.end(),
                    _ = hangup.recv() => own.read_again(config.as_ref()),
                }
            }
        };
        // The thread has no owner to join it: it ends with the process, and holds nothing but flags.
        std::thread::Builder::new()
            .name("signals".to_string())
            .spawn(move || runtime.block_on(listen))?;
        Ok(told)
    }

    /// What ends the run that is going on.
    pub(super) fn stop(&self) -> StopToken {
        self.current().clone()
    }

    /// Whether the run has ended to begin anew; the next one gets another token.
    pub(super) fn begins_again(&self) -> bool {
        let again = self.0.again.swap(false, Ordering::SeqCst);
        if again {
            *self.current() = StopToken::new();
        }
        again
    }

    fn current(&self) -> std::sync::MutexGuard<'_, StopToken> {
        self.0.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.0.again.store(false, Ordering::SeqCst);
        self.current().stop();
    }

    fn read_again(&self, config: Option<&PathBuf>) {
        let Some(config) = config else {
            tracing::warn!("there is no configuration to read again");
            return;
        };
        match configured::checked(config) {
            Ok(()) => {
                self.0.again.store(true, Ordering::SeqCst);
                self.current().stop();
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(
                    error,
                    "the configuration cannot be read again, the old one stays"
                );
            }
        }
    }
}
