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
