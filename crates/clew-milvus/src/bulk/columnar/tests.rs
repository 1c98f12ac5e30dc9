//! Files as Apache's writer makes them, read back as rows.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryLimits};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use serde_json::{Value, json};

use super::Records;
use crate::collection::Collection;

/// Values of a column with their two levels.
enum Given<'v> {
    Longs(&'v [i64]),
    OptionalLongs(&'v [i64], &'v [i16], &'v [i16]),
    Ints(&'v [i32], &'v [i16], &'v [i16]),
    Floats(&'v [f32], &'v [i16], &'v [i16]),
    Doubles(&'v [f64], &'v [i16]),
    Texts(&'v [&'v str], &'v [i16], &'v [i16]),
}

fn levels(levels: &[i16]) -> Option<&[i16]> {
    (!levels.is_empty()).then_some(levels)
}

fn put(group: &mut SerializedRowGroupWriter<'_, File>, given: &Given) {
    let mut column = group.next_column().unwrap().unwrap();
    let written = match given {
        Given::Longs(values) => column.typed::<Int64Type>().write_batch(values, None, None),
        Given::OptionalLongs(values, defined, repeated) => {
            let column = column.typed::<Int64Type>();
            column.write_batch(values, levels(defined), levels(repeated))
        }
        Given::Ints(values, defined, repeated) => {
            let column = column.typed::<Int32Type>();
            column.write_batch(values, levels(defined), levels(repeated))
        }
        Given::Floats(values, defined, repeated) => {
            let column = column.typed::<FloatType>();
            column.write_batch(values, levels(defined), levels(repeated))
        }
        Given::Doubles(values, defined) => {
            let column = column.typed::<DoubleType>();
            column.write_batch(values, levels(defined), None)
        }
        Given::Texts(values, defined, repeated) => {
            let texts = values
                .iter()
                .map(|text| ByteArray::from(text.as_bytes().to_vec()));
            let texts: Vec<ByteArray> = texts.collect();
            let column = column.typed::<ByteArrayType>();
            column.write_batch(&texts, levels(defined), levels(repeated))
        }
    };
    written.unwrap();
    column.close().unwrap();
}

/// A file of so many groups of the same rows, in a place of its own.
fn file(name: &str, schema: &str, groups: &[&[Given]], compression: Compression) -> PathBuf {
    let place = format!("clew-columnar-{}-{name}.parquet", std::process::id());
    let path = std::fs::canonicalize(std::env::temp_dir())
        .unwrap()
        .join(place);
    let properties = WriterProperties::builder().set_compression(compression);
    write(&path, schema, groups, properties.build());
    path
}

fn write(path: &Path, schema: &str, groups: &[&[Given]], properties: WriterProperties) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for columns in groups {
        let mut group = writer.next_row_group().unwrap();
        for given in *columns {
            put(&mut group, given);
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn collection() -> Collection {
    let part = |name: &str, data_type: &str| {
        json!({"id": 1, "name": format!("clips[{name}]"), "path": format!("clips.{name}"), "data_type": data_type,
               "params": {"dim": "2"}})
    };
    serde_json::from_value(json!({
        "id": 1, "dynamic": true, "consistency_level": 0, "shards": 1, "partitions": {"_default": 1}, "loaded": true,
        "updated_ms": 0,
        "fields": [
            {"id": 1, "name": "id", "data_type": "Int64", "is_primary": true},
            {"id": 2, "name": "v", "data_type": "FloatVector", "params": {"dim": "2"}},
            {"id": 3, "name": "h", "data_type": "Float16Vector", "params": {"dim": "2"}},
            {"id": 4, "name": "s", "data_type": "SparseFloatVector", "nullable": true},
            {"id": 5, "name": "tags", "data_type": "Array", "element_type": "VarChar", "nullable": true},
            {"id": 6, "name": "d", "data_type": "Double", "nullable": true},
        ],
        "structs": [{"id": 7, "name": "clips", "parts": [part("n", "Int64"), part("v", "FloatVector")]}],
    }))
    .unwrap()
}

fn read(path: &Path) -> Result<Vec<Value>, String> {
    let memory = MemoryAccount::new(MemoryLimits::none());
    let told = |error: crate::error::MilvusError| error.to_string();
    let mut records = Records::open(path).map_err(told)?;
    let mut rows = Vec::new();
    while let Some(row) = records.cut(&collection(), &memory).map_err(told)? {
        rows.push(serde_json::from_slice(&row).unwrap());
    }
    assert_eq!(records.given(), std::fs::metadata(path).unwrap().len());
    Ok(rows)
}

const FLAT: &str = "message schema {
    required int64 id;
    optional group v (LIST) { repeated group list { optional float element; } }
    optional group h (LIST) { repeated group list { optional int32 element (UINT_8); } }
    optional byte_array s (UTF8);
    optional group tags (LIST) { repeated group list { optional byte_array element (UTF8); } }
    optional double d;
    optional byte_array other (UTF8);
}";

#[test]
fn columns_make_rows() {
    let group: &[Given] = &[
        Given::Longs(&[1, 2]),
        Given::Floats(&[0.5, 1.0, 2.0, -1.0], &[3; 4], &[0, 1, 0, 1]),
        Given::Ints(
            &[0, 60, 255, 3, 1, 2, 3, 4],
            &[3; 8],
            &[0, 1, 1, 1, 0, 1, 1, 1],
        ),
        Given::Texts(&["{\"7\": 0.5}", "null"], &[1, 1], &[]),
        Given::Texts(&["a", "\"b"], &[3, 2, 3, 0], &[0, 1, 1, 0]),
        Given::Doubles(&[1.5], &[1, 0]),
        Given::Texts(&["x"], &[0, 1], &[]),
    ];
    let want = [
        json!({"id": 1, "v": "AAAAPwAAgD8=", "h": "ADz/Aw==", "s": {"7": 0.5}, "tags": ["a", null, "\"b"], "d": 1.5}),
        json!({"id": 2, "v": "AAAAQAAAgL8=", "h": "AQIDBA==", "s": null, "tags": null, "d": null}),
    ];
    for (name, compression) in [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
    ] {
        let path = file(name, FLAT, &[group, group], compression);
        let rows = read(&path).unwrap();
        assert_eq!(rows, [want.clone(), want.clone()].concat());
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn lists_of_structs_have_lists() {
    let schema = "message schema {
        required int64 id;
        optional group clips (LIST) { repeated group list { optional group element {
            optional int64 n;
            optional group v (LIST) { repeated group list { optional float element; } }
        } } }
    }";
    let group: &[Given] = &[
        Given::Longs(&[1, 2, 3]),
        Given::OptionalLongs(&[1], &[4, 3, 1, 0], &[0, 1, 0, 0]),
        Given::Floats(
            &[0.5, 1.0, 2.0, -1.0],
            &[6, 6, 6, 6, 1, 0],
            &[0, 2, 1, 2, 0, 0],
        ),
    ];
    let path = file("structs", schema, &[group], Compression::SNAPPY);
    let want = [
        json!({"id": 1, "clips": [{"n": 1, "v": "AAAAPwAAgD8="}, {"n": null, "v": "AAAAQAAAgL8="}]}),
        json!({"id": 2, "clips": []}),
        json!({"id": 3, "clips": null}),
    ];
    assert_eq!(read(&path).unwrap(), want);
    // Columns of one list that are not as long as each other.
    let apart: &[Given] = &[
        Given::Longs(&[1]),
        Given::OptionalLongs(&[1, 2], &[4, 4], &[0, 1]),
        Given::Floats(&[0.5], &[6], &[0]),
    ];
    let apart = file("apart", schema, &[apart], Compression::SNAPPY);
    let told = read(&apart).unwrap_err();
    assert!(
        told.contains("the column clips.list.element.v.list.element has not as many values"),
        "{told}"
    );
    for path in [path, apart] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn batches_and_pages_are_parted_anywhere() {
    let schema = "message schema { required int64 id; optional double d; }";
    let ids: Vec<i64> = (0..5_000).collect();
    let defined: Vec<i16> = (0..5_000).map(|id| i16::from(id % 3 == 0)).collect();
    let values: Vec<f64> = (0..5_000).step_by(3).map(f64::from).collect();
    let group: &[Given] = &[Given::Longs(&ids), Given::Doubles(&values, &defined)];
    let path = file("many", schema, &[group], Compression::SNAPPY);
    let rows = read(&path).unwrap();
    assert_eq!(rows.len(), 5_000);
    for (id, row) in rows.iter().enumerate() {
        let want = if id % 3 == 0 {
            json!(id as f64)
        } else {
            Value::Null
        };
        assert_eq!(row, &json!({"id": id, "d": want}));
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn what_cannot_be_read_is_told() {
    let nothing: &[Given] = &[Given::Longs(&[1]), Given::Doubles(&[f64::NAN], &[1])];
    for (name, schema, groups, said) in [
        (
            "moment",
            "message schema { required int64 id (TIMESTAMP_MILLIS); }",
            &[][..],
            "a type that is not read",
        ),
        (
            "old",
            "message schema { required int96 id; }",
            &[],
            "a type that is not read",
        ),
        (
            "strange",
            "message schema { required int64 other; }",
            &[],
            "has no column of a field",
        ),
        (
            "nan",
            "message schema { required int64 id; optional double d; }",
            &[nothing],
            "the column d: value 'NaN'",
        ),
    ] {
        let path = file(name, schema, groups, Compression::UNCOMPRESSED);
        let told = read(&path).unwrap_err();
        assert!(told.contains(said), "{name}: {told}");
        // What was cut off has no end.
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let told = read(&path).unwrap_err();
        assert!(
            told.contains("does not end as Parquet does"),
            "{name}: {told}"
        );
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn pages_that_were_changed_are_read_or_refused() {
    let group: &[Given] = &[
        Given::Longs(&[1, 2]),
        Given::Floats(&[0.5, 1.0, 2.0, -1.0], &[3; 4], &[0, 1, 0, 1]),
        Given::Ints(&[0, 60, 1, 2], &[3; 4], &[0, 1, 0, 1]),
        Given::Texts(&["{}", "null"], &[1, 1], &[]),
        Given::Texts(&["a", "b"], &[3, 2, 3, 0], &[0, 1, 1, 0]),
        Given::Doubles(&[1.5], &[1, 0]),
        Given::Texts(&["x"], &[0, 1], &[]),
    ];
    let path = file("changed", FLAT, &[group], Compression::SNAPPY);
    let whole = std::fs::read(&path).unwrap();
    let (rest, _) = whole.split_last_chunk::<4>().unwrap();
    let (_, length) = rest.split_last_chunk::<4>().unwrap();
    let pages = rest.len() - 4 - u32::from_le_bytes(*length) as usize;
    let memory = MemoryAccount::new(MemoryLimits {
        bodies: 64 << 20,
        ..MemoryLimits::none()
    });
    for at in 4..pages {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[at] ^= flip;
            std::fs::write(&path, &changed).unwrap();
            let mut records = Records::open(&path).unwrap();
            let mut rows = 0;
            while let Ok(Some(_)) = records.cut(&collection(), &memory) {
                rows += 1;
            }
            assert!(rows <= 2, "byte {at}");
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn values_without_their_dictionary_are_refused() {
    let schema = "message schema { required int64 id; }";
    let path = file(
        "dictionary",
        schema,
        &[&[Given::Longs(&[1, 2])]],
        Compression::SNAPPY,
    );
    let mut whole = std::fs::read(&path).unwrap();
    // The page of the dictionary is the first; as one of an index, it is passed over.
    assert_eq!(&whole[4..6], [0x15, 0x04]);
    whole[5] = 0x02;
    std::fs::write(&path, &whole).unwrap();
    let told = read(&path).unwrap_err();
    assert!(told.contains("no Parquet that can be read"), "{told}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn texts_in_the_place_of_others_are_refused() {
    let schema = "message schema { required int64 id; optional group tags (LIST) {
        repeated group list { optional byte_array element (UTF8); } } }";
    let group: &[Given] = &[
        Given::Longs(&[1]),
        Given::Texts(&["ab", "abc"], &[3, 3], &[0, 1]),
    ];
    let path = file("texts", schema, &[group], Compression::UNCOMPRESSED);
    for encoding in [
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
    ] {
        let column = ["tags", "list", "element"].map(String::from).to_vec();
        let properties = WriterProperties::builder().set_dictionary_enabled(false);
        let properties = properties.set_column_encoding(ColumnPath::new(column), encoding);
        let properties = properties.build();
        write(&path, schema, &[group], properties);
        let told = read(&path).unwrap_err();
        assert!(told.contains(&format!("encoded by {encoding}")), "{told}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn schemas_that_are_deep_are_refused_before_they_are_read() {
    let place = format!("clew-columnar-{}-deep.parquet", std::process::id());
    let path = std::fs::canonicalize(std::env::temp_dir())
        .unwrap()
        .join(place);
    // A version, and a list of 2^20 - 1 parts, each in the one before it.
    let mut whole = b"PAR1\x15\x02\x19\xfc\xff\xff\x3f".to_vec();
    whole.extend([0x35, 0x00, 0x18, 0x00, 0x15, 0x02, 0x00].repeat((1 << 20) - 1));
    let length = u32::try_from(whole.len() - 4).unwrap();
    whole.extend(length.to_le_bytes());
    whole.extend(b"PAR1");
    std::fs::write(&path, whole).unwrap();
    let told = read(&path).unwrap_err();
    assert!(told.contains("a schema of 1048575 parts"), "{told}");
    std::fs::remove_file(&path).unwrap();
}
