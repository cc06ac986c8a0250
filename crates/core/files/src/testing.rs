//! A simulated disk for tests. A chosen call fails, and a power cut loses changes that were not synced.
//!
//! After a power cut, each page of a file that was written since the last sync has one of the contents that it had since then.
//! The length of the file has one of its values since then. Pages and length are chosen independently of each other. Created,
//! renamed and removed names survive up to some point in their order, as in a file system with a journal. A page is much
//! smaller than a real one, so that a record spans several pages.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Access, FileSystem, LockFile, RawFile, Version};

/// The size of a page in bytes.
const PAGE: usize = 64;

/// A failure of one or more calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The call fails. A failed sync also loses some of the changes since the last sync; any other call has no effect.
    Io,
    /// The disk is full: the call fails if it writes, and so do later calls that write.
    Full,
    /// The call writes only the first half. Later calls that write fail, because the disk is full.
    Short,
    /// The power is off: the call and all later calls fail.
    Off,
}

/// Pseudorandom numbers from a seed, so that a failure can be repeated.
#[derive(Debug, Default, Clone)]
pub struct Random(u64);

impl Random {
    /// Makes a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// A simulated disk. Clones share the disk.
#[derive(Debug, Clone)]
pub struct Simulated(Arc<Mutex<Disk>>);

type Names = BTreeMap<OsString, usize>;

/// The old name of a file, its new name if it still has one, and the index of the file.
type NameChange = (OsString, Option<OsString>, usize);

#[derive(Debug, Default)]
struct Disk {
    names: Names,
    durable_names: Names,
    /// The changes of names since the last sync of the directory, in order.
    pending_names: Vec<NameChange>,
    files: Vec<File>,
    locked: BTreeSet<OsString>,
    calls: u64,
    fault: Option<(u64, Fault)>,
    had_short_write: bool,
    random: Random,
}

#[derive(Debug, Default, Clone)]
struct File {
    /// The bytes that programs read.
    content: Vec<u8>,
    /// The bytes that survive any power cut.
    durable: Vec<u8>,
    /// The content after each change since the last sync, and the range of bytes that the change touched.
    pending: Vec<(Vec<u8>, std::ops::Range<usize>)>,
    version: i128,
}

impl Simulated {
    /// Returns an empty disk, on which no call fails.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Disk { random: Random(seed), ..Disk::default() })))
    }

    /// Makes a later call fail. The next call is number 0.
    pub fn fail(&self, call: u64, fault: Fault) {
        let mut disk = self.disk();
        disk.fault = Some((disk.calls + call, fault));
    }

    /// Removes the fault, so that no further call fails.
    pub fn heal(&self) {
        self.disk().fault = None;
    }

