//! Filter expressions: from their text to a query.
