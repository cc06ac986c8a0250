//! Finds the lines of a private key in texts that follow each other.

/// The most lines of a private key.
const LONGEST: usize = 400;

/// The ends of private keys in PEM, in OpenPGP and of PuTTY.
const ENDS: &[&str] = &["-END ", "Private-MAC:"];

/// The number of further texts that may be lines of a private key, after its first line.
#[derive(Debug, Default)]
pub(super) struct KeyLines(usize);

impl KeyLines {
    /// Whether the next text is a line of a private key between its first and its last one.
    pub(super) fn has(&mut self, text: &str) -> bool {
        let begins = text.rfind("-BEGIN ").filter(|at| text[*at..].contains("PRIVATE KEY"));
        let begins = begins.or_else(|| text.rfind("Private-Lines: "));
        let is_ended = |from: usize| ENDS.iter().any(|end| text[from..].contains(end));
        if let Some(at) = begins {
            self.0 = if is_ended(at) { 0 } else { LONGEST };
            return false;
        }
        if self.0 == 0 {
            return false;
        }
        let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_:, ".contains(&byte);
        let goes_on = text.trim().bytes().all(is_of_key) && !is_ended(0);
        self.0 = if goes_on { self.0 - 1 } else { 0 };
        goes_on
    }
}
