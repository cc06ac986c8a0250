use crate::common::unstable::provider_types;

provider_types! {}
