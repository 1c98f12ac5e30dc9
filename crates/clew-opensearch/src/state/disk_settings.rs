//! Settings that say how full the disk may get, read as OpenSearch reads them and refused in its words.

use std::time::Duration;

use clew_engine::{DiskLimits, Watermark};

use crate::http::setting_values::{parse_bytes, parse_time};

/// Whether the disk is watched.
pub const DISK_THRESHOLD_ENABLED: &str = "cluster.routing.allocation.disk.threshold_enabled";
/// The low, the high and the flood-stage watermark.
pub const DISK_WATERMARKS: [&str; 3] = [
    "cluster.routing.allocation.disk.watermark.low",
    "cluster.routing.allocation.disk.watermark.high",
    "cluster.routing.allocation.disk.watermark.flood_stage",
];
/// How often the disk is looked at.
pub const DISK_LOOK_INTERVAL: &str = "cluster.info.update.interval";

const LOOK_INTERVAL_MIN: Duration = Duration::from_secs(10);

/// The limits with what was given in place of the defaults.
///
/// # Errors
/// The first value that cannot be read, or values that contradict each other.
pub fn read_disk_limits(
    given: impl Fn(&str) -> Option<String>,
    defaults: &DiskLimits,
) -> Result<DiskLimits, String> {
    let marks = [defaults.low, defaults.high, defaults.flood_stage];
    let texts: Vec<String> = DISK_WATERMARKS
        .iter()
        .zip(marks)
        .map(|(name, default)| given(name).unwrap_or_else(|| default.to_string()))
        .collect();
    for (name, text) in DISK_WATERMARKS.iter().zip(&texts) {
        if ratio(text).is_none() {
            parse_bytes(name, text).map_err(|error| error.reason())?;
        }
    }
    let [low, high, flood_stage] = ratios(&texts)?
        .or(bytes(&texts)?)
        .ok_or_else(|| mixed(&texts))?;
    let enabled = match given(DISK_THRESHOLD_ENABLED).as_deref() {
        None => defaults.enabled,
        Some("true") => true,
        Some("false") => false,
        Some(other) => {
            return Err(format!(
                "Failed to parse value [{other}] as only [true] or [false] are allowed."
            ));
        }
    };
    let look_every = match given(DISK_LOOK_INTERVAL) {
        None => defaults.look_every,
        Some(text) => look_interval(&text)?,
    };
    Ok(DiskLimits {
        enabled,
        low,
        high,
        flood_stage,
        look_every,
    })
}

/// The defaults as settings, by name.
pub(crate) fn shown_defaults(defaults: &DiskLimits) -> Vec<(&'static str, String)> {
    let marks = [defaults.low, defaults.high, defaults.flood_stage];
    let marks = DISK_WATERMARKS.iter().zip(marks);
    let mut shown: Vec<_> = marks
        .map(|(name, mark)| (*name, mark.to_string()))
        .collect();
    shown.push((DISK_THRESHOLD_ENABLED, defaults.enabled.to_string()));
    let seconds = defaults.look_every.as_secs();
    shown.push((DISK_LOOK_INTERVAL, format!("{seconds}s")));
    shown
}

/// `85%` or `0.85`, in millionths.
fn ratio(text: &str) -> Option<u32> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let number: f64 = number.trim().parse().ok()?;
    if !(0.0..=whole).contains(&number) {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is from 0 to a million"
    )]
    let millionths = (number / whole * 1e6).round() as u32;
    Some(millionths)
}

fn ratios(texts: &[String]) -> Result<Option<[Watermark; 3]>, String> {
    let read: Option<Vec<u32>> = texts.iter().map(|text| ratio(text)).collect();
    let Some([low, high, flood_stage]) = read.and_then(|read| <[u32; 3]>::try_from(read).ok())
    else {
        return Ok(None);
    };
    check_order((low <= high, high <= flood_stage), "more", texts)?;
    let marks = [low, high, flood_stage];
    Ok(Some(marks.map(Watermark::UsedMillionths)))
}

fn bytes(texts: &[String]) -> Result<Option<[Watermark; 3]>, String> {
    let pairs = DISK_WATERMARKS.iter().zip(texts);
    let read: Option<Vec<u64>> = pairs
        .map(|(name, text)| parse_bytes(name, text).ok())
        .collect();
    let Some([low, high, flood_stage]) = read.and_then(|read| <[u64; 3]>::try_from(read).ok())
    else {
        return Ok(None);
    };
    check_order((low >= high, high >= flood_stage), "less", texts)?;
    let marks = [low, high, flood_stage];
    Ok(Some(marks.map(Watermark::FreeBytes)))
}

fn check_order(
    (low_first, high_first): (bool, bool),
    word: &str,
    texts: &[String],
) -> Result<(), String> {
    let [low, high, flood_stage] = texts else {
        return Ok(());
    };
    if !low_first {
        return Err(format!(
            "low disk watermark [{low}] {word} than high disk watermark [{high}]"
        ));
    }
    if !high_first {
        return Err(format!(
            "high disk watermark [{high}] {word} than flood stage disk watermark [{flood_stage}]"
        ));
    }
    Ok(())
}

fn mixed(texts: &[String]) -> String {
    let pairs = DISK_WATERMARKS.iter().zip(texts);
    let pairs: Vec<String> = pairs
        .map(|(name, text)| format!("[{name}={text}]"))
        .collect();
    let (last, first) = pairs.split_last().expect("there are three");
    let first = first.join(", ");
    format!("unable to consistently parse {first}, and {last} as percentage or bytes")
}

fn look_interval(text: &str) -> Result<Duration, String> {
    let read = parse_time(DISK_LOOK_INTERVAL, text).map_err(|error| error.reason())?;
    read.filter(|every| *every >= LOOK_INTERVAL_MIN).ok_or_else(|| {
        format!(
            "failed to parse value [{text}] for setting [{DISK_LOOK_INTERVAL}], must be >= [10s]"
        )
    })
}

#[cfg(test)]
mod tests;
