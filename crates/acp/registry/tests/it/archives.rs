//! Archives over HTTP: each form, and digests.

use agentwire_agent_registry::{InstallOutcome, PlanOptions, RegistryError, platform};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{AGENT, Place, Server, chain, plan};

/// A tar archive of files.
pub(crate) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        tar.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut gzip, bytes).unwrap();
    gzip.finish().unwrap()
}

/// A zip archive of files with their modes.
pub(crate) fn zip(files: &[(&str, u32, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    for (name, mode, content) in files {
        let file =
            archive.new_file(rawzip::path::EntryPath::verbatim(name.as_bytes())).unix_permissions(*mode);
        let (mut entry, config) =
            file.compression_method(rawzip::CompressionMethod::DEFLATE).start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, Compression::default());
        let mut writer = config.wrap(encoder);
        std::io::Write::write_all(&mut writer, content.as_bytes()).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

/// The distribution with an archive for this system.
pub(crate) fn distribution(url: &str, more: &str) -> String {
    format!(r#"{{"binary":{{"{}":{{"archive":"{url}","cmd":"./dir/agent"{more}}}}}}}"#, platform())
}

#[tokio::test]
async fn each_form_of_archive_is_unpacked() {
    let place = Place::new();
    let server = Server::new();
    let tarball = tar(&[("dir/agent", AGENT), ("README", "x")]);
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    std::io::Write::write_all(&mut bzip2, &tarball).unwrap();
    server.set("/a.tar.gz", gzip(&tarball));
    server.set("/a.tbz2", bzip2.finish().unwrap());
    server.set("/a.zip", zip(&[("dir/agent", 0o100_755, AGENT)]));
    server.set("/agent-bin", AGENT);
    let store = place.store();
    for (number, name) in ["a.tar.gz", "a.tbz2", "a.zip", "agent-bin"].into_iter().enumerate() {
        let version = format!("1.{number}.0");
        let plan =
            plan(&version, &distribution(&format!("{}/{name}", server.url), ""), PlanOptions::default());
        let outcome = store.install(&plan).await.unwrap_or_else(|error| panic!("{name}: {}", chain(&error)));
        assert!(matches!(outcome, InstallOutcome::Installed { .. }));
        let agent = store.find("fake").unwrap().unwrap();
        assert!(agent.start().program().ends_with("files/dir/agent"), "{name}");
        assert!(agent.plan.digest.as_ref().unwrap().starts_with("sha256-"), "{name}");
    }
}

#[tokio::test]
async fn a_redirect_is_followed() {
    let place = Place::new();
    let server = Server::new();
    server.set_response("/a.tgz", "HTTP/1.1 302 Found\r\nLocation: /real\r\nContent-Length: 0\r\n\r\n");
    server.set("/real", gzip(&tar(&[("dir/agent", AGENT)])));
    let plan = plan("1.0.0", &distribution(&format!("{}/a.tgz", server.url), ""), PlanOptions::default());
    place.store().install(&plan).await.unwrap();
    server.set_response("/real", "HTTP/1.1 302 Found\r\nLocation: /a.tgz\r\nContent-Length: 0\r\n\r\n");
    let other = crate::support::plan(
        "1.0.0",
        &distribution(&format!("{}/a.tgz", server.url), r#","args":["x"]"#),
        PlanOptions::default(),
    );
    let error = place.store().install(&other).await.unwrap_err();
    let end = "/a.tgz: it is redirected more than 5 times, or to an unsafe place";
    assert!(error.to_string().ends_with(end), "{error}");
}

#[tokio::test]
async fn another_digest_than_that_of_the_registry_is_refused() {
    let place = Place::new();
    let server = Server::new();
    server.set("/agent", AGENT);
    let url = format!("{}/agent", server.url);
    let digest = "0".repeat(64);
    let plan =
        plan("1.0.0", &distribution(&url, &format!(r#","sha256":"{digest}""#)), PlanOptions::default());
    let error = place.store().install(&plan).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with(&format!("{url} has the digest sha256-")), "{text}");
    assert!(text.ends_with(&format!(", but the plan says sha256-{digest}")), "{text}");
    assert!(place.store().find("fake").unwrap().is_none());
}

/// The version, the URL and the digest of an archive, as an error shows them.
fn digest(content: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, content.as_bytes());
    let digits: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256-{digits}")
}

#[tokio::test]
async fn the_digest_of_a_version_is_remembered() {
    let place = Place::new();
    let server = Server::new();
    let other = format!("{AGENT}# other\n");
    server.set("/agent", AGENT);
    server.set("/moved", &other);
    let store = place.store();
    let (url, moved) = (format!("{}/agent", server.url), format!("{}/moved", server.url));
    let plan = |version, url: &str| plan(version, &distribution(url, ""), PlanOptions::default());
    store.install(&plan("1.0.0", &url)).await.unwrap();
    store.remove("fake").await.unwrap();
    let file = place.path("store/digests/fake.json");
    let (before, now) = (digest(AGENT), digest(&other));
    let advice = format!("; if the publisher says that this is right, remove {}", file.display());

    let error = store.install(&plan("1.0.0", &moved)).await.unwrap_err();
    assert!(matches!(error, RegistryError::Changed(_)), "it never ran: {error}");
    assert_eq!(
        error.to_string(),
        format!(
            "version 1.0.0 has changed: {moved} has the digest {now}, but it was installed from {url} with {before}{advice}"
        )
    );
    server.set("/agent", &other);
    assert_eq!(
        store.install(&plan("1.0.0", &url)).await.unwrap_err().to_string(),
        format!(
            "{url} has changed: its digest is {now}, but version 1.0.0 was installed with {before}{advice}"
        )
    );
    store.install(&plan("1.1.0", &url)).await.expect("one URL may have the archives of all versions");
    store.remove("fake").await.unwrap();
    std::fs::remove_file(file).unwrap();
    store.install(&plan("1.0.0", &url)).await.unwrap();
}

#[tokio::test]
async fn a_registry_is_not_held_to_the_archives_of_another() {
    let place = Place::new();
    let server = Server::new();
    server.set("/trial", AGENT);
    server.set("/official", format!("{AGENT}# other\n"));
    let store = place.store();
    let plan = |registry: &str, name: &str| {
        let distribution = distribution(&format!("{}/{name}", server.url), "");
        let mut plan = plan("1.0.0", &distribution, PlanOptions::default());
        plan.registry = registry.to_owned();
        plan
    };
    store.install(&plan("https://trial.example/r.json", "trial")).await.unwrap();
    store.install(&plan("https://official.example/r.json", "official")).await.unwrap();
    store.remove("fake").await.unwrap();
    for (registry, name) in [("trial", "official"), ("official", "trial")] {
        let error =
            store.install(&plan(&format!("https://{registry}.example/r.json"), name)).await.unwrap_err();
        assert!(matches!(error, RegistryError::Changed(_)), "{registry}: {error}");
    }
    store.install(&plan("https://trial.example/r.json", "trial")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_refuses_is_named() {
    let place = Place::new();
    let server = Server::new();
    let url = format!("{}/agent", server.url);
    let plan = plan("1.0.0", &distribution(&url, ""), PlanOptions::default());
    let error = place.store().install(&plan).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{url}: the server answers 404 Not Found"));
}
