//! Functions: fields that are filled from others. There are two kinds: one scores words, the other makes signatures of texts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::min_hash::MinHash;
use super::{Collection, DataType, FIRST_FIELD_ID, Field, key_values, pairs};
use crate::error::{MilvusError, Result};
use crate::proto;

/// What a function makes of its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FunctionKind {
    /// Scores of words, which nothing is kept of: the input itself is searched.
    #[default]
    Bm25,
    /// Signatures, kept as vectors.
    MinHash,
}

impl FunctionKind {
    const ALL: [FunctionKind; 2] = [FunctionKind::Bm25, FunctionKind::MinHash];

    fn of(number: i32) -> Option<FunctionKind> {
        let mut all = FunctionKind::ALL.into_iter();
        all.find(|kind| kind.number() == number)
    }

    /// The kind of a name, in any case.
    pub(crate) fn named(name: &str) -> Option<FunctionKind> {
        let mut all = FunctionKind::ALL.into_iter();
        all.find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Milvus' number.
    pub(crate) fn number(self) -> i32 {
        match self {
            FunctionKind::Bm25 => 1,
            FunctionKind::MinHash => 4,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            FunctionKind::Bm25 => "BM25",
            FunctionKind::MinHash => "MinHash",
        }
    }

    fn is_of_words(&self) -> bool {
        *self == FunctionKind::Bm25
    }

    /// What is said of fields that are not the one of texts that it reads.
    fn wrong_inputs(self, fields: &[&Field]) -> MilvusError {
        let texts = match self {
            FunctionKind::Bm25 => "VARCHAR/TEXT",
            FunctionKind::MinHash => "VARCHAR",
        };
        MilvusError::invalid(format!(
            "{} function input field must be a {texts} field, got {} field with type {}",
            self.name(),
            fields.len(),
            fields.first().map_or("", |field| field.data_type.name())
        ))
    }
}

/// A function that fills a field from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "FunctionKind::is_of_words")]
    pub(crate) kind: FunctionKind,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) params: BTreeMap<String, String>,
}

impl Collection {
    /// Adds a function to a new collection.
    ///
    /// # Errors
    /// For what is no function of words, and names and fields that it cannot have.
    pub(super) fn add_function(&mut self, function: proto::FunctionSchema, id: i64) -> Result<()> {
        let function = self.read_function(function, id)?;
        let mut fields = self.fields.iter_mut();
        if let Some(field) = fields.find(|field| function.outputs.contains(&field.name)) {
            field.is_function_output = true;
        }
        self.functions.push(function);
        Ok(())
    }

