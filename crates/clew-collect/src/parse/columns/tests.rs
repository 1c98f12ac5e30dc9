use serde_json::{Value, json};

use crate::parse::{ParserName, testing};

#[track_caller]
fn check(parser: ParserName, line: &str, time: &str, expected: &Value) {
    let found = testing::parsed(parser, line).expect(line);
    let (head, object) = found.split_once(" - ").unwrap();
    assert_eq!(head, time, "{line}");
    let object: Value = serde_json::from_str(object).unwrap();
    assert_eq!(&object, expected, "{line}");
    for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
        testing::parsed(parser, &line[..end]);
    }
}

#[test]
fn load_balancers_of_both_kinds() {
    check(
        ParserName::AwsElb,
        r#"https 2026-10-10T12:34:56.186641Z app/lb/50dc6c 192.168.131.39:2817 10.0.0.1:80 0.001 0.002 -1 503 200 34 366 "GET https://www.example.com:443/a?b=c HTTP/1.1" "curl/7.46.0" ECDHE-RSA TLSv1.2 arn:aws:x "Root=1-58337281" "www.example.com" "arn:cert" 0 2026-10-10T12:34:55.364000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-""#,
        "2026-10-10T12:34:56.186Z",
        &json!({
            "event": {"outcome": "failure", "start": "2026-10-10T12:34:55.364Z"},
            "aws": {"elb": {
                "protocol": "https", "name": "app/lb/50dc6c",
                "backend": {
                    "address": "10.0.0.1", "ip": "10.0.0.1", "port": 80,
                    "http": {"response": {"status_code": 200}},
                },
                "request_processing_time": {"sec": 0.001}, "backend_processing_time": {"sec": 0.002},
                "ssl_cipher": "ECDHE-RSA", "ssl_protocol": "TLSv1.2",
                "target_group": {"arn": "arn:aws:x"}, "trace_id": "Root=1-58337281",
                "chosen_cert": {"arn": "arn:cert"}, "matched_rule_priority": 0,
                "action_executed": "forward", "target_port": "10.0.0.1:80", "target_status_code": "200",
            }},
            "destination": {"domain": "www.example.com"},
            "source": {"address": "192.168.131.39", "ip": "192.168.131.39", "port": 2817},
            "http": {
                "version": "1.1",
                "request": {"method": "GET", "body": {"bytes": 34}},
                "response": {"status_code": 503, "body": {"bytes": 366}},
            },
            "url": {
                "original": "https://www.example.com:443/a?b=c", "scheme": "https", "domain": "www.example.com",
                "port": 443, "path": "/a", "query": "b=c",
            },
            "user_agent": {"original": "curl/7.46.0"},
        }),
    );
    check(
        ParserName::AwsElb,
        r#"2026-10-10T12:34:56.945958Z lb 192.168.131.39:2817 - 0.000073 -1 -1 200 - 0 29 "- - - " "-" - -"#,
        "2026-10-10T12:34:56.945Z",
        &json!({
            "event": {"outcome": "success"},
            "aws": {"elb": {"name": "lb", "request_processing_time": {"sec": 0.000_073}}},
            "source": {"address": "192.168.131.39", "ip": "192.168.131.39", "port": 2817},
            "http": {
                "request": {"body": {"bytes": 0}},
                "response": {"status_code": 200, "body": {"bytes": 29}},
            },
        }),
    );
}

