//! How far a build is, on a terminal's standard error.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clew_vector::BuildProgress;
use indicatif::{ProgressBar, ProgressStyle};

/// The bar is drawn this often.
const TICK: Duration = Duration::from_millis(100);

/// A bar that follows a build until it is dropped. No thread looks at the build when nobody would see.
pub(super) struct Bar {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    pub(super) fn start(progress: Arc<BuildProgress>) -> Bar {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::io::stderr().is_terminal().then(|| {
            let stop = stop.clone();
            thread::spawn(move || follow(&progress, &stop))
        });
        Bar { stop, thread }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A bar that broke is not worth failing for.
            let _ = thread.join();
        }
    }
}

fn follow(progress: &BuildProgress, stop: &AtomicBool) {
    let style = ProgressStyle::with_template("{msg:8} {bar:40} {human_pos}/{human_len} {eta}");
    let bar = ProgressBar::new(0).with_style(style.expect("the template is valid"));
    while !stop.load(Ordering::Relaxed) {
        let status = progress.status();
        bar.set_message(status.phase.name());
        bar.set_length(status.rows_total as u64);
        bar.set_position(status.rows_done as u64);
        thread::park_timeout(TICK);
    }
    bar.finish_and_clear();
}
