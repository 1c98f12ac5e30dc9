use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits};

use super::*;

fn memory() -> Reservation {
    MemoryAccount::new(MemoryLimits::none()).open(MemoryPurpose::Searches)
}

fn marks(offset: usize, size: usize, count: usize) -> Marks {
    Marks {
        before: vec!["{".into(), "<".into()],
        after: vec!["}".into(), ">".into()],
        offset,
        size,
        count,
    }
}

#[test]
fn fragments_begin_at_words_and_have_as_much_around_them_as_is_said() {
    let text =
        "my first test doc. Milvus is an open-source vector database built for GenAI applications.";
    let words = |all: &[&str]| all.iter().map(|word| (*word).to_string()).collect();
    for (marks, found, want) in [
        (marks(0, 100, 5), vec!["nothing"], vec![]),
        (marks(0, 100, 0), vec!["test"], vec![]),
        (marks(0, 8, 5), vec!["test"], vec!["{test} doc"]),
        (
            marks(20, 60, 5),
            vec!["milvus"],
            vec!["my first test doc. {Milvus} is an open-source vector database "],
        ),
        (
            marks(0, 13, 5),
            vec!["my", "test"],
            vec!["{my} first <test>"],
        ),
        // A word that begins before the end is there as a whole.
        (
            marks(0, 9, 5),
            vec!["my", "test"],
            vec!["{my} first <test>"],
        ),
        (
            marks(0, 8, 5),
            vec!["my", "test"],
            vec!["{my} first", "<test> doc"],
        ),
        // What was told before is told again, but not marked again.
        (
            marks(100, 5, 5),
            vec!["my", "test"],
            vec!["{my} fi", "my first <test>"],
        ),
        (marks(0, 2, 1), vec!["milvus", "my"], vec!["{my}"]),
        (marks(0, 2, 5), vec!["milvus"], vec!["{Milvus}"]),
    ] {
        let told = marks.fragments("standard", text, &[&words(&found)], &mut memory());
        assert_eq!(told.unwrap(), want, "{found:?} {marks:?}");
    }
    let told = marks(3, 4, 5).fragments("standard", "äöü ß é", &[&words(&["ß"])], &mut memory());
    assert_eq!(told.unwrap(), ["öü {ß}"]);
}

#[test]
fn words_that_touch_are_marked_as_one() {
    let words: HashSet<String> = ["吸", "呼"].map(String::from).into();
    let told = marks(0, 1, 5).fragments("standard", "呼吸 a 呼", &[&words], &mut memory());
    assert_eq!(told.unwrap(), ["{呼吸}", "<呼>"]);
}

#[test]
fn each_list_of_hits_has_the_words_of_its_own_search() {
    let texts = ["a b", "a b", "b c"].map(|text| Some(text.to_string()));
    let mut memory = memory();
    let cutting = Cutting {
        own: "standard".into(),
        asked: "standard".into(),
        choice: None,
    };
    let told = marks(0, 9, 5).all(
        &cutting,
        (&texts, &[1, 2]),
        (&["c".to_string()], &["a".to_string(), "b".to_string()]),
        &mut memory,
    );
    let told = told.unwrap();
    assert_eq!(memory.bytes(), 3 * FRAGMENT_BYTES + 15);
    let told: Vec<Vec<String>> = told.into_iter().map(|one| one.fragments).collect();
    assert_eq!(told, [["{a} b"], ["{b}"], ["{b} <c>"]]);
}

#[test]
fn texts_that_are_looked_for_are_cut_for_somebody_who_has_room() {
    let cutting = Cutting {
        own: "standard".to_string(),
        asked: "standard".to_string(),
        choice: None,
    };
    let cut = |text: String, bytes: usize| {
        let account = MemoryAccount::new(MemoryLimits {
            searches: bytes,
            ..MemoryLimits::none()
        });
        let memory = account.open(MemoryPurpose::Searches);
        let cut = cutting.asked_words(&[text], &memory);
        cut.map(|(words, room)| (words.len(), room.bytes()))
    };
    assert_eq!(cut("a b".to_string(), 1 << 20).unwrap(), (2, 3 * CUT_BYTES));
    assert!(cut("a ".repeat(20_000), 1 << 20).is_err());
    let token = CancellationToken::new();
    token.cancel("the client has gone");
    let _entered = token.enter();
    assert!(cut("a b".to_string(), 1 << 20).is_err());
}

#[test]
fn each_text_is_cut_as_its_row_chooses() {
    let choice = AnalyzerChoice {
        by: "lang".into(),
        analyzers: BTreeMap::from([("en".to_string(), "english".to_string())]),
    };
    let values = [Some("en"), Some("fr"), None].map(|value| value.map(String::from));
    let cutting = Cutting {
        own: "standard".into(),
        asked: "english".into(),
        choice: Some((Arc::new(choice), values.to_vec())),
    };
    let texts = ["dogs", "dogs", "dog"].map(|text| Some(text.to_string()));
    let mut memory = memory();
    let searched = ["dogs".to_string()];
    let told = marks(0, 9, 5).all(&cutting, (&texts, &[3]), (&[], &searched), &mut memory);
    let told: Vec<Vec<String>> = told.unwrap().into_iter().map(|one| one.fragments).collect();
    assert_eq!(told, [vec!["{dogs}"], vec![], vec!["{dog}"]]);
}

#[test]
fn wrong_marks_are_told_as_milvus_tells_them() {
    for (name, given, want) in [
        ("pre_tags", "[]", "pre_tags cannot be empty list"),
        ("post_tags", "[]", "post_tags cannot be empty list"),
        ("fragment_size", "0", "invalid fragment_size: 0"),
        ("fragment_offset", "-1", "invalid fragment_offset: -1"),
        ("num_of_fragments", "x", "invalid num_of_fragments: x"),
    ] {
        let params: BTreeMap<String, String> = [(name.to_string(), given.to_string())].into();
        let told = Marks::read(&params).unwrap_err().to_string();
        assert_eq!(told, format!("{want}: invalid parameter"));
    }
}

#[test]
fn tags_are_not_longer_than_what_they_mark_may_be() {
    for (length, is_right) in [(TAG_BYTES_MAX, true), (TAG_BYTES_MAX + 1, false)] {
        let tags = serde_json::json!(["a".repeat(length)]).to_string();
        let params: BTreeMap<String, String> = [("pre_tags".to_string(), tags)].into();
        assert_eq!(Marks::read(&params).is_ok(), is_right, "{length}");
    }
}
