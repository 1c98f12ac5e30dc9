//! The table of calls, all of it: who has no rights is let through to nothing that takes any, who has one is let through to
//! that and reaches no further, and who is not known is let through to nothing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clew_access::{AccessControl, Credentials, Initial, Right};
use clew_engine::{Engine, EngineOptions, IndexSettings};
use clew_platform::{FixedClock, SimDisk};
use clew_schema::Mapping;

use super::*;
use crate::MilvusOptions;
use crate::privilege::public_rights;
use crate::proto::{
    BatchDescribeCollectionRequest, CollectionRequest, FlushRequest, SelectGrantRequest,
    UpdateCredentialRequest,
};
use crate::service::calls::RULES;

struct Fixture {
    service: Service,
    access: Arc<AccessControl>,
}

fn fixture(login: Login) -> Fixture {
    let (disk, clock) = (
        Arc::new(SimDisk::new()),
        Arc::new(FixedClock::at(Duration::ZERO)),
    );
    let options = EngineOptions::new(Path::new("/data"));
    let engine = Engine::start(options, disk.clone(), clock.clone()).unwrap();
    for name in ["docs", "others", "db.docs"] {
        let plan = (IndexSettings::default(), Mapping::new());
        engine
            .create_index(&Access::everything(), name, plan.0, plan.1)
            .unwrap();
    }
    let initial = Initial {
        root_password: "Milvus".to_string(),
        public: public_rights(),
    };
    let access = AccessControl::open(disk, clock, Path::new("/access.json"), &initial).unwrap();
    let access = Arc::new(access);
    access.create_user("alice", "secret", "").unwrap();
    access
        .change(|records| {
            records.create_role("role", "")?;
            records.add_to_role("alice", "role")
        })
        .unwrap();
    let options = MilvusOptions {
        login,
        ..MilvusOptions::default()
    };
    Fixture {
        service: Service::new(engine, access.clone(), &options),
        access,
    }
}

impl Fixture {
    fn alice(&self) -> Caller {
        let said = Credentials::new("alice", "secret");
        Caller::new("", Some(self.access.authenticate(&said).unwrap()))
    }

    fn grant(&self, privilege: &str, place: (&str, &str)) {
        let kind = Privilege::named(privilege).unwrap().kind.name();
        let right = Right::new(kind, place, privilege);
        self.access
            .change(|records| records.grant("role", right, "root"))
            .unwrap();
    }

    fn admit(&self, rule: Rule, request: &dyn Subject) -> Result<Call> {
        self.service.admit(self.alice(), rule, request)
    }
}

fn docs() -> CollectionRequest {
    CollectionRequest {
        db_name: String::new(),
        collection_name: "docs".to_string(),
    }
}

