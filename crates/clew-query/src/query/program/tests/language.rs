//! What the language itself is: values, operators, statements.

use super::*;

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn painless_is_understood() {
    check([
        ("1 + 2 * 3", json!(7)),
        ("7 / 2", json!(3)),
        ("7 / 2.0", json!(3.5)),
        ("7 % 4 - -1", json!(4)),
        ("doc['price'].value / 2", json!(3)),
        ("doc['price'].value * params.half", json!(3.5)),
        ("doc[params.field].value + params['factor']", json!(10)),
        ("doc.price.value", json!(7)),
        ("doc['price'].size() + doc['price'].length", json!(4)),
        ("doc['price'][1]", json!(9)),
        ("doc['none'].size() == 0 ? 1 : doc['none'].value", json!(1)),
        ("doc['none'].empty", json!(true)),
        ("doc.containsKey('gone') ? 1 : 2", json!(2)),
        ("_score * Math.log10(100)", json!(4.0)),
        ("Math.max(1, 2) + Math.pow(2, 3)", json!(10.0)),
        ("Math.round(2.5)", json!(3)),
        (
            "8 / 2 / 2 == 2 && 'abc' =~ /b/ && !('abc' ==~ /b/)",
            json!(true),
        ),
        (
            "/(.)(?<n>.)/.matcher('xy').replaceAll('${n}$1')",
            json!("yx"),
        ),
        (
            "'a1b22'.replaceAll(/\\d+/, m -> '<' + m.group() + '>')",
            json!("a<1>b<22>"),
        ),
        ("/,/.split('a,b,,')", json!(["a", "b"])),
        ("Double.NaN > 0 || Double.NaN < 0", json!(false)),
        (
            "Double.NEGATIVE_INFINITY < 5 && 5 < Float.POSITIVE_INFINITY",
            json!(true),
        ),
        // Members may be called like words behind which values stand.
        ("['in': 6].in / 3 / 2", json!(1)),
        ("['do': 6]?.do / 3", json!(2)),
        ("Long.bitCount(doc['price'].value ^ -1)", json!(61)),
        ("(int) 2.9 + (double) 1", json!(3.0)),
        (
            "doc['color'].value == 'blue' && doc['flag'].value",
            json!(true),
        ),
        ("doc['color'].contains('red') || false", json!(true)),
        ("doc['color'].value.toUpperCase() + '!'", json!("BLUE!")),
        ("params.boosts[doc['color'].value]", json!(5)),
        ("params.boosts.getOrDefault('green', 1)", json!(1)),
        ("params.boosts.containsKey(params.name)", json!(true)),
        ("params.gone == null ? 1 : 2", json!(1)),
        ("params.gone ?: 8", json!(8)),
        ("params.gone?.length()", json!(null)),
        ("params.list.contains(2)", json!(true)),
        ("[1, 2].size()", json!(2)),
        (
            "doc['at'].value.getHour() * 100 + doc['at'].value.minute",
            json!(101),
        ),
        (
            "doc['at'].value.toInstant().toEpochMilli()",
            json!(90_061_000),
        ),
        (
            "doc['at'].value.millis - new Date().getTime()",
            json!(3_661_000),
        ),
        ("System.currentTimeMillis()", json!(86_400_000)),
        ("doc['at'].value.dayOfWeekEnum.value", json!(5)),
        (
            "double x = 1; x += doc['weight'].value; return x * 2",
            json!(7.0),
        ),
        ("int n = 7; n /= 2; n++; return n", json!(4)),
        (
            "def t = 0; for (int i = 0; i < 4; i++) { if (i == 2) continue; t += i } return t",
            json!(4),
        ),
        (
            "def t = 0; for (def p : doc['price']) { t += p; } t",
            json!(16),
        ),
        (
            "long t = 1; while (true) { t *= 2; if (t > 50) { break; } } return t",
            json!(64),
        ),
        (
            "int i = 0; do { i++; if (i == 2) { continue } if (i > 4) { break } } while (true); i",
            json!(5),
        ),
        ("int i = 9; do i++; while (i < 3); return i", json!(10)),
        (
            "int twice(int x) { return x * 2 } int t = 1; return twice(twice(3)) + t",
            json!(13),
        ),
        (
            "long of(long x) { if (x < 2) { return 1 } def y = x; return of(x - 1) * y } of(5)",
            json!(120),
        ),
        (
            "if (doc['none'].size() > 0) { return 1 } else if (_score > 1) { return 2 } return 3",
            json!(2),
        ),
        ("// a word\nreturn /* two */ 1", json!(1)),
        ("saturation(doc['price'].value, 7)", json!(0.5)),
        ("sigmoid(2, 2, 1)", json!(0.5)),
        (
            "decayNumericLinear(7, 10, 0, 0.5, doc['price'].value)",
            json!(1.0),
        ),
        (
            "decayDateExp(params.origin, '1d', '0', 0.5, doc['at'].value) < 0.5",
            json!(true),
        ),
        ("randomScore(42, 'price')", json!(0.25)),
        ("cosineSimilarity(params.v, doc['vector'], 5.0)", json!(0.5)),
        (
            "cosineSimilarity(params.v, doc['vector'], 1.25)",
            json!(1.0),
        ),
        (
            "cosineSimilarity(params.v, doc['vector']) + doc['weight'].value",
            json!(3.0),
        ),
        ("~5 & 0xF | 1 << 4", json!(26)),
        ("'a😀b'.substring(1, 3) + 'a😀b'.indexOf('b')", json!("😀3")),
        ("[[1, 2], ['x']].toString()", json!("[[1, 2], [x]]")),
    ]);
}

