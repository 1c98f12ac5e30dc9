//! Lines from standard input, until it ends.

use std::io::{self, Read};
use std::sync::Arc;
use std::thread;

use super::frames::{LineFrames, Separation};
use super::{Handed, PARCEL_BYTES, Sender};

pub(super) fn start(sender: Sender) -> io::Result<()> {
    let run = move || {
        let mut frames = LineFrames::new(Separation::Newlines, sender.line_bytes_max);
        let nobody: Arc<str> = "".into();
        let mut buffer = vec![0; PARCEL_BYTES];
        let mut input = io::stdin().lock();
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => frames.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read on");
                    break;
                }
            }
            if sender.hand_over(&nobody, &mut frames) == Handed::Nowhere {
                return;
            }
        }
        frames.finish();
        sender.hand_over(&nobody, &mut frames);
    };
    let named = thread::Builder::new().name("collect-stdin".to_owned());
    named.spawn(run).map(drop)
}
