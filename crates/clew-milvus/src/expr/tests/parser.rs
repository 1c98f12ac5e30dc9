//! The grammar: what binds how, every construct, and what is refused where.

use proptest::prelude::*;

use super::printed::{placeless, printed, symbol, tree};
use crate::expr::parse;
use crate::expr::tree::{Expr, Kind};

fn parsed(text: &str) -> Expr {
    placeless(parse::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")))
}

/// The tree with parentheses around everything that is put together.
fn grouped(expr: &Expr) -> String {
    match &expr.kind {
        Kind::Binary(operator, left, right) => {
            format!(
                "({} {} {})",
                grouped(left),
                symbol(*operator),
                grouped(right)
            )
        }
        Kind::Not(inner) => format!("(not {})", grouped(inner)),
        Kind::Negative(inner) => format!("(- {})", grouped(inner)),
        Kind::Inverted(inner) => format!("(~ {})", grouped(inner)),
        Kind::Exists(inner) => format!("(exists {})", grouped(inner)),
        Kind::In {
            value,
            list,
            negated,
        } => {
            let word = if *negated { "not in" } else { "in" };
            format!("({} {word} {})", grouped(value), grouped(list))
        }
        Kind::IsNull { value, negated } => {
            let word = if *negated { "is not null" } else { "is null" };
            format!("({} {word})", grouped(value))
        }
        _ => printed(expr),
    }
}

#[test]
fn operators_bind_as_in_milvus() {
    for (text, expected) in [
        ("a or b and c", "(a or (b and c))"),
        ("a || b && c || d", "((a or (b and c)) or d)"),
        ("a and b | c", "(a and (b | c))"),
        ("a | b ^ c & d", "(a | (b ^ (c & d)))"),
        ("a & b == c", "(a & (b == c))"),
        ("a == b < c", "(a == (b < c))"),
        ("a < b in c", "(a < (b in c))"),
        ("a in b << c", "(a in (b << c))"),
        ("a << b + c", "(a << (b + c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a + b * c % d", "(a + ((b * c) % d))"),
        ("-a * b", "((- a) * b)"),
        ("-a ** b", "(- (a ** b))"),
        ("-2 ** a", "(- (2 ** a))"),
        ("a ** b ** c", "((a ** b) ** c)"),
        ("a ** b like c", "(a ** (b like c))"),
        ("not a == b", "((not a) == b)"),
        ("not (a == b)", "(not (a == b))"),
        ("!a and ~b > -1", "((not a) and ((~ b) > -1))"),
        ("not not a", "(not (not a))"),
        ("not a in b", "((not a) in b)"),
        ("a not in b and c", "((a not in b) and c)"),
        ("a + b is null", "(a + (b is null))"),
        (
            "a IS NOT NULL OR b IS NULL",
            "((a is not null) or (b is null))",
        ),
        ("exists a[\"k\"] and b", "((exists a[\"k\"]) and b)"),
        ("1 < a <= 5", "((1 < a) and (a <= 5))"),
        ("5 > a >= 1", "((5 > a) and (a >= 1))"),
        ("1 < a > 5", "((1 < a) > 5)"),
        ("a < b == c < d", "((a < b) == (c < d))"),
        ("a LIKE 'x' AND NOT b", "((a like \"x\") and (not b))"),
        ("a =~ 'x' || a !~ 'y'", "((a =~ \"x\") or (a !~ \"y\"))"),
        ("A_Contains(x[0], [1, 2,])", "a_contains(x[0], [1, 2])"),
        (
            "text_match(t, 'w', minimum_should_match=2)",
            "text_match(t, \"w\", minimum_should_match = 2)",
        ),
        ("empty(t,)", "empty(t)"),
        ("id in {ids}", "(id in {ids})"),
        ("$meta['a'][3]", "$meta[\"a\"][3]"),
    ] {
        assert_eq!(grouped(&parsed(text)), expected, "{text}");
    }
}

#[test]
fn literals_are_read() {
    let text = |text: &str| Kind::Text(text.to_string());
    for (written, expected) in [
        ("0", Kind::Integer(0)),
        ("-7", Kind::Integer(-7)),
        ("+7", Kind::Integer(7)),
        ("0x1F", Kind::Integer(31)),
        ("0b101", Kind::Integer(5)),
        ("017", Kind::Integer(15)),
        ("9223372036854775807", Kind::Integer(i64::MAX)),
        ("-9223372036854775808", Kind::Integer(i64::MIN)),
        (
            "9223372036854775808",
            Kind::Float(9_223_372_036_854_775_808.0),
        ),
        ("1.5", Kind::Float(1.5)),
        (".5", Kind::Float(0.5)),
        ("2.", Kind::Float(2.0)),
        ("-1e3", Kind::Float(-1000.0)),
        ("1E-2", Kind::Float(0.01)),
        ("True", Kind::Bool(true)),
        ("FALSE", Kind::Bool(false)),
        (r#""a\"b""#, text("a\"b")),
        (r"'\n\t\\'", text("\n\t\\")),
        (r"'\x41\u00fc\U0001F600\101'", text("Aü😀A")),
        (r"r'\d+\''", text(r"\d+\'")),
        (r"'^v\d+\.\d+\\w\'$'", text(r"^v\d+\.\d+\w'$")),
        (r#""100\%\_""#, text(r"100\%\_")),
        (r"r'C:\\'", text(r"C:\\")),
    ] {
        assert_eq!(parsed(written).kind, expected, "{written}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, place, reason) in [
        ("", "1:0", "mismatched input '<EOF>' expecting a value"),
        ("a ==", "1:4", "mismatched input '<EOF>' expecting a value"),
        ("a == 1)", "1:6", "extraneous input ')'"),
        (
            "a ==\n  ) 1",
            "2:2",
            "mismatched input ')' expecting a value",
        ),
        ("(a == 1", "1:7", "mismatched input '<EOF>' expecting ')'"),
        ("a b", "1:2", "extraneous input 'b'"),
        ("a is 1", "1:5", "mismatched input '1' expecting 'null'"),
        ("a[*]", "1:2", "mismatched input '*' expecting a key"),
        ("a[b c]", "1:2", "mismatched input 'b' expecting a key"),
        ("a == 'x", "1:5", "the text has no end"),
        ("ü == 1", "1:0", "token recognition error at: 'ü'"),
        ("'ü' == ;", "1:7", "token recognition error at: ';'"),
        ("a == 0x", "1:5", "0x is no number"),
        ("a == 1e999", "1:5", "1e999 is no number"),
        ("a == '\\xZZ'", "1:8", "an escape in a text is no character"),
        ("a in {}", "1:5", "expected the name of a template value"),
        ("f(a b)", "1:4", "mismatched input 'b' expecting ','"),
        ("'it''s'", "1:4", "extraneous input '\"s\"'"),
        ("a And b", "1:2", "extraneous input 'And'"),
    ] {
        let told = parse(text).err().map(|error| error.to_string());
        let told = told.unwrap_or_else(|| panic!("{text} was read"));
        let place = format!(": invalid parameter, at line {place}");
        assert!(told.contains(reason), "{text}: {told}");
        assert!(told.ends_with(&place), "{text}: {told}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let deep = |count: usize| format!("{}a{}", "(".repeat(count), ")".repeat(count));
    assert!(parse(&deep(150)).is_ok());
    for (text, reason) in [
        (deep(100_000), "nested deeper than 200"),
        ("not ".repeat(100_000), "nested deeper than 200"),
        (
            format!("a{}", " is null".repeat(100_000)),
            "more than 5000 operators",
        ),
        (
            format!("a{}", " in [1]".repeat(100_000)),
            "more than 5000 operators",
        ),
        (
            format!("a{}", " + 1".repeat(1_000)),
            "nested deeper than 200",
        ),
        (
            format!("a{}", " or a".repeat(5_001)),
            "more than 5000 operators",
        ),
    ] {
        let told = parse(&text).err().map(|error| error.to_string());
        assert!(told.unwrap_or_default().contains(reason), "{reason}");
    }
    // A chain is no deeper than its parts.
    assert!(parse(&format!("a == 1{}", " or a == 1".repeat(2_400))).is_ok());
}

proptest! {
    #[test]
    fn a_printed_tree_is_read_again(tree in tree()) {
        let text = printed(&tree);
        let again = parse::parse(&text).map(placeless);
        prop_assert_eq!(again, Ok(tree), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,64}") {
        let _ = parse(&text);
    }

    #[test]
    fn words_in_any_order_are_read_or_refused(words in prop::collection::vec(
        prop::sample::select(vec![
            "a", "1", "1.5", "'x'", "[", "]", "(", ")", ",", "=", "==", "<", "and", "or", "not", "in", "is", "null",
            "like", "exists", "-", "~", "**", "{t}", "$meta", "f(", "\\", "'", "\"", "0x", "r'", ".", "ü",
        ]),
        0..24,
    )) {
        let _ = parse(&words.join(" "));
        let _ = parse(&words.concat());
    }
}
