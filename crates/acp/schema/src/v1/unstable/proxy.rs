//! The `proxy/initialize` types over the `initialize` types of version 1.

use crate::common::unstable::proxy_types;
use crate::v1::{InitializeRequest, InitializeResponse};

proxy_types! {}
