//! Scripts over a document that is written out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

struct Document<'a> {
    script: &'a Script,
    fields: BTreeMap<&'static str, Vec<ScriptValue<'a>>>,
}

impl<'a> ScriptDocument<'a> for Document<'a> {
    fn is_mapped(&self, field: usize) -> bool {
        let path = self.script.fields().get(field);
        path.is_some_and(|path| self.fields.contains_key(path.as_str()))
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let path = self.script.fields()[field].as_str();
        let found = self.fields.get(path).cloned();
        found.ok_or_else(|| ScriptError::new(ScriptErrorKind::Argument, "No field found"))
    }

    fn score(&mut self) -> f64 {
        2.0
    }

    fn measure(&mut self, _measure: usize) -> Option<f64> {
        Some(0.5)
    }

    fn chance(&mut self, _seed: i64) -> f64 {
        0.25
    }

    fn now_ms(&self) -> i64 {
        86_400_000
    }
}

fn params() -> Value {
    json!({
        "factor": 3, "half": 0.5, "name": "red", "v": [1.0, 2.0], "field": "price",
        "boosts": {"red": 4, "blue": 5}, "list": [1, 2, 3], "origin": "1970-01-01",
    })
}

fn made(source: &str, language: ScriptLanguage) -> Result<Value, ScriptError> {
    let params = params();
    let script = Script::read(source, language, &params, ScriptPurpose::Score)?;
    let text = |text: &'static str| ScriptValue::Text(text.into());
    let mut document = Document {
        script: &script,
        fields: BTreeMap::from([
            ("price", vec![ScriptValue::Whole(7), ScriptValue::Whole(9)]),
            ("weight", vec![ScriptValue::Float(2.5)]),
            ("color", vec![text("blue"), text("red")]),
            ("flag", vec![ScriptValue::Bool(true)]),
            ("at", vec![ScriptValue::Date(90_061_000)]),
            ("none", Vec::new()),
        ]),
    };
    script.run(&mut document).map(|made| made.to_json())
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn painless_is_understood() {
    let cases = [
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
        ("randomScore(42, '_seq_no')", json!(0.25)),
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
    ];
    for (source, wanted) in cases {
        let have = made(source, ScriptLanguage::Painless);
        assert_eq!(have, Ok(wanted), "{source}");
    }
}

#[test]
fn expressions_are_numbers_all_through() {
    let cases = [
        ("doc['price'].value / 2", json!(3.5)),
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

fn of_bucket(source: &str, language: ScriptLanguage) -> Result<Option<f64>, ScriptError> {
    let params = json!({"rate": 10, "none": null});
    let script = Script::read(source, language, &params, ScriptPurpose::Bucket)?;
    let number = |number: f64| vec![ScriptValue::Float(number)];
    let mut document = Document {
        script: &script,
        fields: BTreeMap::from([
            ("a", number(2.0)),
            ("b", number(4.0)),
            ("gap", number(f64::NAN)),
            ("_value0", number(7.0)),
        ]),
    };
    script.number_if_any(&mut document)
}

#[test]
fn numbers_of_buckets_stand_among_parameters() {
    let painless = ScriptLanguage::Painless;
    for (source, expected) in [
        ("params.a / params['b'] * 100", Some(50.0)),
        (
            "return params.a > 1 && params.b <= 4 ? 10 : -20;",
            Some(10.0),
        ),
        ("params.get('a') * params.rate + params._value0", Some(27.0)),
        (
            "double x = params.a; if (x > 1) { return x } return 0",
            Some(2.0),
        ),
        ("if (params.a > 3) { return params.a } return null", None),
        (
            "params.none == null && params.gap != null ? 1 : 2",
            Some(1.0),
        ),
        ("params.gap > 0 || params.gap <= 0 ? 1 : 2", Some(2.0)),
        ("Math.round(2.5) + 1L", Some(4.0)),
    ] {
        assert_eq!(of_bucket(source, painless), Ok(expected), "{source}");
    }
    let made = of_bucket("max(a, b) * rate", ScriptLanguage::Expression);
    assert_eq!(made, Ok(Some(40.0)));
    for source in [
        "a + b",
        "doc['a'].value",
        "_score",
        "params._source.a",
        "params.containsKey('a')",
        "params['a' + 'b']",
        "saturation(params.a, 1)",
        "cosineSimilarity([1.0], 'a')",
        "new Date().getTime()",
        "params.a > 1",
    ] {
        assert!(of_bucket(source, painless).is_err(), "{source}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (source, reason) in [
        ("", "the script is empty"),
        ("1 +", "unexpected end of script at [3]"),
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
        ("params._source.a", "[_source] is not there"),
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

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn what_java_has_is_understood() {
    let cases = [
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
        // Numbers and letters.
        ("(byte) 200", json!(-56)),
        ("(int) 3000000000L", json!(-1_294_967_296)),
        (
            "int x = 2147483647; x++; return x",
            json!(-2_147_483_648_i64),
        ),
        ("(char) 66", json!("B")),
        (
            "(int) 'abc'.charAt(0) + ('abc'.charAt(1) - 'a'.charAt(0))",
            json!(98),
        ),
        ("'a' + 'b'.charAt(0)", json!("ab")),
        (
            "char c = (char) 'b'; return c == 98 && c >= (char) 'a'",
            json!(true),
        ),
        (
            "Character.isDigit('1'.charAt(0)) && !Character.isLetter((char) '1')",
            json!(true),
        ),
        (
            "Integer.toHexString(255) + Integer.toString(255, 16) + Integer.toBinaryString(5)",
            json!("ffff101"),
        ),
        ("Math.floorMod(-7, 2) + Math.floorDiv(-7, 2)", json!(-3)),
        (
            "1e10 + '' + 7.0 / 0 + 1.0E-5 + 100.0",
            json!("1.0E10Infinity1.0E-5100.0"),
        ),
        ("017 + 0x10", json!(31)),
        ("-9223372036854775808L / -1", json!(i64::MIN)),
        // Texts that grow.
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
        // Streams, orders, what is there or is not.
        ("[1, 2, 3].stream().mapToInt(x -> x).sum()", json!(6)),
        (
            "[1, 2, 3].stream().mapToInt(Integer::intValue).filter(x -> x > 1).max().getAsInt()",
            json!(3),
        ),
        (
            "[1, 2, 3].stream().mapToInt(x -> x).average().getAsDouble()",
            json!(2.0),
        ),
        ("[1, 2, 3].stream().reduce(0, Integer::sum)", json!(6)),
        (
            "[1, 2].stream().filter(x -> x > 5).findFirst().orElse(9)",
            json!(9),
        ),
        (
            "Optional.ofNullable(params.gone).map(x -> 1).orElseGet(() -> 2)",
            json!(2),
        ),
        (
            "['a', 'b'].stream().map(String::toUpperCase).collect(Collectors.joining(', ', '[', ']'))",
            json!("[A, B]"),
        ),
        (
            "['a', 'bb', 'cc'].stream().collect(Collectors.groupingBy(String::length, Collectors.counting()))",
            json!({"1": 1, "2": 2}),
        ),
        (
            "['a', 'bb'].stream().collect(Collectors.toMap(x -> x, x -> x.length()))",
            json!({"a": 1, "bb": 2}),
        ),
        (
            "[[1], [2, 3]].stream().flatMap(x -> x.stream()).collect(Collectors.toList())",
            json!([1, 2, 3]),
        ),
        (
            "List l = ['bb', 'a', 'ccc']; l.sort(Comparator.comparingInt(String::length).reversed()); l",
            json!(["ccc", "bb", "a"]),
        ),
        (
            "List l = ['b', 'c', 'a']; l.sort(Comparator.reverseOrder()); l",
            json!(["c", "b", "a"]),
        ),
        (
            "['b': 1, 'a': 2].entrySet().stream().sorted(Map.Entry.comparingByKey()).map(Map.Entry::getKey).collect(Collectors.toList())",
            json!(["a", "b"]),
        ),
        (
            "IntStream.range(0, 4).sum() + Collections.max([3, 5])",
            json!(11),
        ),
        (
            "params.boosts.entrySet().stream().mapToInt(e -> e.getValue()).sum()",
            json!(9),
        ),
        (
            "int s = 0; Iterator it = params.list.iterator(); while (it.hasNext()) { s += it.next() } s",
            json!(6),
        ),
        (
            "String r = ''; for (Map.Entry e : ['a': 1].entrySet()) { r += e.getKey() + e.getValue() } r",
            json!("a1"),
        ),
        // What lists and maps have beside.
        (
            "[1, 2, 3].groupBy(x -> x % 2)",
            json!({"1": [1, 3], "0": [2]}),
        ),
        (
            "[1, 2, 3].findResults(x -> x > 1 ? x * 10 : null)",
            json!([20, 30]),
        ),
        ("[1, 2, 3].sum(x -> x * 2)", json!(12.0)),
        ("['a': 1, 'b': 2].findAll((k, v) -> v > 1)", json!({"b": 2})),
        (
            "['a': 1, 'b': 2].collect((k, v) -> k + v)",
            json!(["a1", "b2"]),
        ),
        (
            "['a': ['b': [5, 6]]].getByPath('a.b.1') + ['a': 1].getByPath('c', 7)",
            json!(13),
        ),
        (
            "def m = ['a': 1]; m.merge('a', 5, (x, y) -> x + y); m.merge('b', 5, (x, y) -> x + y); m",
            json!({"a": 6, "b": 5}),
        ),
        (
            "def m = ['a': 1]; m.compute('b', (k, v) -> v == null ? 1 : v + 1); m",
            json!({"a": 1, "b": 1}),
        ),
        (
            "def m = ['a': 1, 'b': null]; m.entrySet().removeIf(e -> e.value == null); m",
            json!({"a": 1}),
        ),
        (
            "def m = new TreeMap(); m.b = 1; m.a = 2; String r = ''; for (k in m.keySet()) { r += k } r + m.firstKey()",
            json!("aba"),
        ),
        (
            "Stack s = new Stack(); s.push(1); s.push(2); s.pop() * 10 + s.peek()",
            json!(21),
        ),
        // Functions that are handed on.
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
        // Moments.
        (
            "ChronoUnit.DAYS.between(Instant.ofEpochMilli(0), doc['at'].value)",
            json!(1),
        ),
        (
            "ZonedDateTime.parse('2024-01-31T10:30:00Z').plusMonths(1).format(DateTimeFormatter.ofPattern('yyyy-MM-dd'))",
            json!("2024-02-29"),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00Z').truncatedTo(ChronoUnit.DAYS).withDayOfMonth(15).getMillis()",
            json!(1_710_460_800_000_i64),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00+02:00').toString()",
            json!("2024-03-01T10:30+02:00"),
        ),
        (
            "'' + Instant.parse('2024-03-01T10:30:00Z')",
            json!("2024-03-01T10:30:00Z"),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00+02:00').getHour()",
            json!(10),
        ),
        (
            "Instant.parse('2024-07-01T10:00:00Z').atZone(ZoneId.of('Europe/Berlin')).getHour()",
            json!(12),
        ),
        (
            "def d = Duration.between(Instant.ofEpochMilli(0), Instant.ofEpochSecond(90)); d.toMinutes() + '' + d",
            json!("1PT1M30S"),
        ),
        (
            "LocalDate.parse('2024-02-28').plusDays(2).toString()",
            json!("2024-03-01"),
        ),
        (
            "ChronoUnit.NANOS.between(Instant.ofEpochMilli(1), Instant.ofEpochMilli(3))",
            json!(2_000_000),
        ),
        (
            "ZonedDateTime.parse('2024-03-01T10:30:00Z').isBefore(doc['at'].value)",
            json!(false),
        ),
        // Functions that stand behind those that call them.
        (
            "int f(int x) { return g(x) + 1 } int g(int x) { return x * 2 } f(4)",
            json!(9),
        ),
        ("def f(def ctx) { ctx.size() } f([1])", json!(1)),
        ("Function f = x -> x + 1; f.apply(1)", json!(2)),
        // Pieces, digits and formats.
        (
            "def t = new StringTokenizer('a.b', '.'); t.nextToken() + t.countTokens() + t.nextToken() + t.hasMoreTokens()",
            json!("a1bfalse"),
        ),
        ("Character.digit((char) 'f', 16)", json!(15)),
        ("Integer.parseUnsignedInt('4')", json!(4)),
        (
            "String.format('%05d|%-4s|%.2f|%x|%%', new def[] {42, 'ab', 1.005, 255})",
            json!("00042|ab  |1.01|ff|%"),
        ),
        (
            "'hi'.encodeBase64() + 'aGk='.decodeBase64()",
            json!("aGk=hi"),
        ),
        (
            "['a', 'b'].stream().toArray(String[]::new).length",
            json!(2),
        ),
        (
            "ZonedDateTime.of(2024, 3, 1, 10, 0, 0, 0, ZoneId.of('+01:00')).toInstant().toString()",
            json!("2024-03-01T09:00:00Z"),
        ),
        (
            "LocalDateTime.of(2024, 3, 1, 10, 0).toString()",
            json!("2024-03-01T10:00"),
        ),
        (
            "def f = new SimpleDateFormat('yyyy-MM-dd'); f.format(new Date(0L)) + f.parse('1970-01-02').getTime()",
            json!("1970-01-0186400000"),
        ),
        ("'abc'.subSequence(1, 3)", json!("bc")),
        (
            "Stream.of('a,,b'.splitOnToken(',')).filter(s -> !s.isEmpty()).toArray(String[]::new)",
            json!(["a", "b"]),
        ),
        (
            "int x = 5; x instanceof int && !(x instanceof double)",
            json!(true),
        ),
        // Numbers of 32 bits.
        ("int h = 1; h = h * 2147483647 * 3; h", json!(2_147_483_645)),
        ("0xFFFFFFFF + 1", json!(0)),
        ("Math.max(1, 2)", json!(2.0)),
        ("Integer.max(1, 2)", json!(2)),
        (
            "try { [1].get(3) } catch (Exception e) { return e.toString() }",
            json!("java.lang.IndexOutOfBoundsException: Index 3 out of bounds for length 1"),
        ),
        // Maps that are changed by what they have.
        (
            "def m = ['a': 1, 'b': 2, 'c': 3]; m.keySet().retainAll(['a', 'b']); m.keySet().remove('b'); m",
            json!({"a": 1}),
        ),
        (
            "def m = ['a': 1, 'b': 2]; for (e in m.entrySet()) { e.setValue(e.getValue() * 2) } m",
            json!({"a": 2, "b": 4}),
        ),
        (
            "def m = ['a': 1, 'b': 2]; Iterator i = m.entrySet().iterator(); while (i.hasNext()) { if (i.next().value == 1) { i.remove() } } m",
            json!({"b": 2}),
        ),
        (
            "def l = [1, 2, 3, 4]; def i = l.iterator(); while (i.hasNext()) { if (i.next() % 2 == 0) { i.remove() } } l",
            json!([1, 3]),
        ),
        ("['a': 1].entrySet().toString()", json!("[a=1]")),
    ];
    for (source, wanted) in cases {
        let have = made(source, ScriptLanguage::Painless);
        assert_eq!(have, Ok(wanted), "{source}");
    }
}

#[test]
fn functions_and_texts_that_grow_have_an_end() {
    use ScriptErrorKind as Kind;
    for (source, kind) in [
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
    ] {
        let error = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!(error.kind, kind, "{source}: {}", error.reason);
    }
}

#[test]
fn what_goes_wrong_is_told() {
    use ScriptErrorKind as Kind;
    let all = "t,".repeat(2_000);
    let copies = format!("def t = 'x'; for (int i = 0; i < 16; i++) {{ t += t }} return [{all} t]");
    for (source, kind) in [
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
    ] {
        let error = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!(error.kind, kind, "{source}: {}", error.reason);
    }
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

#[test]
fn what_says_nothing_of_a_document_is_zero_and_no_match() {
    let source = "if (params.containsKey('x')) { return 1 }";
    let purpose = ScriptPurpose::Score;
    let script = Script::read(source, ScriptLanguage::Painless, &Value::Null, purpose).unwrap();
    let mut document = Document {
        script: &script,
        fields: BTreeMap::new(),
    };
    assert_eq!(script.number(&mut document), Ok(0.0));
    assert_eq!(script.holds(&mut document), Ok(false));
    assert_eq!(script.run(&mut document), Ok(ScriptValue::Null));
}

fn changed(source: &str) -> Result<Value, ScriptError> {
    let params = json!({"by": 2, "tag": "b", "more": ["c", "a"], "put": {"x": {"y": 1}}});
    let purpose = ScriptPurpose::Change;
    let script = Script::read(source, ScriptLanguage::Painless, &params, purpose)?;
    let object = json!({
        "op": "index",
        "s": {
            "n": 1, "big": 18_446_744_073_709_551_615_u64, "tags": ["a", "b"], "name": "Red Fox",
            "rows": [{"k": "x", "v": 3}, {"k": "y", "v": 1}], "deep": {"er": {"est": null}},
        },
    });
    script.change(&object, 86_400_000)
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn objects_are_changed_in_place() {
    for (source, path, wanted) in [
        ("ctx.s.n += params.by", "/s/n", json!(3)),
        ("ctx.s.n++; ++ctx.s['n']; ctx.s.n *= 2", "/s/n", json!(6)),
        ("ctx['s']['fresh'] = 'x'", "/s/fresh", json!("x")),
        (
            "ctx.s.tags.add(params.tag)",
            "/s/tags",
            json!(["a", "b", "b"]),
        ),
        ("ctx.s.tags.add(0, 'z')", "/s/tags", json!(["z", "a", "b"])),
        (
            "ctx.s.tags.addAll(params.more)",
            "/s/tags",
            json!(["a", "b", "c", "a"]),
        ),
        (
            "if (ctx.s.tags.contains(params.tag)) { \
             ctx.s.tags.remove(ctx.s.tags.indexOf(params.tag)) }",
            "/s/tags",
            json!(["a"]),
        ),
        (
            "ctx.s.tags[1] = ctx.s.tags[0] + '!'",
            "/s/tags",
            json!(["a", "a!"]),
        ),
        (
            "ctx.s.tags.removeIf(t -> t == 'a')",
            "/s/tags",
            json!(["b"]),
        ),
        (
            "ctx.s.rows.removeIf(row -> { return row.v > 2 })",
            "/s/rows",
            json!([{"k": "y", "v": 1}]),
        ),
        (
            "ctx.s.rows.sort((a, b) -> a.v - b.v); ctx.s.rows[0].v = 9",
            "/s/rows",
            json!([{"k": "y", "v": 9}, {"k": "x", "v": 3}]),
        ),
        (
            "for (row in ctx.s.rows) { row.w = row.remove('v') * 2 }",
            "/s/rows",
            json!([{"k": "x", "w": 6}, {"k": "y", "w": 2}]),
        ),
        (
            "for (int i = 0; i < ctx.s.rows.length; i++) { ctx.s.n += ctx.s.rows[i].v }",
            "/s/n",
            json!(5),
        ),
        (
            "def total = 0; for (def e : ctx.s.deep.entrySet()) { total += e.getKey().length() } \
             ctx.s.n = total",
            "/s/n",
            json!(2),
        ),
        (
            "ctx.s.deep.er.est = [1, [:], ['k': true]]",
            "/s/deep/er/est",
            json!([1, {}, {"k": true}]),
        ),
        (
            "ctx.s.putAll(params.put); ctx.s.x.y += 1",
            "/s/x",
            json!({"y": 2}),
        ),
        (
            "ctx.s.remove('deep'); ctx.s.gone = ctx.s.containsKey('deep')",
            "/s/gone",
            json!(false),
        ),
        ("def all = ctx.s.tags; all.clear()", "/s/tags", json!([])),
        (
            "Map m = new HashMap(); m.put('k', new ArrayList(params.more)); ctx.s.m = m",
            "/s/m",
            json!({"k": ["c", "a"]}),
        ),
        (
            "ctx.s.kinds = [ctx.s.tags instanceof List, ctx.s.deep instanceof Map, \
             ctx.s.name instanceof String, ctx.s.none instanceof Map]",
            "/s/kinds",
            json!([true, true, true, false]),
        ),
        (
            "ctx.s.words = ctx.s.name.toLowerCase().splitOnToken(' '); \
             ctx.s.joined = String.join('-', ctx.s.words)",
            "/s/joined",
            json!("red-fox"),
        ),
        (
            "ctx.s.tags = ctx.s.rows.stream().filter(r -> r.v > 0).map(r -> r.k)\
             .collect(Collectors.toList())",
            "/s/tags",
            json!(["x", "y"]),
        ),
        (
            "ctx.s.n = ctx.s.rows.any(r -> r.k == 'y') ? 1 : 0",
            "/s/n",
            json!(1),
        ),
        (
            "Set s = new HashSet(ctx.s.tags); s.add('b'); s.add('c'); s.remove('a'); ctx.s.tags = s",
            "/s/tags",
            json!(["b", "c"]),
        ),
        (
            "try { ctx.s.n = Integer.parseInt('x') } catch (NumberFormatException e) {              ctx.s.n = e.getMessage() }",
            "/s/n",
            json!("For input string: \"x\""),
        ),
        (
            "try { ctx.s.none.x = 1 } catch (ArithmeticException e) { ctx.s.n = 1 }              catch (Exception e) { ctx.s.n = -1 }",
            "/s/n",
            json!(-1),
        ),
        (
            "ctx.s.rows.sort((a, b) -> Integer.compare(a.v, b.v)); ctx.s.n = ctx.s.rows[0].k",
            "/s/n",
            json!("y"),
        ),
        (
            "ctx.s.n = ZonedDateTime.ofInstant(Instant.ofEpochMilli(0), ZoneId.of('UTC')).getYear()",
            "/s/n",
            json!(1970),
        ),
        (
            "ctx.s.list = Arrays.asList(1, 2); Collections.sort(ctx.s.list)",
            "/s/list",
            json!([1, 2]),
        ),
        ("ctx.op = 'none'", "/op", json!("none")),
        (
            "ctx.s.n = 5",
            "/s/big",
            json!(18_446_744_073_709_551_615_u64),
        ),
    ] {
        let have = changed(source);
        let have = have.as_ref().map(|have| have.pointer(path));
        assert_eq!(have, Ok(Some(&wanted)), "{source}");
    }
}

#[test]
fn whole_numbers_have_the_bits_that_java_gives_them() {
    for (source, wanted) in [
        ("2147483647 + 1", json!(-2_147_483_648_i64)),
        ("2147483647L + 1", json!(2_147_483_648_i64)),
        ("-2147483648 - 1", json!(2_147_483_647)),
        ("long x = 1000000 * 1000000; return x", json!(-727_379_968)),
        (
            "long x = 1000000L * 1000000; return x",
            json!(1_000_000_000_000_i64),
        ),
        (
            "int x = 2147483647; x += 1; return x",
            json!(-2_147_483_648_i64),
        ),
        ("int x = 2147483647; return x + x", json!(-2)),
        (
            "int x = -2147483648; int y = -x; return y",
            json!(-2_147_483_648_i64),
        ),
        (
            "int x = -2147483648; int y = x / -1; return y",
            json!(-2_147_483_648_i64),
        ),
        (
            "int f(int n) { if (n < 2) { return 1 } return n * f(n - 1) } return f(13)",
            json!(1_932_053_504),
        ),
        ("1 << 33", json!(2)),
        ("1L << 33", json!(8_589_934_592_i64)),
        ("-1 >>> 28", json!(15)),
        ("-1L >>> 60", json!(15)),
        ("4 >> 33", json!(2)),
        (
            "int h = 0; for (int i = 0; i < 20; i++) { h = 31 * h + i } return h",
            json!(1_804_121_098),
        ),
        ("'polygenelubricants'.hashCode() - 1", json!(2_147_483_647)),
        // What the text does not tell has 64.
        (
            "def x = 2147483647L; return x + 1",
            json!(2_147_483_648_i64),
        ),
        ("doc['price'].value + 2147483647", json!(2_147_483_654_i64)),
    ] {
        let have = made(source, ScriptLanguage::Painless);
        assert_eq!(have, Ok(wanted), "{source}");
    }
    for (source, kind) in [
        ("int x = 3000000000L; return x", ScriptErrorKind::Cast),
        ("int x = 0; return 1 / x", ScriptErrorKind::Arithmetic),
    ] {
        let failed = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!(failed.kind, kind, "{source}");
    }
    let refused = made("1 + 3000000000", ScriptLanguage::Painless).unwrap_err();
    assert!(
        refused
            .reason
            .starts_with("Invalid int constant [3000000000]")
    );
    let expression = made("3000000000 + 1", ScriptLanguage::Expression);
    assert_eq!(expression, Ok(json!(3_000_000_001.0)));
}

#[test]
fn bits_of_numbers_are_those_of_java() {
    for (source, wanted) in [
        ("Integer.reverse(1)", json!(-2_147_483_648_i64)),
        ("Integer.reverseBytes(1)", json!(16_777_216)),
        ("Integer.highestOneBit(100)", json!(64)),
        ("Integer.lowestOneBit(100)", json!(4)),
        ("Integer.numberOfLeadingZeros(1)", json!(31)),
        ("Integer.numberOfTrailingZeros(8)", json!(3)),
        ("Integer.rotateLeft(1, 4)", json!(16)),
        ("Integer.rotateRight(1, 4)", json!(268_435_456)),
        ("Integer.compareUnsigned(1, -1)", json!(-1)),
        ("Integer.divideUnsigned(-1, 2)", json!(2_147_483_647)),
        ("Integer.remainderUnsigned(-1, 7)", json!(3)),
        ("Integer.toUnsignedString(-1)", json!("4294967295")),
        ("Integer.toUnsignedLong(-1)", json!(4_294_967_295_i64)),
        ("Integer.toOctalString(8)", json!("10")),
        ("Integer.decode('0x10')", json!(16)),
        ("Long.decode('-0x8000000000000000')", json!(i64::MIN)),
        (
            "try { return Long.decode('--9223372036854775808') } catch (NumberFormatException e) { return 7 }",
            json!(7),
        ),
        (
            "Byte.compare(params.factor, Long.MIN_VALUE) > 0",
            json!(true),
        ),
        ("Long.numberOfLeadingZeros(1L)", json!(63)),
        ("Long.hashCode(5000000000L)", json!(705_032_705)),
        ("Long.reverse(1L)", json!(i64::MIN)),
        ("Long.toUnsignedString(-1L)", json!("18446744073709551615")),
        (
            "Double.doubleToLongBits(1.0)",
            json!(4_607_182_418_800_017_408_i64),
        ),
        ("Double.longBitsToDouble(4607182418800017408L)", json!(1.0)),
        ("Double.hashCode(1.5)", json!(1_073_217_536)),
        ("Double.isFinite(1.0)", json!(true)),
        ("Float.floatToIntBits(1.0f)", json!(1_065_353_216)),
        ("Boolean.logicalXor(true, false)", json!(true)),
        ("Boolean.compare(true, false)", json!(1)),
        ("Boolean.hashCode(true)", json!(1231)),
        ("Byte.toUnsignedInt((byte) -1)", json!(255)),
        ("Short.toUnsignedInt((short) -1)", json!(65_535)),
        ("Math.copySign(2.0, -1.0)", json!(-2.0)),
        ("Math.IEEEremainder(5, 3)", json!(-1.0)),
        ("Math.nextUp(1.0)", json!(1.000_000_000_000_000_2)),
        ("Math.ulp(1.0)", json!(2.220_446_049_250_313e-16)),
        ("Math.scalb(1.5, 2)", json!(6.0)),
        ("['a': 1].hashCode()", json!(96)),
        ("[1, 2, 3].hashCode()", json!(30_817)),
        ("def x = 5; return x.hashCode()", json!(5)),
    ] {
        let have = made(source, ScriptLanguage::Painless);
        assert_eq!(have, Ok(wanted), "{source}");
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn moments_are_written_and_read_in_the_formats_of_java() {
    let zoned = "ZonedDateTime.parse('2024-03-15T10:30:00Z')";
    let east = "ZonedDateTime.parse('2024-03-15T10:30:00.250+02:00')";
    for (of, format, wanted) in [
        (
            zoned,
            "DateTimeFormatter.ISO_INSTANT",
            "2024-03-15T10:30:00Z",
        ),
        (zoned, "DateTimeFormatter.ISO_LOCAL_DATE", "2024-03-15"),
        (
            zoned,
            "DateTimeFormatter.ISO_LOCAL_DATE_TIME",
            "2024-03-15T10:30:00",
        ),
        (
            zoned,
            "DateTimeFormatter.ISO_DATE_TIME",
            "2024-03-15T10:30:00Z",
        ),
        (zoned, "DateTimeFormatter.ISO_ORDINAL_DATE", "2024-075Z"),
        (zoned, "DateTimeFormatter.ISO_WEEK_DATE", "2024-W11-5Z"),
        (
            zoned,
            "DateTimeFormatter.RFC_1123_DATE_TIME",
            "Fri, 15 Mar 2024 10:30:00 GMT",
        ),
        (zoned, "DateTimeFormatter.BASIC_ISO_DATE", "20240315Z"),
        (east, "DateTimeFormatter.BASIC_ISO_DATE", "20240315+0200"),
        (
            east,
            "DateTimeFormatter.ISO_OFFSET_DATE_TIME",
            "2024-03-15T10:30:00.25+02:00",
        ),
        (
            east,
            "DateTimeFormatter.ISO_INSTANT",
            "2024-03-15T08:30:00.250Z",
        ),
        (
            east,
            "DateTimeFormatter.RFC_1123_DATE_TIME",
            "Fri, 15 Mar 2024 10:30:00 +0200",
        ),
        (
            east,
            "DateTimeFormatter.ofPattern('HH:mmXXX')",
            "10:30+02:00",
        ),
        (
            "LocalDate.of(2024, 3, 15)",
            "DateTimeFormatter.ISO_DATE",
            "2024-03-15",
        ),
    ] {
        for source in [
            format!("{of}.format({format})"),
            format!("{format}.format({of})"),
        ] {
            let answer = made(&source, ScriptLanguage::Painless);
            assert_eq!(answer, Ok(json!(wanted)), "{source}");
        }
    }
    for (source, wanted) in [
        (
            "LocalDate.parse('2024-03-15', DateTimeFormatter.ISO_LOCAL_DATE).toString()",
            "2024-03-15",
        ),
        (
            "LocalDate.parse('20240315', DateTimeFormatter.BASIC_ISO_DATE).toString()",
            "2024-03-15",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00+02:00', DateTimeFormatter.ISO_DATE_TIME).toString()",
            "2024-03-15T10:30+02:00",
        ),
        (
            "DateTimeFormatter.ISO_DATE.parse('2024-03-15').get(ChronoField.YEAR).toString()",
            "2024",
        ),
    ] {
        let answer = made(source, ScriptLanguage::Painless);
        assert_eq!(answer, Ok(json!(wanted)), "{source}");
    }
    let lacks = made(
        "LocalDate.of(2024, 3, 15).format(DateTimeFormatter.ISO_INSTANT)",
        ScriptLanguage::Painless,
    );
    let reason = lacks.expect_err("a day is no moment").reason;
    assert_eq!(reason, "Unsupported field: InstantSeconds");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn parts_of_the_calendar_are_those_of_java() {
    for (source, wanted) in [
        ("LocalDate.of(2024, 3, 15).getDayOfWeek()", "FRIDAY"),
        (
            "LocalDate.of(2024, 3, 15).getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ROOT)",
            "Fri",
        ),
        (
            "LocalDate.of(2024, 3, 15).getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH)",
            "March",
        ),
        ("LocalDate.of(2024, 3, 15).getMonth().plus(11)", "FEBRUARY"),
        ("LocalDate.of(2024, 3, 15).dayOfWeek.plus(3)", "MONDAY"),
        ("DayOfWeek.of(1)", "MONDAY"),
        ("DayOfWeek.valueOf('MONDAY')", "MONDAY"),
        ("doc['at'].value.dayOfWeekEnum", "FRIDAY"),
        ("LocalDate.of(2024, 2, 1).withDayOfYear(60)", "2024-02-29"),
        (
            "LocalDate.of(2024, 2, 1).plus(Period.ofMonths(1))",
            "2024-03-01",
        ),
        (
            "LocalDate.of(2024, 2, 1).minus(Period.of(1, 2, 3))",
            "2022-11-28",
        ),
        (
            "LocalDate.of(2024, 2, 1).until(LocalDate.of(2025, 4, 15))",
            "P1Y2M14D",
        ),
        ("LocalDate.ofEpochDay(19000)", "2022-01-08"),
        ("LocalDate.ofYearDay(2024, 60)", "2024-02-29"),
        (
            "LocalDate.parse('2024-03-15').atTime(10, 30)",
            "2024-03-15T10:30",
        ),
        ("LocalTime.of(10, 30, 15)", "10:30:15"),
        ("LocalTime.parse('10:30:15.5')", "10:30:15.500"),
        ("LocalTime.parse('10:30').plusHours(15)", "01:30"),
        ("LocalTime.MIDNIGHT", "00:00"),
        ("LocalTime.ofSecondOfDay(3661)", "01:01:01"),
        (
            "LocalTime.of(10, 30).truncatedTo(ChronoUnit.HOURS)",
            "10:00",
        ),
        (
            "LocalDateTime.of(LocalDate.of(2024, 1, 1), LocalTime.of(1, 2))",
            "2024-01-01T01:02",
        ),
        (
            "LocalDateTime.ofInstant(Instant.ofEpochMilli(0), ZoneId.of('UTC'))",
            "1970-01-01T00:00",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00Z').getMonth()",
            "MARCH",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00Z').toLocalTime()",
            "10:30",
        ),
        (
            "ZonedDateTime.parse('2024-03-15T10:30:00Z').minus(Duration.ofDays(1))",
            "2024-03-14T10:30Z",
        ),
        ("Period.of(1, 14, 3).normalized()", "P2Y2M3D"),
        (
            "Period.between(LocalDate.of(2024, 1, 31), LocalDate.of(2024, 3, 1))",
            "P1M1D",
        ),
        ("Period.ofWeeks(2)", "P14D"),
        ("Period.ZERO", "P0D"),
        ("Duration.parse('P1DT2H')", "PT26H"),
        ("Duration.ofHours(1).multipliedBy(3)", "PT3H"),
        ("Duration.ofHours(1).dividedBy(2)", "PT30M"),
        ("Duration.ofHours(1).negated()", "PT-1H"),
        ("Duration.ofHours(1).minusMinutes(5)", "PT55M"),
        ("Duration.of(5, ChronoUnit.MINUTES)", "PT5M"),
        ("Instant.EPOCH", "1970-01-01T00:00:00Z"),
        ("ZoneOffset.ofHours(5)", "+05:00"),
    ] {
        let have = made(
            &format!("String.valueOf({source})"),
            ScriptLanguage::Painless,
        );
        assert_eq!(have, Ok(json!(wanted)), "{source}");
    }
}

#[test]
fn numbers_of_the_calendar_are_those_of_java() {
    for (source, wanted) in [
        (
            "LocalDate.of(2024, 3, 15).getDayOfWeek() == DayOfWeek.FRIDAY",
            json!(true),
        ),
        (
            "LocalDate.of(2024, 3, 15).getDayOfWeek().getValue()",
            json!(5),
        ),
        (
            "LocalDate.parse('2024-03-15').get(ChronoField.DAY_OF_WEEK)",
            json!(5),
        ),
        (
            "LocalDate.parse('2024-03-15').getLong(ChronoField.EPOCH_DAY)",
            json!(19_797),
        ),
        ("LocalDate.of(2024, 2, 1).lengthOfMonth()", json!(29)),
        ("LocalDate.of(2024, 2, 1).isLeapYear()", json!(true)),
        ("Month.of(2).length(true)", json!(29)),
        ("Month.MARCH.maxLength()", json!(31)),
        ("LocalTime.parse('10:30').toSecondOfDay()", json!(37_800)),
        (
            "LocalTime.parse('10:30').isAfter(LocalTime.NOON)",
            json!(false),
        ),
        ("Period.parse('P1Y2M3D').getMonths()", json!(2)),
        ("Period.of(1, 14, 3).toTotalMonths()", json!(26)),
        ("Period.ofMonths(3).plusDays(2).isNegative()", json!(false)),
        ("Year.isLeap(2023)", json!(false)),
        ("Byte.MAX_VALUE + Short.MIN_VALUE", json!(-32_641)),
    ] {
        assert_eq!(
            made(source, ScriptLanguage::Painless),
            Ok(wanted),
            "{source}"
        );
    }
}

#[test]
fn what_is_not_in_the_calendar_is_refused() {
    for source in [
        "Period.of(2147483647, 0, 0).multipliedBy(2)",
        "Duration.ofDays(1).dividedBy(0)",
        "DayOfWeek.of(8)",
        "Duration.parse('P')",
        "Period.parse('P1X')",
        "LocalTime.of(24, 0)",
    ] {
        assert!(made(source, ScriptLanguage::Painless).is_err(), "{source}");
    }
}

#[test]
fn lists_are_used_from_their_ends_and_by_collections() {
    for (source, wanted) in [
        ("Collections.frequency([1, 1, 2], 1)", json!(2)),
        ("Collections.disjoint([1], [2])", json!(true)),
        (
            "def l = [1, 2, 3]; Collections.swap(l, 0, 2); return l",
            json!([3, 2, 1]),
        ),
        (
            "def l = [1, 2, 3]; Collections.rotate(l, 1); return l",
            json!([3, 1, 2]),
        ),
        (
            "def l = [1, 2, 3]; Collections.rotate(l, -1); return l",
            json!([2, 3, 1]),
        ),
        ("Collections.nCopies(3, 'a')", json!(["a", "a", "a"])),
        (
            "def l = [1, 2, 3]; Collections.fill(l, 0); return l",
            json!([0, 0, 0]),
        ),
        ("Collections.binarySearch([1, 2, 3], 2)", json!(1)),
        ("Collections.binarySearch([1, 3], 2)", json!(-2)),
        ("Collections.indexOfSubList([1, 2, 3], [2, 3])", json!(1)),
        ("Collections.replaceAll([1, 2, 1], 1, 5)", json!(true)),
        (
            "def l = [1, 2]; l.addAll(0, [5, 6]); return l",
            json!([5, 6, 1, 2]),
        ),
        ("def m = ['a': 1]; return m.remove('a', 2)", json!(false)),
        (
            "def m = ['a': 1]; m.replace('a', 1, 5); return m.a",
            json!(5),
        ),
        ("new ArrayDeque([1, 2]).peekLast()", json!(2)),
        ("new ArrayDeque([1, 2]).pollLast()", json!(2)),
        ("new ArrayDeque().pollFirst()", json!(null)),
        (
            "def s = new Stack(); s.push(1); return s.empty()",
            json!(false),
        ),
        (
            "def l = new LinkedList([1, 2]); l.offerFirst(0); return l.peekFirst()",
            json!(0),
        ),
        (
            "def s = new TreeSet(); s.add(3); s.add(1); return s.first()",
            json!(1),
        ),
    ] {
        assert_eq!(
            made(source, ScriptLanguage::Painless),
            Ok(wanted),
            "{source}"
        );
    }
    for (source, kind) in [
        (
            "Collections.nCopies(2000000000, 'a')",
            ScriptErrorKind::Limit,
        ),
        ("Collections.swap([1], 0, 1)", ScriptErrorKind::Bounds),
        ("[1].addAll(2, [1])", ScriptErrorKind::Bounds),
        ("new ArrayDeque().getFirst()", ScriptErrorKind::NoElement),
    ] {
        let failed = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!(failed.kind, kind, "{source}");
    }
}

#[test]
fn regions_of_texts_are_compared() {
    for (source, wanted) in [
        ("'Hello'.regionMatches(0, 'He', 0, 2)", json!(true)),
        ("'Hello'.regionMatches(0, 'he', 0, 2)", json!(false)),
        ("'Hello'.regionMatches(true, 0, 'he', 0, 2)", json!(true)),
        ("'Hello'.regionMatches(1, 'xell', 1, 3)", json!(true)),
        ("'Hello'.regionMatches(4, 'Hello', 4, 2)", json!(false)),
        ("'Hello'.regionMatches(-1, 'Hello', -1, 2)", json!(false)),
        ("'Hello'.codePointCount(0, 3)", json!(3)),
    ] {
        assert_eq!(
            made(source, ScriptLanguage::Painless),
            Ok(wanted),
            "{source}"
        );
    }
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

#[test]
fn objects_that_cannot_be_changed_so_are_left() {
    use ScriptErrorKind as Kind;
    for (source, kind) in [
        ("ctx.s.none += 1", Kind::Null),
        ("ctx.s.none.x = 1", Kind::Null),
        ("ctx.s.name.x = 1", Kind::Argument),
        ("ctx.s.tags.remove(5)", Kind::Bounds),
        ("ctx.s.tags[2] = 1", Kind::Bounds),
        ("ctx.s.tags.remove('a')", Kind::Cast),
        ("ctx.s.self = ctx.s", Kind::Argument),
        ("ctx.s.tags.add(ctx.s.tags)", Kind::Argument),
        ("throw new IllegalArgumentException('no')", Kind::Argument),
        ("throw new Exception('no')", Kind::Thrown),
        ("while (true) { ctx.s.n++ }", Kind::Limit),
        ("while (true) { ctx.s.tags.add('xxxxxxxx') }", Kind::Limit),
        (
            "def d = ctx.s.tags; while (true) { def n = []; d.add(n); d = n }",
            Kind::Limit,
        ),
        (
            "def l = []; for (int i = 0; i < 60; i++) { l = [l, l] } ctx.s.l = l",
            Kind::Limit,
        ),
        (
            "try { 1 / 0 } catch (NullPointerException e) { }",
            Kind::Arithmetic,
        ),
        (
            "try { while (true) {} } catch (Exception e) { }",
            Kind::Limit,
        ),
        ("params.by = 3", Kind::Unreadable),
        ("doc['n'].value", Kind::Unreadable),
    ] {
        let error = changed(source).unwrap_err();
        assert_eq!(error.kind, kind, "{source}: {}", error.reason);
    }
}

#[test]
fn scripts_share_what_they_gather() {
    let read = |source, purpose| {
        Script::read(source, ScriptLanguage::Painless, &Value::Null, purpose).unwrap()
    };
    let init = read("state.all = []", ScriptPurpose::State);
    let map = read(
        "state.all.add(doc['price'].value)",
        ScriptPurpose::StateOfDocument,
    );
    let combine = read(
        "long sum = 0; for (x in state.all) { sum += x } return sum",
        ScriptPurpose::State,
    );
    let reduce = read(
        "long sum = 0; for (s in states) { sum += s } return sum",
        ScriptPurpose::States,
    );
    let mut document = Document {
        script: &map,
        fields: BTreeMap::from([("price", vec![ScriptValue::Whole(7)])]),
    };
    let mut state = ScriptState::begin().unwrap();
    state.prepare(&init, 0).unwrap();
    state.gather(&map, &mut document).unwrap();
    state.gather(&map, &mut document).unwrap();
    let answer = state.end(&combine, 0).unwrap();
    assert_eq!(answer, json!(14));
    assert_eq!(reduce.join(&json!([14, 1]), 0).unwrap(), json!(15));
    for (source, purpose) in [
        ("doc['price'].value", ScriptPurpose::State),
        ("states", ScriptPurpose::StateOfDocument),
        ("state", ScriptPurpose::States),
        ("ctx", ScriptPurpose::State),
        ("_value", ScriptPurpose::Score),
        ("cosineSimilarity([1], doc['v'])", ScriptPurpose::Values),
        ("doc['price'].value", ScriptPurpose::Alone),
    ] {
        let language = ScriptLanguage::Painless;
        let error = Script::read(source, language, &Value::Null, purpose).unwrap_err();
        assert_eq!(error.kind, ScriptErrorKind::Unreadable, "{source}");
    }
}
