//! Being told to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Ends when the process is asked to stop (SIGINT or SIGTERM).
pub(crate) async fn stop_requested() -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
