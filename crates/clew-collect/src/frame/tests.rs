use super::*;

/// All records of a text, with what is left, at a limit of 12 bytes.
fn frames(framing: &Framing, text: &str, last: bool) -> (Vec<String>, String) {
    let mut records = Vec::new();
    let mut rest = text.as_bytes();
    let mut group = Group::default();
    let behind = if last { Rest::Ends } else { Rest::Follows };
    while framing.first(rest, 48, behind, &mut group) {
        assert!(group.end > 0);
        for piece in &group.pieces {
            let text = match &piece.content {
                Content::Window(range) => &rest[range.clone()],
                Content::Text(range) => &group.text[range.clone()],
            };
            let record = String::from_utf8(text.to_vec()).unwrap();
            records.push(if piece.cut { record + "+" } else { record });
        }
        rest = &rest[group.end..];
    }
    (records, String::from_utf8(rest.to_vec()).unwrap())
}

#[track_caller]
fn check(framing: &Framing, text: &str, last: bool, records: &[&str], rest: &str) {
    let (found, left) = frames(framing, text, last);
    assert_eq!(
        (found, left.as_str()),
        (records.iter().map(|r| (*r).to_owned()).collect(), rest)
    );
}

#[test]
fn lines() {
    check(&Framing::Lines, "a\nb\r\n\nc", false, &["a", "b", ""], "c");
    check(
        &Framing::Lines,
        "a\nb\r\n\nc",
        true,
        &["a", "b", "", "c"],
        "",
    );
    check(&Framing::Lines, "", true, &[], "");
    let long = "é".repeat(25) + "\nx\n";
    check(
        &Framing::Lines,
        &long,
        false,
        &[&("é".repeat(24) + "+"), "x"],
        "",
    );
    let odd = "a".to_owned() + &"é".repeat(25) + "\n";
    check(
        &Framing::Lines,
        &odd,
        false,
        &[&("a".to_owned() + &"é".repeat(23) + "+")],
        "",
    );
}

#[test]
fn stanzas() {
    let one = "Start-Date: 1\nInstall: x\nEnd-Date: 2\n";
    let record = "Start-Date: 1\nInstall: x\nEnd-Date: 2";
    check(
        &Framing::AptStanzas,
        &format!("\n{one}\n{one}"),
        false,
        &["", record, "", record],
        "",
    );
    // A stanza that was never finished ends where the next one starts.
    check(
        &Framing::AptStanzas,
        &format!("Start-Date: 0\n{one}"),
        false,
        &["Start-Date: 0", record],
        "",
    );
    check(
        &Framing::AptStanzas,
        "Start-Date: 1\nInst",
        false,
        &[],
        "Start-Date: 1\nInst",
    );
    check(
        &Framing::AptStanzas,
        "Start-Date: 1\nInst",
        true,
        &["Start-Date: 1\nInst"],
        "",
    );
    check(
        &Framing::AptStanzas,
        "noise\nStart-Date: 1\n",
        true,
        &["noise", "Start-Date: 1"],
        "",
    );
    let long = format!("Start-Date: 1\nInstall: {}\nEnd-Date: 2\n", "x".repeat(60));
    check(
        &Framing::AptStanzas,
        &long,
        false,
        &[
            "Start-Date: 1+",
            &format!("Install: {}+", "x".repeat(39)),
            "End-Date: 2",
        ],
        "",
    );
}
