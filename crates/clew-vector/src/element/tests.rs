use super::*;

fn stored(element: Element, vector: &[f32]) -> Vec<f32> {
    element.check(vector).unwrap();
    let mut values = OwnedValues::new(element);
    values.push(vector);
    assert_eq!(
        values.bytes().len(),
        element.row_bytes(dimension(element, vector))
    );
    let mut buffer = vec![0.0; vector.len()];
    let view = Values::cast(element, values.bytes()).unwrap();
    view.floats(0, &mut buffer).to_vec()
}

fn dimension(element: Element, vector: &[f32]) -> usize {
    if element == Element::Bit {
        8 * vector.len()
    } else {
        vector.len()
    }
}

#[test]
fn numbers_come_back_as_the_type_can_hold_them() {
    let vector = [1.0, -128.0, 127.0, 0.0];
    for element in Element::ALL {
        assert_eq!(stored(element, &vector), vector, "{element:?}");
    }
    assert_eq!(stored(Element::F16, &[0.1]), [0.099_975_586]);
    assert_eq!(stored(Element::Bf16, &[0.1]), [0.100_097_656]);
}

#[test]
fn bytes_of_a_vector_read_back_as_a_column_keeps_it() {
    let vector = [1.0, -128.0, 127.0, 0.0];
    for (code, element) in (0..).zip(Element::ALL) {
        assert_eq!(
            (element.code(), Element::from_code(code)),
            (code, Some(element))
        );
        let mut bytes = Vec::new();
        element.encode(&vector, &mut bytes);
        assert_eq!(bytes.len(), element.row_bytes(dimension(element, &vector)));
        assert_eq!(element.decode(&bytes), vector, "{element:?}");
    }
    assert_eq!(Element::from_code(5), None);
    for element in [Element::F32, Element::F16, Element::Bf16] {
        let mut bytes = Vec::new();
        element.encode(&[0.1, -3.3e-6], &mut bytes);
        assert_eq!(element.decode(&bytes), stored(element, &[0.1, -3.3e-6]));
    }
}

#[test]
fn a_type_that_would_lose_a_vector_does_not_keep_it() {
    assert!(Element::F16.keeps(&[0.0, 1e-9, 0.1]));
    assert!(Element::F16.keeps(&[0.0, 0.0]));
    assert!(!Element::F16.keeps(&[0.0, 1e-9]));
    assert!(!Element::F16.keeps(&[1e5]));
    assert!(!Element::Bf16.keeps(&[f32::MAX]));
    assert!(!Element::I8.keeps(&[0.5]));
    assert!(Element::F32.keeps(&[f32::MIN_POSITIVE]));
}

#[test]
fn a_number_that_does_not_fit_is_named() {
    let check = |element: Element, vector: &[f32], message: &str| {
        let error = element.check(vector).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    check(
        Element::I8,
        &[1.0, 0.5],
        "vector component 1 is 0.5, which type byte cannot hold",
    );
    check(
        Element::I8,
        &[128.0],
        "vector component 0 is 128, which type byte cannot hold",
    );
    check(
        Element::Bit,
        &[-129.0],
        "vector component 0 is -129, which type binary cannot hold",
    );
    check(
        Element::F16,
        &[0.0, 1e5],
        "vector component 1 is 100000, which type float16 cannot hold",
    );
    check(
        Element::Bf16,
        &[f32::MAX],
        "vector component 0 is 340282350000000000000000000000000000000, which type bfloat16 cannot hold",
    );
}
