//! Times in few signs, or without a year, at the beginning of lines: Spark's, HDFS', MySQL's before 5.7, Android's, Erlang's, those
//! of logs of AWS and of supercomputers. They are taken only with what these programs write around them.

use super::elsewhere::{LineHead, timed};
use super::plain::level_word;
use super::stamp::{
    NO_YEAR, Stamp, common_log, expect, four, fraction, iso_ms, named_day, time_of_day, two,
    with_year, zone,
};
use super::token::{level, split, word};
use super::{Civil, Times};

/// What a line that begins with a digit says.
pub(super) fn number_first<'a>(line: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    let stamped = spark(line)
        .or_else(|| hdfs(line))
        .or_else(|| mysql(line))
        .or_else(|| mariadb(line))
        .or_else(|| bucket(line))
        .or_else(|| basic(line))
        .or_else(|| telephone(line))
        .or_else(|| dotted(line));
    if let Some((stamp, rest)) = stamped {
        return Some(timed((stamp.epoch_ms(times), rest)));
    }
    android(line, times).or_else(|| flow(line).map(timed))
}

/// `26/11/26 10:00:01 INFO`, Spark's. The level has to follow, and the year to be no month, since others have the day or the month
/// first.
pub(super) fn spark(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    expect(bytes, 2, b'/')?;
    expect(bytes, 5, b'/')?;
    expect(bytes, 8, b' ')?;
    let year = 2000 + i16::from(two(bytes, 0).filter(|year| *year > 12)?);
    let civil = time_of_day(bytes, 9, Civil::day(year, two(bytes, 3)?, two(bytes, 6)?))?;
    let (millisecond, length) = fraction(bytes, 17);
    let rest = text.get(17 + length..)?;
    level_word(word(rest.trim_start())?.0)?;
    let civil = Civil {
        millisecond,
        ..civil
    };
    Some((Stamp::Local(civil), rest))
}

/// `261126`.
fn short_day(bytes: &[u8]) -> Option<Civil> {
    let year = 2000 + i16::from(two(bytes, 0)?);
    Some(Civil::day(year, two(bytes, 2)?, two(bytes, 4)?))
}

/// `081109 203615 148 INFO`: with the number of a thread, and the level.
pub(super) fn hdfs(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    expect(bytes, 6, b' ')?;
    let civil = Civil {
        hour: two(bytes, 7)?,
        minute: two(bytes, 9)?,
        second: two(bytes, 11)?,
        ..short_day(bytes)?
    }
    .checked()?;
    let rest = text.get(13..)?;
    let (thread, behind) = word(rest.strip_prefix(' ')?)?;
    let is_number = thread.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && level_word(word(behind)?.0).is_some()).then_some((Stamp::Local(civil), rest))
}

/// `261126 10:00:01`, and `261126  9:00:01`, as MySQL wrote times before 5.7.
pub(super) fn mysql(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    expect(bytes, 6, b' ')?;
    expect(bytes, 9, b':')?;
    expect(bytes, 12, b':')?;
    let hour = match bytes.get(7)? {
        b' ' => two(&[b'0', *bytes.get(8)?], 0)?,
        _ => two(bytes, 7)?,
    };
    let civil = Civil {
        hour,
        minute: two(bytes, 10)?,
        second: two(bytes, 13)?,
        ..short_day(bytes)?
    }
    .checked()?;
    let rest = text.get(15..)?;
    (rest.is_empty() || rest.starts_with([' ', '\n'])).then_some((Stamp::Local(civil), rest))
}

/// `2026-11-26  9:00:01 0 [Note] x`, as MariaDB writes hours of one digit.
pub(super) fn mariadb(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    for (at, byte) in [
        (4, b'-'),
        (7, b'-'),
        (10, b' '),
        (11, b' '),
        (13, b':'),
        (16, b':'),
    ] {
        expect(bytes, at, byte)?;
    }
    let civil = Civil {
        hour: two(&[b'0', *bytes.get(12)?], 0)?,
        minute: two(bytes, 14)?,
        second: two(bytes, 17)?,
        ..Civil::day(four(bytes, 0)?, two(bytes, 5)?, two(bytes, 8)?)
    }
    .checked()?;
    let rest = text.get(19..)?;
    rest.starts_with(' ').then_some((Stamp::Local(civil), rest))
}

