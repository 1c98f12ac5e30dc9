//! Who may send.

use super::*;

#[test]
fn who_may_send_is_said_in_the_file_or_in_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let check = |list: &str, expected: Result<(), &str>| {
        let input = format!("{{type: http, listen: '127.0.0.1:0', authentication: [{list}]}}");
        let text = format!("inputs:\n  - {input}\noutputs:\n  - type: stdout\n");
        let read = parse(&text).and_then(|mut config| {
            config.read_files(&clew_platform::RealDisk)?;
            Ok(config)
        });
        match (read, expected) {
            (Ok(config), Ok(())) => drop(config.options(Mode::Once).unwrap()),
            (Err(error), Err(expected)) => {
                let error = error
                    .to_string()
                    .replace(&format!("{}/", folder.path().display()), "");
                let place = "c.yaml, line 2: [inputs[0].authentication[0]";
                assert!(error.starts_with(&format!("{place}{expected}")), "{error}");
            }
            (read, expected) => panic!("{list}: {read:?}, not {expected:?}"),
        }
    };
    check(
        "{user: u, password: p}, {token: t}, {api_key: 'id:key'}",
        Ok(()),
    );
    check("{token: '${LINES}'}", Ok(()));
    check(
        &format!("{{token_file: {}}}", file("t", "secret\n")),
        Ok(()),
    );
    check(
        &format!("{{token_file: {}}}", file("e", "\n")),
        Err("] e: is empty"),
    );
    check("{token_file: /nowhere}", Err("] /nowhere: No such file"));
    check(
        "{tokn: t}",
        Err(".tokn] is no known key, did you mean [token]?"),
    );
    check("{token: [1]}", Err(".token] a text, or a whole number"));
    check("{token: ''}", Err("] has an empty secret"));
    check("{}", Err("] takes exactly one of "));
    check("{token: t, api_key: k}", Err("] takes exactly one of "));
    check("{password: p}", Err("] lacks the [user]"));
    check(
        "{user: u, token: t}",
        Err("] has a [user], which goes with a password"),
    );
    check(
        "{user: 'a:b', password: p}",
        Err("] has a [user] with a colon"),
    );
}
