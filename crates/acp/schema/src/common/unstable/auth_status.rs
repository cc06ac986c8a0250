//! The params and result of `auth/status`, the notification `auth/status_update`, and the capability for both.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, empty_object, marker_capability};

empty_object! {
    /// `auth/status`: whether the person has to log in. Nothing changes by asking, and the agent does not refuse with
    /// `AUTH_REQUIRED`.
    ///
    /// Only where the agent has the capability `auth.status`. A draft.
    AuthStatusRequest,
}

/// The answer to `auth/status`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthStatusResponse {
    /// `ready` if sessions can begin. Programs decide on this alone.
    #[wire(required)]
    pub state: AuthState,
    /// The accounts that the agent knows, to show.
    #[wire(items)]
    pub accounts: Vec<AuthAccount>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `auth/status_update`: the status has changed. It has the members of an answer to `auth/status`.
///
/// An agent with the capability `auth.status` sends it whenever it likes once it has been initialized. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthStatusUpdateNotification {
    /// `ready` if sessions can begin. Programs decide on this alone.
    #[wire(required)]
    pub state: AuthState,
    /// The accounts that the agent knows, to show.
    #[wire(items)]
    pub accounts: Vec<AuthAccount>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The state of the login that an agent needs to begin sessions. Custom strings begin with `_`; take a word that you do not
/// know as [`Unknown`](Self::Unknown).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum AuthState {
    /// There are credentials, which may turn out to be no good.
    #[wire("authenticated")]
    Authenticated,
    /// The person has to log in.
    #[wire("unauthenticated")]
    Unauthenticated,
    /// No login is needed, for instance because the model runs locally.
    #[wire("not_required")]
    NotRequired,
    /// The agent does not know its state.
    #[wire("unknown")]
    Unknown,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// An account or a key that an agent knows: to show, not to tell accounts apart by, and better not logged.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthAccount {
    /// The name to show to people.
    #[wire(required)]
    pub label: String,
    /// Whether the agent uses it; several may be in use, such as one for each provider.
    #[wire(lenient_number)]
    pub active: Option<bool>,
    /// The person's name.
    #[wire(lenient)]
    pub name: Option<String>,
    /// The person's e-mail address.
    #[wire(lenient)]
    pub email: Option<String>,
    /// The organization, team or workspace.
    #[wire(lenient)]
    pub organization: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

marker_capability! {
    /// The agent answers `auth/status` and may send `auth/status_update`.
    AuthStatusCapabilities,
}
