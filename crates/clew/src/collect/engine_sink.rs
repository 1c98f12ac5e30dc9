//! The sink that writes into the engine of the same process: the same ids and the same ingest pipelines as
//! over HTTP, acknowledged when they are durable.

use std::time::Duration;

use bytes::Bytes;
use clew_collect::{Delivery, Event, Rejection, Sink, SinkError, StopToken};
use clew_engine::{Access, Action, Engine, EngineError, ErrorKind, OpType, WriteOperation};
use clew_opensearch::{Passed, through_pipelines};
use tokio::runtime::Handle;

/// The first pause after a refusal for now; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Writes events to one index or data stream.
pub(super) struct EngineSink {
    engine: Engine,
    index: String,
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
    pub(super) fn new(engine: Engine, index: &str, runtime: Handle, stop: StopToken) -> Self {
        EngineSink {
            engine,
            index: index.to_string(),
            runtime,
            stop,
        }
    }

    fn operation(&self, event: &Event) -> WriteOperation {
        WriteOperation {
            index: self.index.clone(),
            require_alias: false,
            id: Some(event.id.clone()),
            routing: None,
            action: Action::index(Bytes::copy_from_slice(&event.document), OpType::Create),
            condition: None,
        }
    }

    /// Writes some events, through the pipelines of what takes them; an error means that none of them counts as written.
    fn write(&self, batch: &[Event], indexes: &[usize]) -> Result<Vec<Fate>, EngineError> {
        let events = indexes.iter().map(|&index| &batch[index]);
        let operations: Vec<WriteOperation> = events.map(|event| self.operation(event)).collect();
        let mut fates = Vec::with_capacity(indexes.len());
        let mut going = Vec::with_capacity(indexes.len());
        for (passed, &event_index) in through_pipelines(&self.engine, operations)
            .into_iter()
            .zip(indexes)
        {
            fates.push(match passed {
                Passed::On(operation) => {
                    going.push((fates.len(), operation));
                    Fate::Later
                }
                Passed::Dropped => Fate::Written,
                Passed::Refused { status, reason } => Fate::Never(Rejection {
                    event_index,
                    status,
                    reason,
                }),
            });
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
    Fate::Never(Rejection {
        event_index,
        status,
        reason: error.to_string(),
    })
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
        write!(f, "EngineSink({})", self.index)
    }
}
