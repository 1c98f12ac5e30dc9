use crate::parse::{ParserName, testing};

fn check(line: &str, expected: Option<&str>) {
    testing::check(ParserName::Syslog, line, expected);
}

#[test]
fn traditional_lines() {
    check(
        "Jun  4 09:08:07 web1 CRON[123]: (root) CMD (x)",
        Some(
            r#"2026-06-04T09:08:07.000Z - {"log":{"syslog":{"hostname":"web1"}},"process":{"name":"CRON","pid":123}}"#,
        ),
    );
    check(
        "Dec 31 23:59:59 web1 kernel: [    0.1] x",
        Some(
            r#"2025-12-31T23:59:59.000Z - {"log":{"syslog":{"hostname":"web1"}},"process":{"name":"kernel"}}"#,
        ),
    );
    check(
        "2026-01-02T03:04:05.678901+01:00 web1 systemd[1]: Started \"x\".",
        Some(
            r#"2026-01-02T02:04:05.678Z - {"log":{"syslog":{"hostname":"web1"}},"process":{"name":"systemd","pid":1}}"#,
        ),
    );
    check(
        "<34>Jun 14 09:08:07 web1 su: failed",
        Some(
            r#"2026-06-14T09:08:07.000Z critical {"log":{"syslog":{"hostname":"web1","priority":34,"facility":{"code":4},"severity":{"code":2}}},"process":{"name":"su"}}"#,
        ),
    );
    check(
        "Jun 14 09:08:07 web1 last message repeated 2 times",
        Some(r#"2026-06-14T09:08:07.000Z - {"log":{"syslog":{"hostname":"web1"}}}"#),
    );
}

#[test]
fn a_year_may_stand_behind_the_time() {
    check(
        "<165>Aug 24 05:34:00 2023 web1 app[7]: x",
        Some(
            r#"2023-08-24T05:34:00.000Z notice {"log":{"syslog":{"hostname":"web1","priority":165,"facility":{"code":20},"severity":{"code":5}}},"process":{"name":"app","pid":7}}"#,
        ),
    );
    // A host may be called by a number.
    check(
        "Jun 14 09:08:07 4711 su: failed",
        Some(
            r#"2026-06-14T09:08:07.000Z - {"log":{"syslog":{"hostname":"4711"}},"process":{"name":"su"}}"#,
        ),
    );
}

#[test]
fn a_zone_may_stand_behind_the_time() {
    for (zone, time) in [
        (" CEST", "07:08:07"),
        (" UTC", "09:08:07"),
        (" +0530", "03:38:07"),
        (" -05:00", "14:08:07"),
        ("Z", "09:08:07"),
        (" 2026 CET", "08:08:07"),
        // Of two countries.
        (" CST", "09:08:07"),
    ] {
        let expected = format!(
            r#"2026-06-14T{time}.000Z - {{"log":{{"syslog":{{"hostname":"web1"}}}},"process":{{"name":"su"}}}}"#
        );
        check(
            &format!("Jun 14 09:08:07{zone} web1 su: failed"),
            Some(&expected),
        );
    }
    // Nothing else is a host here.
    check(
        "Jun 14 09:08:07 UTC su: failed",
        Some(
            r#"2026-06-14T09:08:07.000Z - {"log":{"syslog":{"hostname":"UTC"}},"process":{"name":"su"}}"#,
        ),
    );
    check(
        "<34>Jun 14 09:08:07 CET web1 su: failed",
        Some(
            r#"2026-06-14T08:08:07.000Z critical {"log":{"syslog":{"hostname":"web1","priority":34,"facility":{"code":4},"severity":{"code":2}}},"process":{"name":"su"}}"#,
        ),
    );
}

#[test]
fn programs_of_a_mac() {
    for (tag, process) in [
        (
            "com.apple.xpc.launchd[1] (com.apple.xpc.launchd.domain.pid.App.9019)",
            r#"{"name":"com.apple.xpc.launchd","pid":1}"#,
        ),
        (
            "com.apple.xpc.launchd[1] (com.apple.Safari[6988])",
            r#"{"name":"com.apple.xpc.launchd","pid":1}"#,
        ),
        (
            "Microsoft Word[14463]",
            r#"{"name":"Microsoft Word","pid":14463}"#,
        ),
        (
            "BezelServices 255.10[94]",
            r#"{"name":"BezelServices 255.10","pid":94}"#,
        ),
    ] {
        let expected = format!(
            r#"2026-06-01T09:00:55.000Z - {{"log":{{"syslog":{{"hostname":"mac1"}}}},"process":{process}}}"#
        );
        check(
            &format!("Jun  1 09:00:55 mac1 {tag}: a text"),
            Some(&expected),
        );
    }
    for text in [
        "a text of four words[12]: x",
        "a text[x]: y",
        "a text [12]: y",
        "launchd[1] (a b): y",
    ] {
        check(
            &format!("Jun  1 09:00:55 mac1 {text}"),
            Some(r#"2026-06-01T09:00:55.000Z - {"log":{"syslog":{"hostname":"mac1"}}}"#),
        );
    }
    check("2026-06-01T09:00:55Z mac1 starting up[12]: x", None);
}

#[test]
fn lines_that_leave_out_a_host_or_a_time() {
    const NOTICE: &str = r#""priority":13,"facility":{"code":1},"severity":{"code":5}"#;
    let sent = |line: &str, start: &str, host: &str, fields: &str| {
        let expected =
            format!(r#"{start} notice {{"log":{{"syslog":{{{host}{NOTICE}}}}}{fields}}}"#);
        check(line, Some(&expected));
    };
    let time = "2026-06-14T09:08:07.000Z";
    let app = r#","process":{"name":"app","pid":12}"#;
    sent("<13>Jun 14 09:08:07 app[12]: local", time, "", app);
    sent(
        "<13>Jun 14 09:08:07 app: x",
        time,
        "",
        r#","process":{"name":"app"}"#,
    );
    sent("<13>said by Python", "", "", "");
    sent("<13>app[12]: x", "", "", app);
    sent("<13>2026-06-14 09:08:07 INFO said by Python", time, "", "");
    let host = r#""hostname":"web1","#;
    sent("<13>2026-06-14T09:08:07Z web1 a text", time, host, "");
    sent(
        "<13>Jun 4 2025 09:08:07 web1 app[12]: x",
        "2025-06-04T09:08:07.000Z",
        host,
        app,
    );
    sent(
        "<13>Jun 4 09:08:07.25 web1 app[12]: x",
        "2026-06-04T09:08:07.250Z",
        host,
        app,
    );
    check(
        "Jun 14 09:08:07 dnsmasq[7]: started",
        Some(r#"2026-06-14T09:08:07.000Z - {"process":{"name":"dnsmasq","pid":7}}"#),
    );
    check("Jun 14 09:08:07 ERROR: failed", None);
    check("2026-06-14T09:08:07Z app[12]: x", None);
}

#[test]
fn rfc_5424_lines() {
    check(
        r#"<165>1 2026-01-02T03:04:05.003Z web1 app 77 ID47 [a b="]\"x"][c] hello"#,
        Some(
            r#"2026-01-02T03:04:05.003Z notice {"log":{"syslog":{"hostname":"web1","msgid":"ID47","structured_data":"[a b=\"]\\\"x\"][c]","priority":165,"facility":{"code":20},"severity":{"code":5}}},"process":{"name":"app","pid":77}}"#,
        ),
    );
    check(
        "<14>1 - - - - - -",
        Some(
            r#" info {"log":{"syslog":{"priority":14,"facility":{"code":1},"severity":{"code":6}}}}"#,
        ),
    );
}

#[test]
fn rfc_5424_lines_may_leave_out_the_dash_for_their_data() {
    check(
        "<40>1 2026-01-02T03:04:05+00:00 host app web.3 - State changed",
        Some(
            r#"2026-01-02T03:04:05.000Z emergency {"log":{"syslog":{"hostname":"host","priority":40,"facility":{"code":5},"severity":{"code":0}}},"process":{"name":"app"}}"#,
        ),
    );
}

#[test]
fn other_lines_are_refused() {
    check("<999>Jun 14 09:08:07 web1 su: failed", None);
    check("Jun 14 09:08 web1 su: failed", None);
    check("2026-01-02 03:04:05 [error] 1#1: x", None);
    check("<14>1 2026-01-02T03:04:05Z web1 app 1 - [open", None);
    check("2026-01-02 03:04:05,678 INFO web1 su: failed", None);
    check("2026-01-02T03:04:05Z INFO starting now: yes", None);
    check("hello", None);
}
