//! Archives that lead out of their folder, or are too large.

use std::fs;

use agentwire_agent_registry::{Limits, PlanOptions};
use tar::{EntryType, Header};

use crate::archives::{distribution, gzip, tar, zip};
use crate::support::{AGENT, Place, Server, plan};

/// An entry whose name is written as it is.
fn entry(tar: &mut tar::Builder<Vec<u8>>, kind: EntryType, name: &str, target: &str, content: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o755);
    let old = header.as_old_mut();
    old.name[..name.len()].copy_from_slice(name.as_bytes());
    old.linkname[..target.len()].copy_from_slice(target.as_bytes());
    header.set_cksum();
    tar.append(&header, content).unwrap();
}

/// The error of installing a tar archive.
async fn refused(archive: &[u8], limits: Limits) -> String {
    refused_file("a.tgz", &gzip(archive), limits).await
}

/// The error of installing an archive.
async fn refused_file(name: &str, archive: &[u8], limits: Limits) -> String {
    let place = Place::new();
    let server = Server::new();
    server.set(&format!("/{name}"), archive);
    let url = format!("{}/{name}", server.url);
    let plan = plan("1.0.0", &distribution(&url, ""), PlanOptions::default());
    let error = place.store_with(limits).install(&plan).await.unwrap_err().to_string();
    assert!(!place.path("escaped").exists() && !place.path("store/escaped").exists());
    assert!(!fs::exists("/tmp/agentwire-escaped").unwrap());
    error.replace(&format!("{url}: "), "")
}

async fn refused_entries(entries: &[(EntryType, &str, &str)]) -> String {
    let mut archive = tar::Builder::new(Vec::new());
    for (kind, name, target) in entries {
        entry(&mut archive, *kind, name, target, b"");
    }
    refused(&archive.into_inner().unwrap(), Limits::default()).await
}

#[tokio::test]
async fn nothing_is_written_out_of_the_folder() {
    let (file, link, hard) = (EntryType::Regular, EntryType::Symlink, EntryType::Link);
    for (entries, error) in [
        (&[(file, "../../../../escaped", "")][..], "`../../../../escaped` leads out of its folder"),
        (&[(file, "/tmp/agentwire-escaped", "")], "`/tmp/agentwire-escaped` leads out of its folder"),
        (&[(link, "a", "../x")], "the link `a` leads out of its folder"),
        (&[(link, "a", "/etc")], "the link `a` leads out of its folder"),
        (&[(link, "d", "."), (link, "l", "d/../../x")], "the link `l` leads out of its folder"),
        (
            &[(link, "d", "e"), (file, "e/x", ""), (link, "d/l", "../x")],
            "the link `d/l` is behind another link",
        ),
        (&[(hard, "a", "../../record.json")], "`../../record.json` leads out of its folder"),
        (&[(EntryType::Fifo, "a", "")], "`a` is a device or something else"),
        (&[(file, "a", ""), (file, "a", "")], "File exists (os error 17)"),
    ] {
        assert_eq!(refused_entries(entries).await, error, "{entries:?}");
    }
}

#[tokio::test]
async fn a_zip_writes_nothing_out_of_its_folder() {
    let (file, link) = (0o100_644, 0o120_777);
    for (files, error) in [
        (&[("../../../../escaped", file, "")][..], "`../../../../escaped` leads out of its folder"),
        (&[("/tmp/agentwire-escaped", file, "")], "`/tmp/agentwire-escaped` leads out of its folder"),
        (&[("///", file, "")], "`///` leads out of its folder"),
        (&[("a", link, "/etc")], "the link `a` leads out of its folder"),
        (&[("d/a", link, "../../x")], "the link `d/a` leads out of its folder"),
        (&[("a", link, "x/../../y")], "the link `a` leads out of its folder"),
        (
            &[("d", link, "e"), ("e/x", file, ""), ("d/l", link, "../x")],
            "the link `d/l` is behind another link",
        ),
        (&[("a", 0o020_666, "")], "`a` is a device or something else"),
        (&[("a", 0o010_666, "")], "`a` is a device or something else"),
        (&[("a", file, "1"), ("a", file, "2")], "File exists (os error 17)"),
        (&[("d", link, "/tmp"), ("d/agentwire-escaped", file, "")], "the link `d` leads out of its folder"),
    ] {
        assert_eq!(refused_file("a.zip", &zip(files), Limits::default()).await, error, "{files:?}");
    }
    let deep = format!("{}x", "d/".repeat(64));
    let deep = zip(&[(&deep, file, "")]);
    assert_eq!(refused_file("a.zip", &deep, Limits::default()).await, "a path has more than 64 parts");
}

