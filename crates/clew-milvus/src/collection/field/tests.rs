use super::*;

#[test]
fn vectors_of_bits_are_of_whole_bytes() {
    let dimension = |bits: &str| {
        let field = Field {
            params: BTreeMap::from([("dim".to_string(), bits.to_string())]),
            ..Field::named("b", DataType::BinaryVector)
        };
        field.dimension().map_err(|error| error.to_string())
    };
    assert_eq!(dimension("8"), Ok(8));
    for (bits, said) in [
        ("0", "invalid dimension: 0. should be in range"),
        (
            "2",
            "invalid dimension: 2 of field b. binary vector dimension should be multiple of 8.",
        ),
    ] {
        let told = dimension(bits).unwrap_err();
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_partition_key_has_a_value_and_is_no_primary_key() {
    for (is_primary, nullable, said) in [
        (true, false, "must not be primary field"),
        (false, true, "not support nullable"),
    ] {
        let read = Field::read(proto::FieldSchema {
            name: "n".into(),
            data_type: DataType::Int64.number(),
            is_partition_key: true,
            is_primary_key: is_primary,
            nullable,
            ..proto::FieldSchema::default()
        });
        let error = read.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
