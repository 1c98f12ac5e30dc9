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
        let mut outputs = function.output_field_names.iter();
        // How many it may fill is told with what else is wrong with a function.
        if let (Some(output), None) = (outputs.next(), outputs.next())
            && output != name
        {
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
        let name = &function.name;
        if name.is_empty() {
            return Err(MilvusError::invalid("function name cannot be empty"));
        }
        let kind = FunctionKind::of(function.r#type).ok_or_else(|| {
            MilvusError::Unsupported(format!(
                "function {name} of type {}",
                kind_name(function.r#type)
            ))
        })?;
        if kind.is_of_words() && !function.params.is_empty() {
            return Err(MilvusError::invalid("BM25 function accepts no params"));
        }
        if self.functions.iter().any(|other| other.name == *name) {
            return Err(MilvusError::invalid(format!(
                "duplicate function name: {name}"
            )));
        }
        let ([input], [output]) = (
            &function.input_field_names[..],
            &function.output_field_names[..],
        ) else {
            return Err(MilvusError::invalid(format!(
                "{} function should have exactly one input field and exactly one output field",
                kind.name()
            )));
        };
        let input = self.field_of_function("input", input)?;
        let output = self.field_of_function("output", output)?;
        let params = pairs(function.params);
        match kind {
            FunctionKind::Bm25 => check_input(input)?,
            FunctionKind::MinHash => MinHash::read(&params, input, output).map(|_| ())?,
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

/// Kinds of functions that there are in Milvus and not here, by their numbers and names.
const OTHERS: [(i32, &str); 3] = [(0, "Unknown"), (2, "TextEmbedding"), (3, "Rerank")];

/// What Milvus calls a kind of functions.
fn kind_name(kind: i32) -> String {
    let known = OTHERS.iter().find(|(number, _)| *number == kind);
    known.map_or_else(|| kind.to_string(), |(_, name)| (*name).to_string())
}

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

/// Refuses fields that have no words.
fn check_input(field: &Field) -> Result<()> {
    if field.data_type != DataType::VarChar {
        return Err(MilvusError::invalid(format!(
            "BM25 function input field must be a VARCHAR/TEXT field, got 1 field with type {}",
            field.data_type.name()
        )));
    }
    match field.flag("enable_analyzer") {
        true => Ok(()),
        false => Err(MilvusError::invalid(
            "BM25 function input field must set enable_analyzer to true",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn collection() -> Collection {
        let kept = json!({
            "id": 1, "dynamic": false, "consistency_level": 0, "shards": 1,
            "partitions": {"_default": 1}, "loaded": true, "updated_ms": 0,
            "fields": [
                {"id": 100, "name": "id", "data_type": "Int64", "is_primary": true},
                {"id": 101, "name": "v", "data_type": "FloatVector", "params": {"dim": "2"}},
                {"id": 102, "name": "text", "data_type": "VarChar",
                 "params": {"max_length": "100", "enable_analyzer": "true"}},
            ],
        });
        serde_json::from_value(kept).unwrap()
    }

    #[test]
    fn kinds_of_functions_have_milvus_numbers() {
        for (name, number) in [
            ("BM25", Some(1)),
            ("TextEmbedding", Some(2)),
            ("MinHash", Some(4)),
            ("Guess", None),
            ("", None),
        ] {
            assert_eq!(kind_number(name), number, "{name}");
        }
    }

    #[test]
    fn a_function_that_comes_later_is_of_words_or_signatures() {
        for kind in [0, 2, 3, 99] {
            let function = proto::FunctionSchema {
                name: "made".into(),
                r#type: kind,
                ..proto::FunctionSchema::default()
            };
            let field = Field::named("other", DataType::FloatVector);
            let refused = collection().add_function_field(field, function);
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("only BM25 and MinHash"), "{said}");
        }
    }

    #[test]
    fn a_function_that_comes_later_fills_the_field_that_comes_with_it() {
        let add = |inputs: &[&str], outputs: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| String::from(*name)).collect();
            let function = proto::FunctionSchema {
                name: "words".into(),
                r#type: FunctionKind::Bm25.number(),
                input_field_names: owned(inputs),
                output_field_names: owned(outputs),
                ..proto::FunctionSchema::default()
            };
            let field = Field::named("sparse", DataType::SparseFloatVector);
            collection().add_function_field(field, function)
        };
        assert_eq!(add(&["text"], &["sparse"]), Ok(()));
        let how_many =
            "BM25 function should have exactly one input field and exactly one output field";
        let refusals: [(&[&str], &[&str], &str); 5] = [
            (
                &["text"],
                &["v"],
                "function output field \"v\" must be the newly-added field \"sparse\"",
            ),
            (&["text"], &[], how_many),
            (&["text"], &["sparse", "v"], how_many),
            (&[], &["sparse"], how_many),
            (&["no"], &["sparse"], "function input field not found: no"),
        ];
        for (inputs, outputs, said) in refusals {
            let refused = add(inputs, outputs).unwrap_err();
            assert_eq!(refused.code(), 1100, "{said}");
            assert!(refused.to_string().starts_with(said), "{refused}");
        }
    }
}
