//! Programs that run what their first operand names.

use super::row::{Row, clusters};

/// Programs that run what their first operand names, and `awk`, whose operand is a program by itself. A rule names every word up to
/// and with that operand.
pub(super) const RUNNERS: &[Row] = &[
    clusters("env", "uCSP", ""),
    clusters("sudo", "CDghpRrtTUu", ""),
    clusters("doas", "Cu", ""),
    clusters("xargs", "aEdILnPsJRS", ""),
    clusters("timeout", "ks", ""),
    clusters("nice", "n", ""),
    clusters("ionice", "cn", ""),
    clusters("stdbuf", "ioe", ""),
    clusters("flock", "cEw", ""),
    clusters("time", "fo", ""),
    clusters("nohup setsid eval exec source builtin command trap", "?", ""),
    clusters("awk gawk mawk nawk", "Ffv?", ""),
    clusters("bunx npx pipx pnpx uvx", "?", ""),
    clusters("chroot nsenter unshare proot firejail fakeroot setarch setpriv prlimit taskset chrt", "?", ""),
    clusters(
        "at batch watch watchexec entr parallel screen tmux script expect tclsh unbuffer rlwrap",
        "?",
        "",
    ),
    clusters("runuser su systemd-run start-stop-daemon dbus-run-session xvfb-run run-parts", "?", ""),
    clusters("catchsegv faketime ltrace strace perf valgrind proxychains proxychains4 torsocks", "?", ""),
    clusters("busybox toybox cpulimit chpst chronic ssh-agent hyperfine caffeinate gtimeout genv", "?", ""),
    clusters(
        "bwrap choom concurrently cross-env c8 dumb-init ifne linux32 linux64 numactl nyc pee pkexec sg",
        "?",
        "",
    ),
    clusters("systemd-inhibit systemd-nspawn tini", "?", ""),
    clusters(
        "ld-linux.so ld-linux-aarch64.so ld-linux-armhf.so ld-linux-x86-64.so ld-musl-aarch64.so ld-musl-x86_64.so",
        "?",
        "",
    ),
];