#[tokio::test]
async fn folders_that_only_paths_name_are_bounded() {
    let paths: Vec<String> = (0..40).map(|path| format!("{path}/{}x", "d/".repeat(29))).collect();
    let files: Vec<_> = paths.iter().map(|path| (&**path, 0o644, "")).collect();
    let limits = || Limits::default().folders_limit(1000);
    assert_eq!(refused_file("a.zip", &zip(&files), limits()).await, "it has more than 1000 folders");
    let mut archive = tar::Builder::new(Vec::new());
    for path in &paths {
        entry(&mut archive, EntryType::Directory, path, "", b"");
    }
    let archive = archive.into_inner().unwrap();
    assert_eq!(refused(&archive, limits()).await, "it has more than 1000 folders");
    assert_eq!(refused(&archive, limits().folders_limit(39 * 31)).await, "it has more than 1209 folders");
}

#[tokio::test]
async fn a_zip_is_bounded() {
    let zeros = "\0".repeat(3 << 20);
    let bomb = zip(&[("dir/agent", 0o755, AGENT), ("zeros", 0o644, &zeros)]);
    assert!(bomb.len() < 10_000, "{}", bomb.len());
    let limits = Limits::default;
    assert_eq!(
        refused_file("a.zip", &bomb, limits().unpacked_limit(2 << 20)).await,
        "its files have more than 2097152 bytes"
    );
    let names: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    let files: Vec<_> = names.iter().map(|name| (&**name, 0o644, "")).collect();
    assert_eq!(
        refused_file("a.zip", &zip(&files), limits().files_limit(1000)).await,
        "it has more than 1000 files"
    );
    let mut cut = bomb.clone();
    cut.truncate(bomb.len() / 2);
    assert!(!refused_file("a.zip", &cut, limits()).await.is_empty());
}

#[tokio::test]
async fn modes_case_and_nested_archives_have_no_effect() {
    use std::os::unix::fs::PermissionsExt as _;
    let (place, server) = (Place::new(), Server::new());
    let nested = zip(&[("x", 0o644, &"\0".repeat(1 << 20))]);
    let nested: String = nested.iter().map(|byte| char::from(byte & 0x7f)).collect();
    let files = [
        ("dir/agent", 0o106_777, AGENT),
        ("dir/nested.zip", 0o102_666, &*nested),
        ("DIR/agent", 0o100_600, "other"),
        (r"..\x", 0o100_644, ""),
    ];
    server.set("/a.zip", zip(&files));
    let plan = plan("1.0.0", &distribution(&format!("{}/a.zip", server.url), ""), PlanOptions::default());
    place.store().install(&plan).await.unwrap();
    let unpacked = place.path("store/agents/fake/1.0.0-1/files");
    let mode = |name: &str| fs::metadata(unpacked.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("dir/agent"), mode("dir/nested.zip") & !0o022), (0o755, 0o644), "no setuid bit");
    assert_eq!(fs::read_to_string(unpacked.join("dir/agent")).unwrap(), AGENT);
    assert_eq!(fs::read_to_string(unpacked.join("dir/nested.zip")).unwrap(), nested, "it stays packed");
}

