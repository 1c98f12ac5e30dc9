//! HAProxy's traffic, as `option httplog` and `option tcplog` have it, behind a header of syslog or, on standard output, without one. What
//! else a program of this name says is an event of syslog.

use super::access::{Request, write_client, write_side};
use super::stamp::{Stamp, common_log_local};
use super::token::{enclosed, present, quoted, word};
use super::{Record, Times, syslog};
use crate::json::Members;

/// Counters of connections, in the order in which a line has them.
const CONNECTIONS: [&str; 5] = ["active", "frontend", "backend", "server", "retries"];
const NANOSECONDS_OF_MS: u64 = 1_000_000;

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let header = syslog::header(line, times, record);
    let is_named = header
        .as_ref()
        .is_some_and(|message| message.program == "haproxy");
    let content = match &header {
        Some(message) => message.content,
        None => {
            record.clear();
            line
        }
    };
    match Traffic::of(content) {
        Some(traffic) => {
            record.timestamp_ms = Some(traffic.stamp.epoch_ms(times));
            traffic.write(record);
            Some(())
        }
        None => {
            is_named.then_some(())?;
            if let Some(connection) = Connection::of(content) {
                connection.write(record);
            }
            Some(())
        }
    }
}

/// What a frontend without a format of its own tells: `Connect from 10.0.0.7:4078 to 10.0.0.1:80 (main/HTTP)`.
struct Connection<'a> {
    from: (&'a str, &'a str),
    to: (&'a str, &'a str),
    frontend: &'a str,
    mode: &'a str,
}

impl<'a> Connection<'a> {
    fn of(content: &'a str) -> Option<Self> {
        let (from, rest) = content.strip_prefix("Connect from ")?.split_once(" to ")?;
        let (to, rest) = word(rest)?;
        let (inside, _) = enclosed(rest, '(', b')')?;
        let (frontend, mode) = inside.rsplit_once('/')?;
        Some(Connection {
            from: from.rsplit_once(':')?,
            to: to.rsplit_once(':')?,
            frontend,
            mode,
        })
    }

    fn write(&self, record: &mut Record) {
        write_client(record, self.from.0, self.from.1);
        write_side(record, "destination", self.to.0, self.to.1);
        record.fields.object("haproxy", |o| {
            o.text("frontend_name", self.frontend);
            o.text("mode", self.mode);
        });
    }
}

/// What a line says of a connection, or of a request.
struct Traffic<'a> {
    stamp: Stamp,
    address: &'a str,
    port: &'a str,
    /// The frontend, with a `~` behind it where the connection is encrypted.
    frontend: &'a str,
    backend: &'a str,
    server: &'a str,
    /// The place that was asked for, which many formats have behind the server.
    place: &'a str,
    /// Milliseconds: of a queue, of connecting, and of all; `-1` for what was not reached.
    waited: &'a str,
    connected: &'a str,
    took: &'a str,
    bytes: &'a str,
    state: &'a str,
    connections: &'a str,
    queues: (&'a str, &'a str),
    http: Option<Exchange<'a>>,
}

/// What only a request has.
struct Exchange<'a> {
    status: &'a str,
    /// Milliseconds until its head was there, and until the server answered.
    came: &'a str,
    answered: &'a str,
    cookies: (&'a str, &'a str),
    /// Headers that are captured, with `|` between them.
    headers: (&'a str, &'a str),
    line: &'a str,
}

impl<'a> Traffic<'a> {
    /// `ADDRESS:PORT [TIME] FRONTEND BACKEND/SERVER [PLACE] TIMES [STATUS] BYTES [COOKIE COOKIE] STATE CONNECTIONS QUEUES [{HEADERS} {HEADERS} "REQUEST"]`
    fn of(content: &'a str) -> Option<Self> {
        let (client, rest) = word(content)?;
        let (address, port) = client.rsplit_once(':')?;
        port.parse::<u16>().ok()?;
        let (stamp, rest) = common_log_local(rest.strip_prefix('[')?)?;
        let (frontend, rest) = word(rest.strip_prefix("] ")?)?;
        let (place, rest) = word(rest)?;
        let (backend, server) = place.split_once('/')?;
        let (asked, times, rest) = place_and_times(rest)?;
        let times: Vec<&str> = times.split('/').collect();
        let is_time = |text: &&str| *text == "-1" || number(text).is_some();
        times.iter().all(is_time).then_some(())?;
        let (http, waited, connected, took) = match times[..] {
            [waited, connected, took] => (None, waited, connected, took),
            [came, waited, connected, answered, took] => {
                (Some((came, answered)), waited, connected, took)
            }
            _ => return None,
        };
        let (status, rest) = match http {
            Some(_) => word(rest)?,
            None => ("", rest),
        };
        let (bytes, rest) = word(rest)?;
        number(bytes)?;
        let (cookies, rest) = match http {
            Some(_) => {
                let (asked, rest) = word(rest)?;
                let (answered, rest) = word(rest)?;
                ((asked, answered), rest)
            }
            None => (("", ""), rest),
        };
        let (state, rest) = word(rest)?;
        let (connections, rest) = word(rest)?;
        let (queues, rest) = word(rest)?;
        let is_whole = connections.split('/').count() == CONNECTIONS.len();
        is_whole.then_some(())?;
        let http = http.map(|(came, answered)| {
            let (asked, rest) = enclosed(rest, '{', b'}').unwrap_or(("", rest));
            let (said, rest) = enclosed(rest.trim_start(), '{', b'}').unwrap_or(("", rest));
            Exchange {
                status,
                came,
                answered,
                cookies,
                headers: (asked, said),
                line: quoted(rest.trim_start()).map_or("", |(line, _)| line),
            }
        });
        Some(Traffic {
            stamp,
            address,
            port,
            frontend,
            backend,
            server,
            place: asked,
            waited,
            connected,
            took,
            bytes,
            state,
            connections,
            queues: queues.split_once('/')?,
            http,
        })
    }

