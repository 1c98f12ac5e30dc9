//! Hindi, by Ramanathan and Rao ("A lightweight stemmer for Hindi", 2003).

use super::Word;

/// Endings, by the letters that a word must have more than.
const ENDINGS: [(usize, &[&str]); 5] = [
    (6, &["ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाइयाँ", "ाइयों", "ाइयां"]),
    (
        5,
        &[
            "ाएगी",
            "ाएगा",
            "ाओगी",
            "ाओगे",
            "एंगी",
            "ेंगी",
            "एंगे",
            "ेंगे",
            "ूंगी",
            "ूंगा",
            "ातीं",
            "नाओं",
            "नाएं",
            "ताओं",
            "ताएं",
            "ियाँ",
            "ियों",
            "ियां",
        ],
    ),
    (
        4,
        &[
            "ाकर",
            "ाइए",
            "ाईं",
            "ाया",
            "ेगी",
            "ेगा",
            "ोगी",
            "ोगे",
            "ाने",
            "ाना",
            "ाते",
            "ाती",
            "ाता",
            "तीं",
            "ाओं",
            "ाएं",
            "ुओं",
            "ुएं",
            "ुआं",
        ],
    ),
    (
        3,
        &[
            "कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती", "ता", "ाँ", "ां", "ों", "ें",
        ],
    ),
    (2, &["ो", "े", "ू", "ु", "ी", "ि", "ा"]),
];

pub(super) fn stem(word: &mut Word) {
    for (longer_than, endings) in ENDINGS {
        for ending in endings {
            if word.change((longer_than, ending, "")) {
                return;
            }
        }
    }
}
