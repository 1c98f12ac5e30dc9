//! Futures that run into a defect of the program.
//!
//! The runtime survives a panic, and with it every other request. But whoever waits for what the future was to do at its
//! end would wait for ever: a task that is listed, the next one of a queue, a client.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// A future has panicked; where is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// What a future comes to.
///
/// # Errors
/// When it panics. What it held has been given back then; what it shares with others it may have left half done.
pub async fn caught<F: Future>(work: F) -> Result<F::Output, Panicked> {
    let mut work = pin!(work);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        // It is not polled again after that.
        polled.map_or(Poll::Ready(Err(Panicked)), |polled| polled.map(Ok))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Waits for its second turn.
    async fn wait() {
        let mut turns = 0;
        poll_fn(move |_| {
            turns += 1;
            if turns > 1 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    #[test]
    fn a_future_that_panics_has_given_back_what_it_held() {
        let held = Arc::new(());
        let own = held.clone();
        let mut work = pin!(caught(async move {
            wait().await;
            assert!(Arc::strong_count(&own) == 0, "on purpose");
        }));
        assert_eq!(poll(work.as_mut()), Poll::Pending);
        assert_eq!(Arc::strong_count(&held), 2);
        assert_eq!(poll(work.as_mut()), Poll::Ready(Err(Panicked)));
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn other_futures_come_to_what_they_come_to() {
        let mut work = pin!(caught(async {
            wait().await;
            7
        }));
        assert_eq!(poll(work.as_mut()), Poll::Pending);
        assert_eq!(poll(work.as_mut()), Poll::Ready(Ok(7)));
    }
}
