//! Filebeat's `ssl` of inputs and outputs.

use serde_json::{Map, Value};

use crate::config::import::Notes;
use crate::config::import::keys::Keys;

/// Takes `ssl` under its name there, as `tls` has it; nothing if it is off or not there. Of its keys these are carried over,
/// each with the name that it has here.
fn tls(
    keys: &mut Keys,
    place: &str,
    known: &[(&str, &str)],
    notes: &mut Notes<'_>,
) -> Option<Value> {
    let mut ssl = keys.take_keys(place)?;
    let is_off = ssl.take_flag("enabled") == Some(false);
    let mut tls = Map::new();
    for (theirs, ours) in known {
        let value = ssl.take(theirs);
        tls.extend(value.map(|value| ((*ours).to_owned(), value)));
    }
    if is_off {
        return None;
    }
    ssl.tell_rest(notes);
    Some(Value::Object(tls))
}

/// That of an input.
pub(super) fn of_input(keys: &mut Keys, place: &str, notes: &mut Notes<'_>) -> Option<Value> {
    let known = [
        ("certificate", "certificate"),
        ("key", "key"),
        ("certificate_authorities", "client_ca"),
        ("client_authentication", "client_authentication"),
    ];
    tls(keys, place, &known, notes)
}

/// That of an output.
pub(in crate::config::import) fn of_output(
    keys: &mut Keys,
    notes: &mut Notes<'_>,
) -> Option<Value> {
    let known = [
        ("certificate_authorities", "ca"),
        ("certificate", "certificate"),
        ("key", "key"),
        ("verification_mode", "verification"),
    ];
    let mut tls = tls(keys, "ssl", &known, notes)?;
    // Theirs differs from full in what it makes of certificates that have no names of the newer kind.
    if tls["verification"] == "strict" {
        tls["verification"] = "full".into();
    }
    // Who verifies nothing has no use for authorities, which are refused here.
    if tls["verification"] == "none"
        && let Some(members) = tls.as_object_mut()
    {
        members.shift_remove("ca");
    }
    Some(tls)
}
