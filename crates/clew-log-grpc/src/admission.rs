//! Whether there is room for an append: asked of whoever knows, before anything is appended.

use std::fmt;
use std::sync::Arc;

/// Says whether so many bytes may be appended now, and why not; refusals are answered RESOURCE_EXHAUSTED.
#[derive(Clone, Default)]
pub struct Admission(Option<Arc<Check>>);

type Check = dyn Fn(u64) -> Result<(), String> + Send + Sync;

impl Admission {
    /// Asks a function, which must not block.
    pub fn by(check: impl Fn(u64) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Admission(Some(Arc::new(check)))
    }

    pub(crate) fn check(&self, bytes: u64) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |check| check(bytes))
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = if self.0.is_some() {
            "asked for"
        } else {
            "given"
        };
        write!(f, "Admission({rule})")
    }
}
