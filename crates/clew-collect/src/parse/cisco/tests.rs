use crate::parse::{ParserName, testing};

#[track_caller]
fn check(line: &str, time: &str, host: &str, (code, tag): (&str, &str)) {
    let host = match host {
        "" => String::new(),
        host => format!(r#""hostname":"{host}","#),
    };
    let expected = format!(
        r#"{time} notice {{"event":{{"code":"{code}"}},"log":{{"syslog":{{{host}"priority":189,"facility":{{"code":23}},"severity":{{"code":5}}}}}},"process":{{"name":"{tag}"}}}}"#
    );
    testing::check(ParserName::Syslog, line, Some(&expected));
}

#[test]
fn messages_of_routers_and_firewalls() {
    let (this_year, given) = ("2026-03-01T18:46:11.000Z", "2024-03-01T18:46:11.000Z");
    let changed = ("CONFIG_I", "%SYS-5-CONFIG_I");
    for (line, time, host) in [
        (
            "<189>123: Mar  1 18:46:11: %SYS-5-CONFIG_I: x",
            this_year,
            "",
        ),
        (
            "<189>123: sw1: Mar  1 18:46:11: %SYS-5-CONFIG_I: x",
            this_year,
            "sw1",
        ),
        (
            "<189>123: 000046: *Mar  1 2024 18:46:11.000 UTC: %SYS-5-CONFIG_I: x",
            given,
            "",
        ),
        (
            "<189>45: .Mar  1 2024 19:46:11 CET: %SYS-5-CONFIG_I: x",
            given,
            "",
        ),
        (
            "<189>: 2024 Mar  1 18:46:11 UTC: %SYS-5-CONFIG_I: x",
            given,
            "",
        ),
        (
            "<189>2024 Mar  1 18:46:11 sw1 %SYS-5-CONFIG_I: x",
            given,
            "sw1",
        ),
        ("<189>123: %SYS-5-CONFIG_I: x", "", ""),
        ("<189>%SYS-5-CONFIG_I: x", "", ""),
    ] {
        check(line, time, host, changed);
    }
    let built = ("302013", "%ASA-6-302013");
    for (line, time, host) in [
        ("<189>Mar 01 2024 18:46:11: %ASA-6-302013: Built", given, ""),
        (
            "<189>Mar 01 2024 18:46:11 fw1 : %ASA-6-302013: Built",
            given,
            "fw1",
        ),
        (
            "<189>Mar 01 2024 18:46:11 fw1 %ASA-6-302013: Built",
            given,
            "fw1",
        ),
        (
            "<189>:Mar 01 2024 13:46:11 EST: %ASA-6-302013: Built",
            given,
            "",
        ),
    ] {
        check(line, time, host, built);
    }
    check(
        "<189>Mar  1 18:46:11 sw1 %LINEPROTO-SP-5-UPDOWN: x",
        this_year,
        "sw1",
        ("UPDOWN", "%LINEPROTO-SP-5-UPDOWN"),
    );
}

#[test]
fn messages_that_a_relay_has_written_have_no_priority() {
    let told = |line: &str, time: &str, rest: &str| {
        testing::check(ParserName::Syslog, line, Some(&format!("{time} {rest}")));
    };
    let time = "2026-03-01T18:46:11.000Z";
    let built = r#"info {"event":{"code":"302013"},"log":{"syslog":{"hostname":"10.0.0.1"}},"process":{"name":"%ASA-6-302013"}}"#;
    told("Mar  1 18:46:11 10.0.0.1 %ASA-6-302013: Built", time, built);
    told(
        "Mar  1 18:46:12 10.0.0.1 123: Mar  1 19:46:11 CET: %ASA-6-302013: Built",
        time,
        built,
    );
    told(
        "000045: *Mar  1 18:46:11: %SYS-5-RESTART: x",
        time,
        r#"notice {"event":{"code":"RESTART"},"process":{"name":"%SYS-5-RESTART"}}"#,
    );
    told(
        "<189>45: rtr1: 001234: Mar  1 19:46:11 CET: %SYS-5-CONFIG_I: x",
        time,
        r#"notice {"event":{"code":"CONFIG_I"},"log":{"syslog":{"hostname":"rtr1","priority":189,"facility":{"code":23},"severity":{"code":5}}},"process":{"name":"%SYS-5-CONFIG_I"}}"#,
    );
    // A part that is no tag, and a tag without a time.
    testing::check(ParserName::Syslog, "%SYS-5-RESTART: x", None);
    told(
        "Mar  1 18:46:11 web1 df: disk at 95 %SYS-5-X: x",
        time,
        r#"- {"log":{"syslog":{"hostname":"web1"}},"process":{"name":"df"}}"#,
    );
}

#[test]
fn other_messages_are_what_they_were() {
    testing::check(
        ParserName::Syslog,
        "<189>Mar  1 18:46:11 web1 app: at %ASA-6-302013: x",
        Some(
            r#"2026-03-01T18:46:11.000Z notice {"log":{"syslog":{"hostname":"web1","priority":189,"facility":{"code":23},"severity":{"code":5}}},"process":{"name":"app"}}"#,
        ),
    );
}
