use super::*;

fn read(body: &str) -> Result<Vec<String>, Refused> {
    let mut documents = Documents::new(1_767_323_045_678);
    read_json(body.as_bytes(), &mut documents)?;
    let parcel = documents.parcel(0);
    let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
    let lines: Vec<String> = parcel
        .iter()
        .flat_map(|parcel| parcel.lines().map(|(line, _)| text(line)))
        .collect();
    for line in &lines {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    Ok(lines)
}

const TIME: &str = r#""@timestamp":"2026-01-02T03:04:05.678Z""#;

#[test]
fn objects_are_taken_as_they_are_with_what_they_lack_in_front() {
    let check = |body: &str, expected: &[&str]| {
        let expected: Vec<String> = expected.iter().map(|e| e.replace("TIME", TIME)).collect();
        assert_eq!(read(body).unwrap(), expected, "{body}");
    };
    let dataset = r#""event":{"dataset":"json"}"#;
    check("", &[]);
    check("[]\n", &[]);
    check("{}", &[&format!("{{TIME,{dataset}}}")]);
    let two = [
        &format!(r#"{{TIME,{dataset},"a":1}}"#)[..],
        r#"{"@timestamp":"x","event":{}}"#,
    ];
    check("{\"a\":1}\r\n\n{\"@timestamp\":\"x\",\"event\":{}}", &two);
    check(r#"[{"a":1}, {"@timestamp":"x","event":{}}]"#, &two);
    check(
        "{\n \"a\": 1\n}\n",
        &[&format!(r#"{{TIME,{dataset},  "a": 1 }}"#)],
    );
    check(
        "{\"a\":1\nno \"json\"\n7",
        &[
            r#"{TIME,"message":"{\"a\":1","event":{"dataset":"json","parse_error":true}}"#,
            r#"{TIME,"message":"no \"json\"","event":{"dataset":"json","parse_error":true}}"#,
            r#"{TIME,"message":"7","event":{"dataset":"json","parse_error":true}}"#,
        ],
    );
    for wrong in ["[1]", "[{}", "[{}] x"] {
        assert!(matches!(read(wrong), Err(Refused::Invalid(_))), "{wrong}");
    }
    assert!(read(&"{}\n".repeat(DOCUMENTS_MAX + 1)).is_err());
}

#[test]
fn what_goes_with_a_document_is_taken_out_of_it() {
    let check = |document: &str, expected: &str, id: Option<&str>, metadata: &str| {
        let mut documents = Documents::new(5);
        let said = SenderSaid {
            metadata: Map::from_iter([("pipeline".to_owned(), "p".into())]),
            ..SenderSaid::default()
        };
        documents.add(document, "d", said).unwrap();
        let parcel = documents.parcel(0).unwrap();
        let found = parcel.lines().map(|(line, _)| line).collect::<Vec<_>>();
        let front = r#"{"@timestamp":"1970-01-01T00:00:00.005Z","event":{"dataset":"d"}"#;
        assert_eq!(
            String::from_utf8_lossy(found[0]),
            format!("{front}{expected}")
        );
        let ParcelKind::Documents(heads) = parcel.kind else {
            panic!("documents are documents");
        };
        assert_eq!(
            (heads[0].id.as_deref(), heads[0].metadata()),
            (id, metadata)
        );
    };
    let with = r#"{"pipeline":"p","_id":"7"}"#;
    check(
        r#"{"@metadata" : {"_id":"7","pipeline":"q"} , "n":1e400}"#,
        r#", "n":1e400}"#,
        Some("7"),
        with,
    );
    check(
        r#"{"n":1,"@metadata":{"_id":"7"}}"#,
        r#","n":1}"#,
        Some("7"),
        with,
    );
    check(r#"{"@metadata":{"_id":"7"}}"#, "}", Some("7"), with);
    check(
        r#"{"a":1,"\u0040metadata":{"_id":"7"},"b":"@metadata"}"#,
        r#","a":1,"b":"@metadata"}"#,
        Some("7"),
        with,
    );
    check(
        r#"{"@metadata":5,"b":2}"#,
        r#","b":2}"#,
        None,
        r#"{"pipeline":"p"}"#,
    );
    let empty = r#"{"pipeline":"p","_id":""}"#;
    check(r#"{"@metadata":{"_id":""}}"#, "}", None, empty);
}

#[test]
fn times_and_ids_of_senders_are_kept() {
    let mut documents = Documents::new(5);
    let mut add = |document: &str, id: Option<&str>| {
        let said = SenderSaid {
            id: id.map(str::to_owned),
            ..SenderSaid::default()
        };
        documents.add(document, "d", said).is_ok()
    };
    assert!(add(r#"{"@timestamp":"1970-01-01T00:00:01.5Z"}"#, Some("a")));
    assert!(add(r#"{"@timestamp":1700}"#, None));
    assert!(add(r#"{"@timestamp":true}"#, None));
    assert!(!add("[]", None));
    let ParcelKind::Documents(heads) = documents.parcel(0).unwrap().kind else {
        panic!("documents are documents");
    };
    let times: Vec<i64> = heads.iter().map(|head| head.time_ms).collect();
    assert_eq!(times, [1_500, 1_700, 5]);
    assert_eq!(heads[0].id.as_deref(), Some("a"));
}
