//! The log's part of `GET /_metrics`: its histograms and its subscribers' lag.

use std::collections::BTreeMap;

use clew_log::{Histogram, Log};
use prometheus::Registry;
use prometheus::proto::{self, MetricFamily, MetricType};

use crate::figure::Figure;

/// What the log counts by itself, as it is now.
pub(crate) fn families(log: &Log) -> anyhow::Result<Vec<MetricFamily>> {
    let stats = log.stats();
    let mut families = vec![
        histogram(
            "log_append_us",
            "Time from an append's order to its acknowledgement, in microseconds.",
            &stats.append_latency,
        ),
        histogram(
            "log_sync_us",
            "Time of an fdatasync, in microseconds.",
            &stats.sync_latency,
        ),
        histogram(
            "log_group_entries",
            "Entries that went to the disk with one write.",
            &stats.group_entries,
        ),
    ];
    families.extend(figures(log)?.gather());
    Ok(families)
}

fn figures(log: &Log) -> anyhow::Result<Registry> {
    let registry = Registry::new();
    let stats = log.stats();
    let subscribers = log.subscribers();
    for (name, help, value) in [
        (
            "log_first_glsn",
            "Lowest position that the log keeps.",
            log.first().get(),
        ),
        ("log_bytes", "Bytes of all log files.", log.bytes()),
        ("log_files", "Log files.", stats.files as u64),
        (
            "log_pending_bytes",
            "Bytes that wait in memory for the disk.",
            stats.pending_bytes as u64,
        ),
        (
            "log_append_waits_total",
            "Appends that had to wait for room.",
            stats.append_waits,
        ),
        (
            "log_resumptions_total",
            "Times that the log went on in a new file after its disk had failed.",
            stats.resumptions,
        ),
        (
            "log_subscribers",
            "Subscriptions of the log that are open.",
            subscribers.len() as u64,
        ),
    ] {
        Figure::new(&registry, name, help, &[])?.tell(&[], value);
    }
    // Several may have one name; what matters is the one that is furthest behind.
    let mut lags = BTreeMap::new();
    for subscriber in subscribers {
        let lag = lags.entry(subscriber.name).or_insert(0);
        *lag = subscriber.lag.max(*lag);
    }
    let help = "Entries between a subscription and the end of the log.";
    let all = Figure::new(&registry, "log_subscriber_lag_entries", help, &["name"])?;
    for (name, lag) in lags {
        all.tell(&[&name], lag);
    }
    Ok(registry)
}

fn histogram(name: &str, help: &str, values: &Histogram) -> MetricFamily {
    let mut count = 0;
    let mut buckets = Vec::new();
    for (index, in_bucket) in values.counts.iter().enumerate() {
        count += in_bucket;
        // The last count has no bound: it is only in the total.
        if let Some(bound) = values.bounds.get(index) {
            let mut bucket = proto::Bucket::default();
            bucket.set_upper_bound(*bound as f64);
            bucket.set_cumulative_count(count);
            buckets.push(bucket);
        }
    }
    let mut histogram = proto::Histogram::default();
    histogram.set_sample_count(count);
    histogram.set_sample_sum(values.sum as f64);
    histogram.set_bucket(buckets);
    let mut metric = proto::Metric::default();
    metric.set_histogram(histogram);
    let mut family = MetricFamily::default();
    family.set_name(name.to_string());
    family.set_help(help.to_string());
    family.set_field_type(MetricType::HISTOGRAM);
    family.set_metric(vec![metric]);
    family
}

#[cfg(test)]
mod tests {
    use prometheus::{Encoder, TextEncoder};

    use super::*;

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_infinity() {
        let values = Histogram {
            bounds: &[10, 100],
            counts: vec![3, 0, 2],
            sum: 1234,
        };
        let mut page = Vec::new();
        let family = histogram("x_us", "A thing.", &values);
        TextEncoder::new().encode(&[family], &mut page).unwrap();
        assert_eq!(
            String::from_utf8(page).unwrap(),
            "# HELP x_us A thing.\n# TYPE x_us histogram\n\
             x_us_bucket{le=\"10\"} 3\nx_us_bucket{le=\"100\"} 3\nx_us_bucket{le=\"+Inf\"} 5\n\
             x_us_sum 1234\nx_us_count 5\n"
        );
    }
}
