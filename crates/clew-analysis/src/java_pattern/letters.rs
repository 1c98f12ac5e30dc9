//! Which characters the classes of Java's expressions have, by their names: written so that they may stand in brackets and
//! outside of them.

/// What `\h` matches.
pub(super) const BLANKS: &str =
    r"\x{9} \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}";
/// What `\v` matches.
pub(super) const LINE_ENDS: &str = r"\x{a}\x{b}\x{c}\x{d}\x{85}\x{2028}\x{2029}";
const WHITESPACE: &str = r"\x{9}-\x{d}\x{1c}-\x{20}\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}";

/// The classes of one letter: words, digits, spaces.
///
/// `is_unicode` is whether they mean all letters rather than those of ASCII.
pub(super) fn of_letter(letter: char, is_unicode: bool) -> Option<String> {
    let inside = match letter.to_ascii_lowercase() {
        'w' if is_unicode => r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}",
        'w' => "0-9A-Za-z_",
        'd' if is_unicode => r"\p{Nd}",
        'd' => "0-9",
        's' if is_unicode => r"\p{White_Space}",
        's' => r"\x{9}-\x{d} ",
        'h' => BLANKS,
        'v' => LINE_ENDS,
        _ => return None,
    };
    Some(bracketed(inside, letter.is_ascii_uppercase()))
}

/// The class of a name, as in `\p{Alpha}`; `None` where its kind of names has none like it.
pub(super) fn of_name(name: &str, is_negated: bool, is_unicode: bool) -> Option<String> {
    let inside = match name.split_once('=') {
        Some((kind, value)) => match kind.to_ascii_lowercase().as_str() {
            "sc" | "script" | "gc" | "general_category" => format!(r"\p{{{}}}", plain(value)?),
            "blk" | "block" => block(value)?.to_string(),
            _ => return None,
        },
        None => match posix(name, is_unicode).or_else(|| of_java(name)) {
            Some(known) => known.to_string(),
            None => match (name.strip_prefix("In"), name.strip_prefix("Is")) {
                (Some(rest), _) if block(rest).is_some() => block(rest)?.to_string(),
                (_, Some(rest)) => match property(rest) {
                    Some(known) => known.to_string(),
                    None => format!(r"\p{{{}}}", plain(rest)?),
                },
                _ => format!(r"\p{{{}}}", plain(name)?),
            },
        },
    };
    Some(bracketed(&inside, is_negated))
}

/// The classes that `[:alpha:]` names in brackets: expressions of other programs have them.
pub(super) fn of_brackets(name: &str) -> Option<String> {
    let inside = match name {
        "alpha" => "A-Za-z",
        "digit" => "0-9",
        "alnum" => "0-9A-Za-z",
        "upper" => "A-Z",
        "lower" => "a-z",
        "punct" => posix("Punct", false)?,
        "space" => r"\x{9}-\x{d} ",
        "blank" => r"\x{9} ",
        "xdigit" => "0-9A-Fa-f",
        "word" => "0-9A-Za-z_",
        "graph" => r"\x{21}-\x{7e}",
        "print" => r"\x{20}-\x{7e}",
        "cntrl" => r"\x{0}-\x{1f}\x{7f}",
        "ascii" => r"\x{0}-\x{7f}",
        _ => return None,
    };
    Some(bracketed(inside, false))
}

fn bracketed(inside: &str, is_negated: bool) -> String {
    let sign = if is_negated { "^" } else { "" };
    format!("[{sign}{inside}]")
}

/// A name that can stand in braces.
fn plain(name: &str) -> Option<&str> {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ' ' | '-');
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

fn posix(name: &str, is_unicode: bool) -> Option<&'static str> {
    Some(match (name, is_unicode) {
        ("Lower", true) => r"\p{Lowercase}",
        ("Upper", true) => r"\p{Uppercase}",
        ("Alpha", true) => r"\p{Alphabetic}",
        ("Digit", true) => r"\p{Nd}",
        ("Alnum", true) => r"\p{Alphabetic}\p{Nd}",
        ("Punct", true) => r"\p{P}",
        ("Blank", true) => r"\p{Zs}\x{9}",
        ("Cntrl", true) => r"\p{Cc}",
        ("Space", true) => r"\p{White_Space}",
        ("Lower", false) => "a-z",
        ("Upper", false) => "A-Z",
        ("Alpha", false) => "A-Za-z",
        ("Digit", false) => "0-9",
        ("Alnum", false) => "0-9A-Za-z",
        ("Punct", false) => r"\x{21}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{7e}",
        ("Blank", false) => r"\x{9} ",
        ("Cntrl", false) => r"\x{0}-\x{1f}\x{7f}",
        ("Space", false) => r"\x{9}-\x{d} ",
        ("Graph", _) => r"\x{21}-\x{7e}",
        ("Print", _) => r"\x{20}-\x{7e}",
        ("XDigit", _) => "0-9A-Fa-f",
        ("ASCII", _) => r"\x{0}-\x{7f}",
        _ => return None,
    })
}