#[test]
fn every_call_is_refused_without_its_privilege_and_let_through_with_it() {
    let without = fixture(Login::Needed);
    let public: Vec<String> = public_rights()
        .into_iter()
        .map(|right| right.privilege)
        .collect();
    assert!(RULES.len() >= 80);
    for (name, rule) in RULES {
        let open = rule.privilege == ANYBODY || public.iter().any(|one| one == rule.privilege);
        match without.admit(*rule, &docs()) {
            Ok(_) => assert!(open, "{name}"),
            Err(MilvusError::Denied(said)) => {
                let words = format!("Privilege{}: permission deny to alice", rule.privilege);
                assert!(!open && said.starts_with(&words), "{name}: {said}");
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
    let with = fixture(Login::Needed);
    for (_, rule) in RULES.iter().filter(|(_, rule)| rule.privilege != ANYBODY) {
        let object = match Privilege::named(rule.privilege).unwrap().kind {
            Kind::User => ANY,
            Kind::Collection | Kind::Global => "docs",
        };
        with.grant(rule.privilege, ("default", object));
    }
    for (name, rule) in RULES {
        let call = with.admit(*rule, &docs()).unwrap();
        // Others' collections stay closed, whatever the call is; but for whether there are any.
        for (index, purpose) in [
            ("others", Purpose::Read),
            ("others", Purpose::Show),
            ("others", Purpose::Change),
            ("db.docs", Purpose::Read),
            ("db.docs", Purpose::Write),
        ] {
            let whole = rule.reach == Reach::Whole && index == "others";
            let open = whole && [Purpose::Read, Purpose::Show].contains(&purpose);
            assert_eq!(call.access.allows(index, purpose), open, "{name} {index}");
        }
        let reads = matches!(
            rule.reach,
            Reach::Read | Reach::Write | Reach::Change | Reach::Whole
        );
        assert_eq!(call.access.allows("docs", Purpose::Read), reads, "{name}");
        assert_eq!(
            call.access.allows("docs", Purpose::Change),
            rule.reach == Reach::Change
        );
        assert_eq!(call.access.check_node().is_ok(), rule.reach == Reach::Node);
    }
}

#[test]
fn who_is_not_known_is_let_through_to_nothing() {
    let fixture = fixture(Login::Needed);
    for (name, rule) in RULES {
        let refused = fixture.service.admit(Caller::new("", None), *rule, &docs());
        assert!(matches!(refused, Err(MilvusError::NotLetIn(_))), "{name}");
    }
}

#[test]
fn without_logins_everybody_is_let_through_to_everything() {
    let fixture = fixture(Login::NotNeeded);
    for (_, rule) in RULES {
        let call = fixture
            .service
            .admit(Caller::new("", None), *rule, &docs())
            .unwrap();
        assert!(call.access.allows("others", Purpose::Change) && call.access.check_node().is_ok());
    }
}

#[test]
fn several_collections_take_a_right_on_each() {
    let fixture = fixture(Login::Needed);
    fixture.grant("Flush", ("default", "docs"));
    let rule = Rule {
        privilege: "Flush",
        reach: Reach::Write,
    };
    let flush = |names: &[&str]| FlushRequest {
        collection_names: names.iter().map(ToString::to_string).collect(),
        ..FlushRequest::default()
    };
    fixture.admit(rule, &flush(&["docs"])).unwrap();
    assert!(fixture.admit(rule, &flush(&["docs", "others"])).is_err());
    assert!(fixture.admit(rule, &flush(&[])).is_err());
    assert!(fixture.admit(rule, &flush(&["*"])).is_err());
    fixture.grant("Flush", ("default", "*"));
    let call = fixture.admit(rule, &flush(&["*"])).unwrap();
    assert!(!call.access.allows("others", Purpose::Read));
    // By number as well as by name.
    let rule = Rule {
        privilege: "Search",
        reach: Reach::Read,
    };
    let numbered = BatchDescribeCollectionRequest {
        collection_name: vec!["docs".to_string()],
        collection_id: vec![1, 2, 3],
        ..BatchDescribeCollectionRequest::default()
    };
    fixture.grant("Search", ("default", "docs"));
    let call = fixture.admit(rule, &numbered).unwrap();
    assert!(!call.access.allows("others", Purpose::Read));
}

#[test]
fn one_may_look_after_oneself() {
    let fixture = fixture(Login::Needed);
    let rule = |privilege| Rule {
        privilege,
        reach: Reach::Nothing,
    };
    let update = |name: &str| UpdateCredentialRequest {
        username: name.to_string(),
        ..UpdateCredentialRequest::default()
    };
    fixture.admit(rule("UpdateUser"), &update("alice")).unwrap();
    assert!(fixture.admit(rule("UpdateUser"), &update("root")).is_err());
    let grants = |role: &str| SelectGrantRequest {
        entity: Some(crate::proto::GrantEntity {
            role: Some(crate::proto::RoleEntity {
                name: role.to_string(),
                ..crate::proto::RoleEntity::default()
            }),
            ..crate::proto::GrantEntity::default()
        }),
    };
    fixture
        .admit(rule("SelectOwnership"), &grants("role"))
        .unwrap();
    assert!(
        fixture
            .admit(rule("SelectOwnership"), &grants("admin"))
            .is_err()
    );
}
