//! Where the limits of a process' control groups stand (`cgroups(7)`, `proc(5)`). A group may lie deep inside
//! others, under either version's hierarchy, and only a part of that may be mounted, as in a container.

use std::path::{Component, Path, PathBuf};

/// The files that may limit the memory of a process, by its `/proc/self/cgroup` and
/// `/proc/self/mountinfo`: those of its group, and of every group around that one that can be seen.
pub(super) fn limit_files(groups: &str, mounts: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for mount in mounts.lines().filter_map(Mount::parse) {
        for group in groups.lines().filter_map(|line| mount.group(line)) {
            let inside = mount.inside(group);
            for ancestor in inside.ancestors() {
                let folder = mount.point.join(ancestor);
                files.extend(mount.names().iter().map(|name| folder.join(name)));
            }
        }
    }
    files
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// One hierarchy for each controller.
    One,
    /// One hierarchy for all.
    Two,
}

/// A mounted hierarchy that limits memory.
struct Mount {
    version: Version,
    /// The group that stands at `point`.
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// Reads a line such as `35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`; any number
    /// of fields may stand before the dash.
    fn parse(line: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (unescaped(place.next()?), unescaped(place.next()?));
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup2" => Version::Two,
            "cgroup" if has_memory(kind.nth(1)?) => Version::One,
            _ => return None,
        };
        Some(Mount {
            version,
            root,
            point,
        })
    }

    /// The path of the group that a line such as `4:memory:/pod` or `0::/pod` names, if it is one of this
    /// hierarchy.
    fn group<'a>(&self, line: &'a str) -> Option<&'a Path> {
        let (number, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_ours = match self.version {
            Version::One => has_memory(controllers),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        is_ours.then_some(Path::new(path))
    }

    /// Where a group lies below the mount; nowhere below, if it lies outside of what is mounted.
    fn inside<'a>(&self, group: &'a Path) -> &'a Path {
        let below = group.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let plain = |part| matches!(part, Component::Normal(_));
        if below.components().all(plain) {
            below
        } else {
            Path::new("")
        }
    }

    /// Files that hold limits. A process above `memory.high` is slowed down until nothing works.
    fn names(&self) -> &'static [&'static str] {
        match self.version {
            Version::One => &["memory.limit_in_bytes"],
            Version::Two => &["memory.max", "memory.high"],
        }
    }
}

fn has_memory(list: &str) -> bool {
    list.split(',').any(|name| name == "memory")
}

/// Spaces and the like stand as octal numbers in a table of mounts (`\040`).
fn unescaped(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let code = part.get(..3).map(|digits| u8::from_str_radix(digits, 8));
        match code {
            Some(Ok(byte)) => {
                plain.push(char::from(byte));
                plain.push_str(&part[3..]);
            }
            _ => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    PathBuf::from(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(groups: &str, mounts: &str, expected: &[&str]) {
        let files = limit_files(groups, mounts);
        let shown: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
        assert_eq!(shown, expected, "{groups}");
    }

    #[test]
    fn a_nested_group_counts_with_all_around_it() {
        check(
            "4:memory:/a/b\n0::/\n",
            "35 31 0:32 / /cg/memory rw,relatime - cgroup cgroup rw,memory\n\
             36 31 0:33 / /cg/devices rw - cgroup cgroup rw,devices\n",
            &[
                "/cg/memory/a/b/memory.limit_in_bytes",
                "/cg/memory/a/memory.limit_in_bytes",
                "/cg/memory/memory.limit_in_bytes",
            ],
        );
        check(
            "0::/a\n",
            "30 24 0:26 / /cg rw shared:4 - cgroup2 none rw\n",
            &[
                "/cg/a/memory.max",
                "/cg/a/memory.high",
                "/cg/memory.max",
                "/cg/memory.high",
            ],
        );
    }

    #[test]
    fn a_container_may_see_its_own_group_only() {
        // Without a namespace of its own: the paths are those of the host.
        check(
            "0::/docker/abc\n",
            "30 24 0:26 /docker/abc /cg ro - cgroup2 cgroup rw\n",
            &["/cg/memory.max", "/cg/memory.high"],
        );
        // In a namespace: the group is the root; one outside of it is shown by steps upwards.
        for group in ["0::/\n", "0::/../other\n"] {
            check(
                group,
                "30 24 0:26 / /cg ro - cgroup2 cgroup rw\n",
                &["/cg/memory.max", "/cg/memory.high"],
            );
        }
    }

    #[test]
    fn both_versions_may_be_mounted_and_names_may_hold_spaces() {
        check(
            "4:cpu,memory:/x\n0::/\n",
            "35 31 0:32 / /a\\040b rw - cgroup cgroup rw,cpu,memory\n\
             41 31 0:38 / /u rw - cgroup2 cgroup2 rw\n",
            &[
                "/a b/x/memory.limit_in_bytes",
                "/a b/memory.limit_in_bytes",
                "/u/memory.max",
                "/u/memory.high",
            ],
        );
    }

    #[test]
    fn lines_that_are_none_are_passed_over() {
        check("", "", &[]);
        check("x\n4:memory\n", "a b\n - \n1 2 3 / /m rw - cgroup\n", &[]);
    }
}