    /// Adds a function to a collection that is there, and the field that it fills.
    ///
    /// # Errors
    /// As for a new collection, and when the function fills another field.
    pub(crate) fn add_function_field(
        &mut self,
        mut field: Field,
        function: proto::FunctionSchema,
    ) -> Result<()> {
        let kind = FunctionKind::of(function.r#type).ok_or_else(|| {
            MilvusError::invalid(
                "For now, only BM25 and MinHash functions are supported in add_function_field interface",
            )
        })?;
        let name = &field.name;
        if self.fields.iter().any(|own| own.name == *name) {
            return Err(MilvusError::invalid(format!(
                "duplicated field name {name}"
            )));
        }
        self.check_not_dropped(name)?;
        if kind == FunctionKind::MinHash {
            return Err(MilvusError::Unsupported(format!(
                "function {} of type MinHash, which is added later,",
                function.name
            )));
        }
        let ([_], [output]) = (
            &function.input_field_names[..],
            &function.output_field_names[..],
        ) else {
            return Err(MilvusError::invalid(
                "BM25 function should have exactly one input field and exactly one output field",
            ));
        };
        if output != name {
            return Err(MilvusError::invalid(format!(
                "function output field \"{output}\" must be the newly-added field \"{name}\""
            )));
        }
        field.id = self.last_id() + 1;
        self.fields.push(field);
        let ids = self.functions.iter().map(|own| own.id);
        let id = ids.max().map_or(FIRST_FIELD_ID, |last| last + 1);
        self.add_function(function, id)?;
        self.check_fields()
    }

    fn read_function(&self, function: proto::FunctionSchema, id: i64) -> Result<Function> {
        check_names(&function)?;
        let name = &function.name;
        let kind = FunctionKind::of(function.r#type).ok_or_else(|| match function.r#type {
            TEXT_EMBEDDING => {
                MilvusError::Unsupported(format!("function {name} of type TextEmbedding"))
            }
            _ => MilvusError::invalid("check function params with unknown function type"),
        })?;
        if kind.is_of_words() && !function.params.is_empty() {
            return Err(MilvusError::invalid("BM25 function accepts no params"));
        }
        if self.functions.iter().any(|other| other.name == *name) {
            return Err(MilvusError::invalid(format!(
                "duplicate function name: {name}"
            )));
        }
        let inputs = self.fields_of_function("input", &function.input_field_names)?;
        let input = match inputs[..] {
            [input] if input.data_type == DataType::VarChar => input,
            _ => return Err(kind.wrong_inputs(&inputs)),
        };
        if kind.is_of_words() && !input.flag("enable_analyzer") {
            return Err(MilvusError::invalid(
                "BM25 function input field must set enable_analyzer to true",
            ));
        }
        let outputs = self.fields_of_function("output", &function.output_field_names)?;
        let [output] = outputs[..] else {
            return Err(MilvusError::invalid(format!(
                "{} function only need 1 output field, but got {}",
                kind.name(),
                outputs.len()
            )));
        };
        let params = pairs(function.params);
        if kind == FunctionKind::MinHash {
            MinHash::read(&params, input, output)?;
        }
        self.check_output((name, kind), output)?;
        Ok(Function {
            id,
            name: function.name.clone(),
            kind,
            description: function.description,
            inputs: function.input_field_names,
            outputs: function.output_field_names,
            params,
        })
    }

    /// What makes the signatures that a field has, and the field of texts that they are of.
    ///
    /// # Errors
    /// Where what was kept of the function is none any more.
    pub(crate) fn signatures_of(&self, field: &Field) -> Result<Option<(&Field, MinHash)>> {
        let function = self.function_of(&field.name);
        let Some(function) = function.filter(|function| !function.kind.is_of_words()) else {
            return Ok(None);
        };
        let input = function.inputs.first().map_or("", String::as_str);
        let input = self.field_of_function("input", input)?;
        let made = MinHash::read(&function.params, input, field)?;
        Ok(Some((input, made)))
    }

    fn fields_of_function(&self, kind: &str, names: &[String]) -> Result<Vec<&Field>> {
        let fields = names.iter();
        fields
            .map(|name| self.field_of_function(kind, name))
            .collect()
    }

    fn field_of_function(&self, kind: &str, name: &str) -> Result<&Field> {
        let mut fields = self.fields.iter();
        fields
            .find(|field| field.name == name)
            .ok_or_else(|| MilvusError::invalid(format!("function {kind} field not found: {name}")))
    }

    /// Refuses fields that a function cannot fill.
    fn check_output(&self, (function, kind): (&str, FunctionKind), field: &Field) -> Result<()> {
        let name = &field.name;
        let what = match field {
            Field {
                is_primary: true, ..
            } => "primary key",
            Field {
                is_partition_key: true,
                ..
            }
            | Field {
                is_clustering_key: true,
                ..
            } => "partition key or clustering key",
            Field { nullable: true, .. } => "nullable",
            _ if self.function_of(name).is_some() => {
                return Err(MilvusError::invalid(format!(
                    "duplicate function output field: function {function}, field {name}"
                )));
            }
            _ if kind.is_of_words() && field.data_type != DataType::SparseFloatVector => {
                return Err(MilvusError::invalid(format!(
                    "BM25 function output field must be a SparseFloatVector field, but got {}",
                    field.data_type.name()
                )));
            }
            _ => return Ok(()),
        };
        Err(MilvusError::invalid(format!(
            "function output field cannot be {what}: function {function}, field {name}"
        )))
    }

    /// The function that fills a field.
    pub(crate) fn function_of(&self, field: &str) -> Option<&Function> {
        let mut functions = self.functions.iter();
        functions.find(|function| function.outputs.iter().any(|output| output == field))
    }

    pub(super) fn described_function(&self, function: &Function) -> proto::FunctionSchema {
        let ids = |names: &[String]| {
            let ids = names.iter().filter_map(|name| self.field(name).ok());
            ids.map(|field| field.id).collect()
        };
        proto::FunctionSchema {
            name: function.name.clone(),
            id: function.id,
            description: function.description.clone(),
            r#type: function.kind.number(),
            input_field_ids: ids(&function.inputs),
            input_field_names: function.inputs.clone(),
            output_field_ids: ids(&function.outputs),
            output_field_names: function.outputs.clone(),
            params: key_values(&function.params),
        }
    }
}

/// The number of functions that make vectors of texts by a model.
const TEXT_EMBEDDING: i32 = 2;

/// Kinds of functions that there are in Milvus and not here, by their numbers and names.
const OTHERS: [(i32, &str); 3] = [
    (0, "Unknown"),
    (TEXT_EMBEDDING, "TextEmbedding"),
    (3, "Rerank"),
];

/// Milvus' number of a kind of functions, whether there are any here or not.
pub(crate) fn kind_number(name: &str) -> Option<i32> {
    let other = || {
        let known = OTHERS.iter().find(|(_, own)| *own == name);
        known.map(|(number, _)| *number)
    };
    FunctionKind::named(name)
        .map(FunctionKind::number)
        .or_else(other)
}

/// Refuses a function without a name, and fields that it names twice, as both of its ends, or not at all.
fn check_names(function: &proto::FunctionSchema) -> Result<()> {
    let name = &function.name;
    if name.is_empty() {
        return Err(MilvusError::missing("function name cannot be empty"));
    }
    let ends = [
        ("input", &function.input_field_names),
        ("output", &function.output_field_names),
    ];
    if let Some((end, _)) = ends.iter().find(|(_, fields)| fields.is_empty()) {
        return Err(MilvusError::missing(format!(
            "function {end} field names cannot be empty, function: {name}"
        )));
    }
    let mut named = BTreeMap::new();
    for (end, fields) in ends {
        for field in fields {
            if field.is_empty() {
                return Err(MilvusError::missing(format!(
                    "function {end} field name cannot be empty string, function: {name}"
                )));
            }
            let refused = match named.insert(field, end) {
                None => continue,
                Some(other) if other == end => format!(
                    "each function {end} field should be used exactly once in the same function, function: {name}, {end} field: {field}"
                ),
                Some(_) => format!(
                    "a single field cannot be both input and output in the same function, function: {name}, field: {field}"
                ),
            };
            return Err(MilvusError::Invalid(refused));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
