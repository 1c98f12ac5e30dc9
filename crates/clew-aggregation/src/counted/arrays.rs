//! Arrays with a place for each bucket, merged and renumbered.

use clew_platform::Pace;
use clew_query::{AggError, go_on_reducing};

use crate::value::key::number_of;

/// A bucket that was not kept.
pub(crate) const DROPPED: u32 = u32::MAX;

pub(crate) fn reach<T: Clone + Default>(values: &mut Vec<T>, at: u32) {
    if at as usize >= values.len() {
        values.resize(at as usize + 1, T::default());
    }
}

pub(crate) fn merge_each<T: Clone + Default>(
    mine: &mut Vec<T>,
    theirs: Vec<T>,
    parent_map: Option<&[u32]>,
    merge: impl Fn(&mut T, T),
) -> Result<(), AggError> {
    // Sketches and digests take microseconds each.
    let mut pace = Pace::of_blocks();
    for (parent, value) in theirs.into_iter().enumerate() {
        let parent = match parent_map {
            None => number_of(parent),
            // Arrays grow in steps; what lies beyond the parents was never written.
            Some(map) => match map.get(parent) {
                Some(parent) => *parent,
                None => break,
            },
        };
        go_on_reducing(&mut pace)?;
        reach(mine, parent);
        merge(&mut mine[parent as usize], value);
    }
    Ok(())
}

/// # Errors
/// Once the request is over.
pub(crate) fn follow_each<T: Clone + Default>(
    values: &mut Vec<T>,
    parents: &[u32],
) -> Result<(), AggError> {
    let mut pace = Pace::default();
    let old = std::mem::take(values);
    for (value, parent) in old.into_iter().zip(parents) {
        go_on_reducing(&mut pace)?;
        if *parent != DROPPED {
            reach(values, *parent);
            values[*parent as usize] = value;
        }
    }
    Ok(())
}
