//! Objects that a script is there to change.

use super::*;

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