/// `OWNER BUCKET [26/Nov/2026:10:00:01 +0000] x`, as S3 writes requests; ids of owners have 64 digits.
fn bucket(text: &str) -> Option<(Stamp, &str)> {
    const OWNER_BYTES: usize = 64;
    expect(text.as_bytes(), OWNER_BYTES, b' ')?;
    let (owner, behind) = word(text)?;
    let is_owner = owner.len() == OWNER_BYTES && owner.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_owner.then_some(())?;
    let (_, behind) = word(behind)?;
    common_log(behind.strip_prefix('[')?)
}

/// `20261126T100001Z`, `20261126 10:00:01,123`.
fn basic(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    let date = Civil::day(four(bytes, 0)?, two(bytes, 4)?, two(bytes, 6)?);
    let (civil, at) = match bytes.get(8)? {
        b' ' => (time_of_day(bytes, 9, date)?, 17),
        b'T' => {
            let civil = Civil {
                hour: two(bytes, 9)?,
                minute: two(bytes, 11)?,
                second: two(bytes, 13)?,
                ..date
            };
            (civil.checked()?, 15)
        }
        _ => return None,
    };
    let (millisecond, length) = fraction(bytes, at);
    let civil = Civil {
        millisecond,
        ..civil
    };
    let end = at + length;
    Some(match zone(bytes, end) {
        Some((offset, length)) => (Stamp::Zoned(civil, offset), text.get(end + length..)?),
        None => (Stamp::Local(civil), text.get(end..)?),
    })
}

/// `20261126-9:5:1:78|`, as apps of telephones write it.
pub(super) fn telephone(text: &str) -> Option<(Stamp, &str)> {
    /// Of `23:59:59:999`.
    const CLOCK_BYTES_MAX: usize = 12;
    let bytes = text.as_bytes();
    let date = Civil::day(four(bytes, 0)?, two(bytes, 4)?, two(bytes, 6)?);
    expect(bytes, 8, b'-')?;
    let (clock, rest) = split(text.get(9..)?, b'|')?;
    (clock.len() <= CLOCK_BYTES_MAX).then_some(())?;
    let mut parts = clock.split(':').map(|part| part.parse::<u16>().ok());
    let mut next = || parts.next().flatten();
    let (hour, minute, second) = (next()?, next()?, next()?);
    let millisecond = next().filter(|millisecond| *millisecond < 1_000)?;
    let civil = Civil {
        hour: u8::try_from(hour).ok()?,
        minute: u8::try_from(minute).ok()?,
        second: u8::try_from(second).ok()?,
        millisecond,
        ..date
    };
    Some((Stamp::Local(civil.checked()?), rest))
}

/// `26.11.2026 10:00:01,123`.
fn dotted(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    expect(bytes, 2, b'.')?;
    expect(bytes, 5, b'.')?;
    expect(bytes, 10, b' ')?;
    let date = Civil::day(four(bytes, 6)?, two(bytes, 3)?, two(bytes, 0)?);
    let civil = time_of_day(bytes, 11, date)?;
    let (millisecond, length) = fraction(bytes, 19);
    let civil = Civil {
        millisecond,
        ..civil
    };
    Some((Stamp::Local(civil), text.get(19 + length..)?))
}

