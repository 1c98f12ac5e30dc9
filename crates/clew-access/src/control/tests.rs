//! The door as a whole, on a disk that fails and loses power; and changes held against a plain model of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clew_platform::{FixedClock, SimDisk};
use proptest::prelude::*;

use super::*;
use crate::record::{ADMIN, DropRole, PUBLIC};

const PATH: &str = "/access.json";

fn initial() -> Initial {
    Initial {
        root_password: "Milvus".to_string(),
        public: vec![Right::new("Global", ("*", "*"), "Describe")],
    }
}

fn open_at(disk: &SimDisk, clock: &Arc<FixedClock>) -> Result<AccessControl, AccessError> {
    let disk = Arc::new(disk.clone());
    AccessControl::open(disk, clock.clone(), Path::new(PATH), &initial())
}

fn open(disk: &SimDisk) -> AccessControl {
    open_at(disk, &Arc::new(FixedClock::at(Duration::ZERO))).unwrap()
}

fn says(user: &str, password: &str) -> Credentials {
    Credentials::new(user, password)
}

#[test]
fn the_first_user_is_let_in_and_everything_is_kept() {
    let disk = SimDisk::new();
    let access = open(&disk);
    let root = access.authenticate(&says("root", "Milvus")).unwrap();
    assert!(root.may_everything() && access.is_root_password("Milvus"));
    access.create_user("alice", "secret", "a user").unwrap();
    access
        .change(|records| {
            records.create_role("reader", "")?;
            records.grant(
                "reader",
                Right::new("Collection", ("d", "c"), "Search"),
                "root",
            )?;
            records.create_group("words")?;
            records.add_to_group("words", "Query")?;
            records.add_to_role("alice", "reader")
        })
        .unwrap();
    let kept = access.records();
    // Whatever a power cut leaves, all that was acknowledged is there.
    for seed in 0..20 {
        let again = open(&disk.crashed(seed));
        assert_eq!(*again.records(), *kept);
        let alice = again.authenticate(&says("alice", "secret")).unwrap();
        let rights: Vec<&str> = alice.rights().map(|right| &*right.privilege).collect();
        assert_eq!(rights, ["Search", "Describe"]);
        assert_eq!(alice.own_rights().count(), 1);
        assert!(!alice.may_everything());
    }
}

#[test]
fn wrong_users_and_wrong_passwords_look_the_same() {
    let access = open(&SimDisk::new());
    let long = "x".repeat(PASSWORD_BYTES_MAX + 1);
    for (user, password) in [
        ("root", "milvus"),
        ("root", ""),
        ("root", long.as_str()),
        ("nobody", "Milvus"),
        ("", "Milvus"),
    ] {
        let refused = access.authenticate(&says(user, password)).unwrap_err();
        assert_eq!(refused, Refused::Wrong, "{user}");
    }
}

#[test]
fn who_was_let_in_is_remembered_until_the_password_or_the_user_goes() {
    let access = open(&SimDisk::new());
    access.create_user("alice", "secret", "").unwrap();
    let (old, new) = (says("alice", "secret"), says("alice", "another"));
    assert!(access.remembered(&old).is_none());
    access.authenticate(&old).unwrap();
    assert!(access.remembered(&old).is_some());
    assert!(access.remembered(&says("alice", "secreT")).is_none());
    assert!(access.remembered(&says("root", "secret")).is_none());
    // Other changes leave it.
    access
        .change(|records| records.create_role("r", ""))
        .unwrap();
    assert!(access.remembered(&old).is_some());

    let wrong = access.change_password("alice", ("secreT", "another"));
    assert!(matches!(wrong, Err(AccessError::Refused(Refused::Wrong))));
    let unknown = access.change_password("nobody", ("secret", "another"));
    assert!(matches!(unknown, Err(AccessError::Refused(Refused::Wrong))));
    access
        .change_password("alice", ("secret", "another"))
        .unwrap();
    assert!(access.remembered(&old).is_none());
    assert_eq!(access.authenticate(&old).unwrap_err(), Refused::Wrong);
    access.authenticate(&new).unwrap();

    access
        .change(|records| records.delete_user("alice"))
        .unwrap();
    assert!(access.remembered(&new).is_none());
    assert_eq!(access.authenticate(&new).unwrap_err(), Refused::Wrong);
    // One of the same name is another one.
    access.create_user("alice", "different", "").unwrap();
    assert!(access.remembered(&new).is_none());
}

