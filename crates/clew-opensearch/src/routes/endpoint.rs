//! A line of the table of routes: what a request must look like, and who answers it.

use std::pin::Pin;

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;

/// An endpoint's answer, on its way.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send>>;

/// Endpoints that take the same URI parameters and are counted together.
pub(super) struct Group {
    /// The class under which metrics count them.
    pub(super) class: &'static str,
    /// The URI parameters they take, beside the common ones.
    pub(super) params: &'static [&'static str],
    pub(super) endpoints: &'static [Endpoint],
}

/// One endpoint under all its paths.
pub(super) struct Endpoint {
    /// Separated by spaces.
    pub(super) methods: &'static str,
    /// Patterns, as in `/{index}/_doc/{id}`.
    pub(super) paths: &'static [&'static str],
    pub(super) handler: fn(Call) -> Answer,
}

/// `endpoint!("GET POST", ["/_count", "/{index}/_count"], search::count)`: methods, patterns, the
/// async function that answers.
macro_rules! endpoint {
    ($methods:literal, [$($path:literal),+ $(,)?], $handler:path $(,)?) => {
        $crate::routes::endpoint::Endpoint {
            methods: $methods,
            paths: &[$($path),+],
            handler: |call| Box::pin($handler(call)),
        }
    };
}
pub(super) use endpoint;
