//! A running collector's figures for Prometheus: kept as the run last told them, which it does once a second if asked to.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clew_collect::{BufferFigures, Counters, Progress, RunFigures};
use prometheus::proto::MetricFamily;
use prometheus::{CounterVec, Encoder, GaugeVec, IntCounterVec, Opts, Registry, TextEncoder};

/// How old figures may be.
const KEPT: Duration = Duration::from_secs(1);

/// The figures of the run that goes on.
#[derive(Debug, Default)]
pub(crate) struct Figures(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    figures: RunFigures,
    told: Option<Instant>,
}

impl Last {
    fn is_old(&self, now: Instant) -> bool {
        let age = |told| now.saturating_duration_since(told);
        self.told.is_none_or(|told| age(told) >= KEPT)
    }
}

impl Figures {
    fn last(&self) -> std::sync::MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The figures as metrics, with their age: a run that waits for an output tells nothing meanwhile.
    pub(crate) fn families(&self) -> anyhow::Result<Vec<MetricFamily>> {
        let last = self.last();
        let registry = Registry::new();
        let help = "How old these figures are: while outputs are waited for, none are told.";
        let age = GaugeVec::new(Opts::new("collect_figures_age_seconds", help), &[])?;
        registry.register(Box::new(age.clone()))?;
        let seconds = last.told.map_or(0.0, |told| told.elapsed().as_secs_f64());
        age.with_label_values::<&str>(&[]).set(seconds);
        let mut all = registry.gather();
        all.extend(families(&last.figures)?);
        Ok(all)
    }

    /// The whole page in Prometheus' text format.
    pub(super) fn page(&self) -> anyhow::Result<String> {
        let mut page = Vec::new();
        TextEncoder::new().encode(&self.families()?, &mut page)?;
        Ok(String::from_utf8(page)?)
    }
}

impl Progress for Figures {
    fn report(&self, _: &Counters) {}

    fn wants_figures(&self) -> bool {
        self.last().is_old(Instant::now())
    }

    fn figures(&self, figures: RunFigures) {
        *self.last() = Last {
            figures,
            told: Some(Instant::now()),
        };
    }
}

/// Name, help and value of each counter that a run has once.
#[rustfmt::skip]
fn totals(counters: &Counters, buffers: &[BufferFigures]) -> [(&'static str, &'static str, u64); 9] {
    let retries = buffers.iter().map(|buffer| buffer.counts.retries).sum::<u64>();
    [
        ("collect_lines_read_total", "Lines, and documents that were sent, taken from inputs.", counters.lines_read),
        ("collect_bytes_read_total", "Bytes taken from inputs.", counters.bytes_read),
        ("collect_parse_errors_total", "Lines their parser or processors could not take.", counters.parse_errors),
        ("collect_lines_truncated_total", "Lines that were cut because they were too long.", counters.lines_truncated),
        ("collect_lines_dropped_total", "Lines that came as datagrams while there was no room.", counters.lines_dropped),
        ("collect_requests_refused_total", "Requests with events that were refused.", counters.requests_refused),
        ("collect_handshakes_failed_total", "Handshakes of TLS that failed.", counters.handshakes_failed),
        ("collect_retries_total", "Sendings of events beyond their first.", counters.retries + retries),
        ("collect_files_restarted_total", "Files that were truncated or replaced in place.", counters.files_restarted),
    ]
}

