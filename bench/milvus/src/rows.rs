//! What rows of one vector cost the engine when no protocol stands before it.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use clew_engine::{
    Access, Action, Engine, EngineOptions, IndexSettings, OpType, Purpose, WriteOperation,
};
use clew_platform::{Clock, RealClock, RealDisk};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// Writes them, each write durable before the next begins; prints the seconds of the wall clock and of the processors.
/// The numbers are drawn before.
pub(crate) fn write(count: usize, dimension: usize, together: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let clock = Arc::new(RealClock::new());
    let options = EngineOptions::new(folder.path());
    let engine = Engine::start(options, Arc::new(RealDisk), clock.clone())?;
    let mapping = clew_opensearch_mapping::try_mapping(&json!({"properties": {
        "id": {"type": "long"},
        "v": {"type": "knn_vector", "dimension": dimension,
              "method": {"name": "hnsw", "space_type": "cosinesimil",
                         "parameters": {"m": 16, "ef_construction": 128}}},
    }}))?;
    let everything = Access::everything();
    engine.create_index(&everything, "rows", IndexSettings::default(), mapping)?;
    let index = engine.open_exactly("rows", &everything, Purpose::Write)?;
    let field = index.mapping().field("v").context("the field")?.id;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;

    let mut state = 1_u64;
    let mut number = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from((state >> 48) as u16) / 32_768.0 - 1.0
    };
    let vectors: Vec<Vec<f32>> = (0..count)
        .map(|_| (0..dimension).map(|_| number()).collect())
        .collect();
    let before = (clock.monotonic(), processor_seconds());
    let mut left = vectors.into_iter().enumerate();
    loop {
        let part = left.by_ref().take(together);
        let operations: Vec<WriteOperation> = part
            .map(|(id, vector)| WriteOperation {
                index: "rows".into(),
                require_alias: false,
                id: Some(id.to_string()),
                routing: None,
                action: Action::Index {
                    source: format!("{{\"id\":{id}}}").into(),
                    vectors: vec![(field, vector.into())],
                    op_type: OpType::Index,
                },
                condition: None,
            })
            .collect();
        if operations.is_empty() {
            break;
        }
        let outcome = engine.write(&everything, operations);
        runtime.block_on(engine.durable(&outcome))?;
        for result in outcome.results {
            result?;
        }
    }
    let wall = clock.monotonic().saturating_sub(before.0).as_secs_f64();
    let processor = processor_seconds() - before.1;
    let took = json!({"wall_s": wall, "cpu_s": processor});
    Ok(writeln!(std::io::stdout(), "{took}")?)
}

/// Of all threads of this process.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
