//! The server side: a tower layer that checks tokens.
