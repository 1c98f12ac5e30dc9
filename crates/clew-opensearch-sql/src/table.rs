//! Rows with their columns, as stages take and give them.

use serde_json::Value;

use crate::error::SqlError;
use crate::fields::SqlType;

/// A column of some rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// What later stages call it.
    pub(crate) name: String,
    /// How it was written, where it was given another name.
    pub(crate) written: Option<String>,
    pub(crate) kind: SqlType,
    /// The name with that of its source before it, where several are joined.
    pub(crate) qualified: Option<String>,
    /// Whether a star leaves it out: it was only fetched for a stage.
    pub(crate) is_hidden: bool,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>, kind: SqlType) -> Self {
        Column {
            name: name.into(),
            written: None,
            qualified: None,
            kind,
            is_hidden: false,
        }
    }
}

/// The columns of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns(pub(crate) Vec<Column>);

impl Columns {
    pub(crate) fn place(&self, name: &str) -> Result<usize, SqlError> {
        let columns = self.0.iter();
        let found = columns.clone().position(|column| column.name == name);
        let found = found.or_else(|| {
            let is_meant = |column: &Column| column.qualified.as_deref() == Some(name);
            columns.clone().position(is_meant)
        });
        found.ok_or_else(|| SqlError::unknown_column(name))
    }

    pub(crate) fn kind(&self, place: usize) -> SqlType {
        self.0
            .get(place)
            .map_or(SqlType::Undefined, |column| column.kind)
    }
}

/// A row's values, by the places of the columns.
pub(crate) type Row = Vec<Value>;

/// Rows with their columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Columns,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// No rows yet.
    pub(crate) fn empty(columns: Columns) -> Self {
        Table {
            columns,
            rows: Vec::new(),
        }
    }
}