#[test]
fn guesses_run_out_and_lock_nobody_out_who_is_remembered() {
    let clock = Arc::new(FixedClock::at(Duration::ZERO));
    let access = open_at(&SimDisk::new(), &clock).unwrap();
    access.create_user("alice", "secret", "").unwrap();
    access.authenticate(&says("alice", "secret")).unwrap();
    let guess = || access.authenticate(&says("alice", "a guess")).unwrap_err();
    let mut wrong = 0;
    while guess() == Refused::Wrong {
        wrong += 1;
    }
    assert_eq!(wrong, 20);
    assert!(matches!(guess(), Refused::TooManyAttempts { .. }));
    access.authenticate(&says("alice", "secret")).unwrap();
    access.authenticate(&says("root", "Milvus")).unwrap();
    clock.advance(Duration::from_secs(1));
    assert_eq!(guess(), Refused::Wrong);
    assert!(matches!(guess(), Refused::TooManyAttempts { .. }));
}

#[test]
fn a_damaged_file_is_an_error_that_names_it_and_lets_nobody_in() {
    let (disk, path) = (SimDisk::new(), Path::new(PATH));
    let access = open(&disk);
    // Nothing is written before something is changed.
    assert!(!disk.exists(path));
    AccessControl::verify(&disk, path).unwrap();
    access
        .change(|records| records.create_role("reader", ""))
        .unwrap();
    let whole = disk.read(path).unwrap();
    let refused = |bytes: &[u8]| {
        disk.write_atomic(path, bytes).unwrap();
        let error = open_at(&disk, &Arc::new(FixedClock::at(Duration::ZERO))).unwrap_err();
        let is_corrupt = matches!(error, AccessError::Corrupt { .. });
        assert!(is_corrupt && error.to_string().contains(PATH), "{error}");
        assert!(AccessControl::verify(&disk, path).is_err());
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        refused(&bytes);
    }
    for length in [0, 1, 9, whole.len() - 1] {
        refused(&whole[..length]);
    }
    // Whole, and yet nothing to let anybody in by.
    let said = |json: &str| format!("{:08x}\n{json}", crc32c::crc32c(json.as_bytes()));
    let json = std::str::from_utf8(&whole[9..]).unwrap();
    for (good, bad) in [
        ("\"format\":1", "\"format\":2"),
        ("\"root\":", "\"boot\":"),
        ("m=12288", "m=99999999"),
        ("$argon2id$", "$none$"),
        ("\"public\":", "\"republic\":"),
        ("[\"admin\"]", "[\"lost\"]"),
        ("\"groups\":{}", "\"groups\":{},\"more\":1"),
    ] {
        assert!(json.contains(good), "{good}");
        refused(said(&json.replacen(good, bad, 1)).as_bytes());
    }
    disk.write_atomic(path, &whole).unwrap();
    AccessControl::verify(&disk, path).unwrap();
    open(&disk).authenticate(&says("root", "Milvus")).unwrap();
}

#[test]
fn a_change_that_the_disk_refuses_has_not_happened() {
    let disk = SimDisk::new();
    let access = open(&disk);
    let before = access.records();
    disk.set_read_only(true);
    let refused = access.create_user("alice", "secret", "").unwrap_err();
    assert!(matches!(refused, AccessError::Io { .. }), "{refused}");
    assert_eq!(*access.records(), *before);
    assert!(access.authenticate(&says("alice", "secret")).is_err());
    disk.set_read_only(false);
    access.create_user("alice", "secret", "").unwrap();
    assert!(open(&disk).records().user("alice").is_some());
}

