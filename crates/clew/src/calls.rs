//! Tells the gRPC server which calls it is at work for: those that are not answered yet, but for what their clients
//! have not sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use bytes::Bytes;
use clew_log_grpc::{CallAtWork, CallsAtWork, ConnectionCalls, Guard};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// The same guard, within which calls are counted.
pub(crate) fn counted(guard: Guard, calls: &CallsAtWork) -> Guard {
    let calls = calls.clone();
    guard.within(move |routes| {
        let layer = from_fn_with_state(calls.clone(), count);
        routes.into_axum_router().layer(layer).into()
    })
}

async fn count(State(calls): State<CallsAtWork>, request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<ConnectionCalls>();
    let connection = connection.cloned().unwrap_or_default();
    let call = Arc::new(calls.begin(&connection));
    let counted = |body| CountedBody {
        body,
        call: call.clone(),
    };
    let request = request.map(|body| Body::new(counted(body)));
    let response = next.run(request).await;
    call.end();
    response
}

/// What a client sends, which its call waits for.
struct CountedBody {
    body: Body,
    call: Arc<CallAtWork>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match frame {
            Poll::Pending => self.call.waits_for_client(),
            Poll::Ready(_) => self.call.goes_on(),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        self.call.goes_on();
    }
}
