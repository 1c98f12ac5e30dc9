//! Several sinks as one: each in turn gets the events of a batch that it takes, and the batch counts as taken when all have
//! taken theirs.

use super::{BufferFigures, Delivery, Sink, SinkError};
use crate::event::Event;

/// All of some sinks, in the order of the outputs that events name. When one gives up, those before it have their events
/// already, and get them again after a restart.
#[derive(Debug)]
pub struct AllSinks {
    sinks: Vec<OneSink>,
    /// Copies of the events that a sink takes of a batch; their memory is used again.
    part: Vec<Event>,
    /// Where these stand in the batch.
    places: Vec<usize>,
}

/// One of them.
struct OneSink(Box<dyn Sink>);

impl std::fmt::Debug for OneSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a sink")
    }
}

impl AllSinks {
    /// All of these.
    pub fn new(sinks: Vec<Box<dyn Sink>>) -> Self {
        AllSinks {
            sinks: sinks.into_iter().map(OneSink).collect(),
            part: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl Sink for AllSinks {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut all = Delivery::default();
        for (output, sink) in self.sinks.iter_mut().enumerate() {
            if batch.iter().all(|event| event.outputs.has(output)) {
                let one = sink.0.deliver(batch)?;
                add(&mut all, one, |index| index);
                continue;
            }
            let count = choose(batch, output, &mut self.part, &mut self.places);
            if count > 0 {
                let one = sink.0.deliver(&self.part[..count])?;
                add(&mut all, one, |index| self.places[index]);
            }
        }
        // An event is counted once: refused by some, or there already for some, or taken.
        let rejected = all.rejected.len() as u64;
        all.duplicates = all.duplicates.min(batch.len() as u64 - rejected);
        all.acked = batch.len() as u64 - rejected - all.duplicates;
        Ok(all)
    }

    fn reads_ids(&self) -> bool {
        self.sinks.iter().any(|sink| sink.0.reads_ids())
    }

    /// Waits for all of them; the first that fails is told.
    fn finish(&mut self) -> Result<(), SinkError> {
        let mut ended = Ok(());
        for sink in &mut self.sinks {
            ended = ended.and(sink.0.finish());
        }
        ended
    }

    fn buffers(&self) -> Vec<BufferFigures> {
        let sinks = self.sinks.iter();
        sinks.flat_map(|sink| sink.0.buffers()).collect()
    }
}

/// Copies the events that an output takes; returns how many.
fn choose(batch: &[Event], output: usize, part: &mut Vec<Event>, places: &mut Vec<usize>) -> usize {
    places.clear();
    let chosen = batch.iter().enumerate();
    for (place, event) in chosen.filter(|(_, event)| event.outputs.has(output)) {
        match part.get_mut(places.len()) {
            Some(used) => used.clone_from(event),
            None => part.push(event.clone()),
        }
        places.push(place);
    }
    places.len()
}

/// Adds what became of the events of one sink. Those that several had already are counted as often as the one with most
/// has them, since mostly they are the same.
fn add(all: &mut Delivery, one: Delivery, place: impl Fn(usize) -> usize) {
    all.retries += one.retries;
    all.duplicates = all.duplicates.max(one.duplicates);
    for mut rejection in one.rejected {
        rejection.event_index = place(rejection.event_index);
        let is_known = |known: &super::Rejection| known.event_index == rejection.event_index;
        if !all.rejected.iter().any(is_known) {
            all.rejected.push(rejection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rejection;
    use super::*;
    use crate::event::OutputSet;

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
        let mut all = AllSinks::new(vec![Box::new(Answers(one)), Box::new(Answers(other))]);
        let batch = vec![Event::default(); 4];
        let delivery = all.deliver(&batch).unwrap();
        assert_eq!(
            (delivery.acked, delivery.duplicates, delivery.retries),
            (1, 1, 3)
        );
        assert_eq!(delivery.rejected, [rejection(1), rejection(2)]);
    }

    /// Takes everything but documents of this text, and remembers what came.
    struct Picky(&'static [u8], std::sync::mpsc::Sender<String>);

    impl Sink for Picky {
        fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
            let mut delivery = Delivery::default();
            for (event_index, event) in batch.iter().enumerate() {
                let text = String::from_utf8(event.document.clone()).unwrap();
                self.1.send(text).unwrap();
                match event.document == self.0 {
                    true => delivery.rejected.push(Rejection {
                        event_index,
                        status: 400,
                        reason: String::new(),
                    }),
                    false => delivery.acked += 1,
                }
            }
            Ok(delivery)
        }
    }

    #[test]
    fn each_sink_gets_the_events_that_are_for_it() {
        let (out, came) = std::sync::mpsc::channel();
        let sink = |refused| Box::new(Picky(refused, out.clone()));
        let mut all = AllSinks::new(vec![sink(b"c"), sink(b"")]);
        let event = |text: &str, outputs: &[usize]| Event {
            document: text.into(),
            outputs: outputs
                .iter()
                .fold(OutputSet::NONE, |set, output| set.with(*output)),
            ..Event::default()
        };
        for (batch, expected, rejected) in [
            (
                vec![event("a", &[1]), event("b", &[0, 1]), event("c", &[0])],
                "bcab",
                vec![2],
            ),
            (vec![event("a", &[1]), event("d", &[1])], "ad", vec![]),
            // Memory that is used again forgets what was in it.
            (
                vec![event("c", &[0]), event("longer", &[1])],
                "clonger",
                vec![0],
            ),
        ] {
            let delivery = all.deliver(&batch).unwrap();
            assert_eq!(came.try_iter().collect::<String>(), expected);
            let places: Vec<usize> = delivery.rejected.iter().map(|r| r.event_index).collect();
            assert_eq!(places, rejected);
            assert_eq!(delivery.acked, (batch.len() - rejected.len()) as u64);
        }
    }
}
