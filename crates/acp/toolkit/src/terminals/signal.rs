//! Converts the exit status of a process into that of the protocol.

use std::process::ExitStatus;

use agentwire_acp_schema::v1::TerminalExitStatus;

/// Returns the exit code or, on Unix, the signal. The status has neither if the system does not report one.
pub(super) fn exit_status(status: Option<ExitStatus>) -> TerminalExitStatus {
    #[cfg(unix)]
    let signal = status.as_ref().and_then(std::os::unix::process::ExitStatusExt::signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.and_then(|status| status.code());
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
