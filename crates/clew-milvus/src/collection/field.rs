//! One field of a collection: read from what a client sent, checked, and said again.

use std::collections::BTreeMap;

use clew_query::PlanarShape;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::collection::check_warmup;
use crate::collection::data_type::DataType;
use crate::collection::name::NameOf;
use crate::error::{MilvusError, Result};
use crate::instant::{instant_text, parse_instant};
use crate::proto::{self, KeyValuePair, value_field};

/// The primary field of an index that another protocol made.
pub(super) const ID: &str = "_id";
/// The parameter of a text of which only the words are looked for.
pub(super) const TEXT_ALONE: &str = "clew.text_alone";
/// Longest text that a field can ask for, in bytes.
pub(super) const LENGTH_MAX: usize = 65_535;
/// Most elements that an array can ask for.
const CAPACITY_MAX: usize = 4_096;
/// Most dimensions of a vector; those of bits are counted one by one.
const DIMENSION_MAX: usize = 32_768;

/// A field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Field {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    pub(crate) data_type: DataType,
    /// Of what an array's elements are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) element_type: Option<DataType>,
    #[serde(default)]
    pub(crate) is_primary: bool,
    #[serde(default)]
    pub(crate) auto_id: bool,
    #[serde(default)]
    pub(crate) is_partition_key: bool,
    #[serde(default)]
    pub(crate) is_clustering_key: bool,
    #[serde(default)]
    pub(crate) nullable: bool,
    /// Whether a function fills it.
    #[serde(default)]
    pub(crate) is_function_output: bool,
    /// What stands for a value that is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<Value>,
    /// Whether there were rows before it: those have its default in place of a value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_added: bool,
    /// The parameters as they were given: `dim`, `max_length`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) params: BTreeMap<String, String>,
    /// Path in the index, where that is not its name: of what a struct consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

impl Field {
    /// A field that is told of and was never defined: its name and type, and nothing more.
    pub(crate) fn named(name: &str, data_type: DataType) -> Field {
        Field {
            id: 0,
            name: name.to_string(),
            description: String::new(),
            data_type,
            element_type: None,
            is_primary: false,
            auto_id: false,
            is_partition_key: false,
            is_clustering_key: false,
            nullable: false,
            is_function_output: false,
            default: None,
            is_added: false,
            params: BTreeMap::new(),
            path: None,
        }
    }

