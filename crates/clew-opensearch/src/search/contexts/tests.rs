use super::*;

#[test]
fn what_is_being_read_is_kept_and_has_its_time_from_then() {
    let second = Duration::from_secs(1);
    let mut open = open((), second);
    let due = open.expires;
    assert!(open.lives_on(due - second / 2, false));
    assert!(open.lives_on(due, true));
    assert!(open.lives_on(due + second / 2, false));
    assert!(!open.lives_on(due + second, false));
}

#[test]
fn what_is_wrong_with_an_id_is_told_as_javas_decoder_does() {
    for (id, kind, reason) in [
        (
            "x",
            "illegal_argument_exception",
            "Input byte[] should at least have 2 bytes for base64 bytes",
        ),
        (
            "no id",
            "illegal_argument_exception",
            "Illegal base64 character 20",
        ),
        (
            "abcde",
            "illegal_argument_exception",
            "Last unit does not have enough valid bits",
        ),
        (
            "ab=",
            "illegal_argument_exception",
            "Input byte array has wrong 4-byte ending unit",
        ),
        ("nope", "e_o_f_exception", ""),
        ("DnF1ZXJ5VGhlbkZldGNoBQ==", "e_o_f_exception", ""),
    ] {
        let refused = SearchContexts::default().read(ContextKind::Scroll, id);
        let told = refused.unwrap_err().cause();
        assert_eq!(told["reason"], "Cannot parse scroll id");
        let within = &told["caused_by"];
        assert_eq!(within["type"], kind, "{id}");
        assert_eq!(
            within["reason"].as_str().unwrap_or_default(),
            reason,
            "{id}"
        );
        assert_eq!(within["reason"].is_null(), reason.is_empty(), "{id}");
    }
}

#[test]
fn ids_are_read_back_and_foreign_ones_are_told_apart() {
    let contexts = SearchContexts::default();
    let id = ContextId { number: 77 };
    let shown = contexts.shown(ContextKind::Pit, id);
    assert_eq!(contexts.read(ContextKind::Pit, &shown).unwrap(), Some(id));
    assert!(contexts.read(ContextKind::Scroll, &shown).is_err());
    assert!(contexts.read(ContextKind::Pit, "no id").is_err());
    let other = SearchContexts {
        started: contexts.started + 1,
        ..SearchContexts::default()
    };
    assert_eq!(other.read(ContextKind::Pit, &shown).unwrap(), None);
}