    fn write(&self, record: &mut Record) {
        let status = self.http.as_ref().and_then(|http| number(http.status));
        if let Some(status) = status {
            let outcome = if status < 400 { "success" } else { "failure" };
            record.event.text("outcome", outcome);
        }
        let nanoseconds = number(self.took).and_then(|ms| ms.checked_mul(NANOSECONDS_OF_MS));
        if let Some(nanoseconds) = nanoseconds {
            record.event.number("duration", nanoseconds);
        }
        write_client(record, present(self.address).unwrap_or(""), self.port);
        if let Some(place) = present(self.place) {
            write_side(record, "destination", place, "");
        }
        if let Some(http) = &self.http {
            let request = Request::of(http.line);
            record.fields.object("http", |o| {
                o.text("version", request.version);
                o.object("request", |o| o.text("method", request.method));
                o.object("response", |o| optional(o, "status_code", http.status));
            });
            request.write_url(record, "");
        }
        let frontend = self.frontend.trim_end_matches('~');
        if frontend.len() < self.frontend.len() {
            record.fields.object("tls", |o| o.flag("established"));
        }
        record.fields.object("haproxy", |o| {
            o.text("frontend_name", frontend);
            o.text("backend_name", self.backend);
            // Such as `<NOSRV>`.
            if !self.server.starts_with('<') {
                o.text("server_name", self.server);
            }
            optional(o, "total_waiting_time_ms", self.waited);
            optional(o, "connection_wait_time_ms", self.connected);
            optional(o, "bytes_read", self.bytes);
            o.text("termination_state", self.state);
            o.object("connections", |o| {
                for (name, count) in CONNECTIONS.into_iter().zip(self.connections.split('/')) {
                    optional(o, name, count);
                }
            });
            optional(o, "server_queue", self.queues.0);
            optional(o, "backend_queue", self.queues.1);
            if let Some(http) = &self.http {
                o.object("http", |o| http.write(o));
            }
        });
    }
}

impl Exchange<'_> {
    fn write(&self, o: &mut Members) {
        o.object("request", |o| {
            optional(o, "time_wait_ms", self.came);
            optional(o, "time_wait_without_data_ms", self.answered);
            captured(o, self.cookies.0, self.headers.0);
        });
        o.object("response", |o| captured(o, self.cookies.1, self.headers.1));
    }
}

fn captured(o: &mut Members, cookie: &str, headers: &str) {
    o.text("captured_cookie", present(cookie).unwrap_or(""));
    let mut headers = headers
        .split('|')
        .filter(|value| !value.is_empty())
        .peekable();
    if headers.peek().is_some() {
        o.texts("captured_headers", headers);
    }
}

/// The place that was asked for, if a format has it, times with `/` between them, and what is behind them.
fn place_and_times(text: &str) -> Option<(&str, &str, &str)> {
    let (first, rest) = word(text)?;
    if first.contains('/') {
        return Some(("", first, rest));
    }
    let (times, rest) = word(rest)?;
    Some((first, times, rest))
}

/// A number; with a `+` in front where more was to come when the line was written.
fn number(text: &str) -> Option<u64> {
    text.strip_prefix('+').unwrap_or(text).parse().ok()
}

