use crate::common::unstable::provider_types;

provider_types! { #[cfg_attr(feature = "schema", schemars(extend("format" = "uri")))] }