#[test]
fn values_are_assigned_inside_of_values_and_kept_in_arrays() {
    check([
        // Values that are assigned inside of values.
        ("int i = 0; int j = i++ + ++i; return j * 10 + i", json!(22)),
        ("int a, b; a = b = 3; return a + b", json!(6)),
        ("def m = [:]; m.x = m.y = 2; return m.x + m.y", json!(4)),
        (
            "def l = [1, 2]; int i = 0; return l[i++] + l[i++]",
            json!(3),
        ),
        (
            "int x = 6; x |= 9; x ^= 2; x &= 14; x <<= 2; x >>= 1; x >>>= 1; x",
            json!(12),
        ),
        (
            "int i = 0; while (true) { if (++i > 4) break; } return i",
            json!(5),
        ),
        ("def x = [:]; x.y = 3", json!(3)),
        ("int x = 0; x = 3; if (x > 5) { 1 }", json!(null)),
        // Arrays are lists.
        (
            "int[] a = new int[3]; a[0] = 5; a[2] += 2; return a[0] + a[1] + a[2]",
            json!(7),
        ),
        (
            "def a = new String[] {'x', 'y'}; String r = ''; for (String s : a) { r += s } r",
            json!("xy"),
        ),
        (
            "int[][] m = new int[2][3]; m[1][2] = 7; return m[1][2] + m[0][0] + m.length",
            json!(9),
        ),
        ("double[] d = new double[2]; return d[0]", json!(0.0)),
        (
            "def l = [1, 2, 3]; l[-2] = 7; return l[-1] + l[1]",
            json!(10),
        ),
        (
            "int x = 5; x instanceof int && !(x instanceof double)",
            json!(true),
        ),
    ]);
}

#[test]
fn expressions_are_numbers_all_through() {
    let cases = [
        ("doc['price'].value / 2", json!(3.5)),
        ("doc['price'] / 2", json!(3.5)),
        ("abs(0 - doc['price']) * 2", json!(14.0)),
        ("doc['none'] + 1", json!(1.0)),
        ("doc['none'].value + 1", json!(1.0)),
        ("factor * 2 + half", json!(6.5)),
        ("_score * ln(1)", json!(0.0)),
        ("doc['price'].max() - doc['price'].min()", json!(2.0)),
        ("doc['price'].avg()", json!(8.0)),
        ("(doc['price'].value > 5) * 2", json!(2.0)),
        ("doc['weight'].value > 2 ? 10 : 20", json!(10.0)),
        ("doc['at'].value / 1000", json!(90_061.0)),
        ("doc['at'].date.year + doc['at'].getHour()", json!(1971)),
    ];
    for (source, wanted) in cases {
        let have = made(source, ScriptLanguage::Expression);
        assert_eq!(have, Ok(wanted), "{source}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (source, reason) in [
        ("", "the script is empty"),
        ("1 +", "unexpected end of script. at [3]"),
        // What cannot be read is told before names that stand for nothing.
        ("x +", "unexpected end of script. at [3]"),
        ("x + y z 2", "unexpected token ['z'] at [6]"),
        ("nope.a = 1; other", "cannot resolve symbol [nope] at [0]"),
        ("foo(1)", "unknown call [foo]"),
        ("x + 1", "cannot resolve symbol [x] at [0]"),
        ("doc['a' + 'b'].value", "a field is named by a text"),
        (
            "doc['price'].value.frobnicate()",
            "member method [frobnicate/0] is not supported",
        ),
        (
            "new Frobnicator()",
            "objects of [Frobnicator] cannot be made",
        ),
        ("ctx.a = 1", "cannot resolve symbol [ctx]"),
        ("1 2", "unexpected token ['2'] at [2]"),
        ("'abc", "a text that begins at [0] has no end"),
    ] {
        let error = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!(error.kind, ScriptErrorKind::Unreadable, "{source}");
        assert!(error.reason.contains(reason), "{source}: {}", error.reason);
        assert_eq!(error.script, source);
    }
    for deep in [
        "(".repeat(10_000),
        "-".repeat(10_000),
        "!".repeat(10_000),
        "1+".repeat(5_000) + "1",
        "{".repeat(10_000),
        "if (true) ".repeat(1_000) + "1",
        "[".repeat(10_000),
    ] {
        assert!(made(&deep, ScriptLanguage::Painless).is_err());
    }
}
