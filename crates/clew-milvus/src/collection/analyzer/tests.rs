use super::*;

fn words(params: &Value, text: &str) -> Vec<String> {
    let (analysis, name) = analyzer_settings(&params.to_string()).unwrap();
    let analyzer = analysis.analyzer(&name).unwrap();
    let tokens = clew_analysis::tokens(&analyzer, text);
    tokens.into_iter().map(|token| token.text).collect()
}

#[test]
fn patterns_say_which_words_stay_and_synonyms_stand_beside_them() {
    let by = |filter: Value| json!({"tokenizer": "standard", "filter": [filter]});
    for (pattern, want) in [
        ("(", None),
        ("^(?!a)[a-z]", Some(vec!["xyz"])),
        ("^[a-z]+$", Some(vec!["abc", "xyz"])),
        ("(?i)B", Some(vec!["abc", "AB1"])),
        ("(b|1)", Some(vec!["abc", "AB1"])),
    ] {
        let params = by(json!({"type": "regex", "expr": pattern}));
        match want {
            Some(want) => assert_eq!(words(&params, "abc AB1 xyz"), want, "{pattern}"),
            None => assert!(analyzer_settings(&params.to_string()).is_err(), "{pattern}"),
        }
    }
    assert!(analyzer_settings(&by(json!({"type": "regex"})).to_string()).is_err());
    let params = by(json!({"type": "synonym", "synonyms": ["quick, fast"]}));
    assert_eq!(words(&params, "quick fox"), ["quick", "fast", "fox"]);
}

#[test]
fn words_lie_between_delimiters_or_are_cut_in_pieces() {
    let group = |delimiters: Value| json!({"type": "char_group", "delimiters": delimiters});
    for (tokenizer, text, want) in [
        (
            group(json!(["o", "punctuation", "digit"])),
            "testotest,test1test",
            vec!["test"; 4],
        ),
        (
            group(json!(["=", ";", "-"])),
            "key=value;;a-b c",
            vec!["key", "value", "a", "b c"],
        ),
        (
            group(json!(["。", "\n", "]"])),
            "一。二\nx]y",
            vec!["一", "二", "x", "y"],
        ),
        (
            group(json!(["symbol", "whitespace"])),
            "a+b\u{a0}c€d",
            vec!["a", "b", "c", "d"],
        ),
        (group(json!(["letter"])), "1é2a3", vec!["1", "2", "3"]),
        (
            group(json!(["ascii_letter", "ascii_punctuation"])),
            "1é2a3.4。",
            vec!["1é2", "3", "4。"],
        ),
        (
            group(json!(["ascii_whitespace", "ascii_digit"])),
            "a\tb1c\u{a0}d",
            vec!["a", "b", "c\u{a0}d"],
        ),
        (group(json!([])), "a b", vec!["a b"]),
        (
            json!({"type": "ngram", "min_gram": 2, "max_gram": 3}),
            "abcd",
            vec!["ab", "abc", "bc", "bcd", "cd"],
        ),
        (
            json!({"type": "ngram", "min_gram": 1, "max_gram": 2, "prefix_only": true,
                   "token_chars": ["letter", "custom"], "custom_token_chars": "-"}),
            "ab -c",
            vec!["a", "ab", "-", "-c"],
        ),
    ] {
        assert_eq!(
            words(&json!({"tokenizer": tokenizer}), text),
            want,
            "{tokenizer}"
        );
    }
}

#[test]
fn delimiters_and_pieces_that_are_none_are_refused() {
    let group = |delimiters: Value| json!({"type": "char_group", "delimiters": delimiters});
    for (wrong, said) in [
        (json!({"type": "char_group"}), "delimiters can't be empty"),
        (json!("char_group"), "delimiters can't be empty"),
        (group(json!("=")), "must be a vector"),
        (group(json!([1])), "must be string"),
        (
            group(json!(["=="])),
            "== not a char or name of build-in char group",
        ),
        (group(json!([""])), "not a char"),
        (
            json!({"type": "ngram", "min_gram": 2}),
            "requires min_gram and max_gram",
        ),
        (
            json!({"type": "ngram", "min_gram": 0, "max_gram": 2}),
            "greater than 0",
        ),
        (
            json!({"type": "ngram", "min_gram": 3, "max_gram": 2}),
            "not be greater than max_gram",
        ),
        (
            json!({"type": "ngram", "min_gram": 1, "max_gram": 2, "token_chars": ["vowel"]}),
            "vowel",
        ),
    ] {
        let refused = analyzer_settings(&json!({"tokenizer": wrong}).to_string());
        let refused = refused.err().unwrap();
        assert_eq!(refused.code(), 1100, "{wrong}");
        assert!(refused.to_string().contains(said), "{wrong}: {refused}");
    }
}

