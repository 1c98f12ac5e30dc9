//! What is done with rows where no search can do it, stage by stage.

pub(crate) mod budget;
pub(crate) mod eval;
pub(crate) mod fold;
pub(crate) mod frame;
pub(crate) mod join;
pub(crate) mod lookup;
pub(crate) mod members;
pub(crate) mod ranks;
pub(crate) mod rows;
pub(crate) mod running;
pub(crate) mod subquery;
pub(crate) mod window;