    /// Returns whether a write was cut short.
    pub fn had_short_write(&self) -> bool {
        self.disk().had_short_write
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> u64 {
        self.disk().calls
    }

    /// Returns a disk with the files of this one after a power cut.
    pub fn after_power_cut(&self, seed: u64) -> Self {
        let disk = self.disk();
        let mut random = Random(seed);
        let mut names = disk.durable_names.clone();
        for change in disk.pending_names.iter().take(random.below(disk.pending_names.len() + 1)) {
            apply(&mut names, change);
        }
        let survivor = |file: &File| {
            let content = file.surviving_content(&mut random);
            File { content: content.clone(), durable: content, ..File::default() }
        };
        let files = disk.files.iter().map(survivor).collect();
        let (durable_names, random) = (names.clone(), Random(seed));
        Self(Arc::new(Mutex::new(Disk { names, durable_names, files, random, ..Disk::default() })))
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn apply(names: &mut Names, (from, to, file): &NameChange) {
    names.remove(from);
    if let Some(to) = to {
        names.insert(to.clone(), *file);
    }
}

impl Disk {
    /// Counts a call and applies the fault to it. `Ok(true)` if the call writes only half.
    fn call(&mut self, writes: bool) -> io::Result<bool> {
        let call = self.calls;
        self.calls += 1;
        let Some((at, fault)) = self.fault else { return Ok(false) };
        match fault {
            Fault::Io if call == at => Err(io::Error::other("the disk failed")),
            Fault::Off if call >= at => Err(io::Error::other("the power is off")),
            Fault::Short if call == at && writes => {
                self.had_short_write = true;
                Ok(true)
            }
            Fault::Full | Fault::Short if call >= at && writes => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(false),
        }
    }

    fn find(&self, name: &OsStr) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change_names(&mut self, change: NameChange) {
        apply(&mut self.names, &change);
        self.pending_names.push(change);
    }
}

impl File {
    fn change(&mut self, touched: std::ops::Range<usize>, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.content);
        self.version += 1;
        self.pending.push((self.content.clone(), touched));
    }

    /// The content after a power cut: each page has one of its contents since the last sync.
    fn surviving_content(&self, random: &mut Random) -> Vec<u8> {
        let content_after = |count: usize| count.checked_sub(1).map(|last| &self.pending[last].0);
        let length = content_after(random.below(self.pending.len() + 1)).unwrap_or(&self.durable).len();
        let mut survived = vec![0; length];
        for start in (0..length).step_by(PAGE) {
            let end = length.min(start + PAGE);
            let count = random.below(self.pending.len() + 1);
            let is_touched =
                self.pending[..count].iter().any(|(_, touched)| touched.start < end && touched.end > start);
            let page = if is_touched { content_after(count) } else { None }.unwrap_or(&self.durable);
            if let Some(bytes) = page.get(start..end.min(page.len())) {
                survived[start..start + bytes.len()].copy_from_slice(bytes);
            }
        }
        survived
    }

    /// Makes the pages durable that were changed since the last sync, and no others.
    fn sync(&mut self) {
        self.durable.resize(self.content.len(), 0);
        for (_, touched) in std::mem::take(&mut self.pending) {
            let start = touched.start / PAGE * PAGE;
            let end = self.content.len().min(touched.end.div_ceil(PAGE) * PAGE);
            if start < end {
                self.durable[start..end].copy_from_slice(&self.content[start..end]);
            }
        }
    }

    /// Makes some of the changed pages durable. The others are lost for later syncs too, because the operating system regards
    /// them as written.
    fn fail_to_sync(&mut self, random: &mut Random) {
        self.durable = self.surviving_content(random);
        self.pending.clear();
    }
}

impl FileSystem for Simulated {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut disk = self.disk();
        disk.call(false)?;
        let names = disk.names.keys().chain(&disk.locked);
        Ok(names.filter_map(|name| name.to_str().map(str::to_owned)).collect())
    }

    fn version(&self, name: &OsStr) -> io::Result<Option<Version>> {
        let mut disk = self.disk();
        disk.call(false)?;
        let version = |file: &usize| Version([*file as i128, disk.files[*file].version, 0, 0]);
        Ok(disk.names.get(name).map(version))
    }

    fn open(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn RawFile>> {
        let mut disk = self.disk();
        disk.call(access == Access::Create)?;
        let file = match (disk.find(name), access) {
            (Ok(_), Access::Create) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Err(_), Access::Create) => {
                let file = disk.files.len();
                disk.files.push(File::default());
                disk.change_names((name.to_owned(), Some(name.to_owned()), file));
                file
            }
            (found, _) => found?,
        };
        Ok(Box::new(Open { disk: self.clone(), file }))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(false)?;
        let file = disk.find(from)?;
        disk.change_names((from.to_owned(), Some(to.to_owned()), file));
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> io::Result<bool> {
        let mut disk = self.disk();
        disk.call(false)?;
        let Some(file) = disk.names.get(name).copied() else { return Ok(false) };
        disk.change_names((name.to_owned(), None, file));
        Ok(true)
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(false)?;
        disk.durable_names = disk.names.clone();
        disk.pending_names.clear();
        Ok(())
    }

    fn try_lock(&self, name: &OsStr) -> io::Result<Option<Box<dyn LockFile>>> {
        let mut disk = self.disk();
        disk.call(false)?;
        let locked = disk.locked.insert(name.to_owned());
        Ok(locked.then(|| Box::new(Lock { disk: self.clone(), name: name.to_owned() }) as Box<dyn LockFile>))
    }
}

#[derive(Debug)]
struct Open {
    disk: Simulated,
    file: usize,
}

impl RawFile for Open {
    fn length(&self) -> io::Result<u64> {
        let mut disk = self.disk.disk();
        disk.call(false)?;
        Ok(disk.files[self.file].content.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut disk = self.disk.disk();
        disk.call(false)?;
        let content = &disk.files[self.file].content;
        let from = content.len().min(offset as usize);
        let read = buffer.len().min(content.len() - from);
        buffer[..read].copy_from_slice(&content[from..from + read]);
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut disk = self.disk.disk();
        let short = disk.call(true)?;
        let bytes = if short { &bytes[..bytes.len() / 2] } else { bytes };
        let start = offset as usize;
        let end = start + bytes.len();
        // Each page is one change, because it may reach the disk before the next page is written.
        let file = &mut disk.files[self.file];
        for from in (start..end).step_by(PAGE) {
            let to = end.min(from + PAGE);
            file.change(from..to, |content| {
                content.resize(content.len().max(to), 0);
                content[from..to].copy_from_slice(&bytes[from - start..to - start]);
            });
        }
        Ok(bytes.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut disk = self.disk.disk();
        disk.call(false)?;
        let file = &mut disk.files[self.file];
        let length = length as usize;
        let touched = length.min(file.content.len())..length.max(file.content.len());
        file.change(touched, |content| content.resize(length, 0));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk.disk();
        let outcome = disk.call(false);
        let mut random = disk.random.clone();
        let file = &mut disk.files[self.file];
        match outcome {
            Ok(_) => file.sync(),
            Err(error) => {
                file.fail_to_sync(&mut random);
                disk.random = random;
                return Err(error);
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Lock {
    disk: Simulated,
    name: OsString,
}

impl LockFile for Lock {}

impl Drop for Lock {
    fn drop(&mut self) {
        self.disk.disk().locked.remove(&self.name);
    }
}
