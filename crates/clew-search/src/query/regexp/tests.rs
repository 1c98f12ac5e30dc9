use clew_query::{RegexpOptions, RegexpSyntax};
use proptest::prelude::*;

use super::*;

fn regexp(expression: &str) -> Result<Regexp, QueryError> {
    Regexp::new(expression, RegexpOptions::default())
}

/// What is made for an expression, and whether it was enough.
fn effort(expression: &str) -> (usize, bool) {
    let options = RegexpOptions::default();
    let all = options.states_max * EFFORT_PER_STATE;
    let mut made = Expressions::new(all);
    let built = Regexp::build(&mut made, expression, options);
    (all - made.effort_left(), built.is_ok())
}

#[test]
fn expressions_mean_what_they_mean_in_lucene() {
    let check = |expression: &str, yes: &[&str], no: &[&str]| {
        let regexp = regexp(expression).unwrap();
        for text in yes {
            assert!(regexp.matches(text), "{expression} {text}");
        }
        for text in no {
            assert!(!regexp.matches(text), "{expression} {text}");
        }
    };
    check("ab?c", &["abc", "ac"], &["abbc", "xabc"]);
    check("a.*|b+", &["a", "axyz", "bb"], &["", "ba"]);
    check("a{2,3}", &["aa", "aaa"], &["a", "aaaa"]);
    check("a{2}b{1,}", &["aab", "aabb"], &["aa", "ab"]);
    check("[a-cx]é", &["bé", "xé"], &["dé", "b"]);
    check("[^a-c]+", &["dé", "z"], &["", "a", "za"]);
    check("@", &["", "anything"], &[]);
    check("#", &[], &["", "a"]);
    check("r&.*d", &[], &["r", "red"]);
    check("r.*&.*d", &["red", "rd"], &["r", "read "]);
    check("~(red)", &["", "re", "redd"], &["red"]);
    check("~red", &["ed", "xed"], &["red"]);
    check("<1-200>", &["1", "007", "200"], &["0", "201", "", "x"]);
    check("v<09-11>", &["v09", "v10", "v11"], &["v9", "v12", "v0010"]);
    check("\"a.b\"c*", &["a.b", "a.bcc"], &["axb"]);
    check("a\\.b", &["a.b"], &["axb"]);
    check("\\d+\\w", &["12a", "123"], &["a1"]);
    check("()|a", &["", "a"], &["b"]);
    check("*", &["*"], &["", "a"]);
    check("a|*b+", &["a", "*b", "*bb"], &["b", "*"]);
    check("??", &["", "?"], &["??"]);
    check(")", &[")"], &[""]);
    check("a||", &["a", "|"], &["", "||"]);
    check("~*", &["", "**"], &["*"]);
    check("東.", &["東京"], &["東", "東京都"]);
}

#[test]
fn signs_can_be_switched_off_and_case_ignored() {
    let options = RegexpOptions {
        syntax: RegexpSyntax::parse("NONE").unwrap(),
        ..RegexpOptions::default()
    };
    assert!(Regexp::new("a@b", options).unwrap().matches("a@b"));
    let options = RegexpOptions {
        ignore_case: true,
        ..options
    };
    let regexp = Regexp::new("Re[d]", options).unwrap();
    assert!(regexp.matches("rED") && !regexp.matches("re"));
    assert!(RegexpSyntax::parse("SOME").is_err());
}

#[test]
fn what_is_no_expression_is_refused() {
    for wrong in [
        "(a", "a)", "[a", "a{", "<1-", "<x>", "\"a", "(a|)", "[z-a]", "a{x",
    ] {
        assert!(regexp(wrong).is_err(), "{wrong}");
    }
    let zeros = "0".repeat(100_000);
    assert!(regexp(&format!("<{zeros}1-{zeros}2>")).is_err());
    for (letter, told) in [("a\\p{L}+", 112), ("[\\n]", 110)] {
        let refusal = regexp(letter).unwrap_err().to_string();
        assert!(
            refusal.ends_with(&format!("invalid character class \\{told}")),
            "{refusal}"
        );
    }
}

