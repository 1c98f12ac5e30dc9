//! Work for an answer that goes on only as long as its client waits.

use clew_platform::CancellationToken;

/// Somebody waits: the work under the token is to leave off once this is dropped.
pub(crate) struct WhileWaited(CancellationToken);

impl WhileWaited {
    /// Somebody begins to wait.
    pub(crate) fn begin() -> Self {
        WhileWaited(CancellationToken::new())
    }

    /// The token of the work.
    pub(crate) fn token(&self) -> CancellationToken {
        self.0.clone()
    }
}

impl Drop for WhileWaited {
    fn drop(&mut self) {
        self.0.cancel("nobody waits for it");
    }
}