/// A number where there is one.
fn optional(o: &mut Members, name: &'static str, text: &str) {
    if let Some(value) = number(text) {
        o.number(name, value);
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(line: &str, expected: Option<&str>) {
        testing::check(ParserName::Haproxy, line, expected);
    }

    #[test]
    fn requests() {
        check(
            r#"Feb  6 12:14:14 lb1 haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in~ static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 2/3 {1wt.eu|} {} "GET /index.html?a=1 HTTP/1.1""#,
            Some(concat!(
                r#"2026-02-06T12:14:14.655Z - {"event":{"outcome":"success","duration":109000000},"log":{"syslog":{"hostname":"lb1"}},"#,
                r#""process":{"name":"haproxy","pid":14389},"source":{"address":"10.0.1.2","ip":"10.0.1.2","port":33317},"#,
                r#""http":{"version":"1.1","request":{"method":"GET"},"response":{"status_code":200}},"#,
                r#""url":{"original":"/index.html?a=1","path":"/index.html","query":"a=1"},"tls":{"established":true},"#,
                r#""haproxy":{"frontend_name":"http-in","backend_name":"static","server_name":"srv1","total_waiting_time_ms":0,"#,
                r#""connection_wait_time_ms":30,"bytes_read":2750,"termination_state":"----","#,
                r#""connections":{"active":1,"frontend":1,"backend":1,"server":1,"retries":0},"server_queue":2,"backend_queue":3,"#,
                r#""http":{"request":{"time_wait_ms":10,"time_wait_without_data_ms":69,"captured_headers":["1wt.eu"]}}}}"#
            )),
        );
        // The place is behind the server, and nobody says who asks.
        check(
            r#"-:5 [06/Feb/2026:12:14:14.655] in~ app/n2 a.example 0/0/0/18/18 200 20 - - ---- 2/2/1/1/0 0/0 "GET /a HTTP/1.1""#,
            Some(concat!(
                r#"2026-02-06T12:14:14.655Z - {"event":{"outcome":"success","duration":18000000},"source":{"port":5},"#,
                r#""destination":{"address":"a.example"},"http":{"version":"1.1","request":{"method":"GET"},"response":{"status_code":200}},"#,
                r#""url":{"original":"/a","path":"/a"},"tls":{"established":true},"#,
                r#""haproxy":{"frontend_name":"in","backend_name":"app","server_name":"n2","total_waiting_time_ms":0,"#,
                r#""connection_wait_time_ms":0,"bytes_read":20,"termination_state":"----","#,
                r#""connections":{"active":2,"frontend":2,"backend":1,"server":1,"retries":0},"server_queue":0,"backend_queue":0,"#,
                r#""http":{"request":{"time_wait_ms":0,"time_wait_without_data_ms":18}}}}"#
            )),
        );
        // Nobody was asked, as the request was none.
        check(
            r#"[::1]:5 [06/Feb/2026:12:14:14.655] in in/<NOSRV> -1/-1/-1/-1/+12 400 187 SID=1 - PR-- 1/1/0/0/+3 0/0 "<BADREQ>""#,
            Some(concat!(
                r#"2026-02-06T12:14:14.655Z - {"event":{"outcome":"failure","duration":12000000},"#,
                r#""source":{"address":"[::1]","port":5},"http":{"response":{"status_code":400}},"#,
                r#""haproxy":{"frontend_name":"in","backend_name":"in","bytes_read":187,"termination_state":"PR--","#,
                r#""connections":{"active":1,"frontend":1,"backend":0,"server":0,"retries":3},"server_queue":0,"backend_queue":0,"#,
                r#""http":{"request":{"captured_cookie":"SID=1"}}}}"#
            )),
        );
    }

    #[test]
    fn connections_and_what_else_it_says() {
        check(
            "10.0.1.2:33313 [06/Feb/2026:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0",
            Some(concat!(
                r#"2026-02-06T12:12:51.443Z - {"event":{"duration":5007000000},"source":{"address":"10.0.1.2","ip":"10.0.1.2","port":33313},"#,
                r#""haproxy":{"frontend_name":"fnt","backend_name":"bck","server_name":"srv1","total_waiting_time_ms":0,"connection_wait_time_ms":0,"#,
                r#""bytes_read":212,"termination_state":"--","connections":{"active":0,"frontend":0,"backend":0,"server":0,"retries":3},"#,
                r#""server_queue":0,"backend_queue":0}}"#
            )),
        );
        check(
            "Feb  6 12:14:14 lb1 haproxy[14389]: Connect from 10.0.0.7:4078 to [::1]:80 (main/HTTP)",
            Some(concat!(
                r#"2026-02-06T12:14:14.000Z - {"log":{"syslog":{"hostname":"lb1"}},"process":{"name":"haproxy","pid":14389},"#,
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":4078},"destination":{"address":"[::1]","port":80},"#,
                r#""haproxy":{"frontend_name":"main","mode":"HTTP"}}"#
            )),
        );
        check(
            "Feb  6 12:14:14 lb1 haproxy[14389]: Proxy http-in started.",
            Some(
                r#"2026-02-06T12:14:14.000Z - {"log":{"syslog":{"hostname":"lb1"}},"process":{"name":"haproxy","pid":14389}}"#,
            ),
        );
        for other in [
            "Feb  6 12:14:14 lb1 su[1]: x",
            "10.0.1.2:33313 [06/Feb/2026:12:12:51.443] fnt bck/srv1 0/0 212 -- 0/0/0/0/3 0/0",
            "10.0.1.2:33313 [06/Feb/2026:12:12:51.443] fnt bck/srv1 0/0/x 212 -- 0/0/0/0/3 0/0",
            "10.0.1.2:33313 [06/Feb/2026:12:12:51.443] fnt bck/srv1 0/0/1 212 -- 0/0/0/3 0/0",
            "10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] \"GET / HTTP/1.1\" 200 1",
        ] {
            check(other, None);
        }
    }
}