#[test]
fn words_are_taken_apart_that_are_made_of_others() {
    let by = |filter: Value| json!({"tokenizer": "whitespace", "filter": [filter]});
    let list = ["dampf", "schiff", "fahrt", "brot", "c.d", "schifffahrt"];
    let params = by(json!({"type": "decompounder", "word_list": list}));
    for (text, want) in [
        ("dampfschiff", vec!["dampf", "schiff"]),
        ("dampfschifffahrt", vec!["dampf", "schifffahrt"]),
        ("brotdampf xdampf", vec!["brot", "dampf", "xdampf"]),
        ("dampfx fahrt", vec!["dampfx", "fahrt"]),
        ("c.dbrot cxdbrot", vec!["c.d", "brot", "cxdbrot"]),
    ] {
        assert_eq!(words(&params, text), want, "{text}");
    }
    for wrong in [
        json!({}),
        json!({"word_list": []}),
        json!({"word_list": [1]}),
    ] {
        let mut filter = wrong.clone();
        filter["type"] = json!("decompounder");
        let refused = analyzer_settings(&by(filter).to_string());
        let refused = refused.err().unwrap();
        assert_eq!(refused.code(), 1100, "{wrong}");
    }
}

#[test]
fn parts_that_are_none_are_refused() {
    for wrong in [
        json!({"tokenizer": 123}),
        json!({"tokenizer": null}),
        json!({"tokenizer": []}),
        json!({"tokenizer": {"type": null}}),
        json!({"tokenizer": "Unsupported"}),
        json!({"filter": "lowercase"}),
        json!({"filter": [{"type": null}]}),
        json!({"filter": [{"type": "stop", "stop_words": "the"}]}),
        json!({"filter": [{"type": "stop", "stop_words": [1]}]}),
        json!({"type": "standard", "stop_words": "the"}),
    ] {
        let refused = analyzer_settings(&wrong.to_string());
        assert_eq!(refused.err().unwrap().code(), 1100, "{wrong}");
    }
    let none = json!({"type": "standard", "stop_words": []});
    assert_eq!(words(&none, "the Fox"), ["the", "fox"]);
}

#[test]
fn nothing_said_is_the_usual_analyzer() {
    for (params, want) in [
        (json!({}), ["hello", "there"]),
        (json!({"type": "standard"}), ["hello", "there"]),
        (json!({"tokenizer": "standard"}), ["Hello", "There"]),
    ] {
        assert_eq!(words(&params, "Hello There"), want, "{params}");
        let field = Field {
            params: [("analyzer_params".to_string(), params.to_string())].into(),
            ..Field::named("text", crate::collection::DataType::VarChar)
        };
        assert_eq!(
            name_of(&field).unwrap() == USUAL,
            want == ["hello", "there"]
        );
    }
}

#[test]
fn standard_words_are_runs_of_letters_and_digits_unless_unicodes_are_asked_for() {
    let text = "It's 3.5 中文";
    for (params, want) in [
        (json!({}), vec!["it", "s", "3", "5", "中文"]),
        (json!({"type": "english"}), vec!["s", "3", "5", "中文"]),
        (
            json!({"tokenizer": {"type": "standard", "uax29": false}}),
            vec!["It", "s", "3", "5", "中文"],
        ),
        (
            json!({"tokenizer": {"type": "standard", "uax29": true}}),
            vec!["It's", "3.5", "中", "文"],
        ),
        (
            json!({"tokenizer": {"type": "standard", "uax29": true, "max_token_length": 2}}),
            vec!["It", "'s", "3.", "5", "中", "文"],
        ),
        (
            json!({"tokenizer": "standard", "filter": [{"type": "length", "max": 5}]}),
            vec!["It", "s", "3", "5"],
        ),
    ] {
        assert_eq!(words(&params, text), want, "{params}");
    }
}

