//! Several sinks as one: a batch goes to each in turn, and counts as taken when all have taken it.

use super::{Delivery, Sink, SinkError};
use crate::event::Event;

/// All of some sinks. When one gives up, those before it have the batch already, and get it again after a restart.
pub struct AllSinks(pub Vec<Box<dyn Sink>>);

impl std::fmt::Debug for AllSinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AllSinks({})", self.0.len())
    }
}

impl Sink for AllSinks {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut all = Delivery::default();
        for sink in &mut self.0 {
            let one = sink.deliver(batch)?;
            all.retries += one.retries;
            all.duplicates = all.duplicates.max(one.duplicates);
            for rejection in one.rejected {
                let is_known =
                    |known: &super::Rejection| known.event_index == rejection.event_index;
                if !all.rejected.iter().any(is_known) {
                    all.rejected.push(rejection);
                }
            }
        }
        // An event is counted once: refused by some, or there already for some, or taken.
        let rejected = all.rejected.len() as u64;
        all.duplicates = all.duplicates.min(batch.len() as u64 - rejected);
        all.acked = batch.len() as u64 - rejected - all.duplicates;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rejection;
    use super::*;

    struct Answers(Delivery);

    impl Sink for Answers {
        fn deliver(&mut self, _: &[Event]) -> Result<Delivery, SinkError> {
            Ok(self.0.clone())
        }
    }

    #[test]
    fn an_event_that_one_refuses_is_refused_and_counted_once() {
        let rejection = |event_index| Rejection {
            event_index,
            status: 400,
            reason: String::new(),
        };
        let one = Delivery {
            acked: 2,
            duplicates: 1,
            retries: 3,
            rejected: vec![rejection(1)],
        };
        let other = Delivery {
            acked: 2,
            duplicates: 0,
            retries: 0,
            rejected: vec![rejection(1), rejection(2)],
        };
        let mut all = AllSinks(vec![Box::new(Answers(one)), Box::new(Answers(other))]);
        let batch = vec![Event::default(); 4];
        let delivery = all.deliver(&batch).unwrap();
        assert_eq!(
            (delivery.acked, delivery.duplicates, delivery.retries),
            (1, 1, 3)
        );
        assert_eq!(delivery.rejected, [rejection(1), rejection(2)]);
    }
}
