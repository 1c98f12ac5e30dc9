//! How long a request waits for work that goes on without it.

use std::time::Duration;

use crate::http::error::ApiError;
use crate::http::params::Params;

/// How long a request waits that says nothing of it, as in OpenSearch.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);

/// The parameters that say how long a request waits for its work to be begun.
pub(crate) const MANAGER_TIMEOUTS: &[&str] = &["cluster_manager_timeout", "master_timeout"];

/// How long a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    For(Duration),
    /// `-1`.
    Endless,
}

impl Patience {
    /// What the first of these parameters says that the request has.
    ///
    /// # Errors
    /// No time.
    pub(crate) fn of(params: &Params, names: &[&str]) -> Result<Self, ApiError> {
        let Some(name) = names.iter().find(|name| params.has(name)) else {
            return Ok(Patience::For(WAIT_DEFAULT));
        };
        let said = params.time(name)?;
        Ok(said.map_or(Patience::Endless, Patience::For))
    }

    /// What work comes to, if it is there in time. What was begun elsewhere goes on all the same.
    pub(crate) async fn wait<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self {
            Patience::Endless => Some(work.await),
            Patience::For(time) => tokio::time::timeout(time, work).await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parameter_that_is_there_says_how_long() {
        let of = |query: &str| Patience::of(&Params::parse(query).unwrap(), MANAGER_TIMEOUTS);
        let seconds = |count| Patience::For(Duration::from_secs(count));
        for (query, patience) in [
            ("", seconds(30)),
            ("timeout=5s", seconds(30)),
            ("master_timeout=5s", seconds(5)),
            ("master_timeout=5s&cluster_manager_timeout=7s", seconds(7)),
            ("master_timeout=0", seconds(0)),
            ("master_timeout=-1", Patience::Endless),
        ] {
            assert_eq!(of(query).ok(), Some(patience), "{query}");
        }
        assert!(of("master_timeout=soon").is_err());
    }
}