#[test]
fn texts_are_replaced_before_they_are_cut() {
    let by = |rules: Value| json!({"char_filter": [{"type": "mapping", "mappings": rules}], "tokenizer": "standard"});
    for (rules, text, want) in [
        (json!(["&=>and", "--=>-"]), "a&b--c", vec!["aandb", "c"]),
        (json!(["a=>x", "aa => y"]), "aa a", vec!["y", "x"]),
        (json!(["-=>"]), "中-文", vec!["中文"]),
        (
            json!([r"-=>\u0020", "a=>b=>c"]),
            "x-y a=>b",
            vec!["x", "y", "c"],
        ),
    ] {
        assert_eq!(words(&by(rules.clone()), text), want, "{rules}");
    }
    for (params, said) in [
        (by(json!("a=>b")), "mappings must be array"),
        (by(json!([1])), "mappings must be array"),
        (json!({"type": "standard", "char_filter": []}), "build-in"),
        (json!({"char_filter": "x"}), "should be array"),
        (json!({"char_filter": ["mapping"]}), "type must be set"),
        (
            json!({"char_filter": [{"type": "html"}]}),
            "unsupported char_filter type: html",
        ),
        (
            json!({"tokenizer": "standard", "filters": []}),
            "unknown analyzer option key: filters",
        ),
    ] {
        let refused = analyzer_settings(&params.to_string()).err().unwrap();
        assert_eq!(refused.code(), 1100, "{params}");
        assert!(refused.to_string().contains(said), "{params}: {refused}");
    }
}

#[test]
fn filters_keep_the_words_that_milvus_own_keep() {
    for (filter, want) in [
        ("alphanumonly", vec!["hello", "abc1"]),
        ("cncharonly", vec!["中文", "a中"]),
        (
            "cnalphanumonly",
            vec!["hello", "wor-ld", "abc1", "中文", "a中", "éa"],
        ),
        ("removepunct", vec!["hello", "abc1", "中文", "a中", "éa"]),
    ] {
        let params = json!({"tokenizer": "whitespace", "filter": [filter]}).to_string();
        let (analysis, name) = analyzer_settings(&params).unwrap();
        let name = analysis.analyzer(&name).unwrap();
        let tokens = clew_analysis::tokens(&name, "hello , wor-ld !? abc1 中文 a中 éa");
        let words: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
        assert_eq!(words, want, "{filter}");
    }
}

#[test]
fn languages_have_analyzers_and_tokenizers_of_their_own() {
    for (params, text, want) in [
        (
            json!({"type": "chinese"}),
            "我来到北京，OK！",
            vec!["我", "来到", "北京", "OK"],
        ),
        (
            json!({"tokenizer": {"type": "jieba", "mode": "exact", "hmm": false}, "filter": ["removepunct"]}),
            "北京清华大学。",
            vec!["北京", "清华大学"],
        ),
        (
            json!({"type": "thai", "stop_words": ["สอง"]}),
            "ทุกสองสัปดาห์ ๑๒",
            vec!["สัปดาห์", "12"],
        ),
        (
            json!({"type": "arabic"}),
            "في السيارات ١٢",
            vec!["سيار", "12"],
        ),
        (
            json!({"tokenizer": "icu"}),
            "Hi, 世界",
            vec!["Hi", ",", " ", "世界"],
        ),
        (
            json!({"tokenizer": "whitespace", "filter": ["decimaldigit"]}),
            "١٢ x",
            vec!["12", "x"],
        ),
    ] {
        assert_eq!(words(&params, text), want, "{params}");
    }
}

