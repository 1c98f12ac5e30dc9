//! One table: the head of a request and what becomes of it.

use axum::http::{Request, StatusCode, Version, header};

use super::{Guard, Page, Verdict};
use crate::http::config::HttpConfig;

fn config(yaml: &str) -> HttpConfig {
    serde_yaml_ng::from_str(yaml).unwrap()
}

fn guard(yaml: &str) -> Guard {
    Guard::new(&config(yaml), "Workstation").unwrap()
}

/// What becomes of a request given as its line and its headers: `pass`, `page` where a page of another
/// origin is let in, `preflight`, or the status and what was wrong.
fn judged(guard: &Guard, request: &str) -> String {
    let mut lines = request.split(" | ");
    let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
    let mut builder = Request::builder().method(method).uri(target);
    for line in lines {
        match line.split_once(": ") {
            Some((name, value)) => builder = builder.header(name, value),
            None => builder = builder.version(Version::HTTP_10),
        }
    }
    let (head, ()) = builder.body(()).unwrap().into_parts();
    match guard.judge(&head) {
        Verdict::Pass(Page::None) => "pass".to_string(),
        Verdict::Pass(Page::Allowed(_)) => "page".to_string(),
        Verdict::Preflight(_) => "preflight".to_string(),
        Verdict::Refused(refusal) => format!("{} {}", refusal.status.as_u16(), refusal.label),
    }
}

fn check(yaml: &str, cases: &[(&str, &str)]) {
    let guard = guard(yaml);
    for (request, expected) in cases {
        assert_eq!(judged(&guard, request), *expected, "{request} ({yaml})");
    }
}

#[test]
fn clients_that_are_no_browsers_pass() {
    check(
        "{}",
        &[
            ("GET /_search | Host: localhost:9200", "pass"),
            ("POST /a/_close | Host: 127.0.0.1:9200", "pass"),
            ("DELETE /a | Host: [::1]:9200", "pass"),
            (
                "POST /_bulk | Host: localhost:9200 | Content-Type: application/x-ndjson",
                "pass",
            ),
            (
                "PUT /a | Host: localhost | Content-Type: application/json; charset=UTF-8",
                "pass",
            ),
            ("POST /a/_refresh | HTTP/1.0", "pass"),
            (
                "GET /_search | Host: localhost:9200 | Content-Type: text/plain",
                "pass",
            ),
        ],
    );
}

#[test]
fn pages_of_other_origins_are_refused() {
    check(
        "{}",
        &[
            (
                "POST /a/_close | Host: localhost:9200 | Origin: http://evil.example",
                "403 origin",
            ),
            (
                "POST /a/_close | Host: localhost:9200 | Origin: null",
                "403 origin",
            ),
            (
                "GET /_search | Host: localhost:9200 | Origin: http://evil.example",
                "403 origin",
            ),
            (
                "POST /a | Host: localhost:9200 | Origin: http://localhost:9201",
                "403 origin",
            ),
            (
                "POST /a | Host: localhost:9200 | Origin: http://localhost:9200.evil.example",
                "403 origin",
            ),
            (
                "POST /a | Host: localhost:9200 | Origin: http://localhost:9200@evil.example",
                "403 origin",
            ),
            (
                "POST /a | Host: localhost:9200 | Origin: file://localhost:9200",
                "403 origin",
            ),
            (
                "POST /a | HTTP/1.0 | Origin: http://localhost:9200",
                "403 origin",
            ),
            (
                "OPTIONS /a | Host: localhost:9200 | Origin: http://evil.example | Access-Control-Request-Method: PUT",
                "403 origin",
            ),
            (
                "POST /a | Host: localhost:9200 | Origin: http://localhost:9200 | Origin: http://evil.example",
                "400 host",
            ),
        ],
    );
}

#[test]
fn the_servers_own_pages_pass() {
    check(
        "{hosts_allowed: [search.example.com]}",
        &[
            (
                "POST /a | Host: localhost:9200 | Origin: http://localhost:9200",
                "pass",
            ),
            (
                "POST /a | Host: LOCALHOST:9200 | Origin: http://localhost:9200 | Sec-Fetch-Site: same-origin",
                "pass",
            ),
            (
                "POST /a | Host: [::1]:9200 | Origin: http://[::1]:9200",
                "pass",
            ),
            // Behind a proxy that ends TLS.
            (
                "POST /a | Host: search.example.com | Origin: https://search.example.com",
                "pass",
            ),
            (
                "POST /a | Host: search.example.com:443 | Origin: https://search.example.com",
                "pass",
            ),
            (
                "POST /a | Host: search.example.com:9200 | Origin: https://search.example.com",
                "403 origin",
            ),
        ],
    );
}

