use super::*;
use crate::proto::{CreateCollectionRequest, KeyValuePair};

fn schema(more: impl IntoIterator<Item = FieldSchema>) -> crate::proto::CollectionSchema {
    let mut fields = vec![
        FieldSchema {
            is_primary_key: true,
            ..field("id", DataType::Int64)
        },
        FieldSchema {
            type_params: vec![KeyValuePair {
                key: "dim".into(),
                value: "4".into(),
            }],
            ..field("v", DataType::FloatVector)
        },
    ];
    fields.extend(more);
    crate::proto::CollectionSchema {
        fields,
        ..Default::default()
    }
}

fn field(name: &str, data_type: DataType) -> FieldSchema {
    FieldSchema {
        name: name.into(),
        data_type: data_type.number(),
        ..FieldSchema::default()
    }
}

fn key(name: &str, data_type: DataType) -> FieldSchema {
    FieldSchema {
        is_clustering_key: true,
        ..field(name, data_type)
    }
}

#[test]
fn fields_that_do_not_go_together_are_refused() {
    let int = DataType::Int64;
    let partition = |name| FieldSchema {
        is_partition_key: true,
        ..field(name, int)
    };
    let second = FieldSchema {
        is_primary_key: true,
        ..field("x", int)
    };
    let numbered = FieldSchema {
        auto_id: true,
        ..field("x", int)
    };
    for (more, code, said) in [
        (
            vec![field("id", int)],
            1100,
            "duplicated field name id found",
        ),
        (
            vec![second],
            1100,
            "more than one primary key, field name = id, x",
        ),
        (
            vec![numbered],
            1100,
            "speficy AutoID with true, field name = x",
        ),
        (
            vec![field("RowID", int)],
            1100,
            "schema contains system field",
        ),
        (
            vec![partition("x"), partition("y")],
            1100,
            "more than one partition key, field name = x, y",
        ),
        (
            vec![key("x", int), key("y", int)],
            105,
            "more than one clustering key, field name = x, y",
        ),
        (
            vec![key("x", DataType::Json)],
            105,
            "clustering key field x has unsupported data type JSON",
        ),
    ] {
        let read = Collection::read(schema(more), &CreateCollectionRequest::default());
        let error = read.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
    let right = Collection::read(schema([key("x", int)]), &CreateCollectionRequest::default());
    assert!(right.is_ok());
}
