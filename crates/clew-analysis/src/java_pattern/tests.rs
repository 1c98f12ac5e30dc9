use std::time::Duration;

use super::*;

/// The text with a dot for each match.
fn dotted(pattern: &JavaPattern, text: &str) -> String {
    let dot = Replacement::read(".", pattern).unwrap();
    let (replaced, ended) = dot.replaced((text, usize::MAX), pattern, usize::MAX);
    ended.unwrap();
    replaced.unwrap_or_else(|| text.to_string())
}

#[track_caller]
fn check(written: &str, text: &str, expected: &str) {
    let pattern = java_pattern(written).unwrap();
    assert_eq!(dotted(&pattern, text), expected, "{written}");
}

#[test]
fn classes_are_those_of_ascii() {
    for (written, expected) in [
        (r"\w", "...é-..ï.. é ."),
        (r"[\w-]+", ".é.ï. é ."),
        (r"[^\w ]", "caf..na.ve . x"),
        (r"\W+", "caf.na.ve.x"),
        (r"\bv", "café-naï.e é x"),
        (r"\s", "café-naïve.é.x"),
        (r"é|\\", "caf.-naïve . x"),
        (r"(?U)\w+", ".-. . ."),
        (r"\p{Alpha}+", ".é-.ï. é ."),
        (r"\p{L}+", ".-. . ."),
        (r"\p{IsAlphabetic}+", ".-. . ."),
        (r"\p{javaLetter}+", ".-. . ."),
        (r"\p{InLatin-1Supplement}", "caf.-na.ve . x"),
        (r"\p{block=Latin-1 Supplement}", "caf.-na.ve . x"),
        (r"\p{IsGreek}", "café-naïve é x"),
        (r"[[:alpha:]]+", ".é-.ï. é ."),
        (r"[a-z&&[^aeiou]]+", ".a.é-.aï.e é ."),
    ] {
        check(written, "café-naïve é x", expected);
    }
}

#[test]
fn what_looks_around_is_found() {
    check("(?=[A-Z])", "ThisIsCamel", ".This.Is.Camel");
    check(r"(?<!^)(?=[A-Z])", "ThisIsCamel", "This.Is.Camel");
    check("(?<=,)", "a,b,,c", "a,.b,.,.c");
    check(r"(\w)\1", "aabbcd", "..cd");
    check(r"(?<twice>\w)\k<twice>", "aabbcd", "..cd");
    check(r"(?<x>a)\1", "aab", ".b");
    check("x*+x", "xxx", "xxx");
    check("a++b", "aab ab", ". .");
    check("(?>a+)b", "aab ab", ". .");
    check(r"(?<!a)b", "ab cb b", "ab c. .");
    check(r"a(?!b)", "ab ac", "ab .c");
    check(r"(?i)(?=ab)\w+", "Abc xy", ". xy");
    check(r"\bfoo\b(?!-)", "foo-foo éfoo", "foo-. é.");
    check(r"\s+(?=$)", "a b \n", "a b.");
    let camel = r"([^\p{L}\d]+)|(?<=\D)(?=\d)|(?<=\d)(?=\D)|(?<=[\p{L}&&[^\p{Lu}]])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}[\p{L}&&[^\p{Lu}]])";
    check(camel, "MooseX::FTPClass2_beta", "Moose.X.FTP.Class.2.beta");
}

#[test]
fn java_writes_characters_in_many_ways() {
    check(r"\x41|\u0042|\x{43}|\cA|\e|\a|\0101", "ABCx\u{1}", "...x.");
    check(r"\ud83d\ude00", "a😀", "a.");
    check(r"\Qa.b\E+", "a.b a.bb axb", ". . axb");
    check(r"\h+", "a b\tc\u{a0}d\ne", "a.b.c.d\ne");
    check(r"\v+", "a\u{b}b\nc", "a.b.c");
    check(r"\R", "a\r\nb\nc", "a.b.c");
    check(r"(?x) a b # both", "ab a b", ". a b");
    check(r"(?s)a.b", "a\nb", ".");
    check(r"(?i)é", "Éé", "É.");
    check(r"(?iu)é", "Éé", "..");
    check(r"(?:(?i)a)b|c", "Ab AB C c", ". AB C .");
    check("b*", "abc", ".a..c.");
    check("a{2}|b{1,}|c{0,1}d", "aab bb cd", ".. . .");
    check(r"[]a]+", "]a]b", ".b");
    check(r"[a\-z]+", "a-zb", ".b");
}

#[test]
fn flags_have_names() {
    let check = |flags: &str, written: &str, text: &str, expected: &str| {
        let pattern = JavaPattern::with_flags(written, flags).unwrap();
        assert_eq!(dotted(&pattern, text), expected, "{flags} {written}");
    };
    check("CASE_INSENSITIVE|COMMENTS", "a B", "1aB2a b", "1.2a b");
    check("MULTILINE", "^b", "a\nb", "a\n.");
    check("LITERAL", "a.b", "axb a.b", "axb .");
    check("DOTALL", "a.b", "a\nb", ".");
    let wrong = JavaPattern::with_flags("x", "FOO").unwrap_err();
    assert_eq!(wrong.to_string(), "Unknown regex flag [FOO]");
}

