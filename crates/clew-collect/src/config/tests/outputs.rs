//! What is said of outputs.

use super::*;

#[test]
fn an_output_may_have_a_key_a_compression_and_a_buffer() {
    let text = "\
inputs: [{paths: [/l]}]
outputs:
  - type: opensearch
    api_key: abc=
    compression: gzip
    buffer: {folder: /var/lib/clew/buffer, bytes_max: 5000000, when_full: drop_oldest}
";
    let config = parse(text).unwrap();
    let OutputKind::Bulk(bulk) = &config.outputs[0].kind else {
        panic!("{:?}", config.outputs);
    };
    let options = bulk.options(Some("Basic x".to_owned()));
    assert_eq!(options.authorization.as_deref(), Some("ApiKey abc="));
    assert_eq!(options.compression, crate::BodyCompression::Gzip);
    let buffer = bulk.buffer.as_ref().unwrap();
    assert_eq!(buffer.when_full, crate::WhenFull::DropOldest);
    let wrong = parse(&text.replace("drop_oldest", "drop")).unwrap_err();
    assert!(wrong.to_string().contains("line 6"), "{wrong}");
    let wrong = parse(&text.replace("folder: /var/lib/clew/buffer, ", "")).unwrap_err();
    let lacks = "[outputs[0]] [buffer] lacks [folder]";
    assert!(wrong.to_string().ends_with(lacks), "{wrong}");
}

#[test]
fn outputs_have_conditions_and_any_server_may_be_one() {
    let text = "\
inputs: [{paths: [/l]}]
outputs:
  - {type: stdout, when: {equals: {level: ERROR}}}
  - type: http
    url: http://h/in
    headers: {X-Scope: shop}
    compression: zstd
";
    let config = parse(text).unwrap();
    let when = config.outputs[0].when.as_ref().unwrap();
    assert_eq!(
        (when.place.as_str(), when.line),
        ("outputs[0].when", Some(3))
    );
    let OutputKind::Http(http) = &config.outputs[1].kind else {
        panic!("{:?}", config.outputs);
    };
    let options = http.options();
    assert_eq!(options.headers, [("X-Scope".to_owned(), "shop".to_owned())]);
    assert_eq!(options.compression, Compression::Zstd);
    let routes = |text: &str| parse(text).unwrap().options(Mode::Once).unwrap().outputs;
    assert_eq!(routes(text).len(), 2);
    // Where no output has a condition, none is asked for.
    assert!(routes(&text.replace(", when: {equals: {level: ERROR}}", "")).is_empty());
    let wrong = parse(&text.replace("    url: http://h/in\n", "")).unwrap_err();
    assert!(wrong.to_string().contains("lacks [url]"), "{wrong}");
    let wrong = parse(&text.replace("when:", "whem:")).unwrap_err();
    assert!(wrong.to_string().contains("did you mean [when]"), "{wrong}");
    // Servers that speak `_bulk` do not know Zstandard.
    let bulk = "inputs: [{paths: [/l]}]\noutputs: [{type: clew, compression: zstd}]";
    assert!(parse(bulk).unwrap_err().to_string().contains("zstd"));
}

#[test]
fn addresses_that_are_none_are_told_with_their_line() {
    let read = |url: &str| {
        parse(&format!(
            "inputs: [{{paths: [/l]}}]\noutputs:\n- type: http\n  url: '{url}'\n"
        ))
        .map(drop)
        .map_err(|error| error.to_string())
    };
    for url in [
        "http://h",
        "https://u:p^@h:9200/x?y=1",
        "http://[::1]:9200",
        "http://[::1]",
        "http://$${HOST}:9200",
    ] {
        assert_eq!(read(url), Ok(()), "{url}");
    }
    for (url, shown) in [
        ("localhost:9200", "localhost:9200"),
        ("ftp://h", "ftp://h"),
        ("http://", "http://"),
        ("http://u:secret@h:99999/", "http://h:99999/"),
        ("http://[::1", "http://[::1"),
        ("http://a b", "http://a b"),
    ] {
        let expected = format!(
            "c.yaml, line 4: [outputs[0].url] is [{shown}], and not http://HOST:PORT or https://HOST:PORT"
        );
        assert_eq!(read(url), Err(expected), "{url}");
    }
}
