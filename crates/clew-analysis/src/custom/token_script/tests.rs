use tantivy::tokenizer::Token;

use super::*;

fn term(text: &str, position: usize, is_keyword: bool) -> Term {
    Term {
        token: Token {
            text: text.to_string(),
            offset_from: 0,
            offset_to: text.len(),
            position,
            position_length: 1,
        },
        is_keyword,
        kind: "<ALPHANUM>",
    }
}

#[test]
fn scripts_are_true_or_false_of_terms() {
    let term = term("Fußball", 3, false);
    let standing = Standing {
        step: 2,
        start: 4,
        end: 11,
    };
    for (source, fits) in [
        ("token.getTerm().length() < 5", false),
        ("return token.term.length() >= 7;", true),
        ("token.type.contains('ALPHANUM')", true),
        (
            "token.type == '<NUM>' || token.term.startsWith(\"Fu\")",
            true,
        ),
        ("!token.isKeyword() && token.position % 2 == 1", true),
        ("token.keyword == true", false),
        ("token.positionIncrement > 1", true),
        ("token.startOffset == 4 && token.getEndOffset() == 11", true),
        ("(token.term.length() + 1) / 2 == 4", true),
        ("token.term.toLowerCase().equals('fußball')", true),
        ("token.term.indexOf('b') == 3 && -1 < 0", true),
        ("token.term.equals('it\\'s') == false", true),
        ("Character.isUpperCase(token.term.charAt(0))", true),
        (
            "Character.isLetter(token.term.toLowerCase().charAt(1 + 1))",
            true,
        ),
        ("!Character.isDigit(token.term.charAt(0))", true),
        ("Character.isLetterOrDigit('½'.charAt(0))", false),
        ("Character.isDigit('٣'.charAt(0))", true),
        ("Character.isWhitespace('\u{a0}'.charAt(0))", false),
        // What cannot be told chooses nothing.
        ("Character.isLetter(token.term.charAt(9))", false),
        ("token.position / 0 == 1", false),
        ("true || token.position / 0 == 1", true),
        ("1 + 2 * 3 == 7 && 10 - 2 - 3 == 5", true),
    ] {
        let script = TokenScript::read(source).unwrap();
        assert_eq!(script.fits(&term, standing), fits, "{source}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let deep = format!("{}true{}", "(".repeat(60), ")".repeat(60));
    let long = format!("true{}", " || true".repeat(300));
    for source in [
        "",
        "token",
        "token.term",
        "token.term.length()",
        "token.term.length( < 5",
        "token.term.length() < 5 token",
        "token.term + 1 == 2",
        "token.term == 5",
        "token.term.contains(5)",
        "token.term =~ /x/",
        "params.x == 1",
        "'open",
        "Character.isDigit(token.term)",
        "Character.isNice(token.term.charAt(0))",
        "token.term.charAt(0) == 'F'",
        "99999999999999999999 == 1",
        "#",
        deep.as_str(),
        long.as_str(),
    ] {
        assert!(TokenScript::read(source).is_err(), "{source}");
    }
}

#[test]
fn the_longest_script_can_be_walked() {
    let source = format!("0{} == 0", "+0".repeat(990));
    let script = TokenScript::read(&source).unwrap();
    let standing = Standing {
        step: 1,
        start: 0,
        end: 1,
    };
    assert!(script.fits(&term("a", 0, false), standing));
}
