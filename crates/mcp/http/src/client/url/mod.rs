//! Addresses: of the server, of what it redirects to, and how they are shown.

pub(crate) mod redirect;
pub(crate) mod server_url;
pub(crate) mod shown_url;
pub(crate) mod uri;
