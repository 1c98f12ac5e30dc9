//! Functions of texts beside those that `functions` has.

use std::cmp::Ordering;
use std::net::IpAddr;

use serde_json::Value;

use crate::functions::grok::{MEMBER, member};
use crate::functions::{Function, boolean, function, integer, keyword, text};

pub(crate) static TEXTS: &[Function] = &[
    function("ascii", 1..=1, integer, |args| {
        text(args, |text| text.bytes().next().unwrap_or(0).into())
    }),
    function("left", 2..=2, keyword, |args| {
        sized(args, |text, count| text.chars().take(count).collect())
    }),
    function("right", 2..=2, keyword, |args| {
        sized(args, |text, count| {
            let skipped = text.chars().count().saturating_sub(count);
            text.chars().skip(skipped).collect()
        })
    }),
    function("locate", 2..=3, integer, locate),
    function("position", 2..=2, integer, locate),
    function("strcmp", 2..=2, integer, |args| match args {
        [Value::String(left), Value::String(right)] => match left.cmp(right) {
            Ordering::Less => (-1).into(),
            Ordering::Equal => 0.into(),
            Ordering::Greater => 1.into(),
        },
        _ => Value::Null,
    }),
    function("ispresent", 1..=1, boolean, |args| {
        (!args.iter().all(Value::is_null)).into()
    }),
    function("isempty", 1..=1, boolean, |args| {
        is_empty(args, str::is_empty)
    }),
    function("isblank", 1..=1, boolean, |args| {
        is_empty(args, |text| text.trim().is_empty())
    }),
    function("cidrmatch", 2..=2, boolean, within_block),
    function(MEMBER, 2..=2, keyword, member),
    // The name of the type is known before there are rows.
    function("typeof", 1..=1, keyword, |_| Value::Null),
];

/// Whether an address is in a block of them, as in `10.0.0.0/8`.
fn within_block(args: &[Value]) -> Value {
    let [Value::String(address), Value::String(block)] = args else {
        return Value::Null;
    };
    let is_within = || {
        let (base, length) = block.trim().split_once('/')?;
        let length: u32 = length.parse().ok()?;
        let address = bits(address)?;
        let base = bits(base)?;
        if address.1 != base.1 || length > address.1 {
            return None;
        }
        let rest = address.1 - length;
        Some(address.0.checked_shr(rest) == base.0.checked_shr(rest))
    };
    is_within().into()
}

/// An address as a number, and how many bits of it there are.
fn bits(address: &str) -> Option<(u128, u32)> {
    match address.trim().parse::<IpAddr>().ok()? {
        IpAddr::V4(address) => Some((u32::from(address).into(), 32)),
        IpAddr::V6(address) => Some((address.into(), 128)),
    }
}

/// Whether there is no text, or one of nothing.
fn is_empty(args: &[Value], nothing: impl Fn(&str) -> bool) -> Value {
    let is = |arg: &Value| match arg {
        Value::String(text) => nothing(text),
        other => other.is_null(),
    };
    args.iter().all(is).into()
}

fn sized(args: &[Value], take: impl Fn(&str, usize) -> String) -> Value {
    match args {
        [Value::String(text), count] => match count.as_i64() {
            Some(count) => take(text, usize::try_from(count).unwrap_or(0)).into(),
            None => Value::Null,
        },
        _ => Value::Null,
    }
}

/// Where a text stands in another one, from 1 on; 0 where it does not.
fn locate(args: &[Value]) -> Value {
    let [Value::String(wanted), Value::String(text), start @ ..] = args else {
        return Value::Null;
    };
    let start = start.first().map_or(Some(1), Value::as_i64);
    let Some(start) = start.and_then(|start| usize::try_from(start).ok()) else {
        return Value::Null;
    };
    let Some(skipped) = start.checked_sub(1) else {
        return 0.into();
    };
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let Some(from) = places.nth(skipped) else {
        return 0.into();
    };
    let found = text.get(from..).and_then(|rest| rest.find(wanted.as_str()));
    let before = found.and_then(|at| text.get(..from + at));
    before.map_or(0, |before| before.chars().count() + 1).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::functions::answer;

    #[test]
    fn texts_are_what_opensearchs_documentation_says() {
        answer([
            ("ascii", json!(["hello"]), json!(104)),
            ("left", json!(["helloworld", 5]), json!("hello")),
            ("left", json!(["hello", 0]), json!("")),
            ("right", json!(["helloworld", 5]), json!("world")),
            ("locate", json!(["world", "helloworld"]), json!(6)),
            ("locate", json!(["l", "hellö lö", 5]), json!(7)),
            ("locate", json!(["x", "hello"]), json!(0)),
            ("locate", json!(["x", null]), json!(null)),
            ("strcmp", json!(["hello", "world"]), json!(-1)),
            ("strcmp", json!(["a", "a"]), json!(0)),
            ("cidrmatch", json!(["10.1.2.3", "10.0.0.0/8"]), json!(true)),
            ("cidrmatch", json!(["11.1.2.3", "10.0.0.0/8"]), json!(false)),
            ("cidrmatch", json!(["::1", "::/0"]), json!(true)),
            ("cidrmatch", json!(["::1", "10.0.0.0/8"]), json!(null)),
            ("isempty", json!([""]), json!(true)),
            ("isempty", json!([" "]), json!(false)),
            ("isblank", json!([" "]), json!(true)),
            ("isblank", json!([null]), json!(true)),
        ]);
    }
}