#[tokio::test]
async fn tar_extensions_that_hide_files_are_refused() {
    let pax = |key: &str, value: &str| {
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_pax_extensions([(key, value.as_bytes())]).unwrap();
        entry(&mut archive, EntryType::Regular, "a", "", &[0; 1024]);
        archive.into_inner().unwrap()
    };
    for (key, value, error) in [
        ("size", "0", "a header has another size than the one before it"),
        ("size", "99999999999", "a header has another size than the one before it"),
        ("size", "-1", "a header has a size that is not a number"),
        ("GNU.sparse.major", "1", "it has a sparse file"),
        ("path", "../../x", "`../../x` leads out of its folder"),
        ("path", "/x", "`/x` leads out of its folder"),
        ("size", "1024", "it has no file `dir/agent`"),
    ] {
        assert_eq!(refused(&pax(key, value), Limits::default()).await, error, "{key}={value}");
    }
    assert_eq!(refused_entries(&[(EntryType::GNUSparse, "a", "")]).await, "it has a sparse file");
    assert_eq!(refused_entries(&[(EntryType::Block, "a", "")]).await, "`a` is a device or something else");

    let mut archive = tar::Builder::new(Vec::new());
    let target = "x".repeat(4000);
    for number in 0..4500 {
        archive.append_pax_extensions([("linkpath", target.as_bytes())]).unwrap();
        entry(&mut archive, EntryType::Symlink, &number.to_string(), "", b"");
    }
    let error = refused(&archive.into_inner().unwrap(), Limits::default()).await;
    assert_eq!(error, "its links have more than 16777216 bytes");
}

#[tokio::test]
async fn sizes_are_bounded() {
    let limits = Limits::default;
    let big = "x".repeat(100_000);
    let archive = tar(&[("dir/agent", AGENT), ("big", &big)]);
    assert_eq!(
        refused(&archive, limits().unpacked_limit(90_000)).await,
        "its files have more than 90000 bytes"
    );
    assert_eq!(refused(&archive, limits().archive_limit(100)).await, "it is longer than 100 bytes");
    assert_eq!(refused(&archive, limits().files_limit(1)).await, "it has more than 1 files");
    let folders = tar(&[("a/b/c/x", "x")]);
    assert_eq!(refused(&folders, limits().files_limit(3)).await, "it has more than 3 files", "folders count");
    let deep = format!("{}x", "d/".repeat(64));
    assert_eq!(refused(&tar(&[(&deep, "x")]), limits()).await, "a path has more than 64 parts");

    let mut archive = tar::Builder::new(Vec::new());
    entry(&mut archive, EntryType::GNULongName, "x", "", &vec![b'x'; (1 << 20) + 1]);
    assert_eq!(
        refused(&archive.into_inner().unwrap(), limits()).await,
        "a header is longer than 1048576 bytes"
    );
    let mut archive = tar::Builder::new(Vec::new());
    entry(&mut archive, EntryType::XGlobalHeader, "x", "", &vec![0; 900_000]);
    let bomb = archive.into_inner().unwrap();
    let error = refused(&bomb, limits().unpacked_limit(1).files_limit(1)).await;
    assert_eq!(error, "it has more than 8193 bytes", "what is passed over counts too");
}

#[tokio::test]
async fn an_archive_without_its_executable_is_refused() {
    assert_eq!(refused(&tar(&[("other", AGENT)]), Limits::default()).await, "it has no file `dir/agent`");
}

#[tokio::test]
async fn links_inside_are_made() {
    let place = Place::new();
    let server = Server::new();
    let mut archive = tar::Builder::new(Vec::new());
    entry(&mut archive, EntryType::Symlink, "dir/agent", "../lib/real", b"");
    entry(&mut archive, EntryType::Regular, "lib/real", "", AGENT.as_bytes());
    entry(&mut archive, EntryType::Link, "lib/again", "lib/real", b"");
    server.set("/a.tgz", gzip(&archive.into_inner().unwrap()));
    let plan = plan("1.0.0", &distribution(&format!("{}/a.tgz", server.url), ""), PlanOptions::default());
    place.store().install(&plan).await.unwrap();
    let files = place.path("store/agents/fake/1.0.0-1/files");
    assert_eq!(fs::read_link(files.join("dir/agent")).unwrap().to_str(), Some("../lib/real"));
    assert_eq!(fs::read_to_string(files.join("lib/again")).unwrap(), AGENT);
}