/// `11-26 10:00:01.123  1702  2395 D`: Android's, which has the process, the thread, and a letter for the level.
pub(super) fn android<'a>(text: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    let bytes = text.as_bytes();
    expect(bytes, 2, b'-')?;
    expect(bytes, 5, b' ')?;
    let date = Civil::day(NO_YEAR, two(bytes, 0)?, two(bytes, 3)?);
    let civil = time_of_day(bytes, 6, date)?;
    let (millisecond, length) = fraction(bytes, 14);
    let rest = text.get(14 + length..)?.strip_prefix(' ')?;
    let (process, behind) = word(rest.trim_start())?;
    let (thread, behind) = word(behind)?;
    let mut numbers = process.bytes().chain(thread.bytes());
    let (letter, rest) = word(behind)?;
    let level = match letter {
        "V" | "D" => "debug",
        "I" => "info",
        "W" => "warning",
        "E" => "error",
        "F" | "A" => "fatal",
        _ => return None,
    };
    let is_android = length > 0 && numbers.all(|byte| byte.is_ascii_digit());
    let stamp = with_year(civil, millisecond, times).filter(|_| is_android)?;
    Some(LineHead {
        ms: Some(stamp.epoch_ms(times)),
        level: Some(level),
        rest,
    })
}

/// Seconds since the epoch.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let is_number = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: i64 = is_number.then(|| text.parse().ok()).flatten()?;
    Some(seconds * 1_000)
}

/// The start of a record of AWS' flow logs: `2 123456789010 eni-1235b8ca 172.31.16.139 172.31.16.21 20641 22 6 20 4249 1418530010 ...`.
fn flow(line: &str) -> Option<(i64, &str)> {
    // The version is one digit.
    expect(line.as_bytes(), 1, b' ')?;
    let mut words = line.split(' ');
    words.nth(2)?.starts_with("eni-").then_some(())?;
    Some((seconds(words.nth(7)?)?, ""))
}

/// `[11.26 10:00:01] `, without its bracket.
pub(super) fn bracketed<'a>(text: &'a str, times: &Times) -> Option<(Stamp, &'a str)> {
    let bytes = text.as_bytes();
    expect(bytes, 2, b'.')?;
    expect(bytes, 5, b' ')?;
    expect(bytes, 14, b']')?;
    let civil = time_of_day(
        bytes,
        6,
        Civil::day(NO_YEAR, two(bytes, 0)?, two(bytes, 3)?),
    )?;
    Some((with_year(civil, 0, times)?, text.get(15..)?))
}

/// `- 1117838570 2005.06.03 NODE`, as logs of supercomputers begin: a label or a dash, the second and its day.
pub(super) fn labelled(line: &str) -> Option<(i64, &str)> {
    let (label, rest) = word(line)?;
    let (second, rest) = word(rest)?;
    let (date, rest) = word(rest)?;
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    let is_label = label == "-" || label.bytes().all(is_letter);
    let is_date = matches!(date.as_bytes(), [_, _, _, _, b'.', _, _, b'.', _, _]);
    let ms = seconds(second)?;
    (is_label && is_date).then_some((ms, rest))
}

/// A time as nearly all write it behind one word: the protocol that a load balancer of AWS was asked by, or the name of a log.
pub(super) fn behind_a_word<'a>(line: &'a str, times: &mut Times) -> Option<(i64, &'a str)> {
    const PROTOCOLS: [&str; 6] = ["http", "https", "h2", "grpcs", "ws", "wss"];
    if let Some((stamp, rest)) = bucket(line) {
        return Some((stamp.epoch_ms(times), rest));
    }
    let (first, behind) = word(line)?;
    let is_name = PROTOCOLS.contains(&first) || first.contains(".log");
    is_name.then(|| iso_ms(behind, times)).flatten()
}

