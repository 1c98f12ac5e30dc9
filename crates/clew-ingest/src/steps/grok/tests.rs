use super::*;

fn run(config: Value, line: &str) -> Result<Value, Failure> {
    let mut config = config.as_object().unwrap().clone();
    config.insert("field".to_string(), "message".into());
    let step = Grok::parse(&mut config, &MachineRoom::new()).unwrap();
    let mut document = Document::new("i", json!({ "message": line }), 0);
    step.apply(&mut document)?;
    document.source.as_object_mut().unwrap().remove("message");
    Ok(document.source)
}

#[test]
fn captures_become_fields_of_their_types() {
    let found = run(
        json!({"patterns": ["%{IP:client.ip} %{WORD:method} %{NUMBER:took:float} %{INT:bytes:int}"]}),
        "10.0.0.1 GET 0.5 42",
    );
    let expected = json!({"client": {"ip": "10.0.0.1"}, "method": "GET", "took": 0.5, "bytes": 42});
    assert_eq!(found.unwrap(), expected);
}

/// As Ruby has it: words of escapes are ASCII, borders of words and classes in brackets are of any script.
#[test]
fn other_scripts_are_words_in_brackets_only() {
    let words = json!({"patterns": ["%{WORD:first} %{GREEDYDATA:rest}"]});
    for (line, first) in [("東京 dog jumps", "dog"), ("café a range", "a")] {
        assert_eq!(run(words.clone(), line).unwrap()["first"], json!(first));
    }
    let letters = json!({"patterns": ["(?<first>[[:alpha:]]+) \\d"]});
    assert_eq!(
        run(letters.clone(), "東京 5").unwrap()["first"],
        json!("東京")
    );
    assert!(run(letters, "東京 ٣").is_err());
}

#[test]
fn the_first_expression_that_matches_counts() {
    let patterns = json!({
        "patterns": ["^%{INT:n:int}$", "%{PET:pet} (?<verb>\\w+)", "%{GREEDYDATA:rest}"],
        "pattern_definitions": {"PET": "cat|dog"},
    });
    assert_eq!(run(patterns.clone(), "12").unwrap(), json!({"n": 12}));
    let expected = json!({"pet": "dog", "verb": "barks"});
    assert_eq!(run(patterns.clone(), "a dog barks").unwrap(), expected);
    assert_eq!(run(patterns, "x").unwrap(), json!({"rest": "x"}));
}

#[test]
fn captures_may_be_for_what_goes_with_an_event() {
    let found = run(
        json!({
            "patterns": ["%{INT:[@metadata][n]:int} [@x]+ %{PET}"],
            "pattern_definitions": {"PET": "%{WORD:@metadata.pet}"},
        }),
        "12 @x dog",
    );
    let expected = json!({"@metadata": {"n": 12, "pet": "dog"}});
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn groups_have_the_names_of_fields() {
    let found = run(
        json!({
            "patterns": ["(?<a.b>\\d+) (?<[c][d]>\\w+) %{PET}", "(?:(?<n>\\d+)x|(?<n>[a-z]+)y)$"],
            "pattern_definitions": {"PET": "(?<pet-name>\\w+)(?<![0-9])"},
        }),
        "12 x dog",
    );
    let expected = json!({"a": {"b": "12"}, "c": {"d": "x"}, "pet-name": "dog"});
    assert_eq!(found.unwrap(), expected);
    let either = json!({"patterns": ["(?:(?<n>\\d+)x|(?<n>[a-z]+)y)"]});
    assert_eq!(run(either.clone(), "12x").unwrap(), json!({"n": "12"}));
    assert_eq!(run(either, "aby").unwrap(), json!({"n": "ab"}));
    let again = json!({"patterns": ["(?<a>\\w)\\k<a>"]});
    assert_eq!(run(again, "xyy").unwrap(), json!({"a": "y"}));
}

#[test]
fn patterns_are_opensearchs_where_it_has_others_than_the_crate() {
    for (name, line, expected) in [
        (
            "CISCO_TAGGED_SYSLOG",
            "<191>Jan 24 11:28:30: %LINK-5-UPDOWN: up",
            json!({"syslog_pri": "191", "timestamp": "Jan 24 11:28:30", "ciscotag": "LINK-5-UPDOWN"}),
        ),
        (
            "SHOREWALL",
            "May 28 17:31:07 gate kernel: Shorewall:net:DROP:IN=eth0 OUT= MAC=00:02:b3:c7:2f:77:38:72:c0:6e:92:9c:08:00 SRC=4.8.3.1 DST=1.1.1.1 LEN=40 TOS=0x00 PREC=0x00 TTL=244 ID=54 PROTO=TCP SPT=1 DPT=2",
            json!({"nf_src_ip": "4.8.3.1", "nf_protocol": "TCP", "nf_in_interface": "eth0"}),
        ),
        ("UNIXPATH:p", "/opt/a b", json!({"p": "/opt/a"})),
        ("UNIXPATH:p", "/opt/Čierný", json!({"p": "/opt/"})),
        ("MONTH:m", "Juli", json!({"m": "Juli"})),
        (
            "HTTPD20_ERRORLOG",
            "[Mon Aug 31 09:30:48 2015] [error] no",
            json!({"errormsg": "no", "loglevel": "error"}),
        ),
    ] {
        let found = run(json!({"patterns": [format!("%{{{name}}}")]}), line).unwrap();
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&found[field], value, "{name}: {found}");
        }
    }
    let one_digit = json!({"patterns": ["%{TIMESTAMP_ISO8601:t}"]});
    assert!(run(one_digit, "2026-01-02T3:04:05").is_err());
    assert_eq!(grok_patterns().len(), 314);
}

