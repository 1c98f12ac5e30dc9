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
mod tests {
    use super::*;

    /// Reads low, high and flood stage; an empty text is one that was not given.
    fn read(texts: [&str; 3]) -> Result<[String; 3], String> {
        let given = |name: &str| {
            let at = DISK_WATERMARKS.iter().position(|known| *known == name)?;
            Some(texts[at].to_string()).filter(|text| !text.is_empty())
        };
        let limits = read_disk_limits(given, &DiskLimits::default())?;
        Ok([limits.low, limits.high, limits.flood_stage].map(|mark| mark.to_string()))
    }

    #[test]
    fn marks_are_percentages_ratios_or_bytes() {
        for (given, want) in [
            (["", "", ""], ["85%", "90%", "95%"]),
            (["50%", "", ""], ["50%", "90%", "95%"]),
            (["0.5", "60.5%", "1.0"], ["50%", "60.5%", "100%"]),
            (["90%", "90%", "90%"], ["90%", "90%", "90%"]),
            (["3gb", "2gb", "500mb"], ["3gb", "2gb", "500mb"]),
            (["10b", "10b", "10b"], ["10b", "10b", "10b"]),
            (["0%", "0%", "0%"], ["0%", "0%", "0%"]),
        ] {
            assert_eq!(read(given).unwrap(), want.map(String::from), "{given:?}");
        }
    }

    #[test]
    fn contradictions_are_refused_in_the_known_words() {
        for (given, want) in [
            (
                ["95%", "", ""],
                "low disk watermark [95%] more than high disk watermark [90%]",
            ),
            (
                ["", "96%", ""],
                "high disk watermark [96%] more than flood stage disk watermark [95%]",
            ),
            (
                ["1gb", "2gb", "1gb"],
                "low disk watermark [1gb] less than high disk watermark [2gb]",
            ),
            (
                ["3gb", "2gb", "3gb"],
                "high disk watermark [2gb] less than flood stage disk watermark [3gb]",
            ),
            (
                ["500mb", "", ""],
                "unable to consistently parse [cluster.routing.allocation.disk.watermark.low=500mb], \
                 [cluster.routing.allocation.disk.watermark.high=90%], and \
                 [cluster.routing.allocation.disk.watermark.flood_stage=95%] as percentage or bytes",
            ),
            (
                ["101%", "", ""],
                "failed to parse setting [cluster.routing.allocation.disk.watermark.low] with value \
                 [101%] as a size in bytes: unit is missing or unrecognized",
            ),
            (
                ["", "500", ""],
                "failed to parse setting [cluster.routing.allocation.disk.watermark.high] with value \
                 [500] as a size in bytes: unit is missing or unrecognized",
            ),
            (
                ["", "", "-1%"],
                "failed to parse setting [cluster.routing.allocation.disk.watermark.flood_stage] with \
                 value [-1%] as a size in bytes: unit is missing or unrecognized",
            ),
            (
                ["NaN", "", ""],
                "failed to parse setting [cluster.routing.allocation.disk.watermark.low] with value \
                 [NaN] as a size in bytes: unit is missing or unrecognized",
            ),
        ] {
            assert_eq!(read(given).unwrap_err(), want, "{given:?}");
        }
    }

    #[test]
    fn the_switch_and_the_interval_are_checked() {
        let read = |name: &'static str, text: &'static str| {
            let given = move |asked: &str| (asked == name).then(|| text.to_string());
            read_disk_limits(given, &DiskLimits::default())
        };
        assert!(!read(DISK_THRESHOLD_ENABLED, "false").unwrap().enabled);
        assert_eq!(
            read(DISK_THRESHOLD_ENABLED, "no").unwrap_err(),
            "Failed to parse value [no] as only [true] or [false] are allowed."
        );
        let every = read(DISK_LOOK_INTERVAL, "1m").unwrap().look_every;
        assert_eq!(every, Duration::from_secs(60));
        assert_eq!(
            read(DISK_LOOK_INTERVAL, "9s").unwrap_err(),
            "failed to parse value [9s] for setting [cluster.info.update.interval], must be >= [10s]"
        );
        assert!(read(DISK_LOOK_INTERVAL, "-1").is_err());
        assert!(read(DISK_LOOK_INTERVAL, "soon").is_err());
    }
}
