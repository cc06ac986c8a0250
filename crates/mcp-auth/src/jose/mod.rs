//! Reads, signs and checks JSON Web Tokens.
