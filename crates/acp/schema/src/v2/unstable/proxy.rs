//! The `proxy/initialize` types over the `initialize` types of version 2.

use crate::common::unstable::proxy_types;
use crate::v2::{InitializeRequest, InitializeResponse};

proxy_types! {}
