use proptest::prelude::*;

use super::super::Chain;
use super::*;

#[test]
fn every_language_has_its_parts() {
    for language in LANGUAGES {
        Chain::compile(&parts(language, None, None)).unwrap();
    }
}

proptest! {
    #[test]
    fn any_text_goes_through_every_language(text in any::<String>(), word in "[\\p{Bengali}\\p{Thai}\\p{Arabic}a-zåäöáçñ\u{200c}.'-]{0,12}") {
        for language in LANGUAGES {
            let chain = super::super::chain(language).unwrap();
            for text in [&text, &word] {
                for term in chain.run(text) {
                    prop_assert!(text.get(term.token.offset_from..term.token.offset_to).is_some());
                }
            }
        }
    }
}

#[test]
fn stemmers_are_known_by_the_names_that_they_had_first() {
    let stem = |language: &str, word: &str| {
        let filter = json!({"type": "stemmer", "language": language});
        let chain = json!({"tokenizer": {"type": "keyword"}, "filter": [filter]});
        let terms = Chain::compile(&chain).unwrap().run(word);
        terms[0].token.text.clone()
    };
    for (first, name, word) in [
        ("lightGerman", "light_german", "häuser"),
        ("minimalGerman", "minimal_german", "bildern"),
        ("minimalFrench", "minimal_french", "chevaux"),
        ("lightHungarian", "light_hungarian", "házakban"),
        ("lightItalian", "light_italian", "biblioteche"),
        ("lightSpanish", "light_spanish", "canciones"),
        ("possessiveEnglish", "possessive_english", "fox's"),
    ] {
        let stemmed = stem(first, word);
        assert_ne!(stemmed, word, "{first}");
        assert_eq!(stemmed, stem(name, word), "{first}");
    }
}

#[test]
fn words_are_stopped_and_stemmed() {
    for (language, text, expected) in [
        ("french", "L'avion et les maisons", vec!["avion", "maison"]),
        ("german", "Die Häuser und der Wald", vec!["haus", "wald"]),
        (
            "italian",
            "dell'amico delle biblioteche",
            vec!["amico", "bibliotec"],
        ),
        ("spanish", "las canciones", vec!["cancion"]),
        ("portuguese", "os papéis", vec!["papel"]),
        ("russian", "и книги", vec!["книг"]),
        ("turkish", "Istanbul'da KIZ", vec!["ıstanbul", "kız"]),
        (
            "greek",
            "Τα σπίτια ΕΊΝΑΙ και το Σπίτι",
            vec!["σπιτ", "σπιτ"],
        ),
        ("english", "The fox's dens", vec!["fox", "den"]),
        (
            "cjk",
            "the 東京都 ＡＢＣ ﾎﾟｹ は",
            vec!["東京", "京都", "abc", "ポケ", "は"],
        ),
        ("arabic", "في السيارات مُحَمَّد ١٢", vec!["سيار", "محمد", "12"]),
        ("irish", "an t-éan agus nAthair", vec!["éan", "athair"]),
        ("czech", "městech a kočkami", vec!["měst", "kočk"]),
        ("bulgarian", "градовете и книгите", vec!["град", "книг"]),
        ("hindi", "लड़कियों और पढ़ाई", vec!["लडक", "पढाइ"]),
        ("latvian", "grāmatām un brāļu", vec!["grāmat", "brāl"]),
        ("persian", "کتاب‌ها می‌خورد ۱۲", vec!["كتاب", "خورد", "12"]),
        ("romanian", "și nu casele", vec!["și", "cas"]),
        (
            "bengali",
            "বাংলা\u{9df} করিতেছিলাম ও ছেলেদের ১২",
            vec!["বাংলা\u{9df}", "কর", "ছেল", "12"],
        ),
        (
            "brazilian",
            "Os meninos comendo as maçãs",
            vec!["menin", "com", "mac"],
        ),
        (
            "sorani",
            "پياوه\u{200c}کان بۆ كتێبەکە ١٢",
            vec!["پیاو", "کتێب", "12"],
        ),
        (
            "thai",
            "ฉันกินข้าวและปลา ๑๒",
            vec!["ฉัน", "กิน", "ข้าว", "ปลา", "12"],
        ),
    ] {
        let chain = Chain::compile(&parts(language, None, None)).unwrap();
        let found: Vec<String> = chain.run(text).into_iter().map(|t| t.token.text).collect();
        assert_eq!(found, expected, "{language}");
    }
    let kept = parts("german", Some(&json!(["wald"])), Some(&json!(["häuser"])));
    let chain = Chain::compile(&kept).unwrap();
    let found: Vec<String> = chain
        .run("Die Häuser Wald")
        .into_iter()
        .map(|t| t.token.text)
        .collect();
    // Umlauts are written in one way even where nothing is stemmed.
    assert_eq!(found, ["die", "hauser"]);
}
