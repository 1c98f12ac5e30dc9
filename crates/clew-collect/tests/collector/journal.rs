//! The system's journal: what is delivered is remembered, and nothing else.

use std::os::unix::fs::PermissionsExt;

use clew_collect::config::CollectConfig;
use clew_collect::{
    CollectReport, Delivery, Event, Mode, NoProgress, Sink, SinkError, StopToken, World,
};

/// Takes batches, or none.
#[derive(Default)]
struct Ids {
    ids: Vec<String>,
    is_stopped: bool,
}

impl Sink for Ids {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        if self.is_stopped {
            return Err(SinkError::Stopped);
        }
        self.ids.extend(batch.iter().map(|event| event.id.clone()));
        Ok(Delivery {
            acked: batch.len() as u64,
            ..Delivery::default()
        })
    }
}

/// Entries as `journalctl` has them, from behind a cursor on.
const SCRIPT: &str = r#"#!/bin/sh
after=0
for argument in "$@"; do
    case "$argument" in --after-cursor=*) after=${argument##*i=} ;; esac
done
number=1
while [ $number -le 9 ]; do
    if [ $number -gt $after ]; then
        echo "{\"__CURSOR\":\"s=f;i=$number\",\"MESSAGE\":\"entry $number\",\"_HOSTNAME\":\"h\"}"
    fi
    number=$((number + 1))
done
"#;

fn run(folder: &std::path::Path, sink: &mut Ids) -> CollectReport {
    let text = format!(
        "registry: {0}/r.json\nbatch_lines_max: 4\nregistry_interval_ms: 0\ninputs: [{{type: journald, program: {0}/journalctl}}]\noutputs: [{{type: stdout}}]",
        folder.display()
    );
    let config = CollectConfig::parse("c.yaml", &text, &|_| None).unwrap();
    let world = World {
        disk: std::sync::Arc::new(clew_platform::RealDisk),
        clock: std::sync::Arc::new(clew_platform::RealClock::new()),
        progress: &NoProgress,
        stop: &StopToken::default(),
    };
    clew_collect::run(&config.options(Mode::Once).unwrap(), world, sink).unwrap()
}

#[test]
fn entries_that_were_not_delivered_come_again_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("journalctl");
    std::fs::write(folder.path().join("written"), SCRIPT).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("written"), mode).unwrap();
    std::fs::rename(folder.path().join("written"), program).unwrap();
    let mut nobody = Ids {
        is_stopped: true,
        ..Ids::default()
    };
    run(folder.path(), &mut nobody);
    let mut sink = Ids::default();
    let report = run(folder.path(), &mut sink);
    let expected: Vec<String> = (1..=9).map(|number| format!("f-{number}")).collect();
    assert_eq!(sink.ids, expected);
    assert_eq!(report.counters.parse_errors, 0);
    let registry = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    assert!(
        registry.contains(r#""cursors":{"journald":"s=f;i=9"}"#),
        "{registry}"
    );
    // Nothing is new.
    let mut sink = Ids::default();
    run(folder.path(), &mut sink);
    assert!(sink.ids.is_empty(), "{:?}", sink.ids);
}
