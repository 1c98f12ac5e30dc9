use serde_json::json;

use super::*;

#[test]
fn heads_say_what_rows_are() {
    let head = |letter, size, rows, numbers| Head {
        letter,
        size,
        rows,
        numbers,
    };
    for (text, want) in [
        (
            "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }   \n",
            Some(head('i', 8, 3, 1)),
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
            Some(head('f', 4, 3, 4)),
        ),
        (
            "{'descr': '<U10', 'fortran_order': True, 'shape': (2,), }",
            Some(head('U', 40, 2, 1)),
        ),
        (
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }",
            None,
        ),
        (
            "{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }",
            None,
        ),
        (
            "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
            None,
        ),
        (
            "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }",
            None,
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 99999999999), }",
            None,
        ),
        ("", None),
    ] {
        assert_eq!(parse_head(text), want, "{text}");
    }
}

#[test]
fn heads_that_tell_of_more_than_there_is_are_refused() {
    for (rows, width, bytes, fits) in [
        (3, 4, 12, true),
        // What stands behind is not looked at.
        (3, 4, 13, true),
        (0, 0, 0, true),
        (3, 4, 11, false),
        (u64::MAX, 8, 100, false),
        (u64::MAX, 0, 100, false),
    ] {
        let head = Head {
            letter: 'U',
            size: width,
            rows,
            numbers: 1,
        };
        let checked = check_length(&head, width, bytes);
        assert_eq!(checked.is_ok(), fits, "{rows} rows of {width} bytes");
    }
}

#[test]
fn bytes_become_values() {
    let wide: Vec<u8> = "hé\0"
        .chars()
        .flat_map(|letter| (letter as u32).to_le_bytes())
        .collect();
    for (kind, bytes, want) in [
        (Kind::Bool, &[1][..], json!(true)),
        (Kind::Signed, &[0xfe], json!(-2)),
        (Kind::Signed, &(-7_i64).to_le_bytes(), json!(-7)),
        (Kind::Unsigned, &[0xfe, 0], json!(254)),
        (Kind::Float, &1.5_f32.to_le_bytes(), json!(1.5)),
        (Kind::Wide, &wide, json!("hé")),
        (Kind::Text, b"ab\0\0", json!("ab")),
        (Kind::Packed, &[1, 2, 3], json!("AQID")),
        (Kind::List(8), &0.25_f64.to_le_bytes(), json!([0.25])),
    ] {
        assert_eq!(value(kind, bytes), Some(want), "{kind:?}");
    }
    assert_eq!(value(Kind::Float, &f32::NAN.to_le_bytes()), None);
    assert_eq!(value(Kind::Wide, &[0xff; 4]), None);
}
