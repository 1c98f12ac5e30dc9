//! What indexes and fields there are, as rows: `SHOW TABLES` and `DESCRIBE`.

use serde_json::Value;

use crate::fields::{Fields, SqlType};
use crate::functions::like::like;
use crate::table::{Column, Columns, Row, Table};

/// The catalog that every index is in.
pub(super) struct Catalog<'n> {
    pub(super) cluster: &'n str,
}

const TABLES: &[&str] = &[
    "TABLE_CAT",
    "TABLE_SCHEM",
    "TABLE_NAME",
    "TABLE_TYPE",
    "REMARKS",
    "TYPE_CAT",
    "TYPE_SCHEM",
    "TYPE_NAME",
    "SELF_REFERENCING_COL_NAME",
    "REF_GENERATION",
];

const COLUMNS: &[&str] = &[
    "TABLE_CAT",
    "TABLE_SCHEM",
    "TABLE_NAME",
    "COLUMN_NAME",
    "DATA_TYPE",
    "TYPE_NAME",
    "COLUMN_SIZE",
    "BUFFER_LENGTH",
    "DECIMAL_DIGITS",
    "NUM_PREC_RADIX",
    "NULLABLE",
    "REMARKS",
    "COLUMN_DEF",
    "SQL_DATA_TYPE",
    "SQL_DATETIME_SUB",
    "CHAR_OCTET_LENGTH",
    "ORDINAL_POSITION",
    "IS_NULLABLE",
    "SCOPE_CATALOG",
    "SCOPE_SCHEMA",
    "SCOPE_TABLE",
    "SOURCE_DATA_TYPE",
    "IS_AUTOINCREMENT",
    "IS_GENERATEDCOLUMN",
];

/// Those of the columns that are numbers.
const NUMBERS: &[&str] = &[
    "DATA_TYPE",
    "NUM_PREC_RADIX",
    "NULLABLE",
    "SQL_DATA_TYPE",
    "SQL_DATETIME_SUB",
    "CHAR_OCTET_LENGTH",
    "ORDINAL_POSITION",
    "SOURCE_DATA_TYPE",
];

impl Catalog<'_> {
    /// The only source of tables that there is.
    pub(super) fn sources() -> Table {
        Table {
            columns: columns(&["DATASOURCE_NAME", "CONNECTOR_TYPE"]),
            rows: vec![vec!["@opensearch".into(), "OPENSEARCH".into()]],
        }
    }

    /// The tables of these names.
    pub(super) fn tables(&self, names: impl Iterator<Item = String>) -> Table {
        let row = |name: String| {
            row(
                TABLES,
                &[
                    ("TABLE_CAT", self.cluster.into()),
                    ("TABLE_NAME", name.into()),
                    ("TABLE_TYPE", "BASE TABLE".into()),
                ],
            )
        };
        Table {
            columns: columns(TABLES),
            rows: names.map(row).collect(),
        }
    }

    /// The fields of a table whose names are like a pattern.
    pub(super) fn fields(&self, table: &str, fields: &Fields, pattern: &str) -> Table {
        let numbered = fields.all().enumerate();
        let wanted = numbered.filter(|(_, (name, _))| like(name, pattern));
        let row = |(position, (name, kind)): (usize, (&str, SqlType))| {
            row(
                COLUMNS,
                &[
                    ("TABLE_CAT", self.cluster.into()),
                    ("TABLE_NAME", table.into()),
                    ("COLUMN_NAME", name.into()),
                    ("TYPE_NAME", kind.name().into()),
                    ("NUM_PREC_RADIX", 10.into()),
                    ("NULLABLE", 2.into()),
                    ("ORDINAL_POSITION", position.into()),
                    ("IS_NULLABLE", "".into()),
                    ("IS_AUTOINCREMENT", "NO".into()),
                    ("IS_GENERATEDCOLUMN", "".into()),
                ],
            )
        };
        Table {
            columns: columns(COLUMNS),
            rows: wanted.map(row).collect(),
        }
    }
}

fn columns(names: &[&str]) -> Columns {
    let kind = |name: &str| {
        if NUMBERS.contains(&name) {
            SqlType::Integer
        } else {
            SqlType::Keyword
        }
    };
    Columns(
        names
            .iter()
            .map(|name| Column::new(*name, kind(name)))
            .collect(),
    )
}

fn row(names: &[&str], known: &[(&str, Value)]) -> Row {
    let value = |name: &&str| {
        let found = known.iter().find(|(known, _)| known == name);
        found.map_or(Value::Null, |(_, value)| value.clone())
    };
    names.iter().map(value).collect()
}
