//! A line of the table of routes: what a request must look like, and who answers it.

use std::pin::Pin;
use std::sync::Arc;

use crate::http::error::ApiError;
use crate::http::formats::Content;
use crate::http::reply::Reply;
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::cluster_settings::SettingCheck;
use crate::state::tasks::{Action, Answers};

/// An endpoint's answer, on its way.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send>>;

/// Endpoints that take the same URI parameters and are counted together.
pub struct Group {
    /// The class under which metrics count them.
    pub class: &'static str,
    /// The URI parameters they take, beside the common ones: lists of them.
    pub params: &'static [&'static [&'static str]],
    /// The endpoints.
    pub endpoints: &'static [Endpoint],
}

/// One endpoint under all its paths, made by `endpoint!`.
pub struct Endpoint {
    /// Separated by spaces.
    pub(crate) methods: &'static str,
    /// Patterns, as in `/{index}/_doc/{id}`.
    pub(crate) paths: &'static [&'static str],
    /// The function that answers, which names the endpoint in the description of the API.
    pub(crate) name: &'static str,
    /// The schema of its body in the description of the API, where it takes one.
    pub(crate) body: Option<&'static str>,
    /// What the body is one of.
    pub(crate) content: Content,
    /// What a request is called while it is answered, where that may take long.
    pub(crate) action: Option<Action>,
    /// Answers.
    pub(crate) handler: fn(Call) -> Answer,
}

impl Endpoint {
    /// An endpoint without a body, answered at once; [`endpoint!`] is the shorter way to write it.
    pub const fn new(
        methods: &'static str,
        paths: &'static [&'static str],
        name: &'static str,
        handler: fn(Call) -> Answer,
    ) -> Self {
        Endpoint {
            methods,
            paths,
            name,
            body: None,
            content: Content::Value,
            action: None,
            handler,
        }
    }

    /// Whether one of its paths names indexes; beside the others they are named by a parameter.
    pub(crate) fn takes_index(&self) -> bool {
        self.paths.iter().any(|path| path.contains("{index}"))
    }

    /// The same endpoint, with a body of this schema (`openapi/schemas.json`, or [`Wing::schemas`]).
    pub const fn takes(mut self, schema: &'static str) -> Self {
        self.body = Some(schema);
        self
    }

    /// The same endpoint, with a body of lines.
    pub(crate) const fn takes_lines(mut self) -> Self {
        self.content = Content::Lines;
        self.takes("Lines")
    }

    /// The same endpoint, whose answer may take long: it is a task of this name, and one that is cancelled is
    /// answered with an error at once.
    pub const fn takes_long(mut self, action: &'static str) -> Self {
        self.action = Some(Action::new(action, Answers::Refusal));
        self
    }

    /// The same endpoint, whose answer may take long: it is a task of this name, which answers itself when it is
    /// cancelled, with what it did until then.
    pub(crate) const fn ends_itself(mut self, action: &'static str) -> Self {
        self.action = Some(Action::new(action, Answers::Endpoint));
        self
    }
}

/// `endpoint!("GET POST", ["/_count", "/{index}/_count"], search::count).takes("Count")`: methods, patterns, the
/// async function that answers. `.takes("Count")` names the schema of the body.
#[macro_export]
macro_rules! endpoint {
    ($methods:literal, [$($path:literal),+ $(,)?], $handler:path $(,)?) => {
        $crate::wing::Endpoint::new($methods, &[$($path),+], stringify!($handler), |call| {
            Box::pin($handler(call))
        })
    };
}
pub use endpoint;

/// A part of the API that stands by itself, put together with the others at the start.
pub struct Wing {
    /// Its endpoints.
    pub groups: &'static [Group],
    /// The schemas of their bodies in the description of the API: the text of a JSON object, by name.
    pub schemas: &'static str,
    /// Refuses settings of the cluster that mean something to it.
    pub check_settings: Option<SettingCheck>,
    /// What it does beside requests, until the server stops.
    pub background: Option<fn(Arc<Api>) -> Background>,
}

/// Work that goes on beside requests.
pub(crate) type Background = Pin<Box<dyn Future<Output = ()> + Send>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{bulk, document};
    use crate::search;

    fn bytes<F: Future<Output = Result<Reply, ApiError>>>(_: impl Fn(Call) -> F) -> usize {
        size_of::<F>()
    }

    /// What answers a request has room for all that it may wait for, and is copied to where it stays: a future that has
    /// others in it, which hold large values, costs each request as much as reading its body.
    #[test]
    fn requests_that_come_often_are_answered_by_small_futures() {
        let sizes = [
            ("search", bytes(search::search)),
            ("bulk", bytes(bulk::bulk)),
            ("get", bytes(document::get)),
        ];
        for (name, size) in sizes {
            assert!(size <= 6 << 10, "{name}: {size} bytes of {sizes:?}");
        }
    }
}
