use crate::parse::{ParserName, testing};

fn check(line: &str, expected: Option<&str>) {
    testing::check(ParserName::NginxAccess, line, expected);
}

#[test]
fn combined_common_and_vhost_lines() {
    check(
        r#"10.0.0.7 - bob [02/Jan/2026:03:04:05 +0000] "GET /a/b?c=d HTTP/1.1" 200 1234 "https://x.org/" "curl/8.5 \"q\"" "10.1.1.1""#,
        Some(
            r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"success"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"user":{"name":"bob"},"http":{"version":"1.1","request":{"method":"GET","referrer":"https://x.org/"},"response":{"status_code":200,"body":{"bytes":1234}}},"url":{"original":"/a/b?c=d","path":"/a/b","query":"c=d"},"user_agent":{"original":"curl/8.5 \\\"q\\\""}}"#,
        ),
    );
    check(
        r#"host.example - - [02/Jan/2026:03:04:05 +0100] "POST / HTTP/2.0" 404 -"#,
        Some(
            r#"2026-01-02T02:04:05.000Z - {"event":{"outcome":"failure"},"source":{"address":"host.example"},"http":{"version":"2.0","request":{"method":"POST"},"response":{"status_code":404}},"url":{"original":"/","path":"/"}}"#,
        ),
    );
    check(
        r#"www.example.org:443 ::1 - - [02/Jan/2026:03:04:05 +0000] "OPTIONS * HTTP/1.0" 200 126 "-" "-""#,
        Some(
            r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"success"},"source":{"address":"::1","ip":"::1"},"http":{"version":"1.0","request":{"method":"OPTIONS"},"response":{"status_code":200,"body":{"bytes":126}}},"url":{"domain":"www.example.org","original":"*","path":"*"}}"#,
        ),
    );
}

#[test]
fn users_with_blanks_and_lists_of_proxies() {
    for (start, expected) in [
        (
            "10.0.0.7 - Jo Doe",
            r#""source":{"address":"10.0.0.7","ip":"10.0.0.7"},"user":{"name":"Jo Doe"}"#,
        ),
        (
            "10.0.0.7, 10.1.1.1, 10.1.1.2 - -",
            r#""source":{"address":"10.0.0.7","ip":"10.0.0.7"}"#,
        ),
    ] {
        let line = format!(r#"{start} [02/Jan/2026:03:04:05 +0000] "-" 408 0 "-" "-""#);
        let expected = format!(
            r#"2026-01-02T03:04:05.000Z - {{"event":{{"outcome":"failure"}},{expected},"http":{{"response":{{"status_code":408,"body":{{"bytes":0}}}}}}}}"#
        );
        check(&line, Some(&expected));
    }
}

#[test]
fn proxies_are_listed_behind_a_site_too() {
    check(
        r#"shop.example:80 10.0.0.7, 10.1.1.1 - - [02/Jan/2026:03:04:05 +0000] "-" 408 0"#,
        Some(
            r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"failure"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"http":{"response":{"status_code":408,"body":{"bytes":0}}},"url":{"domain":"shop.example"}}"#,
        ),
    );
}

#[test]
fn requests_that_are_no_requests_keep_their_status() {
    for request in ["-", r"\x16\x03\x01", ""] {
        let line =
            format!(r#"10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] "{request}" 400 0 "-" "-""#);
        check(
            &line,
            Some(
                r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"failure"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"http":{"response":{"status_code":400,"body":{"bytes":0}}}}"#,
            ),
        );
    }
}

#[test]
fn blanks_stand_where_they_may() {
    for (user, request, version) in [
        ("a [b", "GET /a HTTP/1.1 b", "1.1 b"),
        ("a[ b", "GET /a b HTTP/1.1", "1.1"),
        ("[", "GET /a HTTP/1.0 HTTP/1.1", "1.1"),
    ] {
        let record = super::Request::of(request);
        assert_eq!(record.version, version, "{request}");
        let (found, rest) = super::before_stamp(&format!("{user} [2026"))
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .unwrap();
        let expected = format!("{user} [2026");
        let expected = expected.split_once(" [").unwrap();
        assert_eq!((found.as_str(), rest.as_str()), expected, "{user}");
    }
    assert!(super::before_stamp("[").is_none() && super::before_stamp("a b").is_none());
}

#[test]
fn other_lines_are_refused() {
    check(
        r#"10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" abc 1"#,
        None,
    );
    check(
        r#"10.0.0.7 - - [02/Jan/2026:03:04:05] "GET / HTTP/1.1" 200 1"#,
        None,
    );
    check("Jun 14 09:08:07 web1 su: failed", None);
}