#[test]
fn buckets_and_flows() {
    let owner = "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be";
    check(
        ParserName::AwsS3Access,
        &format!(
            r#"{owner} shop [10/Oct/2026:12:34:56 +0000] 192.0.2.3 arn:aws:iam::1:user/a 3E57427F3EXAMPLE REST.GET.OBJECT a.txt "GET /shop/a.txt HTTP/1.1" 404 NoSuchKey 297 - 70 10 "-" "S3Console/0.4" - 9vKBE6= SigV4 ECDHE AuthHeader shop.s3.amazonaws.com TLSV1.1"#
        ),
        "2026-10-10T12:34:56.000Z",
        &json!({
            "event": {
                "action": "REST.GET.OBJECT", "code": "NoSuchKey", "duration": 70_000_000,
                "id": "3E57427F3EXAMPLE", "outcome": "failure",
            },
            "aws": {"s3access": {
                "bucket_owner": owner, "bucket": "shop", "key": "a.txt", "turn_around_time": 10, "host_id": "9vKBE6=",
                "signature_version": "SigV4", "authentication_type": "AuthHeader",
                "host_header": "shop.s3.amazonaws.com", "tls_version": "TLSV1.1",
            }},
            "client": {"address": "192.0.2.3", "ip": "192.0.2.3", "user": {"id": "arn:aws:iam::1:user/a"}},
            "http": {
                "version": "1.1", "request": {"method": "GET"},
                "response": {"status_code": 404, "body": {"bytes": 297}},
            },
            "tls": {"cipher": "ECDHE"},
            "url": {"original": "/shop/a.txt", "path": "/shop/a.txt"},
            "user_agent": {"original": "S3Console/0.4"},
        }),
    );
    check(
        ParserName::AwsVpcflow,
        "2 123456789010 eni-1235b8ca 172.31.16.139 172.31.16.21 20641 22 6 20 4249 1791635636 1791635696 ACCEPT OK",
        "2026-10-10T12:34:56.000Z",
        &json!({
            "event": {"start": "2026-10-10T12:33:56.000Z"},
            "aws": {"vpcflow": {
                "version": "2", "interface_id": "eni-1235b8ca", "action": "ACCEPT", "log_status": "OK",
            }},
            "cloud": {"account": {"id": "123456789010"}},
            "source": {
                "address": "172.31.16.139", "ip": "172.31.16.139", "port": 20641, "packets": 20, "bytes": 4249,
            },
            "destination": {"address": "172.31.16.21", "ip": "172.31.16.21", "port": 22},
            "network": {"iana_number": "6"},
        }),
    );
}

#[test]
fn columns_of_the_extended_format() {
    check(
        ParserName::AwsCloudfront,
        "2026-10-10\t12:34:56\tLAX1\t2390\t192.0.2.24\tGET\td11.cloudfront.net\t/index.html\t200\t-\tMozilla/4.0\ta=b\t-\tHit\tSOX4=\twww.example.com\thttps\t23\t0.25\t-\tTLSv1.2\tECDHE\tHit\tHTTP/2.0\t-\t-\t11040\t0.1\tHit\ttext/html\t78\t-\t-",
        "2026-10-10T12:34:56.000Z",
        &json!({
            "event": {"duration": 250_000_000, "outcome": "success"},
            "aws": {"cloudfront": {
                "edge_location": "LAX1", "edge_result_type": "Hit", "ssl_protocol": "TLSv1.2",
                "edge_response_result_type": "Hit", "protocol_version": "HTTP/2.0", "time_to_first_byte": 0.1,
                "edge_detailed_result_type": "Hit", "content_type": "text/html", "content_length": 78,
            }},
            "source": {"address": "192.0.2.24", "ip": "192.0.2.24", "port": 11040},
            "destination": {"domain": "d11.cloudfront.net"},
            "http": {
                "request": {"method": "GET", "id": "SOX4=", "bytes": 23},
                "response": {"status_code": 200, "bytes": 2390},
            },
            "tls": {"cipher": "ECDHE"},
            "url": {"domain": "www.example.com", "scheme": "https", "path": "/index.html", "query": "a=b"},
            "user_agent": {"original": "Mozilla/4.0"},
        }),
    );
    let answered = |referrer: Option<&str>| {
        let mut all = json!({
            "event": {"duration": 15_000_000, "outcome": "failure"},
            "iis": {"access": {"sub_status": 0, "win32_status": 2}},
            "source": {"address": "10.0.0.7", "ip": "10.0.0.7"},
            "destination": {"address": "::1", "ip": "::1", "port": 80},
            "http": {"request": {"method": "GET"}, "response": {"status_code": 404}},
            "url": {"path": "/a.aspx", "query": "b=c"},
            "user": {"name": "jo"},
            "user_agent": {"original": "Mozilla/5.0 (X11)"},
        });
        if let Some(referrer) = referrer {
            all["http"]["request"]["referrer"] = referrer.into();
        }
        all
    };
    let asked = "2026-10-10 12:34:56 ::1 GET /a.aspx b=c 80 jo 10.0.0.7 Mozilla/5.0+(X11)";
    for (behind, referrer) in [
        ("http://x/ 404 0 2 15", Some("http://x/")),
        ("- 404 0 2 15", None),
        ("404 0 2 15", None),
    ] {
        check(
            ParserName::IisAccess,
            &format!("{asked} {behind}"),
            "2026-10-10T12:34:56.000Z",
            &answered(referrer),
        );
    }
    for line in [
        "#Fields: date time s-ip",
        "#Software: Microsoft Internet Information Services 10.0",
    ] {
        for parser in [ParserName::IisAccess, ParserName::AwsCloudfront] {
            assert!(testing::parsed(parser, line).is_some(), "{line}");
        }
        assert!(testing::parsed(ParserName::Squid, line).is_none(), "{line}");
    }
}

