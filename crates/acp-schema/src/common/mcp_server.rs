use crate::wire::object;

object! {
    /// An HTTP header.
    HttpHeader {
        /// Its name.
        required name: String,
        /// Its value.
        required value: String,
        meta,
    }
}

object! {
    /// An environment variable.
    EnvVariable {
        /// Its name.
        required name: String,
        /// Its value.
        required value: String,
        meta,
    }
}
