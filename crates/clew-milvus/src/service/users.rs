//! Users: there are none yet, so everybody may do everything.

use super::{Call, Service};
use crate::error::{MilvusError, Result};
use crate::proto::{self, *};

fn unsupported<T>(what: &str) -> Result<T> {
    Err(MilvusError::Unsupported(format!(
        "{what}: there are no users, so that it"
    )))
}

impl Service {
    pub(crate) async fn create_credential(
        &self,
        _: Call,
        _: CreateCredentialRequest,
    ) -> Result<proto::Status> {
        unsupported("CreateCredential")
    }

    pub(crate) async fn update_credential(
        &self,
        _: Call,
        _: UpdateCredentialRequest,
    ) -> Result<proto::Status> {
        unsupported("UpdateCredential")
    }

    pub(crate) async fn delete_credential(
        &self,
        _: Call,
        _: DeleteCredentialRequest,
    ) -> Result<proto::Status> {
        unsupported("DeleteCredential")
    }

    pub(crate) async fn list_cred_users(
        &self,
        _: Call,
        _: ListCredUsersRequest,
    ) -> Result<ListCredUsersResponse> {
        Ok(ListCredUsersResponse::default())
    }

    pub(crate) async fn select_user(
        &self,
        _: Call,
        _: SelectUserRequest,
    ) -> Result<SelectUserResponse> {
        Ok(SelectUserResponse::default())
    }
}
