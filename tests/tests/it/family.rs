//! All processes that came of one program, found in `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, kill_process};

use crate::program::SOON;

/// A process that is started with this variable passes it on to its children.
const VARIABLE: &str = "AGENTWIRE_TEST_FAMILY";

/// How often to look.
const STEP: Duration = Duration::from_millis(20);

/// The processes that a marked program started, and those they started.
///
/// They are known by a variable of their environment; and since some clear theirs, so is any process in a
/// process group in which a marked one was seen.
#[derive(Debug)]
pub(crate) struct Family {
    mark: String,
    groups: BTreeSet<i32>,
}

/// A process that runs.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    id: i32,
    /// For the message of a failure.
    #[allow(dead_code, reason = "it is read by people")]
    parent: i32,
    group: i32,
    mark: Option<String>,
    /// Its command line, with spaces between the words.
    pub(crate) command: String,
}

impl Family {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { mark: format!("{}-{number}", std::process::id()), groups: BTreeSet::new() }
    }

    /// Makes all processes that the command starts part of the family.
    pub(crate) fn mark(&self, command: &mut Command) {
        command.env(VARIABLE, &self.mark);
    }

    /// The living members. Zombies do not count: their parent may just not have waited yet.
    pub(crate) fn living(&mut self) -> Vec<Member> {
        let all = everybody(Instant::now());
        let marked = all.iter().filter(|member| member.mark.as_ref() == Some(&self.mark));
        let ours = getpgrp().as_raw_nonzero().get();
        self.groups.extend(marked.map(|member| member.group).filter(|group| *group != ours));
        let belongs = |member: &&Member| match &member.mark {
            Some(mark) => *mark == self.mark,
            None => self.groups.contains(&member.group),
        };
        all.iter().filter(belongs).cloned().collect()
    }

    /// The one whose command line holds these words, as soon as there is one.
    pub(crate) fn find(&mut self, words: &str) -> Member {
        let mut found = None;
        let living = self.until(SOON, |living| {
            found = living.iter().find(|member| member.command.contains(words)).cloned();
            found.is_some()
        });
        found.unwrap_or_else(|| panic!("nobody here is `{words}`: {living:#?}"))
    }

    /// Waits until every process group but that one has its guard. A group has none in its first moments, and
    /// no other process can kill it when we are killed then.
    pub(crate) fn guarded(&mut self, but: i32) {
        let has_guard = |living: &[Member], group| {
            living.iter().any(|member| member.group == group && member.command.contains("; read _; kill"))
        };
        let unguarded =
            |living: &[Member], member: &Member| member.group != but && !has_guard(living, member.group);
        let living = self.until(SOON, |living| !living.iter().any(|member| unguarded(living, member)));
        let unguarded: Vec<_> = living.iter().filter(|member| unguarded(&living, member)).collect();
        assert!(unguarded.is_empty(), "without a guard: {unguarded:#?}");
    }

    /// Waits until no process is left, and fails if that takes longer.
    pub(crate) fn gone(&mut self, within: Duration) {
        let living = self.until(within, <[_]>::is_empty);
        assert!(living.is_empty(), "still there after {within:?}: {living:#?}");
    }

    /// Waits until it is so with those who live, and gives them.
    fn until(&mut self, within: Duration, mut is_so: impl FnMut(&[Member]) -> bool) -> Vec<Member> {
        let deadline = Instant::now() + within;
        loop {
            let living = self.living();
            if is_so(&living) || Instant::now() >= deadline {
                return living;
            }
            std::thread::sleep(STEP);
        }
    }
}

impl Drop for Family {
    /// The processes of a test must not disturb the next. Those without the mark are left to their guards.
    fn drop(&mut self) {
        let living = self.living();
        living.iter().filter(|member| member.mark.is_some()).for_each(|member| member.signal(Signal::KILL));
    }
}

impl Member {
    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.id).expect("processes have an id other than 0");
        // It may have ended in this moment.
        let _ended = kill_process(id, signal);
    }

    fn read(id: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name before the last parenthesis may hold anything.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        let mark =
            variables.find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
        let mark = mark.map(|mark| String::from_utf8_lossy(mark).into_owned());
        let command = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        (!matches!(state, "Z" | "X")).then_some(Self { id, parent, group, mark, command })
    }
}

/// All processes, as somebody has seen them after this moment: who looks at the same time shares what is seen.
fn everybody(since: Instant) -> Arc<Vec<Member>> {
    static SEEN: Mutex<Option<(Instant, Arc<Vec<Member>>)>> = Mutex::new(None);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*seen {
        Some((when, everybody)) if *when >= since => everybody.clone(),
        _ => {
            let when = Instant::now();
            let entries = fs::read_dir("/proc").expect("this is Linux").flatten();
            let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let everybody = Arc::new(ids.filter_map(Member::read).collect::<Vec<_>>());
            *seen = Some((when, everybody.clone()));
            everybody
        }
    }
}
