//! Stores of credentials.

#[cfg(feature = "file")]
mod file;
#[cfg(feature = "file")]
mod file_locks;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
#[cfg(all(feature = "file", unix))]
mod process;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::Secret;
use agentwire_mcp_auth::store::{CredentialStore, StoreError};

/// The entry under a key as text.
async fn text(store: &dyn CredentialStore, key: &str) -> Option<String> {
    store.read(key).await.unwrap().map(|entry| entry.expose().to_owned())
}

/// The operation that failed, and the reason.
fn shown(error: &StoreError) -> String {
    WithCauses::new(error).plain()
}

async fn write(store: &dyn CredentialStore, key: &str, text: &str) -> Result<(), StoreError> {
    store.write(key, Some(Secret::new(text))).await
}
