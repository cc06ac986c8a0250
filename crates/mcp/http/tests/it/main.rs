//! The transport from outside: raw sockets against the server, scripted servers against the client.

#[cfg(all(any(feature = "reqwest", feature = "rustls", feature = "rustls-ring"), feature = "hyper"))]
mod both;
#[cfg(all(unix, any(feature = "reqwest", feature = "rustls", feature = "rustls-ring"), feature = "hyper"))]
mod bridge;
#[cfg(any(feature = "reqwest", feature = "rustls", feature = "rustls-ring"))]
mod client;
#[cfg(feature = "server")]
mod connections;
#[cfg(feature = "server")]
mod server;

/// The tests of the client do not depend on the client below it.
#[cfg(all(feature = "reqwest", any(feature = "rustls", feature = "rustls-ring"), feature = "hyper"))]
#[test]
fn all_the_same_with_hyper() {
    let mut tests = std::process::Command::new(std::env::current_exe().unwrap());
    tests.args(["client::", "both::", "--skip", "fire::"]).env(client::mock::HYPER, "1");
    let output = tests.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("client::gzip::"), "{text}");
}
