//! URLs of servers and of redirects, and their display.

pub(crate) mod redirect;
pub(crate) mod server_url;
pub(crate) mod shown_url;
pub(crate) mod uri;
