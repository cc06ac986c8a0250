//! Programs that run the program named by their first operand.

use super::row::{Row, clusters};

/// Programs that run the program named by their first operand, and `awk`, whose operand is code. A rule must name every
/// word up to and including that operand.
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
    clusters("awk gawk mawk nawk", "Ffv?", ""),
    clusters(
        "at batch builtin bunx busybox bwrap c8 caffeinate catchsegv choom chpst chronic chroot chrt command \
         concurrently cpulimit cross-env dbus-run-session dumb-init entr eval exec expect fakeroot faketime firejail \
         genv gtimeout hyperfine ifne ld-linux-aarch64.so ld-linux-armhf.so ld-linux-x86-64.so ld-linux.so \
         ld-musl-aarch64.so ld-musl-x86_64.so linux32 linux64 ltrace nohup npx nsenter numactl nyc parallel pee perf \
         pipx pkexec pnpx prlimit proot proxychains proxychains4 rlwrap run-parts runuser screen script setarch \
         setpriv setsid sg source ssh-agent start-stop-daemon strace su systemd-inhibit systemd-nspawn systemd-run \
         taskset tclsh tini tmux torsocks toybox trap unbuffer unshare uvx valgrind watch watchexec xvfb-run",
        "?",
        "",
    ),
];
