//! Dates as others write them, in our words.

/// A layout of Go as a pattern of Java.
pub(super) fn java_format(layout: &str) -> Option<String> {
    if let "UNIX" | "UNIX_MS" = layout {
        return Some(layout.to_owned());
    }
    const PARTS: [(&str, &str); 24] = [
        ("2006", "yyyy"),
        ("January", "MMMM"),
        ("Jan", "MMM"),
        ("Monday", "EEEE"),
        ("Mon", "EEE"),
        ("01", "MM"),
        ("02", "dd"),
        ("_2", "d"),
        ("15", "HH"),
        ("03", "hh"),
        ("04", "mm"),
        ("05", "ss"),
        ("PM", "a"),
        ("Z07:00", "XXX"),
        ("Z0700", "XX"),
        ("-07:00", "xxx"),
        ("-0700", "xx"),
        ("MST", "z"),
        ("06", "yy"),
        ("1", "M"),
        ("2", "d"),
        ("3", "h"),
        ("4", "m"),
        ("5", "s"),
    ];
    let mut out = String::new();
    let mut rest = layout;
    'next: while let Some(letter) = rest.chars().next() {
        if letter == '.' || letter == ',' {
            let digits = rest[1..]
                .bytes()
                .take_while(|byte| matches!(byte, b'0' | b'9'))
                .count();
            if digits > 0 {
                out.push(letter);
                out.push_str(&"S".repeat(digits));
                rest = &rest[1 + digits..];
                continue;
            }
        }
        for (part, pattern) in PARTS {
            if let Some(behind) = rest.strip_prefix(part) {
                out.push_str(pattern);
                rest = behind;
                continue 'next;
            }
        }
        if letter.is_ascii_digit() {
            return None;
        }
        match letter.is_ascii_alphabetic() {
            true => out.push_str(&format!("'{letter}'")),
            false => out.push(letter),
        }
        rest = &rest[letter.len_utf8()..];
    }
    Some(out.replace("''", ""))
}

/// The letters of a date, `%Y.%m.%d`, in our words: `%{+yyyy.MM.dd}`.
pub(super) fn dates_of(written: &str) -> String {
    const LETTERS: [(&str, &str); 10] = [
        ("%Y", "yyyy"),
        ("%m", "MM"),
        ("%d", "dd"),
        ("%H", "HH"),
        ("%M", "mm"),
        ("%S", "ss"),
        ("%y", "yy"),
        ("%j", "DDD"),
        ("%F", "yyyy-MM-dd"),
        ("%b", "MMM"),
    ];
    let letter = |text: &str| LETTERS.into_iter().find(|(ours, _)| text.starts_with(ours));
    let mut out = String::new();
    let mut rest = written;
    while let Some(next) = rest.chars().next() {
        if letter(rest).is_none() {
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        }
        // Letters with signs between them are one date.
        out.push_str("%{+");
        while let Some((read, java)) = letter(rest) {
            out.push_str(java);
            rest = &rest[read.len()..];
            let sign = rest.chars().next().filter(|sign| "._-".contains(*sign));
            if let Some(sign) = sign.filter(|_| letter(&rest[1..]).is_some()) {
                out.push(sign);
                rest = &rest[1..];
            }
        }
        out.push('}');
    }
    out
}
