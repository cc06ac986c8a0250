//! The `providers/list` and `providers/set` types of version 2, with the URI format in the schema of `baseUrl`.

use crate::common::unstable::provider_types;

provider_types! { #[wire(schema(extend("format" = "uri")))] }