#[test]
fn what_is_no_expression_is_told_in_javas_words() {
    for (written, reason) in [
        ("[", "Unclosed character class near index 0\n[\n^"),
        ("(", "Unclosed group near index 1\n("),
        (")", "Unmatched closing ')' near index 0\n)\n^"),
        ("*a", "Dangling meta character '*' near index 0\n*a\n^"),
        (
            r"\q",
            "Illegal/unsupported escape sequence near index 1\n\\q\n ^",
        ),
        (
            "(?<1a>x)",
            "capturing group name does not start with a Latin letter near index 3\n(?<1a>x)\n   ^",
        ),
        ("a{,2}", "Illegal repetition near index 2\na{,2}\n  ^"),
    ] {
        assert_eq!(java_pattern(written).unwrap_err().to_string(), reason);
    }
    for written in [
        r"\G",
        r"\X",
        r"\b{g}",
        r"(?<=a+)b",
        r"\1(a)",
        r"\p{Foo}",
        "(?<x>a)(?<x>b)",
        "[b-a]",
    ] {
        assert!(java_pattern(written).is_err(), "{written}");
    }
    let deep = "(".repeat(1_000) + &")".repeat(1_000);
    assert!(java_pattern(&deep).is_err());
}

#[test]
fn steps_back_are_counted() {
    let pattern = java_pattern(r"(?:a|aa)+(?<=a)b").unwrap();
    let text = "a".repeat(60);
    let too_many = pattern.find_at(&text, 0).unwrap_err();
    assert_eq!(too_many.text_bytes, 60);
    assert_eq!(pattern.find_all(&text).count(), 1);
    let long = "x".repeat(LOOKED_AT_MAX + 1);
    assert!(java_pattern("(?=a)").unwrap().is_match(&long).is_err());
    assert!(!java_pattern("a").unwrap().is_match(&long).unwrap());
}

#[test]
fn replacements_name_groups() {
    let check = |written: &str, replacement: &str, text: &str, expected: Result<&str, &str>| {
        let pattern = java_pattern(written).unwrap();
        let read = Replacement::read(replacement, &pattern);
        let whole = (text, usize::MAX);
        let replaced = read.map(|read| read.replaced(whole, &pattern, usize::MAX).0.unwrap());
        assert_eq!(
            replaced.as_deref().map_err(String::as_str),
            expected,
            "{replacement}"
        );
    };
    check(r"(\d+)-(?=\d)", "$1_", "123-456-789", Ok("123_456_789"));
    check(r"(\w+)\s\1", "$1", "the the cat", Ok("the cat"));
    check("(?<x>a)", "[${x}]$0", "bab", Ok("b[a]ab"));
    check("(a)", "$12", "a", Ok("a2"));
    check("a", r"\$\\", "bab", Ok(r"b$\b"));
    check("(a)|(b)", "<$2>", "ab", Ok("<><b>"));
    check("(a)", "$2", "a", Err("No group 2"));
    check(
        "a",
        "$",
        "a",
        Err("Illegal group reference: group index is missing"),
    );
    check("a", "$x", "a", Err("Illegal group reference"));
    check("a", "x\\", "a", Err("character to be escaped is missing"));
    check(
        "(a)",
        "${1}",
        "a",
        Err("capturing group name {1} starts with digit character"),
    );
    check("(a)", "${y}", "a", Err("No group with name {y}"));
}

#[test]
fn steps_that_may_go_over_the_whole_text_are_told_from_short_ones() {
    for (written, expected) in [
        (r"(?<=\D)(?=\d)|([^\p{L}\d]+)|(?<=[a-z])(?=[A-Z])", false),
        (r"(?<=token=)\S+", false),
        (r"(?<!x)y{1,8}z", false),
        (r"x(?=.*y)", true),
        (r"x(?=[^y]{0,500}y)", true),
        (r"(?<=a)b+c", true),
        (r"(?:(?<=a)b+|d)c", true),
        (r"(?:(?<=a)b+)+", true),
        (r"x*+y", true),
        (r"(?>x+)y", true),
        (r"(\w+) \1", true),
    ] {
        let Engine::Looking(looking) = java_pattern(written).unwrap().engine else {
            panic!("{written} does not look around");
        };
        assert_eq!(looking.goes_far, expected, "{written}");
    }
}

#[test]
fn what_goes_over_a_long_text_from_each_place_is_refused_in_time() {
    let far = java_pattern(r"x(?=.*y)").unwrap();
    assert!(!far.is_match(&"x".repeat(2_000)).unwrap());
    assert!(far.is_match(&format!("{}y", "x".repeat(500_000))).unwrap());
    let text = "x".repeat(500_000);
    let before = clew_platform::thread_cpu_time();
    assert!(far.is_match(&text).is_err());
    // All matches of a text, and all texts of a turn, have a time together. One attempt is not broken off.
    let _turn = in_one_turn();
    let slow = java_pattern(r"(?=((?:x|x(?!z)){1,11}q)?)x").unwrap();
    for _ in 0..3 {
        assert!(slow.find_all(&text).any(|found| found.is_err()));
    }
    let spent = clew_platform::thread_cpu_time().saturating_sub(before);
    // A minute and more without an end.
    assert!(spent < Duration::from_secs(30), "{spent:?}");
}

#[test]
fn expressions_of_one_definition_have_their_memory_together() {
    let large = |number: usize| java_pattern(&format!(r"\p{{L}}{{1,60}}{number}"));
    {
        let _definition = in_one_definition();
        let refused = (0..200).find_map(|number| large(number).err()).unwrap();
        let told = refused.to_string();
        assert!(
            told.contains("of one definition may take [67108864] bytes"),
            "{told}"
        );
        drop(in_one_definition());
        assert!(large(1).is_err(), "one inside of it is part of it");
    }
    large(1).unwrap();
    let _definition = in_one_definition();
    for number in 0..1000 {
        java_pattern(&format!("a+b{number}")).unwrap();
    }
    let wrong = java_pattern("(").unwrap_err();
    assert!(!wrong.to_string().contains("definition"), "{wrong}");
}
