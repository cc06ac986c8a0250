/// When a [`FileStore`](super::FileStore) makes its writes durable, with `fsync`.
///
/// Appended records survive the end of the process in any case. This setting concerns a crash of the machine or a power
/// cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fsync {
    /// Never: the operating system writes when it likes. A power cut may cost the last seconds.
    Never,
    /// When sessions are created and deleted, and at the end of each turn, where
    /// [`SessionStore::sync`](crate::SessionStore::sync) is called. A power cut may cost the updates of a turn that has not
    /// ended.
    #[default]
    EveryTurn,
    /// With every append. A power cut costs nothing; an update waits for the disk before it is sent.
    Always,
}
