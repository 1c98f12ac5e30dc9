//! Statements of SQL and PPL: from their words to a plan, in the terms that both languages have in common.

pub(crate) mod calls;
pub(crate) mod deletion;
pub(crate) mod expr;
pub(crate) mod frame;
pub(crate) mod grok;
pub(crate) mod highlight;
pub(crate) mod lex;
pub(crate) mod lookup;
pub(crate) mod nested;
pub(crate) mod order;
pub(crate) mod parser;
pub(crate) mod plan;
pub(crate) mod ppl;
pub(crate) mod ppl_join;
pub(crate) mod ppl_stats;
pub(crate) mod select;
pub(crate) mod sources;
pub(crate) mod subquery;
pub(crate) mod unions;
pub(crate) mod window;
pub(crate) mod words;
