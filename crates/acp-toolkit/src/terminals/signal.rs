use agentwire_acp_schema::v1::TerminalExitStatus;

/// Returns the exit status for a code or, on Unix, a signal. It has neither where the system reports none.
pub(super) fn exit_status(code: Option<i32>, signal: Option<i32>) -> TerminalExitStatus {
    let status = TerminalExitStatus::new();
    match (code, signal) {
        (_, Some(signal)) => status.signal(name(signal)),
        // Windows has codes with the highest bit set.
        (Some(code), None) => status.exit_code(code.cast_unsigned()),
        (None, None) => status,
    }
}

#[cfg(not(unix))]
fn name(signal: i32) -> String {
    format!("SIG{signal}")
}

#[cfg(unix)]
fn name(signal: i32) -> String {
    use rustix::process::Signal;

    const NAMES: &[(Signal, &str)] = &[
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::SYS, "SIGSYS"),
    ];
    let known = NAMES.iter().find(|(known, _)| known.as_raw() == signal);
    known.map_or_else(|| format!("SIG{signal}"), |(_, name)| (*name).to_owned())
}
