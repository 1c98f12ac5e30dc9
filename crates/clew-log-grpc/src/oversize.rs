//! A request above the size limit is answered RESOURCE_EXHAUSTED, as gRPC's own documentation has
//! it. The transport says OUT_OF_RANGE, which here means a position that is not in the log.

use std::convert::Infallible;
use std::task::{Context, Poll};

use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::NamedService;
use tonic::{Code, Status};

use crate::status::{ERROR_KEY, of_transport};

/// A service whose refusals of long messages have the right code.
#[derive(Clone, Debug)]
pub(crate) struct Oversize<S>(pub(crate) S);

impl<S: NamedService> NamedService for Oversize<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Oversize<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let reply = self.0.call(request);
        Box::pin(async move { reply.await.map(with_the_right_code) })
    }
}

/// Every error of ours has a word; one out of range without it is the transport's.
fn with_the_right_code(reply: http::Response<Body>) -> http::Response<Body> {
    match Status::from_header_map(reply.headers()) {
        Some(status)
            if status.code() == Code::OutOfRange && !reply.headers().contains_key(ERROR_KEY) =>
        {
            of_transport(status).into_http()
        }
        _ => reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::worded;

    #[test]
    fn only_the_transports_own_refusal_is_changed() {
        let code = |status: Status| {
            let reply = with_the_right_code(status.into_http());
            Status::from_header_map(reply.headers()).unwrap().code()
        };
        assert_eq!(
            code(Status::out_of_range("too large")),
            Code::ResourceExhausted
        );
        assert_eq!(
            code(worded(Code::OutOfRange, "trimmed", "x")),
            Code::OutOfRange
        );
        assert_eq!(code(Status::not_found("x")), Code::NotFound);
    }
}
