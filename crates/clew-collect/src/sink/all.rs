//! Several sinks as one: each in turn gets the events of a batch that it takes, and the batch counts as taken when all have
//! taken theirs.

use super::{BufferFigures, Delivery, Sink, SinkError};
use crate::dead_letter::Rejection;
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
        let is_known = |known: &Rejection| known.event_index == rejection.event_index;
        if !all.rejected.iter().any(is_known) {
            all.rejected.push(rejection);
        }
    }
}

#[cfg(test)]
mod tests;
