use crate::wire::object;

object! {
    /// A program that speaks ACP: its name and version.
    Implementation {
        /// The name that programs use, shown where there is no title.
        required name: String,
        /// The name that people see.
        lenient title: Option<String>,
        /// The version, such as `1.0.0`: to show and to log, not to compare.
        required version: String,
        meta,
    }
}
