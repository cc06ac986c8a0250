use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{Access, FileSystem as _};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn refusal<T: std::fmt::Debug>(result: io::Result<T>) -> String {
    NotPrivate::of(&result.unwrap_err()).expect("it is refused").to_string()
}

#[test]
fn directory_that_others_may_write_to_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    PrivateDir::create(&path, Privacy::OwnerOnly).unwrap();
    assert_eq!([mode(&folder.path().join("a")), mode(&path)], [0o700; 2]);
    for bits in [0o777, 0o1777, 0o770, 0o720, 0o702] {
        set_mode(&path, bits);
        let refused = refusal(PrivateDir::open(&path, Privacy::OthersMayRead));
        let expected = format!("the directory has mode {bits:04o}, so others may write to it; ");
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(refused.ends_with(&format!("run `chmod 700 {}`", path.display())), "{refused}");
    }
    set_mode(&path, 0o755);
    PrivateDir::open(&path, Privacy::OwnerOnly).unwrap();
}

#[test]
fn file_that_others_may_read_is_refused_under_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (bits, others_may_read, owner_only) in
        [(0o600, true, true), (0o644, true, false), (0o620, false, false), (0o602, false, false)]
    {
        fs::write(&path, "text").unwrap();
        set_mode(&path, bits);
        for (privacy, is_read) in
            [(Privacy::OthersMayRead, others_may_read), (Privacy::OwnerOnly, owner_only)]
        {
            let read = PrivateDir::open(folder.path(), privacy).unwrap().read("file".as_ref(), 4);
            match is_read {
                true => assert_eq!(read.unwrap().as_deref(), Some(&b"text"[..])),
                false => assert!(refusal(read).contains(&format!("`file` has mode {bits:04o}"))),
            }
        }
    }
}

#[test]
fn link_or_directory_in_place_of_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directory = PrivateDir::open(folder.path(), Privacy::OthersMayRead).unwrap();
    fs::write(folder.path().join("target"), "kept").unwrap();
    symlink("target", folder.path().join("link")).unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    let link = "`link` is a link, and links are not followed";
    assert_eq!(refusal(directory.read("link".as_ref(), 9)), link);
    assert_eq!(refusal(directory.open("link".as_ref(), Access::Write)), link);
    assert_eq!(refusal(directory.try_lock("link".as_ref())), link);
    assert_eq!(refusal(directory.read("folder".as_ref(), 9)), "`folder` is not a regular file");
    directory.replace("link".as_ref(), b"new").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("target")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(folder.path().join("link")).unwrap(), "new");
    assert_eq!(mode(&folder.path().join("link")), 0o600);
}

#[test]
fn replace_leaves_no_temporary_file_and_read_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let directory = PrivateDir::open(folder.path(), Privacy::OwnerOnly).unwrap();
    assert_eq!(directory.read("file".as_ref(), 4).unwrap(), None);
    fs::write(folder.path().join("file.tmp"), "of a killed process").unwrap();
    directory.replace("file".as_ref(), b"old").unwrap();
    directory.replace("file".as_ref(), b"new!").unwrap();
    assert_eq!(directory.read("file".as_ref(), 4).unwrap().as_deref(), Some(&b"new!"[..]));
    let error = directory.read("file".as_ref(), 3).unwrap_err();
    assert_eq!(error.to_string(), "it is longer than the limit of 3 bytes");
    assert_eq!(directory.list().unwrap().iter().filter(|name| name.starts_with("file")).count(), 1);
}

/// Each release removes the file while others are about to lock it.
#[test]
fn removal_of_the_lock_file_keeps_the_exclusion() {
    let folder = tempfile::tempdir().unwrap();
    let directory = PrivateDir::open(folder.path(), Privacy::OwnerOnly).unwrap();
    let held = AtomicBool::new(false);
    let contend = || {
        let mut taken = 0;
        while taken < 80 {
            let Some(lock) = directory.try_lock("lock".as_ref()).unwrap() else { continue };
            assert!(!held.swap(true, Ordering::SeqCst), "two hold the lock");
            std::thread::sleep(std::time::Duration::from_micros(20));
            held.store(false, Ordering::SeqCst);
            drop(lock);
            taken += 1;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(contend);
        }
    });
    assert!(!folder.path().join("lock").exists());
}
