//! What must hold in particular.