#[test]
fn a_text_is_cut_as_its_language_wants() {
    let params = json!({"tokenizer": {
        "type": "language_identifier",
        "identifier": {"type": "whatlang", "confidence": 0.1},
        "mapping": {"English": "en"},
        "analyzers": {"en": {"type": "english"}, "default": {"tokenizer": "standard"}},
    }});
    let text = "There is no reason not to learn Esperanto.";
    assert_eq!(words(&params, text).last().unwrap(), "esperanto");
    let text = "Все счастливые семьи похожи друг на Друга";
    assert_eq!(words(&params, text).last().unwrap(), "Друга");
}

/// A tokenizer that is refused with a code, and words of the reason.
fn check_refused(tokenizer: Value, code: i32, said: &str) {
    let refused = analyzer_settings(&json!({"tokenizer": tokenizer}).to_string());
    let refused = refused.err().unwrap();
    assert_eq!(refused.code(), code, "{tokenizer}: {refused}");
    assert!(refused.to_string().contains(said), "{tokenizer}: {refused}");
}

#[test]
fn what_is_wrong_with_tokenizers_is_told_as_milvus_does() {
    let jieba = |name: &str, value: Value| json!({"type": "jieba", name: value});
    for (tokenizer, code, said) in [
        (
            jieba("mode", json!("loud")),
            1100,
            "must be \"exact\" or \"search\"",
        ),
        (jieba("mode", json!(1)), 1100, "mode must be string"),
        (jieba("hmm", json!(1)), 1100, "must be boolean"),
        (jieba("dict", json!("x")), 1100, "dict must be array"),
        (jieba("dict", json!([1])), 1100, "item must be string"),
        (
            jieba("dict", json!(["_default_", "_extend_default_"])),
            1100,
            "can only set one system dict",
        ),
        (
            jieba("dict", json!(["_default_", "x"])),
            3000,
            "beside _default_",
        ),
        (jieba("extra_dict_file", json!({})), 3000, "extra_dict_file"),
        (
            json!({"type": "lindera", "dict_kind": "ipadic"}),
            3000,
            "the dictionary ipadic of the tokenizer lindera",
        ),
        (json!("lindera"), 1100, "must be costum"),
        (json!({"type": "lindera"}), 1100, "dict_kind must be set"),
        (
            json!({"type": "lindera", "dict_kind": "klingon"}),
            1100,
            "unsupported lindera dict type: klingon",
        ),
        (
            json!({"type": "standard", "uax29": "true"}),
            1100,
            "uax29 must be a boolean",
        ),
        (
            json!({"type": "standard", "max_token_length": 5}),
            1100,
            "requires uax29 to be true",
        ),
        (
            json!({"type": "standard", "uax29": true, "max_token_length": "5"}),
            1100,
            "must be a positive integer",
        ),
        (
            json!({"type": "standard", "uax29": true, "max_token_length": 0}),
            1100,
            "must be between 1 and 1048576",
        ),
    ] {
        check_refused(tokenizer, code, said);
    }
    let refused = analyzer_settings(r#"{"type": "klingon"}"#).err().unwrap();
    assert_eq!(refused.code(), 1100);
}

#[test]
fn what_is_wrong_with_identifiers_of_languages_is_told_as_milvus_does() {
    check_refused(json!("language_identifier"), 1100, "analyzers must be set");
    let identifier = |name: &str, value: Value| {
        let mut tokenizer = json!({"type": "language_identifier", "analyzers": {"default": {}}});
        tokenizer[name] = value;
        tokenizer
    };
    let unsure = json!({"type": "whatlang", "confidence": "x"});
    for (tokenizer, code, said) in [
        (
            identifier("analyzers", json!({"en": {}})),
            1100,
            "default sub analyzer",
        ),
        (
            identifier("analyzers", json!({"default": 1})),
            1100,
            "params must be dict",
        ),
        (
            identifier("identifier", json!("lingua")),
            3000,
            "identifier lingua",
        ),
        (
            identifier("identifier", json!("guess")),
            1100,
            "unknown identifier type: guess",
        ),
        (
            identifier("identifier", unsure),
            1100,
            "confidence must be float",
        ),
        (
            identifier("mapping", json!({"English": 1})),
            1100,
            "mapping must be dict",
        ),
    ] {
        check_refused(tokenizer, code, said);
    }
}
