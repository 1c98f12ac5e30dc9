//! What goes wrong, and what would have no end.

use super::*;

#[test]
fn failures_are_texts_as_in_java() {
    check([(
        "try { [1].get(3) } catch (Exception e) { return e.toString() }",
        json!("java.lang.IndexOutOfBoundsException: Index 3 out of bounds for length 1"),
    )]);
}

#[test]
fn failures_have_the_classes_and_places_of_java() {
    use ScriptErrorKind as Kind;
    for (source, kind, at) in [
        ("'Hello'.substring(10)", Kind::TextBounds, 7),
        ("def s = 'a'; return s.charAt(3)", Kind::TextBounds, 21),
        ("[1, 2].get(5)", Kind::Bounds, 6),
        ("Optional.empty().get()", Kind::NoElement, 16),
        (
            "throw new NumberFormatException('no')",
            Kind::NumberFormat,
            0,
        ),
        (
            "throw new UnsupportedOperationException('no')",
            Kind::Unsupported,
            0,
        ),
        ("ZonedDateTime.parse('bad')", Kind::DateFormat, 0),
        ("Integer.parseInt('x')", Kind::NumberFormat, 0),
    ] {
        let failed = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!((failed.kind, failed.at), (kind, Some(at)), "{source}");
    }
    for class in [
        "NumberFormatException",
        "IllegalArgumentException",
        "Exception",
    ] {
        let source = format!("try {{ Integer.parseInt('x') }} catch ({class} e) {{ return 1 }}");
        assert_eq!(
            made(&source, ScriptLanguage::Painless),
            Ok(json!(1)),
            "{class}"
        );
    }
    let other = "try { [1].get(5) } catch (NumberFormatException e) { return 1 }";
    let failed = made(other, ScriptLanguage::Painless).unwrap_err();
    assert_eq!(failed.kind, Kind::Bounds);
}

#[test]
fn what_goes_wrong_is_told() {
    use ScriptErrorKind as Kind;
    let all = "t,".repeat(2_000);
    let copies = format!("def t = 'x'; for (int i = 0; i < 16; i++) {{ t += t }} return [{all} t]");
    check_fails([
        ("doc['none'].value", Kind::State),
        ("doc['gone'].value", Kind::Argument),
        ("1 / 0", Kind::Arithmetic),
        ("params.gone + 1", Kind::Null),
        ("params.gone.length()", Kind::Null),
        ("doc['color'].value * 2", Kind::Cast),
        ("1 ? 2 : 3", Kind::Cast),
        ("int x = 1.5; x", Kind::Cast),
        ("doc['price'][5]", Kind::Bounds),
        ("while (true) {}", Kind::Limit),
        ("do { } while (true)", Kind::Limit),
        ("int f(int x) { return f(x + 1) } f(1)", Kind::Limit),
        ("def t = 'xxxxxxxx'; while (true) { t += t }", Kind::Limit),
        ("def l = [1]; while (true) { l = [l, l] }", Kind::Limit),
        (copies.as_str(), Kind::Limit),
    ]);
}

#[test]
fn functions_and_texts_that_grow_have_an_end() {
    use ScriptErrorKind as Kind;
    check_fails([
        (
            "def b = new StringBuilder(); while (true) { b.append('xxxxxxxxxxxxxxxx') }",
            Kind::Limit,
        ),
        (
            "int f(Function g, int n) { return g.apply(f(g, n + 1)) } f(x -> x, 1)",
            Kind::Limit,
        ),
        (
            "def c = Comparator.naturalOrder(); while (true) { c = c.reversed() }",
            Kind::Argument,
        ),
        // What is made of itself twice, again and again.
        (
            "def c = Comparator.naturalOrder(); for (int i = 0; i < 15; i++) { c = c.thenComparing(c) } \
             while (true) { c.compare(1, 1) }",
            Kind::Limit,
        ),
        (
            "def l = [1]; for (int i = 0; i < 60; i++) { l = [l, l] } l.hashCode()",
            Kind::Limit,
        ),
        (
            "def l = [1], k = [1]; for (int i = 0; i < 60; i++) { l = [l, l]; k = [k, k] } l.equals(k)",
            Kind::Limit,
        ),
        (
            "def l = [1]; for (int i = 0; i < 60; i++) { l = [l, l] } def m = [:]; m[l] = 1; m",
            Kind::Limit,
        ),
        ("Function f = x -> x.apply(x); f.apply(f)", Kind::Limit),
        ("String.format('%2000000000d', new def[] {1})", Kind::Limit),
        ("int[] a = new int[2000000000]; a", Kind::Limit),
        ("IntStream.range(0, 2000000000).sum()", Kind::Limit),
        (
            "def l = []; l.add(Comparator.naturalOrder())",
            Kind::Argument,
        ),
        ("'abc'.charAt(7)", Kind::TextBounds),
    ]);
}

#[test]
fn looks_around_a_text_have_a_time_together() {
    // Each finds something, after it went over the whole text from each of its places.
    let source = "String t = 'x'; for (int i = 0; i < 14; i++) { t = t + t } t = t + 'z'; \
                  for (int i = 0; i < 400; i++) { if (!(t =~ /x(?=.*y)|z/)) { return 1 } } return 2";
    let before = clew_platform::thread_cpu_time();
    let error = made(source, ScriptLanguage::Painless).unwrap_err();
    assert_eq!(error.kind, ScriptErrorKind::Limit, "{}", error.reason);
    assert!(
        error.reason.contains("too many characters"),
        "{}",
        error.reason
    );
    let spent = clew_platform::thread_cpu_time().saturating_sub(before);
    // Minutes without an end. One look is not broken off.
    assert!(spent < std::time::Duration::from_secs(30), "{spent:?}");
}