/// `=INFO REPORT==== 26-Nov-2026::10:00:01 ===`, Erlang's.
pub(super) fn erlang<'a>(line: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    let (name, text) = line.strip_prefix('=')?.split_once(" REPORT==== ")?;
    let bytes = text.as_bytes();
    expect(bytes, 11, b':')?;
    expect(bytes, 12, b':')?;
    let civil = time_of_day(bytes, 13, named_day(bytes)?)?;
    Some(LineHead {
        ms: Some(times.local_ms(civil)),
        level: level(name),
        rest: text.get(21..)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table")]
    fn lines_say_when_they_are_from_in_few_signs() {
        let (second, millis) = ("2026-05-03T10:00:01.000Z", "2026-05-03T10:00:01.123Z");
        for (line, time, level) in [
            ("26/05/03 10:00:01 INFO executor.X: y", second, "info"),
            ("26/05/03 10:00:01 executor.X: y", "", "-"),
            ("05/03/26 10:00:01 INFO x", "", "info"),
            ("260503 100001 148 INFO dfs.X: y", second, "info"),
            ("260503 100001 148 dfs.X: y", "", "-"),
            ("260503 10:00:01 [ERROR] x", second, "error"),
            ("260503  9:00:01 InnoDB: x", "2026-05-03T09:00:01.000Z", "-"),
            (
                "2026-05-03  9:00:01 0 [Warning] InnoDB: x",
                "2026-05-03T09:00:01.000Z",
                "warning",
            ),
            ("2026-05-03  x:00:01 0 [Warning] x", "", "warning"),
            (
                "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be shop [03/May/2026:10:00:01 +0000] 192.0.2.3 - 3E REST.GET.OBJECT a -",
                second,
                "-",
            ),
            (
                "e9a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be shop [03/May/2026:12:00:01 +0200] 192.0.2.3 - 3E REST.GET.OBJECT a -",
                second,
                "-",
            ),
            ("79a59df9 shop [03/May/2026:10:00:01 +0000] x", "", "-"),
            ("# Time: 260503 10:00:01", second, "-"),
            ("20260503T100001Z x", second, "-"),
            ("20260503T120001.123+0200 WARN x", millis, "warning"),
            ("20260503 10:00:01,123 WARN x", millis, "warning"),
            ("20260503-10:0:1:123|Step|7|x", millis, "-"),
            ("20260503-10:0:1:1230|Step|7|x", "", "-"),
            ("03.05.2026 10:00:01,123 ERROR x", millis, "error"),
            (
                "05-03 10:00:01.123  1702  2395 E Window: x",
                millis,
                "error",
            ),
            ("05-03 10:00:01.123  1702  2395 x", "", "-"),
            (
                "2 123456789010 eni-1235b8ca 172.31.16.139 172.31.16.21 20641 22 6 20 4249 1777802401 1777802461 ACCEPT OK",
                second,
                "-",
            ),
            ("[05.03 10:00:01] chrome.exe - x", second, "-"),
            (
                "- 1777802401 2026.05.03 R02 2026-05-03-10.00.01.363779 R02 RAS KERNEL INFO x",
                second,
                "info",
            ),
            ("APPREAD 1777802401 2026.05.03 R02 x", second, "-"),
            ("- 1777802401 tickets", "", "-"),
            (
                "http 2026-05-03T10:00:01.123456Z app/lb 1.2.3.4:5",
                millis,
                "-",
            ),
            (
                "nova-api.log.1 2026-05-03 10:00:01.123 25746 INFO nova.x",
                millis,
                "info",
            ),
            ("on 2026-05-03 10:00:01 it rained", "", "-"),
            ("=WARNING REPORT==== 3-May-2026::10:00:01 ===", "", "-"),
            (
                "=WARNING REPORT==== 03-May-2026::10:00:01 ===",
                second,
                "warning",
            ),
            ("Sun May 03 10:00:01 2026 TLS: x", second, "-"),
            ("2026-05-03\t10:00:01\tFRA2\t182", second, "-"),
            ("2026-05-03 10:00:01, Info    CBS    x", second, "info"),
            (
                "[2026-05-03 10:00:01,123: INFO/MainProcess] x",
                millis,
                "info",
            ),
        ] {
            let expected = format!("{time} {level} {{}}");
            testing::check(ParserName::Plain, line, Some(&expected));
        }
    }
}