#[test]
fn sites_of_iis_and_what_its_driver_refuses() {
    check(
        ParserName::IisAccess,
        "2026-10-10 12:34:56 W3SVC1 GET /a b=c 80 - 10.0.0.7 curl/8+x - - a.example 404 0 2 123 456 789",
        "2026-10-10T12:34:56.000Z",
        &json!({
            "event": {"outcome": "failure", "duration": 789_000_000},
            "iis": {"access": {"site_name": "W3SVC1", "sub_status": 0, "win32_status": 2}},
            "destination": {"domain": "a.example", "port": 80},
            "source": {"address": "10.0.0.7", "ip": "10.0.0.7"},
            "http": {
                "request": {"method": "GET", "body": {"bytes": 456}},
                "response": {"status_code": 404, "body": {"bytes": 123}},
            },
            "url": {"path": "/a", "query": "b=c"},
            "user_agent": {"original": "curl/8 x"},
        }),
    );
    for (line, expected) in [
        (
            "2026-10-10 12:34:56 10.0.0.7 2094 10.0.0.1 80 HTTP/1.1 GET /a?b=c 503 1 ConnLimit Pool",
            json!({
                "event": {"outcome": "failure"},
                "iis": {"error": {"site_id": 1, "reason_phrase": "ConnLimit", "queue_name": "Pool"}},
                "source": {"address": "10.0.0.7", "ip": "10.0.0.7", "port": 2094},
                "destination": {"address": "10.0.0.1", "ip": "10.0.0.1", "port": 80},
                "http": {"version": "1.1", "request": {"method": "GET"}, "response": {"status_code": 503}},
                "url": {"original": "/a?b=c", "path": "/a", "query": "b=c"},
            }),
        ),
        (
            "2026-10-10 12:34:56 10.0.0.7 2094 10.0.0.1 80 - - - - - - Timer_ConnectionIdle -",
            json!({
                "iis": {"error": {"reason_phrase": "Timer_ConnectionIdle"}},
                "source": {"address": "10.0.0.7", "ip": "10.0.0.7", "port": 2094},
                "destination": {"address": "10.0.0.1", "ip": "10.0.0.1", "port": 80},
            }),
        ),
    ] {
        let time = "2026-10-10T12:34:56.000Z";
        check(ParserName::IisError, line, time, &expected);
    }
}

