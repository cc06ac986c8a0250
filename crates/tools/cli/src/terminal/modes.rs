//! Saves and changes the modes of the terminal at stdin.

/// Whether the terminal understands no escape sequences: `TERM=dumb`.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The saved modes of the terminal at stdin, which are restored when this is dropped.
#[cfg(unix)]
pub(crate) struct TerminalModes(Option<rustix::termios::Termios>);

#[cfg(unix)]
impl TerminalModes {
    /// Saves the current modes.
    pub(crate) fn keep() -> Self {
        Self(rustix::termios::tcgetattr(std::io::stdin()).ok())
    }

    /// Turns off the echo of keys. ^C is still a signal. Typed text stays in the terminal for the next reader.
    pub(crate) fn without_echo() -> Self {
        use rustix::termios::LocalModes;
        let modes = Self::keep();
        if let Some(before) = &modes.0 {
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
            set(&quiet);
        }
        modes
    }
}

#[cfg(unix)]
impl Drop for TerminalModes {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            set(before);
        }
    }
}

/// Drops typed text that was not read from stdin, such as an incomplete line.
pub(crate) fn drop_unread_input() {
    #[cfg(unix)]
    let _stdin_is_no_terminal =
        rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}

#[cfg(unix)]
fn set(modes: &rustix::termios::Termios) {
    // No remedy exists for a terminal that fails here.
    let _set = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, modes);
}

/// Other systems keep the echo.
#[cfg(not(unix))]
pub(crate) struct TerminalModes;

#[cfg(not(unix))]
impl TerminalModes {
    pub(crate) fn keep() -> Self {
        Self
    }

    pub(crate) fn without_echo() -> Self {
        Self
    }
}
