//! A line of the table of routes: what a request must look like, and who answers it.

use std::pin::Pin;

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;

/// An endpoint's answer, on its way.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send>>;

/// Endpoints that take the same URI parameters and are counted together.
pub(crate) struct Group {
    /// The class under which metrics count them.
    pub(crate) class: &'static str,
    /// The URI parameters they take, beside the common ones.
    pub(crate) params: &'static [&'static str],
    pub(crate) endpoints: &'static [Endpoint],
}

/// One endpoint under all its paths.
pub(crate) struct Endpoint {
    /// Separated by spaces.
    pub(crate) methods: &'static str,
    /// Patterns, as in `/{index}/_doc/{id}`.
    pub(crate) paths: &'static [&'static str],
    /// The function that answers, which names the endpoint in the description of the API.
    pub(crate) name: &'static str,
    /// The schema of its body in the description of the API, where it takes one.
    pub(crate) body: Option<&'static str>,
    pub(crate) handler: fn(Call) -> Answer,
}

impl Endpoint {
    /// The same endpoint, with a body of this schema (`openapi/schemas.json`).
    pub(super) const fn takes(mut self, schema: &'static str) -> Self {
        self.body = Some(schema);
        self
    }
}

/// `endpoint!("GET POST", ["/_count", "/{index}/_count"], search::count).takes("Count")`: methods, patterns, the
/// async function that answers. `.takes("Count")` names the schema of the body.
macro_rules! endpoint {
    ($methods:literal, [$($path:literal),+ $(,)?], $handler:path $(,)?) => {
        $crate::routes::endpoint::Endpoint {
            methods: $methods,
            paths: &[$($path),+],
            name: stringify!($handler),
            body: None,
            handler: |call| Box::pin($handler(call)),
        }
    };
}
pub(super) use endpoint;