#[test]
fn proxies() {
    check(
        ParserName::Squid,
        "1791635696.789    123 10.0.0.7 TCP_TUNNEL/200 4321 CONNECT example.com:443 jo HIER_DIRECT/93.184.216.34 -",
        "2026-10-10T12:34:56.789Z",
        &json!({
            "event": {"action": "TCP_TUNNEL", "duration": 123_000_000, "outcome": "success"},
            "source": {"address": "10.0.0.7", "ip": "10.0.0.7"},
            "http": {"request": {"method": "CONNECT"}, "response": {"status_code": 200, "bytes": 4321}},
            "url": {"original": "example.com:443"},
            "user": {"name": "jo"},
            "squid": {"hierarchy_code": "HIER_DIRECT"},
            "destination": {"address": "93.184.216.34", "ip": "93.184.216.34"},
        }),
    );
    let told = json!({
        "event": {"duration": 226_000_000, "outcome": "success"},
        "envoyproxy": {
            "upstream_service_time": 100, "request_id": "cc21d9b0", "authority": "locations",
        },
        "source": {"address": "10.0.35.28", "ip": "10.0.35.28"},
        "destination": {"address": "10.0.2.1", "ip": "10.0.2.1", "port": 80},
        "http": {
            "version": "2", "request": {"method": "POST", "body": {"bytes": 154}},
            "response": {"status_code": 204, "body": {"bytes": 0}},
        },
        "url": {"original": "/v1", "path": "/v1"},
        "user_agent": {"original": "nsq2http"},
    });
    check(
        ParserName::Envoy,
        r#"[2026-10-10T12:34:56.310Z] "POST /v1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28, 10.1.1.1" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80""#,
        "2026-10-10T12:34:56.310Z",
        &told,
    );
    let mut more = told;
    more["envoyproxy"]["response_code_details"] = "via_upstream".into();
    more["envoyproxy"]["upstream_cluster"] = "outbound|80||x".into();
    check(
        ParserName::Envoy,
        r#"[2026-10-10T12:34:56.310Z] "POST /v1 HTTP/2" 204 - via_upstream - "-" 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "10.0.2.1:80" outbound|80||x - - - - -"#,
        "2026-10-10T12:34:56.310Z",
        &more,
    );
}

#[test]
fn requests_to_traefik_in_both_of_its_formats() {
    let mut told = json!({
        "event": {"duration": 5_000_000, "outcome": "failure"},
        "source": {"address": "10.0.0.7", "ip": "10.0.0.7"},
        "http": {
            "version": "1.1",
            "request": {"method": "GET", "referrer": "http://a/"},
            "response": {"status_code": 404, "body": {"bytes": 19}},
        },
        "traefik": {"access": {
            "request_count": 12, "frontend_name": "web@docker", "backend_url": "http://10.0.0.8:80",
        }},
        "url": {"original": "/x?a=b", "path": "/x", "query": "a=b"},
        "user": {"name": "jo"},
        "user_agent": {"original": "curl/8"},
    });
    check(
        ParserName::Traefik,
        r#"10.0.0.7 - jo [10/Oct/2026:12:34:56 +0000] "GET /x?a=b HTTP/1.1" 404 19 "http://a/" "curl/8" 12 "web@docker" "http://10.0.0.8:80" 5ms"#,
        "2026-10-10T12:34:56.000Z",
        &told,
    );
    told["destination"] = json!({"address": "10.0.0.8", "ip": "10.0.0.8", "port": 80});
    told["source"]["port"] = 4567.into();
    told["url"]["domain"] = "a.example".into();
    told["url"]["scheme"] = "https".into();
    check(
        ParserName::TraefikJson,
        r#"{"ClientAddr":"10.0.0.7:4567","ClientHost":"10.0.0.7","ClientUsername":"jo","DownstreamContentSize":19,"DownstreamStatus":404,"Duration":5000000,"RequestCount":12,"RequestHost":"a.example","RequestMethod":"GET","RequestPath":"/x?a=b","RequestProtocol":"HTTP/1.1","RequestScheme":"https","RouterName":"web@docker","ServiceAddr":"10.0.0.8:80","ServiceURL":"http://10.0.0.8:80","StartUTC":"2026-10-10T12:34:56.000000001Z","request_Referer":"http://a/","request_User-Agent":"curl/8"}"#,
        "2026-10-10T12:34:56.000Z",
        &told,
    );
}