    /// Its path in the index.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.name)
    }

    /// Whether it is what a struct consists of.
    pub(crate) fn is_part(&self) -> bool {
        self.path.is_some()
    }

    /// Reads a field and checks it by itself.
    ///
    /// # Errors
    /// [`MilvusError::Invalid`] for what breaks Milvus' rules, [`MilvusError::Unsupported`] for types there are none of.
    pub(crate) fn read(field: proto::FieldSchema) -> Result<Field> {
        NameOf::Field.check(&field.name)?;
        let data_type = DataType::known(field.data_type, "data type")?;
        let element_type = match data_type {
            DataType::Array => Some(DataType::element(field.element_type)?),
            _ => None,
        };
        let params = pairs(field.type_params);
        if let Some(data) = field
            .default_value
            .as_ref()
            .and_then(|value| value.data.as_ref())
        {
            check_default_type((field.name.as_str(), data_type), data)?;
        }
        let mut read = Field {
            id: field.field_id,
            name: field.name,
            description: field.description,
            data_type,
            element_type,
            is_primary: field.is_primary_key,
            auto_id: field.auto_id,
            is_partition_key: field.is_partition_key,
            is_clustering_key: field.is_clustering_key,
            nullable: field.nullable,
            is_function_output: field.is_function_output,
            default: field.default_value.and_then(default_of),
            is_added: false,
            params,
            path: None,
        };
        read.check()?;
        read.settle_shape()?;
        Ok(read)
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_warmup(&self.params)?;
        let name = &self.name;
        match self.data_type {
            DataType::VarChar => {
                self.max_length()?;
            }
            DataType::Array => self.check_array()?,
            DataType::SparseFloatVector if self.params.contains_key("dim") => {
                return Err(MilvusError::invalid(format!(
                    "dim should not be specified for sparse vector field {name}({})",
                    self.id
                )));
            }
            _ if self.data_type.is_dense_vector() => {
                self.dimension()?;
            }
            _ => {}
        }
        if self.is_primary {
            if !matches!(self.data_type, DataType::Int64 | DataType::VarChar) {
                return Err(MilvusError::invalid(format!(
                    "the data type of primary key should be Int64 or VarChar, but field {name} is {}",
                    self.data_type.name()
                )));
            }
            if self.nullable {
                return Err(MilvusError::invalid("primary field not support null"));
            }
            if self.default.is_some() {
                return Err(MilvusError::invalid(
                    "primary field not support default_value",
                ));
            }
        }
        if self.is_partition_key && self.is_primary {
            return Err(MilvusError::invalid(
                "the partition key field must not be primary field",
            ));
        }
        if self.is_partition_key && self.nullable {
            return Err(MilvusError::invalid(
                "partition key field not support nullable",
            ));
        }
        if self.is_partition_key && !matches!(self.data_type, DataType::Int64 | DataType::VarChar) {
            return Err(MilvusError::invalid(format!(
                "the data type of partition key should be Int64 or VarChar, but field {name} is {}",
                self.data_type.name()
            )));
        }
        if self.default.is_some()
            && (self.data_type.is_vector()
                || matches!(self.data_type, DataType::Json | DataType::Array))
        {
            return Err(MilvusError::invalid(format!(
                "type not support default_value, type:{}, name:{name}",
                self.data_type.name()
            )));
        }
        if self.flag("enable_match") && !self.flag("enable_analyzer") {
            return Err(MilvusError::invalid(format!(
                "field {name} which has enable_match or is input of BM25 function must also enable_analyzer"
            )));
        }
        self.check_default()
    }

    /// Brings a default value that is a shape into the one way of writing that rows have.
    fn settle_shape(&mut self) -> Result<()> {
        if self.data_type != DataType::Geometry {
            return Ok(());
        }
        if let Some(default) = &self.default {
            let read = default.as_str().map(PlanarShape::read);
            let Some(Ok(shape)) = read else {
                let said = "invalid default value for geometry field";
                return Err(MilvusError::invalid(said));
            };
            self.default = Some(shape.text().into());
        }
        Ok(())
    }

    /// Refuses a default value that no row could have.
    fn check_default(&self) -> Result<()> {
        let Some(default) = &self.default else {
            return Ok(());
        };
        let number = default.as_i64();
        if let (Some((min, max)), Some(number)) = (self.data_type.integer_limits(), number)
            && !(min..=max).contains(&number)
        {
            return Err(MilvusError::invalid(format!(
                "default value out of range: invalid parameter[{number} out of range {min} <= value <= {max}]"
            )));
        }
        let length = default.as_str().map_or(0, str::len);
        if self.data_type == DataType::VarChar && length > self.max_length()? {
            return Err(MilvusError::invalid(format!(
                "the length ({length}) of string exceeds max length ({}): invalid parameter[expected=valid length string][actual=string length exceeds max length]",
                self.max_length()?
            )));
        }
        Ok(())
    }

    fn check_array(&self) -> Result<()> {
        let element = self.element_type;
        let scalar = |element: DataType| {
            !element.is_vector()
                && !matches!(
                    element,
                    DataType::Array | DataType::Json | DataType::Geometry | DataType::Timestamptz
                )
        };
        if !element.is_some_and(scalar) {
            return Err(MilvusError::invalid(format!(
                "element type {} is not supported, field name: {}",
                element.map_or("None", DataType::name),
                self.name
            )));
        }
        self.max_capacity()?;
        if element == Some(DataType::VarChar) {
            self.max_length()?;
        }
        Ok(())
    }

    /// Longest text, in bytes.
    pub(crate) fn max_length(&self) -> Result<usize> {
        self.number("max_length", (1, LENGTH_MAX))
    }

    /// Most elements.
    pub(crate) fn max_capacity(&self) -> Result<usize> {
        self.number("max_capacity", (1, CAPACITY_MAX))
    }

    /// Dimensions of a dense vector.
    pub(crate) fn dimension(&self) -> Result<usize> {
        match self.data_type {
            DataType::BinaryVector => {
                let bits = self.number("dim", (2, DIMENSION_MAX))?;
                match bits.is_multiple_of(8) {
                    true => Ok(bits),
                    false => Err(MilvusError::invalid(format!(
                        "invalid dimension: {bits} of field {}. binary vector dimension should be multiple of 8. ",
                        self.name
                    ))),
                }
            }
            _ => self.number("dim", (2, DIMENSION_MAX)),
        }
    }

    /// A parameter that must be a number within bounds.
    fn number(&self, param: &str, (min, max): (usize, usize)) -> Result<usize> {
        let name = &self.name;
        let Some(given) = self.params.get(param) else {
            return Err(match param {
                "dim" => MilvusError::invalid(format!(
                    "dimension is not defined in field type params of field {name}, check type param `dim` for vector field"
                )),
                "max_capacity" => MilvusError::Missing(format!(
                    "type param({param}) should be specified for array field {name}"
                )),
                _ => MilvusError::Missing(format!(
                    "type param({param}) should be specified for the field({name})"
                )),
            });
        };
        let number: Option<usize> = given.parse().ok();
        let is_whole = given.parse::<i64>().is_ok();
        number
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| {
                MilvusError::invalid(match (param, is_whole) {
                    ("max_capacity", false) => {
                        format!("the value for max_capacity of field {name} must be an integer")
                    }
                    (_, false) => format!("strconv.ParseInt: parsing {given:?}: invalid syntax"),
                    ("max_length", _) => format!(
                        "the maximum length specified for the field({name}) should be in (0, {max}], but got {given} instead"
                    ),
                    ("max_capacity", _) => format!(
                        "the maximum capacity specified for a Array should be in (0, {max}]"
                    ),
                    _ if number.is_none_or(|number| number < 2) => {
                        format!("invalid dimension: {given}. should be in range 2 ~ {max}")
                    }
                    _ => format!(
                        "invalid dimension: {given} of field {name}. {} vector dimension should be in range {min} ~ {max}",
                        if self.data_type == DataType::BinaryVector { "binary" } else { "float" }
                    ),
                })
            })
    }

    /// Whether its values are texts, or lists of them.
    pub(crate) fn has_texts(&self) -> bool {
        self.element_type.unwrap_or(self.data_type) == DataType::VarChar
    }

    /// Whether a parameter is set: `true`, in any case.
    pub(crate) fn flag(&self, param: &str) -> bool {
        let given = self.params.get(param);
        given.is_some_and(|given| given.eq_ignore_ascii_case("true"))
    }

    /// What stands for a value in rows from before the field.
    pub(crate) fn added_default(&self) -> Option<&Value> {
        self.default.as_ref().filter(|_| self.is_added)
    }

    /// Whether it stands for the words of another field, and rows have nothing of its own.
    pub(crate) fn is_of_words(&self) -> bool {
        self.is_function_output && self.data_type == DataType::SparseFloatVector
    }

    /// Whether it is the id of the document itself, and no member of it.
    pub(crate) fn is_document_id(&self) -> bool {
        self.is_primary && self.name == ID
    }

    /// Whether only its words are looked for: a text of an index that another protocol made.
    pub(crate) fn is_text_alone(&self) -> bool {
        self.params.contains_key(TEXT_ALONE)
    }

    /// The field as clients are told of it.
    pub(crate) fn described(&self, zone: &TimeZone) -> proto::FieldSchema {
        proto::FieldSchema {
            field_id: self.id,
            name: self.name.clone(),
            description: self.description.clone(),
            data_type: self.data_type.number(),
            element_type: self.element_type.map_or(0, DataType::number),
            is_primary_key: self.is_primary,
            auto_id: self.auto_id,
            is_partition_key: self.is_partition_key,
            is_clustering_key: self.is_clustering_key,
            nullable: self.nullable,
            is_function_output: self.is_function_output,
            default_value: self
                .default
                .as_ref()
                .map(|value| self.said_default(value, zone)),
            type_params: key_values(&self.params),
            ..proto::FieldSchema::default()
        }
    }

    /// Reads a default value that is an instant, of which the collection says the zone.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn settle_default(&mut self, zone: &TimeZone) -> Result<()> {
        if self.data_type == DataType::Timestamptz
            && let Some(Value::String(text)) = &self.default
        {
            self.default = Some(parse_instant(text, zone)?.into());
        }
        Ok(())
    }

    fn said_default(&self, value: &Value, zone: &TimeZone) -> proto::ValueField {
        use value_field::Data;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "it came as a number of that width"
        )]
        let data = match self.data_type {
            DataType::Bool => value.as_bool().map(Data::BoolData),
            DataType::Int8 | DataType::Int16 | DataType::Int32 => {
                value.as_i64().map(|number| Data::IntData(number as i32))
            }
            DataType::Int64 => value.as_i64().map(Data::LongData),
            DataType::Timestamptz => value
                .as_i64()
                .map(|micros| Data::StringData(instant_text(micros, zone))),
            DataType::Float => value.as_f64().map(|number| Data::FloatData(number as f32)),
            DataType::Double => value.as_f64().map(Data::DoubleData),
            _ => value
                .as_str()
                .map(|text| Data::StringData(text.to_string())),
        };
        proto::ValueField { data }
    }
}

