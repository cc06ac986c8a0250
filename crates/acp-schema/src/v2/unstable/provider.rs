use crate::common::unstable::provider_types;

provider_types! { #[wire(schema(extend("format" = "uri")))] }
