//! `/var/log/dpkg.log`: what the package manager did to each package, one step a line.

use super::stamp::iso;
use super::token::{present, word};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso(line)?;
    let (action, rest) = word(rest.strip_prefix(' ')?)?;
    match action {
        // `startup archives unpack`, `startup packages configure`
        "startup" => {
            let (what, rest) = word(rest)?;
            let (step, rest) = word(rest)?;
            ends(rest)?;
            record.event.text("action", action);
            record.fields.object("dpkg", |o| {
                o.text("startup", what);
                o.text("step", step);
            });
        }
        // `status STATE PACKAGE VERSION`
        "status" => {
            let (state, rest) = word(rest)?;
            let (package, rest) = word(rest)?;
            let (version, rest) = word(rest)?;
            ends(rest)?;
            record.event.text("action", action);
            write_package(record, package, version, "");
            record.fields.object("dpkg", |o| o.text("status", state));
        }
        // `conffile FILE install|keep`
        "conffile" => {
            let (path, rest) = word(rest)?;
            let (decision, rest) = word(rest)?;
            ends(rest)?;
            record.event.text("action", action);
            record.fields.object("file", |o| o.text("path", path));
            record
                .fields
                .object("dpkg", |o| o.text("decision", decision));
        }
        // `ACTION PACKAGE OLD NEW`; `<none>` stands for a version that is not there
        "install" | "upgrade" | "configure" | "trigproc" | "remove" | "purge" | "disappear" => {
            let (package, rest) = word(rest)?;
            let (old, rest) = word(rest)?;
            let (new, rest) = word(rest)?;
            ends(rest)?;
            record.event.text("action", action);
            match version(new) {
                "" => write_package(record, package, version(old), ""),
                new if action == "install" || action == "upgrade" => {
                    write_package(record, package, new, version(old));
                }
                new => write_package(record, package, new, ""),
            }
        }
        _ => return None,
    }
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    Some(())
}

fn ends(rest: &str) -> Option<()> {
    rest.is_empty().then_some(())
}

fn version(text: &str) -> &str {
    if text == "<none>" {
        ""
    } else {
        present(text).unwrap_or("")
    }
}

fn write_package(record: &mut Record, package: &str, version: &str, previous: &str) {
    let (name, architecture) = package.rsplit_once(':').unwrap_or((package, ""));
    record.fields.object("package", |o| {
        o.text("name", name);
        o.text("architecture", architecture);
        o.text("version", version);
        o.text("previous_version", previous);
    });
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(line: &str, expected: Option<&str>) {
        testing::check(ParserName::Dpkg, line, expected);
    }

    #[test]
    fn every_kind_of_line() {
        check(
            "2025-06-24 14:36:25 startup archives unpack",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"startup"},"dpkg":{"startup":"archives","step":"unpack"}}"#,
            ),
        );
        check(
            "2025-06-24 14:36:25 upgrade libsystemd0:amd64 252.36-1~deb12u1 252.38-1~deb12u1",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"upgrade"},"package":{"name":"libsystemd0","architecture":"amd64","version":"252.38-1~deb12u1","previous_version":"252.36-1~deb12u1"}}"#,
            ),
        );
        check(
            "2025-06-24 14:36:25 install curl:amd64 <none> 7.88.1-10",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"install"},"package":{"name":"curl","architecture":"amd64","version":"7.88.1-10"}}"#,
            ),
        );
        check(
            "2025-06-24 14:36:25 remove curl:amd64 7.88.1-10 <none>",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"remove"},"package":{"name":"curl","architecture":"amd64","version":"7.88.1-10"}}"#,
            ),
        );
        check(
            "2025-06-24 14:36:25 status half-configured tzdata:all 2025b",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"status"},"package":{"name":"tzdata","architecture":"all","version":"2025b"},"dpkg":{"status":"half-configured"}}"#,
            ),
        );
        check(
            "2025-06-24 14:36:25 trigproc libc-bin:amd64 2.36-9 <none>",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"trigproc"},"package":{"name":"libc-bin","architecture":"amd64","version":"2.36-9"}}"#,
            ),
        );
        check(
            "2025-06-24 14:36:25 conffile /etc/a.conf keep",
            Some(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":"conffile"},"file":{"path":"/etc/a.conf"},"dpkg":{"decision":"keep"}}"#,
            ),
        );
    }

    #[test]
    fn other_lines_are_refused() {
        check("2025-06-24 14:36:25 connected to database ok now", None);
        check(
            "2025-06-24 14:36:25 install curl:amd64 <none> 7.88 extra",
            None,
        );
        check("2025-06-24 14:36:25 install curl:amd64", None);
        check("install curl:amd64 <none> 7.88", None);
        check("", None);
    }
}
