//! Sources joined by an order and the gaps that may be between them.

use clew_query::{IntervalMode, IntervalScoring};

use super::source::{IntervalSource, TermSource};

/// As a rule is joined where intervals score in this way.
pub(crate) fn joined_for(
    scoring: IntervalScoring,
    sources: Vec<TermSource>,
    mode: IntervalMode,
    max_gaps: Option<u32>,
) -> TermSource {
    match scoring {
        IntervalScoring::Words if sources.len() > 1 => near(sources, mode, max_gaps),
        _ => joined(sources, mode, max_gaps),
    }
}

/// As spans are joined.
fn near(sources: Vec<TermSource>, mode: IntervalMode, max_gaps: Option<u32>) -> TermSource {
    IntervalSource::Near {
        sources,
        in_order: mode == IntervalMode::Ordered,
        slop: max_gaps.unwrap_or(u32::MAX),
    }
}

/// As the rules of `intervals` are joined.
pub(crate) fn joined(
    mut sources: Vec<TermSource>,
    mode: IntervalMode,
    max_gaps: Option<u32>,
) -> TermSource {
    match sources.len() {
        0 => return IntervalSource::nothing(),
        1 => return sources.remove(0),
        _ => {}
    }
    let whole = match mode {
        IntervalMode::Ordered => ordered(sources),
        IntervalMode::Unordered => unordered(sources),
        IntervalMode::UnorderedNoOverlap if max_gaps.is_none() => IntervalSource::Apart(sources),
        IntervalMode::UnorderedNoOverlap => return apart(sources, max_gaps),
    };
    with_gaps(whole, max_gaps)
}

fn with_gaps(source: TermSource, max_gaps: Option<u32>) -> TermSource {
    match max_gaps {
        None => source,
        Some(gaps) => source.each(|source| IntervalSource::MaxGaps(Box::new(source), gaps)),
    }
}

/// In any order, none over another, each next one within the gaps of those before it.
fn apart(sources: Vec<TermSource>, max_gaps: Option<u32>) -> TermSource {
    let whole = sources.into_iter().reduce(|all, next| {
        let either = IntervalSource::Any(vec![
            IntervalSource::Ordered(vec![all.clone(), next.clone()]),
            IntervalSource::Ordered(vec![next, all]),
        ]);
        with_gaps(either, max_gaps)
    });
    whole.unwrap_or_else(IntervalSource::nothing)
}

/// One after the other: those that are themselves such a row are part of it, and the gaps in them
/// are gaps of the whole.
fn ordered(sources: Vec<TermSource>) -> TermSource {
    let mut counted: Vec<(TermSource, usize)> = Vec::new();
    for source in flat(sources, |source| match source {
        IntervalSource::Ordered(inner) => Ok(inner),
        other => Err(other),
    }) {
        match counted.last_mut() {
            Some((have, times)) if *have == source => *times += 1,
            _ => counted.push((source, 1)),
        }
    }
    let mut sources = repeated(counted);
    if sources.len() == 1 {
        return sources.remove(0);
    }
    IntervalSource::Ordered(sources)
}

fn flat(
    sources: Vec<TermSource>,
    parts: impl Fn(TermSource) -> Result<Vec<TermSource>, TermSource>,
) -> Vec<TermSource> {
    let of_one = |source| parts(source).unwrap_or_else(|whole| vec![whole]);
    sources.into_iter().flat_map(of_one).collect()
}

fn repeated(counted: Vec<(TermSource, usize)>) -> Vec<TermSource> {
    let one = |(source, times)| match times {
        1 => source,
        _ => IntervalSource::Repeated(Box::new(source), times),
    };
    counted.into_iter().map(one).collect()
}

/// Equal sources must be found as often as they are given, not at one place.
fn unordered(sources: Vec<TermSource>) -> TermSource {
    let mut counted: Vec<(TermSource, usize)> = Vec::new();
    for source in flat(sources, |source| match source {
        IntervalSource::Unordered(inner) => Ok(inner),
        other => Err(other),
    }) {
        match counted.iter_mut().find(|(have, _)| *have == source) {
            Some((_, times)) => *times += 1,
            None => counted.push((source, 1)),
        }
    }
    let mut sources = repeated(counted);
    if sources.len() == 1 {
        return sources.remove(0);
    }
    IntervalSource::Unordered(sources)
}
