//! Texts: made, cut, compared and formatted.

use super::*;

#[test]
fn texts_grow_and_are_cut_and_formatted() {
    check([
        (
            "StringBuilder b = new StringBuilder(); for (int i = 0; i < 3; i++) { b.append(i).append(','); } b.toString()",
            json!("0,1,2,"),
        ),
        (
            "StringBuilder b = new StringBuilder('abc'); b.reverse(); b.insert(0, 'x'); b.length() + b.toString()",
            json!("4xcba"),
        ),
        (
            "def b = new StringBuilder('abcdef'); b.delete(1, 3); b.setCharAt(0, (char) 'z'); b.setLength(3); b",
            json!("zde"),
        ),
        (
            "def t = new StringTokenizer('a.b', '.'); t.nextToken() + t.countTokens() + t.nextToken() + t.hasMoreTokens()",
            json!("a1bfalse"),
        ),
        (
            "String.format('%05d|%-4s|%.2f|%x|%%', new def[] {42, 'ab', 1.005, 255})",
            json!("00042|ab  |1.01|ff|%"),
        ),
        (
            "'hi'.encodeBase64() + 'aGk='.decodeBase64()",
            json!("aGk=hi"),
        ),
        ("'abc'.subSequence(1, 3)", json!("bc")),
    ]);
}

#[test]
fn regions_of_texts_are_compared() {
    check([
        ("'Hello'.regionMatches(0, 'He', 0, 2)", json!(true)),
        ("'Hello'.regionMatches(0, 'he', 0, 2)", json!(false)),
        ("'Hello'.regionMatches(true, 0, 'he', 0, 2)", json!(true)),
        ("'Hello'.regionMatches(1, 'xell', 1, 3)", json!(true)),
        ("'Hello'.regionMatches(4, 'Hello', 4, 2)", json!(false)),
        ("'Hello'.regionMatches(-1, 'Hello', -1, 2)", json!(false)),
        ("'Hello'.codePointCount(0, 3)", json!(3)),
    ]);
}