/// What became of events.
fn results(counters: &Counters) -> [(&'static str, u64); 5] {
    [
        ("delivered", counters.events_acked),
        ("duplicate", counters.events_duplicate),
        ("rejected", counters.events_rejected),
        ("dropped", counters.events_dropped),
        ("unrouted", counters.events_unrouted),
    ]
}

fn families(figures: &RunFigures) -> anyhow::Result<Vec<MetricFamily>> {
    let registry = Registry::new();
    let counters = &figures.counters;
    for (name, help, value) in totals(counters, &figures.buffers) {
        counter(&registry, (name, help), &[])?
            .with_label_values::<&str>(&[])
            .inc_by(value);
    }
    let help = "Events, by what became of them.";
    let events = counter(&registry, ("collect_events_total", help), &["result"])?;
    for (result, value) in results(counters) {
        events.with_label_values(&[result]).inc_by(value);
    }
    let help = "What processors could not do, by step and reason.";
    let labels = &["step", "tag", "reason"];
    let failures = counter(&registry, ("collect_failures_total", help), labels)?;
    for one in &figures.failures {
        let tag = one.tag.as_deref().unwrap_or("");
        let labels = [one.step, tag, one.reason.as_str()];
        failures.with_label_values(&labels).inc_by(one.count);
    }
    of_buffers(&registry, &figures.buffers)?;
    let help = "Time of the collecting thread, by what it did.";
    let seconds = CounterVec::new(Opts::new("collect_stage_seconds_total", help), &["stage"])?;
    registry.register(Box::new(seconds.clone()))?;
    for (stage, time) in figures.times.named() {
        seconds
            .with_label_values(&[stage])
            .inc_by(time.as_secs_f64());
    }
    let files = gauge(
        &registry,
        ("collect_files", "Files, by what is done with them."),
        &["state"],
    )?;
    for (state, count) in [
        ("read", counters.files_found),
        ("skipped", counters.files_skipped),
    ] {
        files.with_label_values(&[state]).set(as_f64(count));
    }
    let help = "Patterns of lines that processors have found.";
    gauge(&registry, ("collect_patterns", help), &[])?
        .with_label_values::<&str>(&[])
        .set(as_f64(counters.patterns));
    let help = "Bytes of a file that are not delivered yet.";
    let bytes = gauge(&registry, ("collect_lag_bytes", help), &["path"])?;
    let help = "How long ago what is delivered of a file last grew, if there is more.";
    let seconds = gauge(&registry, ("collect_lag_seconds", help), &["path"])?;
    for file in &figures.files {
        let path = file.path.to_string_lossy();
        if let Some(lag) = file.lag_bytes {
            bytes.with_label_values(&[&path]).set(as_f64(lag));
        }
        seconds
            .with_label_values(&[&path])
            .set(file.lag.as_secs_f64());
    }
    Ok(registry.gather())
}

/// How full buffers of outputs are, and what became of what they have taken.
fn of_buffers(registry: &Registry, buffers: &[BufferFigures]) -> anyhow::Result<()> {
    let help = "Bytes on disk that wait for an output, or were just sent to it.";
    let bytes = gauge(registry, ("collect_buffer_bytes", help), &["output"])?;
    let help = "Events that were in the buffer of an output, by what became of them.";
    let labels = &["output", "result"];
    let events = counter(registry, ("collect_buffer_events_total", help), labels)?;
    let help =
        "Bytes of the buffer of an output that were left out, as they were damaged or broken off.";
    let name = "collect_buffer_damaged_bytes_total";
    let damaged = counter(registry, (name, help), &["output"])?;
    for buffer in buffers {
        let (output, counts) = (buffer.output.as_str(), &buffer.counts);
        bytes.with_label_values(&[output]).set(as_f64(counts.bytes));
        damaged
            .with_label_values(&[output])
            .inc_by(counts.damaged_bytes);
        for (result, count) in [
            ("delivered", counts.delivered),
            ("rejected", counts.rejected),
            ("dropped", counts.dropped),
        ] {
            events.with_label_values(&[output, result]).inc_by(count);
        }
    }
    Ok(())
}

fn counter(
    registry: &Registry,
    (name, help): (&str, &str),
    labels: &[&str],
) -> anyhow::Result<IntCounterVec> {
    let counter = IntCounterVec::new(Opts::new(name, help), labels)?;
    registry.register(Box::new(counter.clone()))?;
    Ok(counter)
}

fn gauge(
    registry: &Registry,
    (name, help): (&str, &str),
    labels: &[&str],
) -> anyhow::Result<GaugeVec> {
    let gauge = GaugeVec::new(Opts::new(name, help), labels)?;
    registry.register(Box::new(gauge.clone()))?;
    Ok(gauge)
}

/// Prometheus' numbers are floats.
#[allow(
    clippy::cast_precision_loss,
    reason = "beyond 2^53 the last digits are of no interest"
)]
fn as_f64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use clew_collect::{BufferCounts, FileLag};

    use super::*;

    #[test]
    fn figures_are_metrics_and_are_asked_for_once_a_second() {
        let figures = Figures::default();
        assert!(figures.wants_figures());
        figures.figures(RunFigures {
            counters: Counters {
                lines_read: 7,
                events_acked: 5,
                retries: 2,
                ..Counters::default()
            },
            files: vec![FileLag {
                path: "/l/\"a\"".into(),
                lag_bytes: Some(12),
                lag: Duration::from_millis(1_500),
            }],
            buffers: vec![BufferFigures {
                output: "outputs[0] (http://s:9200)".to_owned(),
                counts: BufferCounts {
                    bytes: 80,
                    rejected: 3,
                    damaged_bytes: 40,
                    retries: 6,
                    ..BufferCounts::default()
                },
                rejected_in: "/r.ndjson".into(),
            }],
            ..RunFigures::default()
        });
        let last = figures.last();
        let told = last.told.unwrap();
        assert!(!last.is_old(told) && last.is_old(told + KEPT));
        drop(last);
        let page = figures.page().unwrap();
        for line in [
            "collect_lines_read_total 7",
            "collect_retries_total 8",
            "collect_events_total{result=\"delivered\"} 5",
            "collect_lag_bytes{path=\"/l/\\\"a\\\"\"} 12",
            "collect_lag_seconds{path=\"/l/\\\"a\\\"\"} 1.5",
            "collect_stage_seconds_total{stage=\"deliver\"} 0",
            "collect_buffer_bytes{output=\"outputs[0] (http://s:9200)\"} 80",
            "collect_buffer_damaged_bytes_total{output=\"outputs[0] (http://s:9200)\"} 40",
            "collect_buffer_events_total{output=\"outputs[0] (http://s:9200)\",result=\"rejected\"} 3",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}: {page}");
        }
    }
}
