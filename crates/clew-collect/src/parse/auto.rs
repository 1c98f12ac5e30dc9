//! Which parser fits a file: the one its name suggests if it takes most of the first lines, else
//! the one that takes most of them, else plain text.

use super::{ParserName, Record, Times};

/// Lines that are tried.
const SAMPLE_LINES: usize = 50;

/// Chooses for a file by its path and its first whole lines. `None` when there is no line yet.
pub(crate) fn choose(path: &str, sample: &str, times: &mut Times) -> Option<ParserName> {
    let lines: Vec<&str> = sample
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .filter(|line| !line.trim().is_empty())
        .take(SAMPLE_LINES)
        .collect();
    if lines.is_empty() {
        return None;
    }
    let mut record = Record::default();
    let mut taken = |parser: ParserName| {
        if parser == ParserName::AptHistory {
            // Its unit is a stanza; a file of them begins with the start of one.
            return if lines[0].starts_with("Start-Date: ") {
                lines.len()
            } else {
                0
            };
        }
        lines
            .iter()
            .filter(|line| {
                record.clear();
                parser.parse(line, times, &mut record).is_some()
            })
            .count()
    };
    if let Some(parser) = by_name(path)
        && taken(parser) * 2 >= lines.len()
    {
        return Some(parser);
    }
    // Formats that look alike: the first of the pair speaks for both.
    const TRIED: [ParserName; 9] = [
        ParserName::Dpkg,
        ParserName::AptHistory,
        ParserName::Alternatives,
        ParserName::Json,
        ParserName::NginxAccess,
        ParserName::NginxError,
        ParserName::ApacheError,
        ParserName::Glog,
        ParserName::Syslog,
    ];
    let best = TRIED
        .into_iter()
        .map(|parser| (taken(parser), parser))
        .rev()
        .max_by_key(|b| b.0);
    match best {
        Some((count, parser)) if count * 5 >= lines.len() * 4 => Some(parser),
        _ => Some(ParserName::Plain),
    }
}

/// What a file's name says about its format.
fn by_name(path: &str) -> Option<ParserName> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folder.rsplit('/').next().unwrap_or("");
    let named = |names: &[&str]| {
        names.iter().any(|stem| {
            name.strip_prefix(stem)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
        })
    };
    let apache = folder == "apache2" || folder == "httpd";
    if named(&["dpkg.log"]) {
        return Some(ParserName::Dpkg);
    }
    if named(&["alternatives.log"]) {
        return Some(ParserName::Alternatives);
    }
    if folder == "apt" && named(&["history.log"]) {
        return Some(ParserName::AptHistory);
    }
    if folder == "apt" && named(&["term.log"]) {
        return Some(ParserName::AptTerm);
    }
    if named(&["auth.log", "auth", "secure"]) {
        return Some(ParserName::Auth);
    }
    if named(&[
        "syslog",
        "messages",
        "kern.log",
        "daemon.log",
        "user.log",
        "mail.log",
        "cron",
    ]) {
        return Some(ParserName::Syslog);
    }
    if name.contains("access") && (name.contains("log") || folder == "nginx" || apache) {
        return Some(if apache {
            ParserName::ApacheAccess
        } else {
            ParserName::NginxAccess
        });
    }
    if name.contains("error") && (folder == "nginx" || apache) {
        return Some(if apache {
            ParserName::ApacheError
        } else {
            ParserName::NginxError
        });
    }
    let json = ["json", "jsonl", "ndjson"]
        .iter()
        .any(|ending| name.split('.').skip(1).any(|part| part == *ending));
    json.then_some(ParserName::Json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn check(path: &str, sample: &str, expected: Option<ParserName>) {
        let mut times = Times::new(TimeZone::UTC);
        times.newest_ms = 1_782_777_600_000;
        assert_eq!(
            choose(path, sample, &mut times),
            expected,
            "{path}: {sample}"
        );
    }

    #[test]
    fn names_suggest_and_lines_decide() {
        let dpkg = "2025-06-24 14:36:25 startup archives unpack\n";
        let access = "10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] \"GET / HTTP/1.1\" 200 1\n";
        let syslog = "Jun 14 09:08:07 web1 su[1]: x\n";
        let iso_syslog = "2026-06-14T09:08:07+00:00 web1 su[1]: x\n";
        check("/var/log/dpkg.log", dpkg, Some(ParserName::Dpkg));
        check("/var/log/dpkg.log.2.gz", dpkg, Some(ParserName::Dpkg));
        check("/x/packages.txt", dpkg, Some(ParserName::Dpkg));
        check("/var/log/dpkg.log", "hello\n", Some(ParserName::Plain));
        check(
            "/var/log/apt/history.log",
            "\nStart-Date: x\n",
            Some(ParserName::AptHistory),
        );
        check(
            "/var/log/apt/term.log",
            "\nLog started: x\n",
            Some(ParserName::AptTerm),
        );
        check("/var/log/auth.log.1", syslog, Some(ParserName::Auth));
        check(
            "/var/log/messages-20260101",
            iso_syslog,
            Some(ParserName::Syslog),
        );
        check("/var/log/thing", syslog, Some(ParserName::Syslog));
        check(
            "/var/log/apache2/other_vhosts_access.log",
            access,
            Some(ParserName::ApacheAccess),
        );
        check(
            "/var/log/nginx/access.log",
            access,
            Some(ParserName::NginxAccess),
        );
        check("/srv/traffic", access, Some(ParserName::NginxAccess));
        check("/srv/traffic", "{\"a\":1}\n{}\n", Some(ParserName::Json));
        check(
            "/srv/traffic",
            &format!("{}noise\n", syslog.repeat(9)),
            Some(ParserName::Syslog),
        );
        check(
            "/srv/traffic",
            &format!("{}noise\nnoise\n", syslog),
            Some(ParserName::Plain),
        );
        let application = "2024-05-01 00:00:00,012 INFO app-1.prod [main] a.b.C 3ms - done: x\n";
        check("/srv/app.log", application, Some(ParserName::Plain));
        check("/srv/app.json.1", "{\"a\":1}\n", Some(ParserName::Json));
        check("/srv/app.json", "", None);
        check("/srv/app.json", " \r\n\n", None);
    }

    #[test]
    fn every_parser_is_found_by_its_own_name() {
        for parser in ParserName::ALL {
            assert_eq!(parser.as_str().parse(), Ok(parser));
        }
        let error = "grok".parse::<ParserName>().unwrap_err().to_string();
        assert!(
            error.contains("\"grok\"") && error.contains("apt_history"),
            "{error}"
        );
    }
}
