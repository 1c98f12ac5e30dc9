//! Serbian in Latin letters without accents, whichever of its two alphabets it is written in.

pub(super) fn normalized(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        match latin(letter) {
            Some(latin) => out.push_str(latin),
            None => out.push(letter),
        }
    }
    out
}

fn latin(letter: char) -> Option<&'static str> {
    Some(match letter {
        'а' => "a",
        'б' => "b",
        'в' => "v",
        'г' => "g",
        'д' => "d",
        'ђ' | 'đ' => "dj",
        'е' => "e",
        'ж' | 'з' | 'ž' => "z",
        'и' => "i",
        'ј' => "j",
        'к' => "k",
        'л' => "l",
        'љ' => "lj",
        'м' => "m",
        'н' => "n",
        'њ' => "nj",
        'о' => "o",
        'п' => "p",
        'р' => "r",
        'с' | 'ш' | 'š' => "s",
        'т' => "t",
        'ћ' | 'ц' | 'ч' | 'ć' | 'č' => "c",
        'у' => "u",
        'ф' => "f",
        'х' => "h",
        'џ' => "dz",
        _ => return None,
    })
}
