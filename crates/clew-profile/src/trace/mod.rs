//! The trace that a request is a part of: its id, as clients name it by the headers of W3C's Trace Context, and the spans that
//! tell what was done when. Spans go into a queue of a fixed length, from which somebody sends them on; where the queue is
//! full they are counted and gone, and nobody waits.

mod context;
mod otlp;
mod queue;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use context::{SpanId, TraceId, TraceParent};
pub use otlp::encode_spans;
pub use queue::{SpanFigures, SpanQueue, Tracer};

/// What an attribute of a span says.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// A text.
    Text(Cow<'static, str>),
    /// A number.
    Number(i64),
}

impl From<&'static str> for AttributeValue {
    fn from(text: &'static str) -> Self {
        AttributeValue::Text(Cow::Borrowed(text))
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        AttributeValue::Text(Cow::Owned(text))
    }
}

impl From<u64> for AttributeValue {
    fn from(number: u64) -> Self {
        AttributeValue::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for AttributeValue {
    fn from(number: u32) -> Self {
        AttributeValue::Number(i64::from(number))
    }
}

/// An attribute of a span, by its name.
pub type Attribute = (&'static str, AttributeValue);

/// What was done, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    trace: TraceId,
    id: SpanId,
    parent: Option<SpanId>,
    state: Arc<str>,
    name: Cow<'static, str>,
    /// Whether it is a request that came from elsewhere.
    is_request: bool,
    began: Duration,
    took: Duration,
    attributes: Vec<Attribute>,
    failed: bool,
}

/// The trace of one request under way, with the span of the request itself.
#[derive(Debug)]
pub struct Trace {
    id: TraceId,
    span: SpanId,
    parent: Option<SpanId>,
    state: Arc<str>,
    began: Duration,
    /// Where its spans go; none where they are not asked for.
    tracer: Option<Tracer>,
}

impl Trace {
    /// Goes on with a client's trace, or begins one. Spans are told where a tracer wants them: of a client's trace if
    /// the client does, of others by chance.
    pub fn begin(parent: Option<TraceParent>, tracer: Option<&Tracer>) -> Self {
        let (id, state, is_sampled) = match &parent {
            Some(parent) => (parent.trace, parent.state.clone(), parent.is_sampled),
            None => {
                let id = TraceId::random();
                let is_sampled = tracer.is_some_and(|tracer| tracer.samples(id));
                (id, Arc::default(), is_sampled)
            }
        };
        Trace {
            id,
            span: SpanId::random(),
            parent: parent.map(|parent| parent.span),
            state,
            began: now(),
            tracer: tracer.filter(|_| is_sampled).cloned(),
        }
    }

    /// The trace's id.
    pub fn id(&self) -> TraceId {
        self.id
    }

    /// The id of the request's span.
    pub fn span(&self) -> SpanId {
        self.span
    }

    /// Whether somebody wants its spans.
    pub fn is_recorded(&self) -> bool {
        self.tracer.is_some()
    }

    /// The trace and the request's span, as the header `traceresponse` says it.
    pub fn response(&self) -> String {
        let flags = u8::from(self.is_recorded());
        format!("00-{}-{}-{flags:02x}", self.id, self.span)
    }

    /// Tells of something that was done for the request: when it began, since the epoch, and how long it took.
    pub fn tell(
        &self,
        name: &'static str,
        (began, took): (Duration, Duration),
        attributes: impl FnOnce() -> Vec<Attribute>,
    ) {
        if let Some(tracer) = &self.tracer {
            tracer.push(Span {
                trace: self.id,
                id: SpanId::random(),
                parent: Some(self.span),
                state: self.state.clone(),
                name: Cow::Borrowed(name),
                is_request: false,
                began,
                took,
                attributes: attributes(),
                failed: false,
            });
        }
    }

    /// Tells of the request itself, which is over.
    pub fn end(
        &self,
        name: Cow<'static, str>,
        attributes: impl FnOnce() -> Vec<Attribute>,
        failed: bool,
    ) {
        if let Some(tracer) = &self.tracer {
            tracer.push(Span {
                trace: self.id,
                id: self.span,
                parent: self.parent,
                state: self.state.clone(),
                name,
                is_request: true,
                began: self.began,
                took: now().saturating_sub(self.began),
                attributes: attributes(),
                failed,
            });
        }
    }
}

/// The time since the epoch.
fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_clients_trace_goes_on_and_its_wish_to_record_holds() {
        let (tracer, queue) = Tracer::new(0.0, 16);
        let parent = TraceParent::read(PARENT, Some("vendor=1")).unwrap();
        let trace = Trace::begin(Some(parent), Some(&tracer));
        assert_eq!(trace.id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(
            trace
                .response()
                .starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-")
        );
        let part = (Duration::from_secs(5), Duration::from_millis(7));
        trace.tell("query", part, || vec![("index", "books".into())]);
        trace.end("GET /x".into(), Vec::new, false);
        let spans = queue.next(16, Duration::ZERO).unwrap();
        let [query, request] = &spans[..] else {
            panic!("{spans:?}");
        };
        assert_eq!(query.parent, Some(request.id));
        assert_eq!((&*query.state, query.began), ("vendor=1", part.0));
        assert_eq!(
            request.parent.map(|id| id.to_string()).as_deref(),
            Some("00f067aa0ba902b7")
        );
        let unsampled = PARENT.replace("-01", "-00");
        let parent = TraceParent::read(&unsampled, None).unwrap();
        assert!(!Trace::begin(Some(parent), Some(&tracer)).is_recorded());
        // Nobody asked, and none is taken by chance.
        assert!(!Trace::begin(None, Some(&tracer)).is_recorded());
    }
}