/// Refuses a default value of another type than the field's; what kind of whole number it came as is no matter.
fn check_default_type((name, data_type): (&str, DataType), data: &value_field::Data) -> Result<()> {
    use value_field::Data;
    let is_integer = data_type.is_integer();
    let is_float = data_type.is_float();
    let is_instant = data_type == DataType::Timestamptz;
    let (fits, kind) = match data {
        Data::BoolData(_) => (data_type == DataType::Bool, "Bool"),
        Data::IntData(_) => (is_integer, "Int"),
        Data::LongData(_) => (is_integer, "Int64"),
        Data::TimestamptzData(_) => (is_instant, "Timestamptz"),
        Data::FloatData(_) => (is_float, "Float"),
        Data::DoubleData(_) => (is_float, "Double"),
        Data::StringData(_) => (data_type == DataType::VarChar || is_instant, "VarChar"),
        Data::BytesData(_) => return Ok(()),
    };
    // Of types that have no default, and of shapes, it is said what is wrong with them.
    let has_none = data_type.is_vector()
        || matches!(
            data_type,
            DataType::Json | DataType::Array | DataType::Geometry
        );
    match fits || has_none {
        true => Ok(()),
        false => Err(MilvusError::invalid(format!(
            "type ({}) of field ({name}) is not equal to the type(DataType_{kind}) of default_value: invalid parameter",
            data_type.name()
        ))),
    }
}

/// A value as it is kept; none where nothing was given, or what no field can begin with.
fn default_of(value: proto::ValueField) -> Option<Value> {
    use value_field::Data;
    Some(match value.data? {
        Data::BoolData(value) => value.into(),
        Data::IntData(value) => value.into(),
        Data::LongData(value) | Data::TimestamptzData(value) => value.into(),
        Data::FloatData(value) => f64::from(value).into(),
        Data::DoubleData(value) => value.into(),
        Data::StringData(value) => value.into(),
        Data::BytesData(_) => return None,
    })
}

/// Pairs as a map; of several with one key the last counts.
pub(crate) fn pairs(pairs: Vec<KeyValuePair>) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|pair| (pair.key, pair.value))
        .collect()
}

/// A map as pairs.
pub(crate) fn key_values(map: &BTreeMap<String, String>) -> Vec<KeyValuePair> {
    let pair = |(key, value): (&String, &String)| KeyValuePair {
        key: key.clone(),
        value: value.clone(),
    };
    map.iter().map(pair).collect()
}

#[cfg(test)]
mod tests;
