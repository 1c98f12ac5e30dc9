//! Being told to stop.

use tokio::signal::unix::{SignalKind, signal};

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
