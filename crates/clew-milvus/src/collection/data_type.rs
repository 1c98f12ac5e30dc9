//! The types of fields, by Milvus' numbers.

use serde::{Deserialize, Serialize};

use crate::error::{MilvusError, Result};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DataType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Float,
    Double,
    VarChar,
    Array,
    Json,
    Geometry,
    Timestamptz,
    BinaryVector,
    FloatVector,
    Float16Vector,
    BFloat16Vector,
    SparseFloatVector,
    Int8Vector,
}

/// Every type that fields may have, by its number, and its name in clients' errors.
const TYPES: [(DataType, i32, &str); 18] = [
    (DataType::Bool, 1, "Bool"),
    (DataType::Int8, 2, "Int8"),
    (DataType::Int16, 3, "Int16"),
    (DataType::Int32, 4, "Int32"),
    (DataType::Int64, 5, "Int64"),
    (DataType::Float, 10, "Float"),
    (DataType::Double, 11, "Double"),
    (DataType::VarChar, 21, "VarChar"),
    (DataType::Array, 22, "Array"),
    (DataType::Json, 23, "JSON"),
    (DataType::Geometry, 24, "Geometry"),
    (DataType::Timestamptz, 26, "Timestamptz"),
    (DataType::BinaryVector, 100, "BinaryVector"),
    (DataType::FloatVector, 101, "FloatVector"),
    (DataType::Float16Vector, 102, "Float16Vector"),
    (DataType::BFloat16Vector, 103, "BFloat16Vector"),
    (DataType::SparseFloatVector, 104, "SparseFloatVector"),
    (DataType::Int8Vector, 105, "Int8Vector"),
];

/// The number of no type.
const NONE: i32 = 0;
/// The number of a type that Milvus names and no field there can be of.
const STRING: i32 = 20;

/// The names of types that Milvus has and fields here cannot be of.
const UNSUPPORTED: [(i32, &str); 6] = [
    (STRING, "String"),
    (25, "Text"),
    (27, "Mol"),
    (106, "ArrayOfVector"),
    (200, "ArrayOfStruct"),
    (201, "Struct"),
];

impl DataType {
    /// The type of a number.
    pub(crate) fn of(number: i32) -> Option<DataType> {
        let mut types = TYPES.iter();
        types.find(|row| row.1 == number).map(|row| row.0)
    }

    /// The type of a number that a client gave for `what`.
    ///
    /// # Errors
    /// [`MilvusError::Invalid`] for what is no type to Milvus either, [`MilvusError::Unsupported`] for its others.
    pub(crate) fn known(number: i32, what: &str) -> Result<DataType> {
        DataType::of(number).ok_or_else(|| match number {
            NONE => MilvusError::invalid(format!("{what} None is not valid")),
            STRING => MilvusError::invalid(
                "string data type not supported yet, please use VarChar type instead",
            ),
            _ if UNSUPPORTED.iter().any(|row| row.0 == number) => {
                MilvusError::Unsupported(DataType::name_of_unsupported(number))
            }
            _ => MilvusError::expected(
                "Invalid field",
                format!("field data type: {number} is not supported"),
            ),
        })
    }

    /// The type of a number that a client gave for the elements of arrays, of which there are no others in Milvus either.
    ///
    /// # Errors
    /// [`MilvusError::Invalid`] for any other.
    pub(crate) fn element(number: i32) -> Result<DataType> {
        if matches!(number, NONE | STRING) {
            return DataType::known(number, "element data type");
        }
        DataType::of(number).ok_or_else(|| {
            let name = DataType::name_of_unsupported(number);
            MilvusError::invalid(format!("element type {name} is not supported"))
        })
    }

    /// The type of a name, as the RESTful API writes it.
    pub(crate) fn named(name: &str) -> Option<DataType> {
        let mut types = TYPES.iter();
        types.find(|row| row.2 == name).map(|row| row.0)
    }

    /// The number of a type by its name, whether fields here can be of it or not.
    pub(crate) fn number_of(name: &str) -> Option<i32> {
        let mut others = UNSUPPORTED.into_iter().chain([(NONE, "None")]);
        let other = || others.find(|row| row.1 == name).map(|row| row.0);
        DataType::named(name).map(DataType::number).or_else(other)
    }

    /// What a number is called that is none of these.
    pub(crate) fn name_of_unsupported(number: i32) -> String {
        let known = UNSUPPORTED.iter().find(|row| row.0 == number);
        known.map_or_else(|| number.to_string(), |row| row.1.to_string())
    }

    pub(crate) fn number(self) -> i32 {
        self.row().1
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> &'static (DataType, i32, &'static str) {
        let mut types = TYPES.iter();
        let found = types.find(|row| row.0 == self);
        found.expect("every type has a row")
    }

    pub(crate) fn is_vector(self) -> bool {
        self.number() >= DataType::BinaryVector.number()
    }

    pub(crate) fn is_dense_vector(self) -> bool {
        self.is_vector() && self != DataType::SparseFloatVector
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(
            self,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
        )
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, DataType::Float | DataType::Double)
    }

    pub(crate) fn is_number(self) -> bool {
        self.is_integer() || self.is_float()
    }

    /// Least and greatest value of a whole number.
    pub(crate) fn integer_limits(self) -> Option<(i64, i64)> {
        Some(match self {
            DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
            DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
            DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
            DataType::Int64 => (i64::MIN, i64::MAX),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_number_and_name() {
        for (data_type, number, name) in TYPES {
            assert_eq!(DataType::of(number), Some(data_type));
            assert_eq!(DataType::named(name), Some(data_type));
            assert_eq!((data_type.number(), data_type.name()), (number, name));
        }
        assert_eq!(DataType::of(200), None);
        assert_eq!(DataType::named("VARCHAR"), None);
        assert_eq!(DataType::name_of_unsupported(25), "Text");
        for (name, number) in [
            ("Int8", Some(2)),
            ("None", Some(0)),
            ("String", Some(20)),
            ("ArrayOfVector", Some(106)),
            ("string", None),
            ("", None),
        ] {
            assert_eq!(DataType::number_of(name), number, "{name}");
        }
    }

    #[test]
    fn what_is_no_type_is_told_from_what_is_none_here() {
        for (number, code, said) in [
            (NONE, 1100, "data type None is not valid"),
            (STRING, 1100, "please use VarChar type instead"),
            (25, 3000, "Text is not supported"),
            (1001, 1100, "field data type: 1001 is not supported"),
        ] {
            let error = DataType::known(number, "data type").unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
        for (number, said) in [
            (NONE, "element data type None is not valid"),
            (STRING, "please use VarChar type instead"),
            (25, "element type Text is not supported"),
            (1001, "element type 1001 is not supported"),
        ] {
            let error = DataType::element(number).unwrap_err();
            assert_eq!(error.code(), 1100, "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