#[test]
fn databases_that_log_objects() {
    testing::check(
        ParserName::Mongodb,
        r#"{"t":{"$date":"2026-01-02T04:04:05.678+01:00"},"s":"I",  "c":"ACCESS",   "id":20249,   "ctx":"conn3","msg":"Authentication failed","attr":{"principalName":"jo","remote":"10.0.0.7:5678","ns":"a.b"}}"#,
        Some(concat!(
            r#"2026-01-02T03:04:05.678Z info {"event":{"outcome":"failure"},"#,
            r#""mongodb":{"log":{"component":"ACCESS","context":"conn3","id":20249,"namespace":"a.b"}},"#,
            r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":5678},"user":{"name":"jo"}}"#
        )),
    );
    testing::check(
        ParserName::Mongodb,
        r#"{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"W","c":"COMMAND","id":51803,"ctx":"conn3","msg":"Slow query","attr":{"namespace":"shop.orders","durationMillis":120}}"#,
        Some(concat!(
            r#"2026-01-02T03:04:05.678Z warning {"event":{"duration":120000000},"#,
            r#""mongodb":{"log":{"component":"COMMAND","context":"conn3","id":51803,"namespace":"shop.orders"}}}"#
        )),
    );
    testing::check(
        ParserName::PostgresqlJson,
        r#"{"timestamp":"2026-01-02 03:04:05.678 UTC","user":"jo","dbname":"shop","pid":59,"remote_host":"[local]","session_id":"5ff.3b","line_num":3,"ps":"SELECT","session_start":"2026-01-02 03:00:00 UTC","vxid":"3/0","txid":0,"error_severity":"ERROR","state_code":"42P01","message":"relation \"x\" does not exist","statement":"select x","application_name":"psql","backend_type":"client backend","query_id":0}"#,
        Some(concat!(
            r#"2026-01-02T03:04:05.678Z error {"postgresql":{"log":{"application_name":"psql","backend_type":"client backend","#,
            r#""command_tag":"SELECT","database":"shop","query":"select x","query_id":"0","#,
            r#""session_id":"5ff.3b","session_line_number":3,"session_start_time":"2026-01-02T03:00:00.000Z","#,
            r#""severity":"ERROR","sql_state_code":"42P01","transaction_id":0,"virtual_transaction_id":"3/0"}},"#,
            r#""process":{"name":"postgres","pid":59},"user":{"name":"jo"}}"#
        )),
    );
    testing::check(
        ParserName::PostgresqlJson,
        r#"{"timestamp":"2026-01-02 03:04:05.678 -03","error_severity":"LOG","backend_type":"x"}"#,
        Some(concat!(
            r#"2026-01-02T06:04:05.678Z info {"postgresql":{"log":{"backend_type":"x","severity":"LOG"}},"#,
            r#""process":{"name":"postgres"}}"#
        )),
    );
    for (parser, line) in [
        (
            ParserName::Mongodb,
            r#"{"t":{"$date":"soon"},"s":"I","c":"A","ctx":"b"}"#,
        ),
        (ParserName::Mongodb, r#"{"t":5,"s":"I","c":"A","ctx":"b"}"#),
        (
            ParserName::PostgresqlJson,
            r#"{"timestamp":"2026-01-02 03:04:05 UTC"}"#,
        ),
        (
            ParserName::TraefikJson,
            r#"{"level":"info","msg":"x","time":"2026-01-02T03:04:05Z"}"#,
        ),
    ] {
        testing::check(parser, line, None);
    }
}

#[test]
fn other_lines_are_refused() {
    for line in [
        "",
        "2026-10-10T12:34:56Z INFO a b c d e f g h i j k l",
        "[2026-10-10T12:34:56Z] INFO a b c d e f g h i j k l m n o p",
        "2026-10-10 12:34:56 INFO a b c d e f g h i j k l m n o p q r s t u",
        "1791635696.789 123 10.0.0.7 TCP_MISS 4321 GET http://a/ - X/1 -",
        "3 123456789010 eni-1235b8ca a b 1 2 6 20 4249 1791635636 1791635696 ACCEPT OK",
        "10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\" a b c d e f",
    ] {
        let all = ParserName::ALL.into_iter();
        for parser in all.filter(|parser| parser.has_columns()) {
            assert!(testing::parsed(parser, line).is_none(), "{line}");
        }
    }
}
