//! The smallest collector: `collect_to PATH REGISTRY [URL [follow]]` reads everything once, or
//! goes on until it is killed. Without a URL
//! it sends nothing and shows the first document of each kind.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use clew_collect::{
    BulkOptions, BulkSink, CollectOptions, Delivery, Event, Mode, NoProgress, Sink, SinkError,
    StopToken, World, run,
};
use clew_platform::{RealClock, RealDisk};

/// Keeps the first document of each kind.
#[derive(Default)]
struct Samples(BTreeMap<String, String>);

impl Sink for Samples {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        for event in batch {
            let text = String::from_utf8_lossy(&event.document).into_owned();
            let kind = text
                .split("\"event\":")
                .nth(1)
                .unwrap_or("")
                .chars()
                .take(60)
                .collect();
            self.0.entry(kind).or_insert(text);
        }
        Ok(Delivery {
            acked: batch.len() as u64,
            ..Delivery::default()
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("name a path")?);
    let registry = PathBuf::from(arguments.next().ok_or("name a registry file")?);
    let mut options = CollectOptions::new(vec![path], registry);
    let stop = StopToken::new();
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &NoProgress,
        stop: &stop,
    };
    let mut samples = Samples::default();
    let report = match arguments.next() {
        Some(url) => {
            if arguments.next().is_some() {
                options.mode = Mode::Follow;
            }
            let mut sink = BulkSink::new(BulkOptions::new(&url, &options.index), stop.clone())?;
            run(&options, world, &mut sink)?
        }
        None => run(&options, world, &mut samples)?,
    };
    for document in samples.0.values() {
        eprintln!("{}", document.chars().take(700).collect::<String>());
    }
    eprintln!("{:#?}", report.counters);
    for file in &report.files {
        eprintln!(
            "read {} as {}: {} bytes",
            file.path.display(),
            file.parser,
            file.offset_bytes
        );
    }
    for skipped in &report.skipped {
        eprintln!("skipped {}: {}", skipped.path.display(), skipped.reason);
    }
    Ok(())
}
