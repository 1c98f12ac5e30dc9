//! Steps: what each kind of processor makes of one document by itself. A file reads the members of its step's definition
//! and applies it.

pub(crate) mod chunking;
pub(crate) mod community_id;
pub(crate) mod convert;
pub(crate) mod dates;
pub(crate) mod dissect;
pub(crate) mod fields;
pub(crate) mod fingerprint;
pub(crate) mod geoip;
pub(crate) mod given;
pub(crate) mod grok;
pub(crate) mod index_name;
pub(crate) mod json;
pub(crate) mod script;
pub(crate) mod structured;
pub(crate) mod user_agent;
pub(crate) mod values;
