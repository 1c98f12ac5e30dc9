//! The sink that writes into the engine of the same process: the same ids and the same ingest pipelines as
//! over HTTP, acknowledged when they are durable.

use std::time::Duration;

use bytes::Bytes;
use clew_collect::{Delivery, Event, Placing, Rejection, Sink, SinkError, StopToken, Writing};
use clew_engine::{Access, Action, Engine, EngineError, ErrorKind, OpType, WriteOperation};
use clew_opensearch::{Passed, through_pipelines};
use tokio::runtime::Handle;

/// The first pause after a refusal for now; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Writes events to indexes or data streams.
pub(super) struct EngineSink {
    engine: Engine,
    placing: Placing,
    runtime: Handle,
    stop: StopToken,
}

/// What the engine says of one event.
enum Fate {
    Written,
    /// It was there already.
    Known,
    Later,
    Never(Rejection),
}

impl EngineSink {
    /// A sink that gives up waiting when `stop` is asked for. What is durable is waited for on `runtime`, whose threads must
    /// not call this sink.
    pub(super) fn new(engine: Engine, placing: Placing, runtime: Handle, stop: StopToken) -> Self {
        EngineSink {
            engine,
            placing,
            runtime,
            stop,
        }
    }

    /// The write of an event, and the pipeline that it names.
    fn operation(&self, event: &Event) -> Result<(Option<String>, WriteOperation), String> {
        let place = self.placing.of(event)?;
        let op_type = match place.writing {
            Writing::Create => OpType::Create,
            Writing::Index => OpType::Index,
        };
        let operation = WriteOperation {
            index: place.index,
            require_alias: false,
            id: Some(event.id.clone()),
            routing: place.routing,
            action: Action::index(Bytes::copy_from_slice(&event.document), op_type),
            condition: None,
        };
        Ok((place.pipeline, operation))
    }

    /// Writes some events, through the pipelines of what takes them; an error means that none of them counts as written.
    fn write(&self, batch: &[Event], indexes: &[usize]) -> Result<Vec<Fate>, EngineError> {
        let mut fates = Vec::with_capacity(indexes.len());
        let (mut places, mut operations) = (Vec::new(), Vec::new());
        for &event_index in indexes {
            fates.push(match self.operation(&batch[event_index]) {
                Ok(operation) => {
                    places.push(fates.len());
                    operations.push(operation);
                    Fate::Later
                }
                Err(reason) => never(event_index, 400, reason),
            });
        }
        let mut going = Vec::with_capacity(operations.len());
        let passed = through_pipelines(&self.engine, operations);
        for (passed, place) in passed.into_iter().zip(places) {
            match passed {
                Passed::On(operation) => going.push((place, *operation)),
                Passed::Dropped => fates[place] = Fate::Written,
                Passed::Refused { status, reason } => {
                    fates[place] = never(indexes[place], status, reason);
                }
            }
        }
        let (places, operations): (Vec<usize>, Vec<WriteOperation>) = going.into_iter().unzip();
        if operations.is_empty() {
            return Ok(fates);
        }
        let _memory = self.engine.admit(&operations)?;
        let outcome = self.engine.write(&Access::everything(), operations);
        self.runtime.block_on(self.engine.durable(&outcome))?;
        for (place, result) in places.into_iter().zip(outcome.results) {
            fates[place] = match result {
                Ok(_) => Fate::Written,
                Err(error) => fate(indexes[place], &error),
            };
        }
        Ok(fates)
    }
}

fn never(event_index: usize, status: u16, reason: String) -> Fate {
    Fate::Never(Rejection {
        event_index,
        status,
        reason,
    })
}

fn fate(event_index: usize, error: &EngineError) -> Fate {
    let status = match error.kind() {
        ErrorKind::Conflict => return Fate::Known,
        ErrorKind::Overloaded
        | ErrorKind::Unavailable
        | ErrorKind::Corrupt
        | ErrorKind::Internal => return Fate::Later,
        ErrorKind::Invalid => 400,
        ErrorKind::Forbidden => 403,
        ErrorKind::NotFound => 404,
        ErrorKind::TooLarge => 413,
    };
    never(event_index, status, error.to_string())
}

impl Sink for EngineSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        let mut pause = PAUSE_FIRST;
        let mut left: Vec<usize> = (0..batch.len()).collect();
        while !left.is_empty() {
            let mut later = Vec::new();
            match self.write(batch, &left) {
                Ok(fates) => {
                    for (event_index, fate) in left.into_iter().zip(fates) {
                        match fate {
                            Fate::Written => delivery.acked += 1,
                            Fate::Known => delivery.duplicates += 1,
                            Fate::Later => later.push(event_index),
                            Fate::Never(rejection) => delivery.rejected.push(rejection),
                        }
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "events will be written again");
                    later = left;
                }
            }
            left = later;
            if !left.is_empty() {
                delivery.retries += left.len() as u64;
                if self.stop.wait(pause) {
                    return Err(SinkError::Stopped);
                }
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
        Ok(delivery)
    }
}

impl std::fmt::Debug for EngineSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EngineSink({:?})", self.placing)
    }
}
