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

#[test]
fn a_window_of_some_size_begins_with_a_group_whatever_is_in_it() {
    let of = |wrapping, encoding, parser| {
        let framing = Framing::new(None, wrapping, encoding, parser);
        (framing, encoding)
    };
    let framings = [
        of(Wrapping::None, Encoding::Utf8, ParserName::Plain),
        of(Wrapping::None, Encoding::Utf8, ParserName::AptHistory),
        of(Wrapping::None, Encoding::Utf8, ParserName::NginxError),
        of(Wrapping::None, Encoding::Utf16Le, ParserName::NginxError),
        of(Wrapping::Container, Encoding::Utf8, ParserName::NginxError),
    ];
    let starts = [
        "",
        " ",
        "Start-Date: ",
        "2026/",
        "2026-01-02T03:04:05Z stderr P ",
    ];
    let pairs = starts.iter().flat_map(|one| starts.map(|two| (*one, two)));
    let mut group = Group::default();
    for (one, two) in pairs {
        for length in (0..1_500).step_by(7) {
            let (first, second) = ("x".repeat(length % 150), "y".repeat(length / 10));
            let text = format!("{one}{first}\n{two}{second}\n{}", "z".repeat(150));
            for (framing, encoding) in &framings {
                let mut window: Vec<u8> = match encoding {
                    Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                    _ => text.clone().into_bytes(),
                };
                window.truncate(deciding_bytes(48));
                let is_decided = framing.first(&window, 48, Rest::Follows, &mut group);
                let is_long = encoding.line_end(&window, 0).is_none();
                assert!(is_decided || is_long, "{framing:?} {text}");
            }
        }
    }
}
