//! Credentials for MCP in a file that is sealed with a key from the system's keyring.
//!
//! [`KeyringStore`] is a [`CredentialStore`](agentwire_mcp_auth::store::CredentialStore). The program chooses the keyring, with
//! a store crate of [`keyring_core`]: `apple-native-keyring-store`, `windows-native-keyring-store`,
//! `zbus-secret-service-keyring-store`, `linux-keyutils-keyring-store`.
//!
//! ```
//! use agentwire_mcp_auth_keyring::KeyringStore;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("credentials.json");
//!
//! // A program names the store of its system here.
//! let keyring = keyring_core::mock::Store::new()?;
//! let store = KeyringStore::open(keyring, "example-program", path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why the entries are not in the keyring themselves
//!
//! The keyring holds one short key. Keyrings are made for passwords: Windows stores at most 2,560 bytes, less than many tokens
//! have. None of them has locks for what is read, renewed and written, and some ask a person at each access. A file has room
//! and locks; the key makes a copy of the file, such as a backup, worthless.
//!
//! # Limits
//!
//! A program of the same user can ask the keyring for the key, except where the system asks the person. On Linux without a
//! desktop there is usually no Secret Service; the kernel's keyring forgets the key at the next boot, and the entries with it.
//! There [`FileStore`](agentwire_mcp_auth::store::FileStore) is the better choice.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod seal;
mod store;

pub use store::KeyringStore;
