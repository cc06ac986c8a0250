//! The macro that declares error codes as constants and lists them in a table of `ErrorInfo` rows.

/// An error code that the protocol defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorInfo {
    /// The code.
    pub code: i64,
    /// The name of its constant.
    pub name: &'static str,
    /// Its meaning, as a sentence.
    pub about: &'static str,
}

/// Defines constants of error codes, and the table of them.
macro_rules! error_codes {
    (#[doc = $doc:literal] $table:ident $(#[doc = $about:literal] $name:ident = $code:expr;)+) => {
        $(
            #[doc = $about]
            pub const $name: i64 = $code;
        )+

        #[doc = $doc]
        pub const $table: &[ErrorInfo] =
            &[$(ErrorInfo { code: $name, name: stringify!($name), about: $about.trim_ascii() }),+];
    };
}
pub(crate) use error_codes;