#[test]
fn many_columns_of_anything_are_found() {
    let columns = ["%{GREEDYDATA}"; 17].join("\\t") + "\\t%{WORD:last}$";
    let line = ["12345678"; 17].join("\t") + "\tend";
    let found = run(json!({ "patterns": [columns] }), &line);
    assert_eq!(found.unwrap(), json!({"last": "end"}));
}

#[test]
fn expressions_may_be_what_opensearch_takes() {
    for (pattern, line, expected) in [
        ("(?'a.b'x+)y", "xxy", json!({"a": {"b": "xx"}})),
        ("100%%{WORD:w}", "100%abc", json!({"w": "abc"})),
        ("%{WORD:a:text:c}", "x", json!({"a": "x"})),
        ("(?<a>b.?*)c\\Z", "bxc\n", json!({"a": "bx"})),
    ] {
        let found = run(json!({"patterns": [pattern]}), line);
        assert_eq!(found.unwrap(), expected, "{pattern}");
    }
    // What is no reference is a text, which the line does not have.
    for pattern in ["%{WORD:a b}", "%{GREEDYDATA:a\\]"] {
        assert!(
            run(json!({"patterns": [pattern]}), "x").is_err(),
            "{pattern}"
        );
    }
}

#[test]
fn expressions_that_give_up_do_so_together() {
    let slow = |digit: usize| format!("(?:a|aa|aaa)+(?:a|aa|aaa)+{digit}");
    let patterns: Vec<String> = (0..40).map(|number| slow(number % 10)).collect();
    let config = json!({"field": "m", "patterns": patterns});
    let mut config = config.as_object().unwrap().clone();
    let step = Grok::parse(&mut config, &MachineRoom::new()).unwrap();
    let line = format!("0123456789 0123456789{}", "a".repeat(500));
    let mut matching = Matching::default();
    assert_eq!(
        step.first(&line, &mut matching).unwrap_err(),
        TookTooLong,
        "{}",
        matching.machine.spent
    );
    let mut document = Document::new("i", json!({ "m": line }), 0);
    let told = step.apply(&mut document).unwrap_err().reason;
    assert!(
        told.contains("take too many steps on a field value of [521] bytes"),
        "{told}"
    );
    // What went before says nothing of the next line.
    assert!(step.first("aa7", &mut matching).unwrap().is_some());
}

#[test]
fn captures_of_one_name_are_for_one_field() {
    let line =
        "[Mon Aug 31 09:30:48.958285 2015] [core:error] [pid 2] [client 1.2.3.4:5] AH01075: no";
    let found = run(json!({"patterns": ["%{HTTPD_ERRORLOG}"]}), line).unwrap();
    let told = ["client", "loglevel"].map(|name| found[name].clone());
    assert_eq!(told, ["1.2.3.4", "error"], "{found}");
    assert_eq!(found.get("clientip1"), None);
}

