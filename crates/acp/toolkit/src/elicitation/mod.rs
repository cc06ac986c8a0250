//! Elicitations: forms and URLs.

mod check;
mod fault;
mod form;
mod format;
mod url;

pub use fault::{FieldError, FieldFault, FormError};
pub use form::Form;
pub use url::{UrlConsent, UrlError, UrlWarning};