#[test]
fn too_much_for_an_expression_is_refused_before_it_is_done() {
    for huge in [
        "(a|b)*a.{20}",
        "user.{0,500}.{0,500}9",
        "((a{1,100}){1,100}){1,100}",
        "((a{1000}){1000}){1000}",
        "((a?){1000}){1000}",
        "((a?){0,1000}){0,1000}",
        "(((a*){1,1000}b){1,1000}c){1,1000}",
        "(.*a){1,30}.{0,300}(.*b){1,30}.{0,300}",
        "~(.{0,300}a.{0,300})&.*b.{0,300}",
    ] {
        let refusal = regexp(huge).unwrap_err().to_string();
        assert_eq!(
            refusal,
            format!(
                "failed to create query: Determinizing {huge} would require more than 10000 effort."
            )
        );
        // What was refused is not counted, so that the figure says what was done.
        assert!(effort(huge).0 <= 100_000);
    }
    let signs = ["~", "(", "a*?+", "[a-b]"].map(|sign| sign.repeat(20_000));
    for long in signs {
        let _ = regexp(&long);
    }
}

#[test]
fn what_people_write_takes_little() {
    let letters: String = ('\u{4e00}'..'\u{4f00}').collect();
    for (expression, effort_max) in [
        ("192\\.168\\.[0-9]{1,3}\\.[0-9]{1,3}", 5_000),
        (".*error.*timeout.*", 10_000),
        (
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            10_000,
        ),
        (
            "(GET|POST|PUT|DELETE) /api/v[0-9]+/(users|orders)/.*",
            10_000,
        ),
        ("a{1000}", 25_000),
        (".{0,1000}", 25_000),
        ("user.{0,30}.{0,30}9", 60_000),
        (letters.as_str(), 25_000),
    ] {
        let (spent, enough) = effort(expression);
        assert!(enough && spent <= effort_max, "{expression}: {spent}");
    }
}

#[test]
fn a_request_says_how_large_a_table_may_grow() {
    let of = |states_max| {
        let options = RegexpOptions {
            states_max,
            ..RegexpOptions::default()
        };
        Regexp::new("a{100}", options)
    };
    assert!(of(10).is_err());
    assert!(of(1_000).is_ok());
}

/// Expressions that mean the same here and elsewhere.
fn expressions() -> impl Strategy<Value = String> {
    let simple = prop_oneof![
        Just("a".to_string()),
        Just("b".to_string()),
        Just("é".to_string()),
        Just(".".to_string()),
        Just("[ab]".to_string()),
        Just("[^a]".to_string()),
        Just("()".to_string()),
    ];
    simple.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("({})", parts.join("|"))),
            (inner.clone(), 0..3_usize, 0..3_usize)
                .prop_map(|(part, least, more)| format!("({part}){{{least},{}}}", least + more)),
            (inner, prop_oneof![Just("*"), Just("+"), Just("?")])
                .prop_map(|(part, sign)| format!("({part}){sign}")),
        ]
    })
}

proptest! {
    #[test]
    fn an_expression_matches_what_another_engine_says(
        expression in expressions(),
        texts in proptest::collection::vec("[abcé]{0,7}", 1..20),
    ) {
        // What would take too much is refused, and that is looked at elsewhere.
        let built = ["E", "~(E)", "(E)&.{2,4}"].map(|form| regexp(&form.replace('E', &expression)));
        let [Ok(own), Ok(not), Ok(both)] = built else {
            return Ok(());
        };
        let other = regex::Regex::new(&format!("(?s)^(?:{expression})$")).unwrap();
        for text in texts {
            let wanted = other.is_match(&text);
            let length = text.chars().count();
            prop_assert_eq!(own.matches(&text), wanted);
            prop_assert_eq!(not.matches(&text), !wanted);
            prop_assert_eq!(both.matches(&text), wanted && (2..=4).contains(&length));
        }
    }
}