#[test]
fn requests_without_an_origin_are_told_by_their_site_or_referer() {
    check(
        "{}",
        &[
            (
                "GET /a | Host: localhost | Sec-Fetch-Site: cross-site | Sec-Fetch-Mode: no-cors",
                "403 site",
            ),
            (
                "GET /a | Host: localhost | Sec-Fetch-Site: same-site",
                "403 site",
            ),
            (
                "GET /_cat | Host: localhost | Sec-Fetch-Site: cross-site | Sec-Fetch-Mode: navigate",
                "pass",
            ),
            (
                "POST /a | Host: localhost | Sec-Fetch-Site: cross-site | Sec-Fetch-Mode: navigate",
                "403 site",
            ),
            ("POST /a | Host: localhost | Sec-Fetch-Site: none", "pass"),
            (
                "POST /a | Host: localhost | Sec-Fetch-Site: same-origin",
                "pass",
            ),
            (
                "POST /a | Host: localhost:9200 | Referer: http://evil.example/page",
                "403 site",
            ),
            (
                "POST /a | Host: localhost:9200 | Referer: http://localhost:9200/_console",
                "pass",
            ),
            (
                "GET /a | Host: localhost:9200 | Referer: http://evil.example/page",
                "pass",
            ),
        ],
    );
}

#[test]
fn types_of_forms_change_nothing_even_without_a_body() {
    check(
        "{}",
        &[
            (
                "POST /a/_close | Host: localhost | Content-Type: text/plain",
                "406 content_type",
            ),
            (
                "PUT /a | Host: localhost | Content-Type: application/x-www-form-urlencoded",
                "406 content_type",
            ),
            (
                "DELETE /a | Host: localhost | Content-Type: Multipart/Form-Data; boundary=x",
                "406 content_type",
            ),
            (
                "POST /a | Host: localhost | Content-Type: application/json | Content-Type: text/plain;charset=UTF-8",
                "406 content_type",
            ),
        ],
    );
}

#[test]
fn a_host_is_a_name_of_the_server() {
    check(
        "{hosts_allowed: [search.example.com, '*.svc.cluster.local']}",
        &[
            ("GET / | Host: workstation:9200", "pass"),
            ("GET / | Host: localhost.:9200", "pass"),
            ("GET / | Host: Search.Example.Com", "pass"),
            ("GET / | Host: clew.default.svc.cluster.local:9200", "pass"),
            ("GET / | Host: 192.168.1.1:9200", "pass"),
            ("GET / | Host: [fe80::1]", "pass"),
            ("GET / | Host: svc.cluster.local", "403 host"),
            ("GET / | Host: evil.example:9200", "403 host"),
            ("GET / | Host: search.example.com.evil.example", "403 host"),
            ("GET / | Host: clew", "403 host"),
            ("GET / | Host: 127.0.0.1.evil.example", "403 host"),
            ("GET / | Host: 127.1", "403 host"),
            ("GET / | Host: 0x7f000001", "403 host"),
            ("GET / | Host: user@localhost", "400 host"),
            ("GET / | Host: a b", "400 host"),
            ("GET / | Host: :9200", "400 host"),
            ("GET /", "400 host"),
            ("GET / | HTTP/1.0", "pass"),
            ("GET / | HTTP/1.0 | Host: evil.example", "403 host"),
            ("GET / | Host: localhost | Host: localhost", "400 host"),
            ("GET http://localhost:9200/ | Host: localhost:9200", "pass"),
            (
                "GET http://evil.example/ | Host: localhost:9200",
                "403 host",
            ),
            (
                "GET http://localhost:9200/ | Host: evil.example",
                "403 host",
            ),
            ("CONNECT evil.example:80 | Host: localhost", "403 host"),
            // As a page whose own name resolves here would send it.
            (
                "POST /a | Host: evil.example:9200 | Origin: http://evil.example:9200",
                "403 host",
            ),
        ],
    );
    check(
        "{address: '0.0.0.0:9200'}",
        &[
            ("GET / | Host: clew:9200", "pass"),
            ("GET / | Host: clew.evil.example", "403 host"),
        ],
    );
    check(
        "{hosts_allowed: ['*']}",
        &[("GET / | Host: any.example", "pass")],
    );
}

/// What is known at a glance is what a closer look allows.
#[test]
fn a_glance_at_a_host_allows_nothing_more() {
    let guard = guard("{}");
    let mut known = 0;
    let names = [
        "localhost",
        "workstation",
        "127.0.0.1",
        "[::1]",
        "evil.example",
        "a@localhost",
        "",
        "1.2.3",
        "LOCALHOST",
    ];
    let ports = ["", ":", ":9200", ":+80", ":65536", ":80:80", ":x", ": 80"];
    for host in names
        .iter()
        .flat_map(|name| ports.map(|port| format!("{name}{port}")))
    {
        let head = Request::builder()
            .header(header::HOST, &host)
            .body(())
            .unwrap()
            .into_parts()
            .0;
        if guard.hosts.know(&head) {
            known += 1;
            assert!(guard.hosts.check(&head).is_ok(), "{host}");
        }
    }
    assert_eq!(known, 6, "three names, with a port and without");
}

