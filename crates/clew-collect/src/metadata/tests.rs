use super::*;

fn event(metadata: &str) -> Event {
    Event {
        document: br#"{"service":{"name":"shop"}}"#.to_vec(),
        metadata: metadata.to_owned(),
        ..Event::default()
    }
}

#[test]
fn events_go_where_templates_of_their_fields_and_metadata_say() {
    let check = |index: &str, metadata: &str, expected: Result<&str, &str>| {
        let placing = Placing::new(index, None, None).unwrap();
        let found = placing.of(&event(metadata)).map(|place| place.index);
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found, expected, "{index} {metadata}");
    };
    let named = r#"{"_index":"orders"}"#;
    let own = "{{@metadata._index}}";
    check("logs", named, Ok("logs"));
    check(own, named, Ok("orders"));
    check("logs-{{service.name}}", "", Ok("logs-shop"));
    check(own, "", Err("Invalid index name [], must not be empty"));
    let or = "{{^@metadata._index}}logs{{/@metadata._index}}{{@metadata._index}}";
    check(or, "", Ok("logs"));
    check(or, named, Ok("orders"));
    let dated = r#"{"_index":"<orders-{now/d}>"}"#;
    check(own, dated, Ok("<orders-{now/d}>"));
    for (name, reason) in [
        ("Orders", "must be lowercase"),
        ("_orders", "must not start with '_', '-', or '+'"),
        ("a:b", "must not contain ':'"),
    ] {
        let metadata = format!(r#"{{"_index":"{name}"}}"#);
        let expected = format!("Invalid index name [{name}], {reason}");
        check(own, &metadata, Err(&expected));
    }
    for wrong in ["", "Logs", "a b", "{{a", "a,b", ".."] {
        assert!(Placing::new(wrong, None, None).is_err(), "{wrong}");
    }
}

#[test]
fn the_date_in_a_name_is_that_of_the_event_in_utc() {
    // 2027-01-01T22:59:59Z, a Friday, which is in the last week of 2026.
    let at = |document: &str| Event {
        document: document.as_bytes().to_vec(),
        timestamp: EpochMillis(1_798_844_399_000),
        ..Event::default()
    };
    for (index, expected) in [
        ("logs-%{+yyyy.MM.dd}", "logs-2027.01.01"),
        ("logs-%{+YYYY.MM.dd}", "logs-2027.01.01"),
        ("{{service.name}}-%{+yyyy}-%{+MM}", "shop-2027-01"),
        ("%{+yyyy}-{{service.name}}", "2027-shop"),
        ("logs-%{+xxxx.ww}", "logs-2026.53"),
    ] {
        let placing = Placing::new(index, None, Some("%{+HH}")).unwrap();
        let place = placing.of(&at(r#"{"service":{"name":"shop"}}"#)).unwrap();
        assert_eq!(
            (place.index.as_str(), place.routing.as_deref()),
            (expected, Some("22"))
        );
    }
    // Of the date alone: what is no document does not matter.
    let placing = Placing::new("logs-%{+yyyy}", Some(""), None).unwrap();
    let place = placing.of(&at("")).unwrap();
    assert_eq!((place.index.as_str(), place.pipeline), ("logs-2027", None));
    for (wrong, reason) in [
        (
            "logs-%{+yyyy",
            "[logs-%{+yyyy] has a date that does not end",
        ),
        (
            "logs-%{+bbb}",
            "[logs-%{+bbb}] has a date in a format that is wrong",
        ),
        (
            "%{[a]}-%{+yyyy}",
            "[%{[a]}-%{+yyyy}] names a field as Beats and Logstash do",
        ),
    ] {
        let error = Placing::new(wrong, None, None).unwrap_err();
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn pipelines_and_routings_are_named_or_not_there() {
    let (pipeline, routing) = (
        Some("{{@metadata.pipeline}}"),
        Some("{{@metadata.routing}}"),
    );
    let placing = Placing::new("logs", pipeline, routing).unwrap();
    assert_eq!(placing.fixed(), None);
    let place = placing.of(&event(r#"{"pipeline":"p"}"#)).unwrap();
    assert_eq!(
        (place.pipeline.as_deref(), place.routing),
        (Some("p"), None)
    );
}

#[test]
fn only_what_its_sender_names_takes_the_place_of_another_one() {
    let check = |metadata: &str, expected: Writing| {
        assert_eq!(writing(&event(metadata)), expected, "{metadata}");
    };
    check("", Writing::Create);
    check(r#"{"op_type":"index"}"#, Writing::Create);
    check(r#"{"op_type":"create","_id":"1"}"#, Writing::Create);
    check(r#"{"op_type":"index","_id":"1"}"#, Writing::Index);
    check(r#"{"op_type":5,"_id":"1"}"#, Writing::Create);
}
