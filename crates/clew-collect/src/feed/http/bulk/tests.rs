use super::*;
use crate::feed::{DocumentHead, ParcelKind};

#[test]
fn every_action_has_its_item_and_what_is_right_is_taken() {
    let body = concat!(
        "{\"create\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"n\":1}\n",
        "\n",
        "{\"index\":{}}\r\n{\"n\":2}\r\n",
        "{\"delete\":{\"_id\":3}}\n",
        "{\"update\":{\"_index\":\"b\",\"_id\":\"4\"}}\n{\"doc\":{}}\n",
        "{\"index\":{\"_index\":\"b\"}}\nbroken\n",
    );
    let mut documents = Documents::new(0);
    let of_all = OfAll::new("/path", None);
    let actions = read(body.as_bytes(), &of_all, &mut documents).unwrap();
    let answer = actions.answer(7);
    assert_eq!(
        (&answer["took"], &answer["errors"]),
        (&json!(7), &json!(true))
    );
    let items = answer["items"].as_array().unwrap();
    let created = |index: &str| json!({"_index": index, "result": "created", "status": 201});
    let mut first = created("a");
    first["_id"] = json!("1");
    assert_eq!(items[0]["create"], first);
    assert_eq!(items[1], json!({"index": created("path")}));
    assert_eq!(items[2]["delete"]["status"], 400);
    assert_eq!(items[2]["delete"]["_id"], "3");
    assert_eq!(
        items[3]["update"]["error"]["reason"],
        "the collector takes no [update]"
    );
    assert_eq!(items[4]["index"]["status"], 400);
    assert_eq!(items.len(), 5);
    let parcel = documents.parcel(0).unwrap();
    let taken: Vec<Value> = parcel
        .lines()
        .map(|(line, _)| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(taken.len(), 2);
    assert_eq!(taken[1]["event"]["dataset"], "path");
}

#[test]
fn what_actions_say_goes_with_their_documents() {
    let body = concat!(
        "{\"create\":{\"_index\":\"a\",\"_id\":1,\"pipeline\":\"own\"}}\n{}\n",
        "{\"index\":{\"_routing\":\"r\"}}\n{\"@metadata\":{\"beat\":\"b\",\"_index\":\"c\"}}\n",
    );
    let of_all = OfAll::new(
        "/%3Cp-%7Bnow%7D%3E/_doc",
        Some("refresh&pipeline=a+b&routing=%zz"),
    );
    assert_eq!(of_all.index.as_deref(), Some("<p-{now}>"));
    let mut documents = Documents::new(0);
    read(body.as_bytes(), &of_all, &mut documents).unwrap();
    let ParcelKind::Documents(heads) = documents.parcel(0).unwrap().kind else {
        panic!("documents are documents");
    };
    let found: Vec<&str> = heads.iter().map(DocumentHead::metadata).collect();
    assert_eq!(
        found,
        [
            r#"{"_index":"a","_id":"1","pipeline":"own","routing":"%zz","op_type":"create"}"#,
            r#"{"_index":"<p-{now}>","pipeline":"a b","routing":"r","op_type":"index","beat":"b"}"#,
        ]
    );
    assert_eq!(heads[0].id.as_deref(), Some("1"));
    assert_eq!(OfAll::new("", None), OfAll::default());
}

#[test]
fn actions_with_wrong_names_are_answered_one_by_one() {
    let long = "i".repeat(513);
    let names = [
        (
            "_index",
            "Big",
            "invalid_index_name_exception",
            "Invalid index name [Big], must be lowercase",
        ),
        (
            "_index",
            "a b",
            "invalid_index_name_exception",
            "Invalid index name [a b], must not contain the following",
        ),
        (
            "_index",
            "",
            "invalid_index_name_exception",
            "Invalid index name [], must not be empty",
        ),
        (
            "_id",
            "",
            "illegal_argument_exception",
            "if _id is specified it must not be empty",
        ),
        (
            "_id",
            &long,
            "illegal_argument_exception",
            "id is too long, must be no longer than 512 bytes but was: 513",
        ),
    ];
    let mut body = String::new();
    for (name, value, ..) in &names {
        body.push_str(&format!("{{\"index\":{{\"{name}\":\"{value}\"}}}}\n{{}}\n"));
    }
    body.push_str("{\"create\":{}}\n[]\n{\"create\":{}}\n{}\n");
    let mut documents = Documents::new(0);
    let actions = read(body.as_bytes(), &OfAll::default(), &mut documents).unwrap();
    let answer = actions.answer(1);
    for (number, (.., kind, reason)) in names.iter().enumerate() {
        let item = &answer["items"][number]["index"];
        assert_eq!(item["status"], 400);
        assert_eq!(item["error"]["type"], *kind);
        let said = item["error"]["reason"].as_str().unwrap();
        assert!(said.starts_with(reason), "{said}");
    }
    let broken = &answer["items"][5]["create"]["error"];
    assert_eq!(broken["type"], "mapper_parsing_exception");
    assert_eq!(answer["items"][6]["create"]["status"], 201);
    assert_eq!(documents.parcel(0).unwrap().ends.len(), 1);
}

#[test]
fn what_stands_behind_an_action_is_passed_over() {
    let body =
        "{\"index\":{\"_index\":\"shop\",\"pipeline\":null},\"attempts\":0}\n{\"message\":\"a\"}\n";
    let mut documents = Documents::new(0);
    let actions = read(body.as_bytes(), &OfAll::default(), &mut documents).unwrap();
    let answer = actions.answer(1);
    assert_eq!(answer["errors"], false);
    assert_eq!(answer["items"][0]["index"]["_index"], "shop");
    assert_eq!(documents.parcel(0).unwrap().ends.len(), 1);
}

#[test]
fn what_is_no_list_of_actions_is_refused_with_its_line() {
    let check = |body: &str, expected: &str| {
        let of_all = OfAll::default();
        let refused = read(body.as_bytes(), &of_all, &mut Documents::new(0)).unwrap_err();
        assert_eq!(refused, Refused::Invalid(expected.to_owned()), "{body}");
    };
    check("x", "line 1: an action is an object of JSON");
    check("{}", "line 1: an action has one member");
    check(
        "{\"attempts\":0,\"index\":{}}\n{}",
        "line 1: an action is index, create, update or delete",
    );
    check(
        "\n{\"put\":{}}",
        "line 2: an action is index, create, update or delete",
    );
    check("{\"index\":{}}", "line 1: the action has no document");
}
