//! How rotation renames files: `app.log` becomes `app.log.1`, `app.log.2.gz`,
//! `app.log-20260101` or `app-20260101.log`.

/// The name without what a rotation adds.
pub(crate) fn stem(name: &str) -> String {
    let name = name
        .strip_suffix(".gz")
        .or(name.strip_suffix(".zst"))
        .unwrap_or(name);
    let bare = without_counter(name);
    if bare.len() < name.len() {
        return bare.to_owned();
    }
    // The extension may have been kept behind the counter.
    match name.rsplit_once('.') {
        Some((front, extension)) if !front.is_empty() => {
            format!("{}.{extension}", without_counter(front))
        }
        _ => name.to_owned(),
    }
}

/// Whether a rotation has renamed or copied the file.
pub(crate) fn is_rotated(name: &str) -> bool {
    stem(name) != name
}

/// Cuts off `.1`, `-20260101`, `.2026-01-01`, `-1767312000`: digits behind a separator, as often as
/// they come.
fn without_counter(name: &str) -> &str {
    let mut bare = name;
    loop {
        let front = bare.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let shorter = front
            .strip_suffix(['.', '-', '_'])
            .filter(|front| !front.is_empty());
        match shorter {
            Some(shorter) if front.len() < bare.len() => bare = shorter,
            _ => return bare,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_names_share_the_stem_of_the_live_one() {
        for name in [
            "app.log",
            "app.log.1",
            "app.log.12.gz",
            "app.log.12.zst",
            "app.log-20260101",
            "app.log-20260101.gz",
            "app.log.2026-01-01",
            "app-20260101.log",
            "app.1.log",
            "app.log.gz",
            "app-20260101-1767312000.log.gz",
        ] {
            assert_eq!(stem(name), "app.log", "{name}");
            assert_eq!(is_rotated(name), name != "app.log", "{name}");
        }
        for name in [
            "app", "app2.log", "2026", ".1", "7.log", "messages", "a.b.c",
        ] {
            assert_eq!(stem(name), name);
        }
        assert_eq!(stem("messages-20260101"), "messages");
    }
}
