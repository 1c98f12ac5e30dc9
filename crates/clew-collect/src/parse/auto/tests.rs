//! Which parser is chosen, by names of files and by their lines.

use super::*;
use jiff::tz::TimeZone;

fn check(path: &str, sample: &str, expected: Option<ParserName>) {
    let mut times = Times::new(TimeZone::UTC);
    times.newest_ms = 1_782_777_600_000;
    assert_eq!(
        choose(path, sample, &mut times).map(|choice| choice.parser),
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
    let login =
        "Jun 14 09:08:07 web1 sshd[1]: Failed password for root from 10.0.0.7 port 5 ssh2\n";
    check("/srv/thing", login, Some(ParserName::Auth));
    check("/var/log/messages", login, Some(ParserName::Syslog));
    let few = format!("{login}{}", syslog.repeat(2));
    check("/srv/thing", &few, Some(ParserName::Syslog));
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
    let said = "2026-01-02 03:04:05.678 UTC [12] a@b LOG:  statement: select 1\n";
    let whole = format!("{said}\tfrom x\n\twhere y\n");
    check("/srv/db", &whole, Some(ParserName::Postgresql));
    check(
        "/var/log/postgresql/postgresql-15-main.log",
        &format!("{said}text\n"),
        Some(ParserName::Postgresql),
    );
    let trace = format!("java.lang.Error: x\n{}", "\tat a.B(C.java:1)\n".repeat(9));
    check("/srv/app.log", &trace, Some(ParserName::Plain));
    let application = "2024-05-01 00:00:00,012 INFO app-1.prod [main] a.b.C 3ms - done: x\n";
    check("/srv/app.log", application, Some(ParserName::Plain));
    check("/srv/app.json.1", "{\"a\":1}\n", Some(ParserName::Json));
    check("/srv/app.json", "", None);
    check("/srv/app.json", " \r\n\n", None);
}

#[test]
fn lines_of_haproxy_are_found_among_those_of_syslog() {
    let syslog = "Jun 14 09:08:07 web1 su[1]: x\n";
    let traffic = "Feb  6 12:14:14 lb1 haproxy[14389]: 10.0.1.2:33313 [06/Feb/2026:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0\n";
    let begun = "Feb  6 12:14:14 lb1 haproxy[14389]: Proxy fnt started.\n";
    let mixed = format!("{begun}{traffic}");
    check("/srv/lb", &mixed, Some(ParserName::Haproxy));
    check("/var/log/haproxy.log", &mixed, Some(ParserName::Haproxy));
    let mixed = format!("{traffic}{}", syslog.repeat(4));
    check("/srv/lb", &mixed, Some(ParserName::Syslog));
}

#[test]
fn lines_of_columns_are_told_apart() {
    let head = "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time\n";
    let line = "2026-10-10 12:34:56 ::1 GET / - 80 - 10.0.0.7 curl/8 - 200 0 0 15\n";
    check("/srv/u_ex261010.log", head, None);
    let whole = format!("{head}{line}");
    check("/srv/u_ex261010.log", &whole, Some(ParserName::IisAccess));
    for (sample, parser) in [
        (
            "type=CWD msg=audit(1791635696.789:4321): cwd=\"/root\"\n",
            ParserName::Auditd,
        ),
        (
            "1791635696.789 123 10.0.0.7 TCP_MISS/200 43 GET http://a/ - X/1 -\n",
            ParserName::Squid,
        ),
        (
            "Jun 14 09:08:07 fw1 CEF:0|a|b|1|2|c|5|src=10.0.0.7\n",
            ParserName::Cef,
        ),
        (
            "2 123456789010 eni-1 10.0.0.7 10.0.0.8 1 22 6 20 4249 1791635636 1791635696 ACCEPT OK\n",
            ParserName::AwsVpcflow,
        ),
    ] {
        check("/srv/thing", sample, Some(parser));
    }
    check(
        "/var/log/squid/access.log",
        "1791635696.789 123 10.0.0.7 TCP_MISS/200 43 GET http://a/ - X/1 -\n",
        Some(ParserName::Squid),
    );
}

#[test]
fn formats_of_servers_are_told_apart() {
    let mongodb = r#"{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I","c":"NETWORK","id":1,"ctx":"main","msg":"x"}"#;
    let slow = "# Time: 2026-01-02T03:04:05.678901Z\n# User@Host: a[a] @ b []  Id: 1\n# Query_time: 1.0  Lock_time: 0.1\nSELECT 1\n  FROM a;";
    let traefik = r#"10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 1 "-" "-" 1 "a@docker" "http://10.0.0.8:80" 5ms"#;
    let csv = "2026-01-02 03:04:05.678 UTC,,,1,,5ff.1,1,,2026-01-02 03:00:00 UTC,,0,LOG,00000,\"a\nb\",,,,,,,,,\"\"";
    for (path, sample, parser) in [
        ("/srv/db.json", mongodb, ParserName::Mongodb),
        ("/srv/slow.log", slow, ParserName::MysqlSlowlog),
        ("/srv/access.log", traefik, ParserName::Traefik),
        ("/srv/postgresql.csv", csv, ParserName::PostgresqlCsv),
        // What the lines that are tried end in the middle of is whole in the file.
        (
            "/srv/postgresql.csv",
            "2026-01-02 03:04:05.678 UTC,,,1,,5ff.1,1,,2026-01-02 03:00:00 UTC,,0,LOG,00000,\"a\nb\nc\nd",
            ParserName::PostgresqlCsv,
        ),
        (
            "/srv/log",
            "1:M 10 Oct 2026 12:34:56.789 * Ready",
            ParserName::Redis,
        ),
        (
            "/srv/log",
            "2026-01-02 03:04:05.678 [info] <0.3.0> x\nmore",
            ParserName::Rabbitmq,
        ),
        (
            "/srv/log",
            "[2026-01-02T03:04:05,678][INFO ][o.e.n.Node] [a] x\njava.lang.Error: y\n\tat z",
            ParserName::Elasticsearch,
        ),
        (
            "/srv/log",
            "[2026-01-02 03:04:05,678] INFO x (kafka.log.Log)",
            ParserName::Kafka,
        ),
        (
            "/srv/log",
            "2026-01-02 03:04:05,678 [myid:] - INFO  [main:a.B@1] - x",
            ParserName::Zookeeper,
        ),
        (
            "/srv/log",
            "2026-01-02 03:04:05,678 INFO [main] a.B: x",
            ParserName::Log4j,
        ),
        (
            "/srv/log",
            "2026-01-02T03:04:05.678901Z 0 [Note] x",
            ParserName::MysqlError,
        ),
        (
            "/var/log/mail.log",
            "Jun 14 09:08:07 mx1 postfix/qmgr[1]: 4AB12C: removed",
            ParserName::Postfix,
        ),
        (
            "/var/log/mail.log",
            "Jun 14 09:08:07 mx1 dovecot: x",
            ParserName::Syslog,
        ),
    ] {
        check(path, &format!("{sample}\n"), Some(parser));
    }
}

#[test]
fn formats_of_more_servers_are_told_apart() {
    for (path, sample, parser) in [
        (
            "/srv/log",
            "[2026-01-02T03:04:05,678][INFO ][logstash.agent           ] x",
            ParserName::Logstash,
        ),
        (
            "/var/log/mongodb/mongod.log",
            "2026-01-02T03:04:05.678+0000 I NETWORK  [conn1] x",
            ParserName::Mongodb,
        ),
        (
            "/srv/log",
            "[2026-01-02 03:04:05 +0100] notice/JsonRpcConnection: x\nContext:\n\t(0) y",
            ParserName::Icinga,
        ),
        (
            "/srv/log",
            "[1] 2026/01/02 03:04:05.678901 [INF] Server is ready",
            ParserName::Nats,
        ),
        (
            "/srv/httperr1.log",
            "2026-01-02 03:04:05 10.0.0.7 2094 10.0.0.1 80 HTTP/1.1 GET /a?b 503 - ConnLimit -",
            ParserName::IisError,
        ),
        (
            "/var/log/nginx/error.log",
            "2026/01/02 03:04:05 [error] 1#1: *2 FastCGI sent: \"PHP message: x\nPHP message: y\"",
            ParserName::NginxError,
        ),
        (
            "/srv/fw.log",
            "Jun 14 09:08:07 fw1 kernel: IN=a OUT= SRC=10.0.0.7 DST=10.0.0.1 PROTO=TCP",
            ParserName::Iptables,
        ),
        (
            "/var/log/ufw.log",
            "Jun 14 09:08:07 fw1 kernel: x",
            ParserName::Iptables,
        ),
    ] {
        check(path, &format!("{sample}\n"), Some(parser));
    }
}

#[test]
fn a_choice_says_how_well_it_fits_and_what_comes_next() {
    let syslog = "Jun 14 09:08:07 web1 su[1]: x\n";
    let check = |path: &str, sample: &str, expected: &str| {
        let chosen = choose(path, sample, &mut Times::new(TimeZone::UTC)).unwrap();
        let told = format!("{}: {}", chosen.parser.as_str(), chosen.fit);
        assert_eq!(told, expected, "{path}: {sample}");
    };
    check("/x", &syslog.repeat(60), "syslog: 50 of 50 lines");
    // What takes the same lines is no other choice.
    check("/var/log/auth.log", syslog, "auth: 1 of 1 lines");
    let mixed = format!("{}{}", syslog.repeat(4), "{}\n");
    check("/x", &mixed, "syslog: 4 of 5 lines, next json with 1");
    let mixed = format!("{}{}noise\n", syslog.repeat(2), "{}\n");
    check("/x", &mixed, "plain: 4 of 4 lines, next syslog with 2");
}

#[test]
fn lines_of_systems_are_told_by_their_heads() {
    for (line, parser) in [
        ("17/06/09 20:10:40 INFO SparkContext: y", ParserName::Log4j),
        ("081109 203518 143 INFO dfs.X: y", ParserName::Log4j),
        (
            "2015-10-18 18:01:47,978 INFO [main] a.b.C: y",
            ParserName::Log4j,
        ),
        (
            "nova.log.1 2017-05-16 00:00:00.008 25746 INFO nova.a [req-1 u p - - -] y",
            ParserName::Openstack,
        ),
        (
            "03-17 16:13:38.811  1702  2395 D Window: y",
            ParserName::Logcat,
        ),
        (
            "2016-09-28 04:30:30, Info    CBS    y",
            ParserName::WindowsCbs,
        ),
        (
            "20171223-22:15:29:606|Step_LSC|30002312|y",
            ParserName::HealthApp,
        ),
        (
            "[10.30 16:49:06] a.exe - b:80 open through proxy c:90 HTTPS",
            ParserName::Proxifier,
        ),
        (
            "- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL INFO y",
            ParserName::Bgl,
        ),
        (
            "- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond[2915]: y",
            ParserName::Thunderbird,
        ),
        (
            "134681 node-246 unix.hw state_change.unavailable 1077804742 1 y",
            ParserName::Hpc,
        ),
    ] {
        check("/srv/thing", &format!("{line}\r\n").repeat(3), Some(parser));
    }
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