#[test]
fn texts_of_several_lines_are_read_as_ruby_reads_them() {
    let first = json!({"patterns": ["^%{WORD:a} %{GREEDYDATA:b}$"]});
    let text = "x one\n  two";
    assert_eq!(run(first, text).unwrap(), json!({"a": "x", "b": "one"}));
    for all in ["(?m)%{WORD:a} %{GREEDYDATA:b}", "%{WORD:a} (?m:(?<b>.*))"] {
        let found = run(json!({"patterns": [all]}), text);
        assert_eq!(
            found.unwrap(),
            json!({"a": "x", "b": "one\n  two"}),
            "{all}"
        );
    }
}

#[test]
fn lines_of_access_logs_come_apart() {
    let line =
        r#"1.2.3.4 - bob [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.0" 200 2326 "-" "curl""#;
    let found = run(json!({"patterns": ["%{COMBINEDAPACHELOG}"]}), line).unwrap();
    assert!(
        found.to_string().contains("10/Oct/2000:13:55:36 -0700"),
        "{found}"
    );
}

#[test]
fn wrong_expressions_and_texts_are_told() {
    let parse = |patterns: Value| {
        let mut config = json!({"field": "f", "patterns": patterns});
        let config = config.as_object_mut().unwrap();
        Grok::parse(config, &MachineRoom::new()).unwrap_err().reason
    };
    for (patterns, reason) in [
        (json!([]), "List of patterns must not be empty"),
        (json!("x"), "property isn't a list"),
        (json!(["%{NOTHING:x}"]), "Invalid regex pattern"),
        (json!(["("]), "Invalid regex pattern"),
    ] {
        let told = parse(patterns);
        assert!(told.contains(reason), "{told}");
    }
    let failure = run(json!({"patterns": ["%{INT:n:int}$"]}), "none").unwrap_err();
    assert!(failure.reason.contains("do not match field value: [none]"));
}

#[test]
fn machines_are_kept_where_there_is_room_and_made_for_a_text_elsewhere() {
    let room = MachineRoom::new();
    let parse = |count: usize| {
        let patterns: Vec<String> = (0..count)
            .map(|one| format!("%{{WORD:w}} {one}$"))
            .collect();
        let config = json!({"field": "m", "patterns": patterns});
        Grok::parse(&mut config.as_object().unwrap().clone(), &room).unwrap()
    };
    let kept = |step: &Grok| {
        let each = step.expressions.iter();
        each.filter(|one| one.machines.is_kept()).count()
    };
    let mut matching = Matching::default();
    let step = parse(2);
    assert!(step.first("1.2.3.4 1", &mut matching).unwrap().is_some());
    assert_eq!(kept(&step), 0, "what is fast needs none");
    // What is no ASCII is asked elsewhere, unless it lacks a part of the expression.
    let numbers: String = (0..20).map(|one| format!(" {one}")).collect();
    let line = format!("é{numbers} 1.2.3.4 1");
    assert!(step.first(&line, &mut matching).unwrap().is_some());
    assert_eq!(kept(&step), 2);
    while room.take(1) {}
    let step = parse(20);
    assert!(step.first(&line, &mut matching).unwrap().is_some());
    assert_eq!(kept(&step), 0);
    let line = format!("é{numbers} 1.2.3.4 no");
    assert_eq!(step.first(&line, &mut matching).unwrap_err(), TookTooLong);
}

#[test]
fn expressions_that_need_machines_of_their_own_have_a_limit_together() {
    // References are what the fast engine does not know.
    let config = json!({"field": "m", "patterns": ["(?<a>%{IP}) \\k<a>"]});
    let room = MachineRoom::new();
    let parse = || Grok::parse(&mut config.as_object().unwrap().clone(), &room);
    let step = parse().unwrap();
    let mut matching = Matching::default();
    assert!(
        step.first("1.2.3.4 1.2.3.4", &mut matching)
            .unwrap()
            .is_some()
    );
    while room.take(1) {}
    let told = parse().unwrap_err().reason;
    assert!(told.contains("may have [524288] bytes together"), "{told}");
}
