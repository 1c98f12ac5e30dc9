//! Dates as others write them, in our words.

/// The parts of a layout of Go as letters of Java, the longer ones first.
const PARTS: [(&str, &str); 28] = [
    ("2006", "yyyy"),
    ("January", "MMMM"),
    ("Jan", "MMM"),
    ("Monday", "EEEE"),
    ("Mon", "EEE"),
    ("002", "DDD"),
    ("01", "MM"),
    ("02", "dd"),
    ("_2", "d"),
    // One digit is an hour, too.
    ("15", "H"),
    ("03", "hh"),
    ("04", "mm"),
    ("05", "ss"),
    ("PM", "a"),
    ("pm", "a"),
    ("Z07:00", "XXX"),
    ("Z0700", "XX"),
    ("Z07", "X"),
    ("-07:00", "xxx"),
    ("-0700", "xx"),
    ("-07", "x"),
    ("MST", "z"),
    ("06", "yy"),
    ("1", "M"),
    ("2", "d"),
    ("3", "h"),
    ("4", "m"),
    ("5", "s"),
];

/// A layout of Go as patterns of Java: Go reads a fraction behind the seconds whether the layout has one or not.
pub(super) fn java_formats(layout: &str) -> Option<Vec<String>> {
    if let "UNIX" | "UNIX_MS" = layout {
        return Some(vec![layout.to_owned()]);
    }
    let (mut out, mut fraction_at) = (String::new(), None);
    let mut rest = layout;
    while let Some(letter) = rest.chars().next() {
        if let Some((digit, digits)) = fraction(rest) {
            // One of nines may be missing, as if the layout had none.
            if digit == b'0' {
                out.push(letter);
                out.push_str(&"S".repeat(digits));
                fraction_at = None;
            }
            rest = &rest[1 + digits..];
        } else if let Some((part, pattern)) =
            PARTS.into_iter().find(|(part, _)| rest.starts_with(part))
        {
            out.push_str(pattern);
            rest = &rest[part.len()..];
            if pattern.starts_with('s') {
                fraction_at = Some(out.len());
            }
        } else if letter.is_ascii_digit() {
            return None;
        } else {
            // What has a meaning in Java stands for itself.
            match letter.is_ascii_alphabetic() || "[]{}#|".contains(letter) {
                true => out.push_str(&format!("'{letter}'")),
                false => out.push(letter),
            }
            rest = &rest[letter.len_utf8()..];
        }
    }
    let (before, behind) = out.split_at(fraction_at.unwrap_or(out.len()));
    let with = |fraction: &str| format!("{before}{fraction}{behind}").replace("''", "");
    let fractions: &[&str] = match fraction_at {
        Some(_) => &["", ".S", ",S"],
        None => &[""],
    };
    Some(fractions.iter().map(|fraction| with(fraction)).collect())
}

/// The digit, and how many of it, of the fraction of a second that a layout begins with: `.000`, `,999`.
fn fraction(layout: &str) -> Option<(u8, usize)> {
    let digits = layout.strip_prefix(['.', ','])?.as_bytes();
    let digit = *digits.first()?;
    let count = digits.iter().take_while(|other| **other == digit).count();
    let is_all = !digits.get(count).is_some_and(u8::is_ascii_digit);
    (is_all && matches!(digit, b'0' | b'9')).then_some((digit, count))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_go_read_what_go_reads_by_them() {
        let check = |layout: &str, expected: &[&str]| {
            assert_eq!(java_formats(layout).unwrap(), expected, "{layout}");
        };
        check("UNIX_MS", &["UNIX_MS"]);
        check(
            "2006-01-02T15:04:05Z07:00",
            &[
                "yyyy-MM-dd'T'H:mm:ssXXX",
                "yyyy-MM-dd'T'H:mm:ss.SXXX",
                "yyyy-MM-dd'T'H:mm:ss,SXXX",
            ],
        );
        check("02.01.2006 15:04", &["dd.MM.yyyy H:mm"]);
        check("2.1.06 3:04pm", &["d.M.yy h:mma"]);
        check("20060102150405,000", &["yyyyMMddHmmss,SSS"]);
        check(
            "2006 002 5.999 -07",
            &["yyyy DDD s x", "yyyy DDD s.S x", "yyyy DDD s,S x"],
        );
        check("[02/Jan/2006 at 04]", &["'['dd/MMM/yyyy 'at' mm']'"]);
        assert_eq!(java_formats("2006-01-02 7"), None);
    }
}
