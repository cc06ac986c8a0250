//! The `providers/list` and `providers/set` types of version 1, without a URI format in the schema of `baseUrl`.

use crate::common::unstable::provider_types;

provider_types! {}
