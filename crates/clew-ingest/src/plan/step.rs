//! Steps in their order, with what says whether one is done and what happens when it fails.

use std::fmt::Debug;

use super::condition::Condition;
use super::failures::FailureCount;
use crate::event::{Event, Reason};
use crate::patterns::Patterns;
use crate::pipeline::Flow;
use crate::text::Span;

/// What a step does with an event.
pub(super) trait Step: Debug + Send {
    /// Changes the event, or leaves it as it was and says why.
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason>;

    /// Whether an event that it fails on is dropped.
    fn drops_failed(&self) -> bool {
        false
    }

    /// Patterns of lines that it finds, if that is what it does.
    fn patterns(&mut self) -> Option<&mut Patterns> {
        None
    }
}

/// Memory that steps share, and what they are told of the world.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// What is found in a text, for the step that is looking.
    pub(super) found: Vec<Span>,
    /// Milliseconds since the epoch.
    pub(super) now_ms: i64,
    /// The last failure of the present run.
    pub(super) failed: Option<Failed>,
    /// What the step that is failing says of it.
    said: String,
}

/// A failure of a step.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: &'static str,
    pub(super) reason: Reason,
    pub(super) said: String,
}

/// Bytes of what a step says of a failure.
#[cfg(feature = "vrl")]
const SAID_BYTES_MAX: usize = 500;

#[cfg(feature = "vrl")]
impl Work {
    /// Says more of a failure than its reason does.
    pub(super) fn say(&mut self, what: &dyn std::fmt::Display) {
        self.said = what.to_string();
        let end = self.said.floor_char_boundary(SAID_BYTES_MAX);
        self.said.truncate(end);
    }
}

/// A step and what is around it.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) name: &'static str,
    pub(super) tag: Option<String>,
    pub(super) condition: Option<Condition>,
    pub(super) ignore_failure: bool,
    pub(super) on_failure: Vec<Guarded>,
    pub(super) what: Box<dyn Step>,
    /// By the place of the reason in [`Reason::ALL`].
    pub(super) failed: [u64; Reason::ALL.len()],
}

/// Runs steps over an event.
pub(super) fn run(
    steps: &mut [Guarded],
    event: &mut Event,
    work: &mut Work,
) -> Result<Flow, Reason> {
    for step in steps {
        if let Some(condition) = &step.condition
            && !condition.holds(event)
        {
            continue;
        }
        match step.what.apply(event, work) {
            Ok(Flow::On) => {}
            Ok(Flow::Dropped) => return Ok(Flow::Dropped),
            Err(reason) => {
                step.failed[reason as usize] += 1;
                work.failed = Some(Failed {
                    step: step.name,
                    reason,
                    said: std::mem::take(&mut work.said),
                });
                if !step.on_failure.is_empty() {
                    if run(&mut step.on_failure, event, work)? == Flow::Dropped {
                        return Ok(Flow::Dropped);
                    }
                } else if step.what.drops_failed() {
                    return Ok(Flow::Dropped);
                } else if !step.ignore_failure {
                    return Err(reason);
                }
            }
        }
    }
    Ok(Flow::On)
}

/// Adds up what failed.
pub(super) fn counted(steps: &[Guarded], counts: &mut Vec<FailureCount>) {
    for step in steps {
        for (reason, count) in Reason::ALL.into_iter().zip(step.failed) {
            if count > 0 {
                counts.push(FailureCount {
                    step: step.name,
                    tag: step.tag.clone(),
                    reason,
                    count,
                });
            }
        }
        counted(&step.on_failure, counts);
    }
}
