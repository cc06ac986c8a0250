use crate::common::unstable::proxy_types;
use crate::v2::{InitializeRequest, InitializeResponse};

proxy_types! {}
