use crate::common::unstable::proxy_types;
use crate::v1::{InitializeRequest, InitializeResponse};

proxy_types! {}
