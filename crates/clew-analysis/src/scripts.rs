//! Character classes that the standard library does not name and the word rules need. Compact
//! tables: the blocks' unassigned points are inside where that makes no difference.

/// Scripts without spaces between words, whose runs stay together (Thai, Lao, Myanmar, Khmer, ...).
const COMPLEX: &[(char, char)] = &[
    ('\u{e01}', '\u{e3a}'),
    ('\u{e40}', '\u{e4e}'),
    ('\u{e81}', '\u{ebd}'),
    ('\u{ec0}', '\u{ecd}'),
    ('\u{edc}', '\u{edf}'),
    ('\u{1000}', '\u{103f}'),
    ('\u{1050}', '\u{108f}'),
    ('\u{109a}', '\u{109f}'),
    ('\u{1780}', '\u{17d3}'),
    ('\u{17d7}', '\u{17d7}'),
    ('\u{17dc}', '\u{17dd}'),
    ('\u{1950}', '\u{1974}'),
    ('\u{1980}', '\u{19c9}'),
    ('\u{19da}', '\u{19df}'),
    ('\u{1a20}', '\u{1a7c}'),
    ('\u{1aa0}', '\u{1aad}'),
    ('\u{a9e0}', '\u{a9ef}'),
    ('\u{a9fa}', '\u{a9fe}'),
    ('\u{aa60}', '\u{aac2}'),
    ('\u{aadb}', '\u{aadf}'),
];

/// Numbers that are not digits and make no word: fractions, superscripts, circled numbers.
const NUMBER_SIGNS: &[(char, char)] = &[
    ('\u{b2}', '\u{b3}'),
    ('\u{b9}', '\u{b9}'),
    ('\u{bc}', '\u{be}'),
    ('\u{2070}', '\u{2070}'),
    ('\u{2074}', '\u{2079}'),
    ('\u{2080}', '\u{2089}'),
    ('\u{2150}', '\u{215f}'),
    ('\u{2189}', '\u{2189}'),
    ('\u{2460}', '\u{249b}'),
    ('\u{24ea}', '\u{24ff}'),
    ('\u{2776}', '\u{2793}'),
    ('\u{3192}', '\u{3195}'),
    ('\u{3220}', '\u{3229}'),
    ('\u{3248}', '\u{324f}'),
    ('\u{3251}', '\u{325f}'),
    ('\u{3280}', '\u{3289}'),
    ('\u{32b1}', '\u{32bf}'),
    ('\u{1f100}', '\u{1f10c}'),
];

/// Pictographs that are tokens of their own. The copyright and trade mark signs and the two dashes
/// that Unicode also counts among them are left out, as Lucene does.
const EMOJI: &[(char, char)] = &[
    ('\u{203c}', '\u{203c}'),
    ('\u{2049}', '\u{2049}'),
    ('\u{2139}', '\u{2139}'),
    ('\u{2194}', '\u{2199}'),
    ('\u{21a9}', '\u{21aa}'),
    ('\u{231a}', '\u{231b}'),
    ('\u{2328}', '\u{2328}'),
    ('\u{2388}', '\u{2388}'),
    ('\u{23cf}', '\u{23cf}'),
    ('\u{23e9}', '\u{23f3}'),
    ('\u{23f8}', '\u{23fa}'),
    ('\u{24c2}', '\u{24c2}'),
    ('\u{25aa}', '\u{25ab}'),
    ('\u{25b6}', '\u{25b6}'),
    ('\u{25c0}', '\u{25c0}'),
    ('\u{25fb}', '\u{25fe}'),
    ('\u{2600}', '\u{2605}'),
    ('\u{2607}', '\u{2612}'),
    ('\u{2614}', '\u{2685}'),
    ('\u{2690}', '\u{2705}'),
    ('\u{2708}', '\u{2712}'),
    ('\u{2714}', '\u{2714}'),
    ('\u{2716}', '\u{2716}'),
    ('\u{271d}', '\u{271d}'),
    ('\u{2721}', '\u{2721}'),
    ('\u{2728}', '\u{2728}'),
    ('\u{2733}', '\u{2734}'),
    ('\u{2744}', '\u{2744}'),
    ('\u{2747}', '\u{2747}'),
    ('\u{274c}', '\u{274c}'),
    ('\u{274e}', '\u{274e}'),
    ('\u{2753}', '\u{2755}'),
    ('\u{2757}', '\u{2757}'),
    ('\u{2763}', '\u{2767}'),
    ('\u{2795}', '\u{2797}'),
    ('\u{27a1}', '\u{27a1}'),
    ('\u{27b0}', '\u{27b0}'),
    ('\u{27bf}', '\u{27bf}'),
    ('\u{2934}', '\u{2935}'),
    ('\u{2b05}', '\u{2b07}'),
    ('\u{2b1b}', '\u{2b1c}'),
    ('\u{2b50}', '\u{2b50}'),
    ('\u{2b55}', '\u{2b55}'),
    ('\u{3297}', '\u{3297}'),
    ('\u{3299}', '\u{3299}'),
    ('\u{1f000}', '\u{1f0ff}'),
    ('\u{1f10d}', '\u{1f10f}'),
    ('\u{1f12f}', '\u{1f12f}'),
    ('\u{1f16c}', '\u{1f171}'),
    ('\u{1f17e}', '\u{1f17f}'),
    ('\u{1f18e}', '\u{1f18e}'),
    ('\u{1f191}', '\u{1f19a}'),
    ('\u{1f1ad}', '\u{1f1ff}'),
    ('\u{1f201}', '\u{1f20f}'),
    ('\u{1f21a}', '\u{1f21a}'),
    ('\u{1f22f}', '\u{1f22f}'),
    ('\u{1f232}', '\u{1f23a}'),
    ('\u{1f23c}', '\u{1f23f}'),
    ('\u{1f249}', '\u{1f53d}'),
    ('\u{1f546}', '\u{1f64f}'),
    ('\u{1f680}', '\u{1f6ff}'),
    ('\u{1f774}', '\u{1f77f}'),
    ('\u{1f7d5}', '\u{1f7ff}'),
    ('\u{1f80c}', '\u{1f80f}'),
    ('\u{1f90c}', '\u{1f93a}'),
    ('\u{1f93c}', '\u{1f945}'),
    ('\u{1f947}', '\u{1faff}'),
    ('\u{1fc00}', '\u{1fffd}'),
];

fn within(table: &[(char, char)], c: char) -> bool {
    let after = table.partition_point(|(_, last)| *last < c);
    table.get(after).is_some_and(|(first, _)| *first <= c)
}

/// Whether runs of this character are kept in one token.
pub(super) fn is_complex(c: char) -> bool {
    within(COMPLEX, c)
}

/// Whether a word that has this character is a token.
pub(super) fn makes_word(c: char) -> bool {
    // Katakana words in one square are signs to Unicode, and words all the same.
    let is_square =
        ('\u{32d0}'..='\u{32fe}').contains(&c) || ('\u{3300}'..='\u{3357}').contains(&c);
    is_square || c.is_alphanumeric() && !(c.is_numeric() && within(NUMBER_SIGNS, c))
}

/// Whether a word of signs that has this character is a token.
pub(super) fn is_emoji(c: char) -> bool {
    // The keycap that turns a digit or sign before it into a picture.
    c == '\u{20e3}' || within(EMOJI, c)
}
