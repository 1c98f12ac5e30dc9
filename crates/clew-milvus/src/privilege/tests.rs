//! The table of privileges holds together, and rights cover what they say.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clew_access::{AccessControl, Credentials, Initial};
use clew_platform::{FixedClock, SimDisk};

use super::*;

/// Somebody whose one role has these rights.
fn somebody(rights: &[Right]) -> Principal {
    let (disk, clock) = (SimDisk::new(), FixedClock::at(Duration::ZERO));
    let initial = Initial {
        root_password: "Milvus".to_string(),
        public: public_rights(),
    };
    let (disk, clock) = (Arc::new(disk), Arc::new(clock));
    let access = AccessControl::open(disk, clock, Path::new("/access.json"), &initial).unwrap();
    access.create_user("alice", "secret", "").unwrap();
    access
        .change(|records| {
            records.create_group("writers")?;
            records.add_to_group("writers", "Insert")?;
            records.create_role("role", "")?;
            for right in rights {
                records.grant("role", right.clone(), "root")?;
            }
            records.add_to_role("alice", "role")
        })
        .unwrap();
    access
        .authenticate(&Credentials::new("alice", "secret"))
        .unwrap()
}

fn may_named(who: &Principal, privilege: &str, place: (&str, &str)) -> bool {
    may(who, Privilege::named(privilege).unwrap(), place)
}

#[test]
fn names_are_given_once_and_no_group_has_the_name_of_a_privilege() {
    let names: BTreeSet<&str> = PRIVILEGES.iter().map(|one| one.name).collect();
    assert_eq!(names.len(), PRIVILEGES.len());
    let groups: Vec<_> = built_in_groups().collect();
    assert_eq!(groups.len(), 9);
    for (name, members) in &groups {
        assert!(built_in(name).is_some() && Privilege::named(name).is_none());
        assert!(!members.is_empty());
    }
    // Every privilege is in the greatest group of its level, and in those of no other.
    for privilege in PRIVILEGES {
        let has = |(_, members): &&(String, Vec<&str>)| members.contains(&privilege.name);
        let within: Vec<&String> = groups.iter().filter(has).map(|(name, _)| name).collect();
        let admin = format!("{}Admin", privilege.level.name());
        assert!(within.contains(&&admin));
        assert!(
            within
                .iter()
                .all(|name| name.starts_with(privilege.level.name()))
        );
    }
}

#[test]
fn a_right_covers_its_own_privilege_on_its_own_object() {
    let who = somebody(&[Right::new("Collection", ("default", "docs"), "Search")]);
    assert!(may_named(&who, "Search", ("default", "docs")));
    assert!(!may_named(&who, "Search", ("default", "others")));
    assert!(!may_named(&who, "Search", ("other", "docs")));
    assert!(!may_named(&who, "Search", ("default", ANY)));
    assert!(!may_named(&who, "Query", ("default", "docs")));
    // Everybody's rights hold everywhere.
    assert!(may_named(&who, "DescribeCollection", ("other", "x")));
    assert!(!may_named(&who, "GetLoadState", ("default", "docs")));
    assert!(sees(&who, ("default", "docs")) && !sees(&who, ("default", "others")));
    assert!(sees_database(&who, "default") && !sees_database(&who, "other"));
}

#[test]
fn stars_groups_and_everything_cover_what_they_say() {
    let any = somebody(&[Right::new("Collection", (ANY, ANY), ANY)]);
    assert!(
        may_named(&any, "Search", ("d", "c")) && !may_named(&any, "DropCollection", ("d", "c"))
    );

    let all = somebody(&[Right::new("Global", ("d", ANY), "All")]);
    for privilege in PRIVILEGES {
        assert!(may(&all, privilege, ("d", "c")) && may(&all, privilege, ("d", ANY)));
        let elsewhere = may(&all, privilege, ("e", "c"));
        let public = public_rights()
            .iter()
            .any(|right| right.privilege == privilege.name);
        assert_eq!(elsewhere, public, "{}", privilege.name);
    }

    let group = somebody(&[Right::new("Global", ("d", "c"), "CollectionReadOnly")]);
    assert!(may_named(&group, "Query", ("d", "c")) && !may_named(&group, "Insert", ("d", "c")));
    assert!(
        !may_named(&group, "Query", ("d", "x")) && !may_named(&group, "DropCollection", ("d", "c"))
    );
    assert!(sees(&group, ("d", "c")) && !sees(&group, ("d", "x")));

    let own = somebody(&[Right::new("Global", ("d", "c"), "writers")]);
    assert!(may_named(&own, "Insert", ("d", "c")) && !may_named(&own, "Delete", ("d", "c")));

    let load = somebody(&[Right::new("Collection", ("d", "c"), "Load")]);
    assert!(may_named(&load, "GetLoadState", ("d", "c")));

    let cluster = somebody(&[Right::new("Global", (ANY, ANY), "ClusterAdmin")]);
    assert!(
        may_named(&cluster, "CreateOwnership", ("d", ANY))
            && !may_named(&cluster, "Search", ("d", "c"))
    );
    assert!(!sees(&cluster, ("d", "c")));
    let database = somebody(&[Right::new("Global", ("d", ANY), "DatabaseReadOnly")]);
    assert!(sees(&database, ("d", "c")) && !may_named(&database, "Search", ("d", "c")));
}
