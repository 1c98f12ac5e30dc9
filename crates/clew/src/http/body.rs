//! The bodies of requests and answers, which tell the connection's state how far they have come.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};

use super::phase::ConnectionState;

/// A request's body.
#[derive(Debug)]
pub(super) struct RequestBody {
    incoming: Incoming,
    state: Arc<ConnectionState>,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, state: Arc<ConnectionState>) -> Self {
        RequestBody { incoming, state }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) else {
            self.state.body_awaited();
            return Poll::Pending;
        };
        if let Some(Ok(frame)) = &frame {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.state.body_brought(bytes);
        }
        if frame.is_none() || self.incoming.is_end_stream() {
            self.state.body_ended();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// An answer's body.
#[derive(Debug)]
pub(super) struct AnswerBody {
    body: Body,
    state: Arc<ConnectionState>,
}

impl AnswerBody {
    pub(super) fn new(body: Body, state: Arc<ConnectionState>) -> Self {
        state.answer_began(body.size_hint().exact());
        AnswerBody { body, state }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.state.answered();
    }
}
