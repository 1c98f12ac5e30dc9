use super::*;

#[test]
fn every_wrong_parameter_is_said_to_be_one_and_once() {
    for (error, want) in [
        (
            MilvusError::invalid("ef is wrong"),
            "ef is wrong: invalid parameter",
        ),
        (
            MilvusError::expected("a", "b"),
            "invalid parameter[expected=a][actual=b]",
        ),
        (
            MilvusError::mismatch("no", 1, 2),
            "no: invalid parameter[expected=1][actual=2]",
        ),
        (
            MilvusError::invalid("no: invalid parameter, at line 1:0"),
            "no: invalid parameter, at line 1:0",
        ),
    ] {
        assert_eq!(error.to_string(), want);
        assert_eq!(error.code(), 1100);
    }
    for (said, want) in [
        ("no name", "no name: missing parameter"),
        (
            "missing parameter[missing_param=a]",
            "missing parameter[missing_param=a]",
        ),
    ] {
        let error = MilvusError::missing(said);
        assert_eq!((error.code(), error.to_string()), (1101, want.to_string()));
    }
}

#[test]
fn clients_are_told_whether_the_call_is_wrong_or_may_be_tried_again() {
    let missing = MilvusError::NoCollection("c".to_string());
    for (error, of_input, retriable) in [
        (missing, true, false),
        (MilvusError::invalid("no"), true, false),
        (MilvusError::Denied("no".to_string()), false, false),
        (
            MilvusError::PartitionNotFound("p".to_string()),
            false,
            false,
        ),
        (MilvusError::RateLimit("no".to_string()), false, true),
        (MilvusError::TooFewNodes(2), false, true),
        (MilvusError::Internal("no".to_string()), false, false),
    ] {
        let status = Status::from(error);
        let told = status.extra_info.get("is_input_error");
        assert_eq!(
            told.is_some_and(|told| told == "true"),
            of_input,
            "{status:?}"
        );
        assert_eq!(status.retriable, retriable, "{status:?}");
    }
}

#[test]
fn what_the_disk_said_is_told() {
    let path = || std::path::PathBuf::from("/data/access.json");
    let source = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    let engine = EngineError::Io {
        action: "write",
        path: path(),
        source: source(),
    };
    let access = AccessError::Io {
        action: "write",
        path: path(),
        source: source(),
    };
    let want = "internal error: cannot write /data/access.json: permission denied";
    for error in [MilvusError::from(engine), MilvusError::from(access)] {
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn what_is_wrong_with_users_and_roles_is_a_wrong_parameter() {
    let named = |what| AccessError::Exists {
        what,
        name: "bob".into(),
    };
    for what in ["user", "role", "privilege group"] {
        let error = MilvusError::from(named(what));
        assert_eq!(error.code(), 1100, "{what}");
        assert!(error.to_string().ends_with(": invalid parameter"), "{what}");
    }
}