#[test]
fn pages_that_are_allowed_are_answered() {
    let listed =
        "{cors: {enabled: true, allow_origin: ['https://app.example', '/https?://[a-z]+[.]lan/']}}";
    check(
        listed,
        &[
            (
                "GET / | Host: localhost | Origin: https://app.example | Sec-Fetch-Site: cross-site",
                "page",
            ),
            ("DELETE /a | Host: localhost | Origin: http://a.lan", "page"),
            (
                "OPTIONS /a | Host: localhost | Origin: http://a.lan | Access-Control-Request-Method: PUT",
                "preflight",
            ),
            (
                "OPTIONS /a | Host: localhost | Origin: http://a.lan",
                "page",
            ),
            (
                "GET / | Host: localhost | Origin: http://a.lan.evil.example",
                "403 origin",
            ),
            (
                "GET / | Host: localhost | Origin: https://app.example:444",
                "403 origin",
            ),
            (
                "OPTIONS /a | Host: localhost | Origin: http://evil.example | Access-Control-Request-Method: PUT",
                "403 origin",
            ),
            (
                "POST /a | Host: localhost | Origin: https://app.example | Content-Type: text/plain",
                "406 content_type",
            ),
            (
                "GET / | Host: evil.example | Origin: https://app.example",
                "403 host",
            ),
            (
                "POST / | Host: localhost | Sec-Fetch-Site: cross-site",
                "403 site",
            ),
        ],
    );
    check(
        "{cors: {enabled: false, allow_origin: ['*']}}",
        &[(
            "GET / | Host: localhost | Origin: https://app.example",
            "403 origin",
        )],
    );
    check(
        "{cors: {enabled: true, allow_origin: '*'}}",
        &[("GET / | Host: localhost | Origin: null", "page")],
    );
}

/// The headers that a page of this origin gets on an answer, or on its question.
fn marks(yaml: &str, request: &str) -> Vec<String> {
    let guard = guard(&format!("{{cors: {yaml}}}"));
    let mut lines = request.split(" | ");
    let method = lines.next().unwrap();
    let mut builder = Request::builder()
        .method(method)
        .uri("/")
        .header("Host", "localhost");
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        builder = builder.header(name, value);
    }
    let (head, ()) = builder.body(()).unwrap().into_parts();
    let headers = match guard.judge(&head) {
        Verdict::Preflight(response) => {
            assert_eq!(response.status(), StatusCode::OK);
            response.headers().clone()
        }
        Verdict::Pass(page) => {
            let mut headers = header::HeaderMap::new();
            guard.mark(&page, &mut headers);
            headers
        }
        Verdict::Refused(refusal) => panic!("{refusal:?}"),
    };
    let shown = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

#[test]
fn pages_learn_what_they_may_see() {
    let any = "{enabled: true, allow_origin: '*', expose_headers: x-clew-glsn}";
    assert_eq!(
        marks(any, "GET | Origin: http://a"),
        [
            "access-control-allow-origin: *",
            "access-control-expose-headers: x-clew-glsn"
        ]
    );
    assert!(marks(any, "GET").is_empty());
    let credentials = "{enabled: true, allow_origin: '*', allow_credentials: true}";
    assert_eq!(
        marks(credentials, "GET | Origin: http://a"),
        [
            "access-control-allow-credentials: true",
            "access-control-allow-origin: http://a",
            "vary: origin"
        ]
    );
    let listed = "{enabled: true, allow_origin: ['http://a'], max_age_s: 60, allow_methods: [PUT]}";
    assert_eq!(marks(listed, "GET"), ["vary: origin"]);
    assert_eq!(
        marks(
            listed,
            "OPTIONS | Origin: http://a | Access-Control-Request-Method: PUT"
        ),
        [
            "access-control-allow-headers: X-Requested-With,Content-Type,Content-Length",
            "access-control-allow-methods: PUT",
            "access-control-allow-origin: http://a",
            "access-control-max-age: 60",
            "vary: origin"
        ]
    );
}

#[test]
fn what_cannot_be_meant_is_refused_at_the_start() {
    for yaml in [
        "{hosts_allowed: ['http://name']}",
        "{hosts_allowed: ['name:9200']}",
        "{hosts_allowed: ['a*']}",
        "{hosts_allowed: ['*.']}",
        "{hosts_allowed: ['*.*.a']}",
        "{hosts_allowed: ['']}",
        "{cors: {enabled: true, allow_origin: [name]}}",
        "{cors: {enabled: true, allow_origin: ['http://name/']}}",
        "{cors: {enabled: true, allow_origin: ['/(/']}}",
        "{cors: {enabled: true, allow_headers: ['a b']}}",
        "{cors: {enabled: true, allow_methods: ['a b']}}",
    ] {
        let error = Guard::new(&config(yaml), "m").unwrap_err();
        assert!(error.to_string().contains("[http."), "{error}");
    }
}
