//! Functions of one's own, and those that are handed on.

use super::*;

#[test]
fn functions_are_handed_on_and_stand_behind_those_that_call_them() {
    check([
        (
            "int twice(Function f, int x) { return f.apply(f.apply(x)) } twice(x -> x + 2, 1)",
            json!(5),
        ),
        (
            "int run(Supplier s) { return s.get() } int x = 5; return run(() -> x)",
            json!(5),
        ),
        (
            "def f(def g) { g + 1 } [1, 2].stream().map(this::f).collect(Collectors.toList())",
            json!([2, 3]),
        ),
        (
            "def e = new IllegalArgumentException('x'); try { throw e } catch (Exception c) { c.getMessage() }",
            json!("x"),
        ),
        (
            "int f(int x) { return g(x) + 1 } int g(int x) { return x * 2 } f(4)",
            json!(9),
        ),
        ("def f(def ctx) { ctx.size() } f([1])", json!(1)),
        ("Function f = x -> x + 1; f.apply(1)", json!(2)),
    ]);
}

#[test]
fn scores_count_words() {
    check([
        ("termFreq('text', params.name)", json!(3)),
        ("termFreq(params.name, 'text')", json!(0)),
        (
            "def f = 'te' + 'xt'; totalTermFreq(f, 'a') * 2 + sumTotalTermFreq(f)",
            json!(580),
        ),
        ("termFreq('text', 'abc') / 2", json!(1)),
    ]);
    check_fails([
        ("termFreq('text', 1)", ScriptErrorKind::Cast),
        ("termFreq('text')", ScriptErrorKind::Unreadable),
    ]);
    let filter = ScriptPurpose::Filter;
    let source = "termFreq('text', 'a') > 0";
    let refused = Script::read(source, ScriptLanguage::Painless, &Value::Null, filter).unwrap_err();
    assert!(
        refused.reason.contains("unknown call [termFreq]"),
        "{refused}"
    );
}

#[test]
fn what_lies_in_lambdas_makes_a_tree_deep() {
    let nested = |lambdas: usize| {
        (0..lambdas).fold("1".to_string(), |inner, at| {
            let many = "+1".repeat(100);
            format!("[1].collect(x{at} -> {{ return {inner}{many}; }})[0]")
        })
    };
    let read = |lambdas| {
        let source = format!("return {};", nested(lambdas));
        let language = ScriptLanguage::Painless;
        Script::read(&source, language, &Value::Null, ScriptPurpose::Field)
    };
    assert!(read(3).is_ok());
    let refused = read(5).unwrap_err();
    assert!(refused.reason.contains("operators"), "{}", refused.reason);
    // Those beside each other lie in none.
    let many = "l.add(l.any(x -> { return x == 1; }));".repeat(300);
    let source = format!("def l = [1]; {many} return l.size();");
    let language = ScriptLanguage::Painless;
    assert!(Script::read(&source, language, &Value::Null, ScriptPurpose::Field).is_ok());
}