/// What methods of Java's characters say.
fn of_java(name: &str) -> Option<&'static str> {
    Some(match name {
        "javaLowerCase" => r"\p{Lowercase}",
        "javaUpperCase" => r"\p{Uppercase}",
        "javaTitleCase" => r"\p{Lt}",
        "javaAlphabetic" => r"\p{Alphabetic}",
        "javaIdeographic" => r"\p{Ideographic}",
        "javaLetter" => r"\p{L}",
        "javaDigit" => r"\p{Nd}",
        "javaLetterOrDigit" | "LD" => r"\p{L}\p{Nd}",
        "javaSpaceChar" => r"\p{Z}",
        "javaWhitespace" => WHITESPACE,
        "javaISOControl" => r"\x{0}-\x{1f}\x{7f}-\x{9f}",
        "L1" => r"\x{0}-\x{ff}",
        "LC" => r"\p{Lu}\p{Ll}\p{Lt}",
        _ => return None,
    })
}

/// Properties that are called otherwise here; others, and scripts, go by their names.
fn property(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_uppercase().as_str() {
        "DIGIT" => r"\p{Nd}",
        "LETTER" => r"\p{L}",
        "CONTROL" => r"\p{Cc}",
        "PUNCTUATION" => r"\p{P}",
        "TITLECASE" => r"\p{Lt}",
        "ASSIGNED" => r"[^\p{Cn}]",
        "WHITESPACE" => r"\p{White_Space}",
        "HEXDIGIT" => r"\p{Hex_Digit}",
        "JOINCONTROL" => r"\p{Join_Control}",
        _ => return None,
    })
}

/// Blocks that are asked for; `None` for the others.
fn block(name: &str) -> Option<&'static str> {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    Some(match name.as_str() {
        "basiclatin" | "ascii" => r"\x{0}-\x{7f}",
        "latin1supplement" => r"\x{80}-\x{ff}",
        "latinextendeda" => r"\x{100}-\x{17f}",
        "latinextendedb" => r"\x{180}-\x{24f}",
        "ipaextensions" => r"\x{250}-\x{2af}",
        "combiningdiacriticalmarks" => r"\x{300}-\x{36f}",
        "greek" | "greekandcoptic" => r"\x{370}-\x{3ff}",
        "cyrillic" => r"\x{400}-\x{4ff}",
        "armenian" => r"\x{530}-\x{58f}",
        "hebrew" => r"\x{590}-\x{5ff}",
        "arabic" => r"\x{600}-\x{6ff}",
        "devanagari" => r"\x{900}-\x{97f}",
        "bengali" => r"\x{980}-\x{9ff}",
        "tamil" => r"\x{b80}-\x{bff}",
        "thai" => r"\x{e00}-\x{e7f}",
        "georgian" => r"\x{10a0}-\x{10ff}",
        "hanguljamo" => r"\x{1100}-\x{11ff}",
        "latinextendedadditional" => r"\x{1e00}-\x{1eff}",
        "greekextended" => r"\x{1f00}-\x{1fff}",
        "generalpunctuation" => r"\x{2000}-\x{206f}",
        "currencysymbols" => r"\x{20a0}-\x{20cf}",
        "letterlikesymbols" => r"\x{2100}-\x{214f}",
        "arrows" => r"\x{2190}-\x{21ff}",
        "mathematicaloperators" => r"\x{2200}-\x{22ff}",
        "boxdrawing" => r"\x{2500}-\x{257f}",
        "cjksymbolsandpunctuation" => r"\x{3000}-\x{303f}",
        "hiragana" => r"\x{3040}-\x{309f}",
        "katakana" => r"\x{30a0}-\x{30ff}",
        "bopomofo" => r"\x{3100}-\x{312f}",
        "cjkunifiedideographsextensiona" => r"\x{3400}-\x{4dbf}",
        "cjkunifiedideographs" => r"\x{4e00}-\x{9fff}",
        "hangulsyllables" => r"\x{ac00}-\x{d7af}",
        "cjkcompatibilityideographs" => r"\x{f900}-\x{faff}",
        "halfwidthandfullwidthforms" => r"\x{ff00}-\x{ffef}",
        "emoticons" => r"\x{1f600}-\x{1f64f}",
        _ => return None,
    })
}
