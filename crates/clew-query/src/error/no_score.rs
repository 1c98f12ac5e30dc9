//! What a document has and no score can be made of, on its way through tantivy, which knows errors of its own alone.

use std::io;

use super::query::QueryError;

/// A document matches, and what a query makes of it is no score. It becomes [`QueryError::Illegal`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoScore(pub String);

impl From<NoScore> for tantivy::TantivyError {
    fn from(refusal: NoScore) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, refusal).into()
    }
}

impl From<tantivy::TantivyError> for QueryError {
    fn from(error: tantivy::TantivyError) -> Self {
        if let tantivy::TantivyError::IoError(inner) = &error
            && let Some(inside) = inner.get_ref()
            && let Some(NoScore(reason)) = inside.downcast_ref::<NoScore>()
        {
            return QueryError::illegal(reason.as_str());
        }
        QueryError::Index(error)
    }
}

#[cfg(test)]
mod tests {
    use tantivy::TantivyError;

    use super::*;

    #[test]
    fn what_is_no_score_is_told_as_the_request_that_it_makes_senseless() {
        let refused = QueryError::from(TantivyError::from(NoScore("too low".to_string())));
        assert!(matches!(refused, QueryError::Illegal { reason } if reason == "too low"));
        let unread = TantivyError::from(io::Error::other("disk"));
        assert!(matches!(QueryError::from(unread), QueryError::Index(_)));
    }
}
