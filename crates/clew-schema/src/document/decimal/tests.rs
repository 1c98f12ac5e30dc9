use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str) {
    let expected: f32 = text.parse().unwrap();
    let (value, end) = read_f32(text.as_bytes(), 0).unwrap();
    assert_eq!(
        (value.to_bits(), end),
        (expected.to_bits(), text.len()),
        "{text}"
    );
}

#[test]
fn numbers_at_the_edges_are_the_nearest() {
    for text in [
        "0",
        "-0",
        "0.0",
        "-0.0",
        "1",
        "-1",
        "12345678",
        "123456789012345678901234567890",
        "0.1",
        "1e-45",
        "1.4e-45",
        "7e-46",
        "1.17549435e-38",
        "1.1754942e-38",
        "3.4028235e38",
        "3.40282346e+38",
        "16777217",
        "16777219",
        "1.00000005960464477539",
        "1.000000059604644775390625",
        "1.0000000596046447753906251",
        "0.00000000000000000001",
        "9007199254740993",
        "1E5",
        "1e0",
        "0e999999999999999999999",
        "1e-999999999999999999999",
    ] {
        check(text);
    }
}

#[test]
fn what_is_no_json_number_is_refused() {
    for text in [
        "",
        "-",
        "+1",
        ".5",
        "1.",
        "1.e5",
        "01",
        "-01",
        "1e",
        "1e+",
        "1x",
        "1.2.3",
        "0x10",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "-Infinity",
        "--1",
        "1e5e5",
    ] {
        assert_eq!(
            read_f32(text.as_bytes(), 0),
            Err(DecimalError::Form),
            "{text}"
        );
    }
    for text in ["1e39", "-3.5e38", "1e999999999999999999999"] {
        assert_eq!(
            read_f32(text.as_bytes(), 0),
            Err(DecimalError::Overflow),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn every_float_is_read_back(bits in any::<u32>(), digits in 0usize..25) {
        let value = f32::from_bits(bits);
        prop_assume!(value.is_finite());
        for text in [format!("{value}"), format!("{value:e}"), format!("{:e}", f64::from(value)), format!("{value:.digits$}")] {
            check(&text);
        }
    }

    #[test]
    fn middles_between_floats_round_as_the_standard_library_does(bits in 0u32..0x7f00_0000, offset in -3i64..=3) {
        let value = f64::from(f32::from_bits(bits));
        let middle = f64::from_bits((value.to_bits() + (1 << 28)).wrapping_add_signed(offset));
        for text in [format!("{middle:e}"), format!("{middle:.18}"), format!("{middle:.17e}")] {
            check(&text);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40), at in 0usize..50) {
        let _ = read_f32(&bytes, at);
    }

    #[test]
    fn any_digits_are_read(text in "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,25})?([eE][-+]?[0-9]{1,2})?") {
        match text.parse::<f32>() {
            Ok(value) if value.is_finite() => check(&text),
            _ => prop_assert_eq!(read_f32(text.as_bytes(), 0), Err(DecimalError::Overflow)),
        }
    }
}