#[test]
fn a_change_whose_name_alone_the_disk_does_not_make_durable_is_taken_back() {
    let disk = SimDisk::new();
    let access = open(&disk);
    let create = |name: &str| access.change(|records| records.create_role(name, ""));
    // The first change makes the file, the second finds it there.
    for role in ["first", "second"] {
        let before = access.records();
        disk.fail_folder_sync(1);
        let refused = create(role).unwrap_err();
        assert!(matches!(refused, AccessError::Io { .. }), "{refused}");
        assert_eq!(*access.records(), *before);
        for seed in 0..20 {
            assert!(open(&disk.crashed(seed)).records().role(role).is_none());
        }
        assert!(open(&disk).records().role(role).is_none());
        create(role).unwrap();
        assert!(open(&disk).records().role(role).is_some());
    }
}

#[test]
fn a_change_that_cannot_be_taken_back_either_is_told_so() {
    let disk = SimDisk::new();
    let access = open(&disk);
    let path = Path::new(PATH);
    let mut records = (*access.records()).clone();
    records.create_role("r", "").unwrap();
    file::save(&disk, path, &records).unwrap();
    disk.set_read_only(true);
    let before = access.records();
    for before in [None, Some(&*before)] {
        let refused = file::take_back(&disk, path, before).unwrap_err();
        assert!(
            matches!(refused, AccessError::Undecided { .. }),
            "{refused}"
        );
    }
    // What is as it was needs nothing.
    file::take_back(&disk, path, Some(&records)).unwrap();
}

#[test]
fn names_passwords_and_numbers_have_bounds() {
    let access = open(&SimDisk::new());
    for name in ["", "1a", "a b", "a:b", "é", "_a", &"a".repeat(33)] {
        let refused = access.create_user(name, "secret", "").unwrap_err();
        assert!(matches!(refused, AccessError::Invalid { .. }), "{name}");
    }
    for password in ["", "12345", &"x".repeat(257)] {
        let refused = access.create_user("bob", password, "").unwrap_err();
        assert!(matches!(refused, AccessError::Invalid { .. }));
    }
    assert!(
        access
            .create_user("bob", "secret", &"x".repeat(1_025))
            .is_err()
    );
    let change = |change: &dyn Fn(&mut Records) -> Result<(), AccessError>| access.change(change);
    for name in ["", "1a", "a-b", "a b", &"a".repeat(256)] {
        assert!(change(&|records| records.create_role(name, "")).is_err());
        assert!(change(&|records| records.create_group(name)).is_err());
    }
    let full = change(&|records| {
        records.create_role("r", "")?;
        for number in 0..1_001 {
            let object = format!("c{number}");
            records.grant(
                "r",
                Right::new("Collection", ("d", &object), "Search"),
                "root",
            )?;
        }
        Ok(())
    });
    assert!(matches!(full, Err(AccessError::TooMany { max: 1_000, .. })));
    assert!(access.records().role("r").is_none());
    let empty = Right::new("Collection", ("d", ""), "Search");
    assert!(change(&|records| records.grant(PUBLIC, empty.clone(), "root")).is_err());
}

#[test]
fn what_is_built_in_stays() {
    let access = open(&SimDisk::new());
    let refused = access.change(|records| records.delete_user(ROOT));
    assert!(matches!(refused, Err(AccessError::BuiltIn { .. })));
    for role in [ADMIN, PUBLIC] {
        let refused = access.change(|records| records.drop_role(role, DropRole::Forced));
        assert!(matches!(refused, Err(AccessError::BuiltIn { .. })));
    }
}

/// One change, with names out of a few.
#[derive(Clone, Debug)]
enum Step {
    CreateRole(u8),
    DropRole(u8, bool),
    Bind(u8, u8),
    Unbind(u8, u8),
    Grant(u8, u8),
    Revoke(u8, u8),
    DeleteUser(u8),
}

/// What the steps come to: who has which roles, and which roles have which rights.
#[derive(Default)]
struct Model {
    users: BTreeMap<String, BTreeSet<String>>,
    roles: BTreeMap<String, BTreeSet<u8>>,
}

fn right(number: u8) -> Right {
    Right::new("Collection", ("d", &format!("c{number}")), "Search")
}

