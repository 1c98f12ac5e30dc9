//! Lists, maps, sets, and streams over them.

use super::*;

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn streams_and_orders_are_those_of_java() {
    check([
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
        (
            "['a', 'b'].stream().toArray(String[]::new).length",
            json!(2),
        ),
        (
            "Stream.of('a,,b'.splitOnToken(',')).filter(s -> !s.isEmpty()).toArray(String[]::new)",
            json!(["a", "b"]),
        ),
    ]);
}

#[test]
fn lists_and_maps_have_what_painless_gives_them_beside() {
    check([
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
    ]);
}

#[test]
fn maps_and_lists_are_changed_by_what_they_have() {
    check([
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
    ]);
}

#[test]
fn lists_are_used_from_their_ends_and_by_collections() {
    check([
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
    ]);
    check_fails([
        (
            "Collections.nCopies(2000000000, 'a')",
            ScriptErrorKind::Limit,
        ),
        ("Collections.swap([1], 0, 1)", ScriptErrorKind::Bounds),
        ("[1].addAll(2, [1])", ScriptErrorKind::Bounds),
        ("new ArrayDeque().getFirst()", ScriptErrorKind::NoElement),
    ]);
}
