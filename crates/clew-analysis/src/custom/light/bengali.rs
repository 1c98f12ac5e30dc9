//! Bengali: the endings of verbs by Sengupta and Chaudhuri ("Natural language processing in an Indian language: verb
//! phrase analysis", 1993), and those of cases.

use super::Word;

/// Endings, by the letters that a word must have more than. One letter stands as a number: any normal form of Unicode
/// would take it apart.
const ENDINGS: [(usize, &str); 8] = [
    (
        9,
        "ি\u{9df}াছিলাম িতেছিলাম িতেছিলেন ইতেছিলেন ি\u{9df}াছিলেন ই\u{9df}াছিলেন",
    ),
    (
        8,
        "িতেছিলি িতেছিলে িতেছিলা ি\u{9df}াছিলা ি\u{9df}াছিলে ি\u{9df}াছিলি \u{9df}েদেরকে",
    ),
    (
        7,
        "িতেছিস িতেছেন ি\u{9df}াছিস ি\u{9df}াছেন েছিলাম েছিলেন েদেরকে",
    ),
    (
        6,
        "িতেছি িতেছা িতেছে ি\u{9df}াছি ি\u{9df}াছা ি\u{9df}াছে ছিলাম ছিলেন েছিলে েছিলা \u{9df}েদের দেরকে",
    ),
    (
        5,
        "িলাম িলেন িতাম িতেন িবেন িতেছ ছিলি ছিলে ছিলা তেছে খানা খানি গুলো গুলি \u{9df}েরা েদের",
    ),
    (
        4,
        "লাম লেন তাম তেন বেন ছেন িলি িলে িলা ইলি ইলে ইলা িতি িতে িতা ইতি ইতে িবা িবি িবে ইবা ইবি ইবে \u{9df}োন \u{9df}ের েরা দের",
    ),
    (
        3,
        "িস েন লি লে লা তি তে তা বি বে বা ছি ছা ছে ুন ুক টা টি নি ের রা কে",
    ),
    (2, "ি ী া ো ে ব ত"),
];

pub(super) fn stem(word: &mut Word) {
    word.cut_listed(&ENDINGS);
}