impl Model {
    fn take(&mut self, step: &Step) -> bool {
        let user = |number: &u8| format!("u{number}");
        let role = |number: &u8| format!("r{number}");
        match step {
            Step::CreateRole(number) => match self.roles.contains_key(&role(number)) {
                true => false,
                false => self.roles.insert(role(number), BTreeSet::new()).is_none(),
            },
            Step::DropRole(number, forced) => {
                let name = role(number);
                let goes = self
                    .roles
                    .get(&name)
                    .is_some_and(|has| *forced || has.is_empty());
                if goes {
                    self.roles.remove(&name);
                    self.users.values_mut().for_each(|roles| {
                        roles.remove(&name);
                    });
                }
                goes
            }
            Step::Bind(who, what) | Step::Unbind(who, what) => {
                let there = self.roles.contains_key(&role(what));
                let Some(roles) = self.users.get_mut(&user(who)).filter(|_| there) else {
                    return false;
                };
                match step {
                    Step::Bind(..) => roles.insert(role(what)),
                    _ => roles.remove(&role(what)),
                };
                true
            }
            Step::Grant(what, number) | Step::Revoke(what, number) => {
                let Some(rights) = self.roles.get_mut(&role(what)) else {
                    return false;
                };
                match step {
                    Step::Grant(..) => rights.insert(*number),
                    _ => rights.remove(number),
                };
                true
            }
            Step::DeleteUser(who) => {
                self.users.remove(&user(who));
                true
            }
        }
    }

    fn may(&self, user: &str, number: u8) -> bool {
        let roles = self.users.get(user).into_iter().flatten();
        roles
            .into_iter()
            .any(|role| self.roles[role].contains(&number))
    }
}

fn apply(records: &mut Records, step: &Step) -> Result<(), AccessError> {
    let (user, role) = (|n: &u8| format!("u{n}"), |n: &u8| format!("r{n}"));
    match step {
        Step::CreateRole(number) => records.create_role(&role(number), ""),
        Step::DropRole(number, true) => records.drop_role(&role(number), DropRole::Forced),
        Step::DropRole(number, false) => records.drop_role(&role(number), DropRole::IfEmpty),
        Step::Bind(who, what) => records.add_to_role(&user(who), &role(what)),
        Step::Unbind(who, what) => records.remove_from_role(&user(who), &role(what)),
        Step::Grant(what, number) => records.grant(&role(what), right(*number), ROOT),
        Step::Revoke(what, number) => records.revoke(&role(what), &right(*number)),
        Step::DeleteUser(who) => records.delete_user(&user(who)),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let n = || 0..3_u8;
    prop_oneof![
        3 => n().prop_map(Step::CreateRole),
        1 => (n(), any::<bool>()).prop_map(|(role, forced)| Step::DropRole(role, forced)),
        4 => (n(), n()).prop_map(|(user, role)| Step::Bind(user, role)),
        1 => (n(), n()).prop_map(|(user, role)| Step::Unbind(user, role)),
        4 => (n(), n()).prop_map(|(role, right)| Step::Grant(role, right)),
        1 => (n(), n()).prop_map(|(role, right)| Step::Revoke(role, right)),
        1 => n().prop_map(Step::DeleteUser),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn changes_do_what_a_plain_model_of_them_does(steps in proptest::collection::vec(step(), 1..40)) {
        let hash = PasswordHash::build("secret").unwrap();
        let mut records = Records::initial(hash.clone(), &[]).unwrap();
        let mut model = Model::default();
        for number in 0..3 {
            let name = format!("u{number}");
            records.create_user(&name, hash.clone(), "").unwrap();
            model.users.insert(name, BTreeSet::new());
        }
        for step in &steps {
            let before = records.clone();
            let done = apply(&mut records, step).is_ok();
            prop_assert_eq!(done, model.take(step), "{:?}", step);
            prop_assert!(done || records == before);
            records.check().unwrap();
        }
        let disk = SimDisk::new();
        file::save(&disk, Path::new(PATH), &records).unwrap();
        let kept = file::load(&disk, Path::new(PATH)).unwrap();
        prop_assert_eq!(kept.as_ref(), Some(&records));
        let records = Arc::new(records);
        for (user, number) in (0..3_u8).flat_map(|user| (0..3_u8).map(move |number| (user, number))) {
            let name = format!("u{user}");
            let principal = Principal::new(&name, records.clone());
            let may = principal.rights().any(|one| *one == right(number));
            prop_assert_eq!(may, model.may(&name, number));
        }
    }
}
