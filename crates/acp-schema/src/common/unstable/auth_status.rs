use agentwire_jsonrpc::{Method, Notice};

use crate::wire::{empty_object, marker_capability, object, open_enum};

empty_object! {
    /// `auth/status`: whether the person has to log in. Nothing changes by asking, and the agent does not refuse with
    /// `AUTH_REQUIRED`.
    ///
    /// Only where the agent has the capability `auth.status`. A draft.
    AuthStatusRequest,
}

impl Method for AuthStatusRequest {
    const NAME: &'static str = "auth/status";
    type Response = AuthStatusResponse;
}

object! {
    /// The answer to `auth/status`.
    AuthStatusResponse {
        /// Whether sessions can begin. Programs decide on this alone.
        required state: AuthState,
        /// The accounts that the agent knows, to show.
        items accounts: Vec<AuthAccount>,
        meta,
    }
}

object! {
    /// `auth/status_update`: the status is another one now. It says what an answer to `auth/status` would.
    ///
    /// An agent with the capability `auth.status` sends it whenever it likes once it has been initialized. A draft.
    AuthStatusUpdateNotification {
        /// Whether sessions can begin. Programs decide on this alone.
        required state: AuthState,
        /// The accounts that the agent knows, to show.
        items accounts: Vec<AuthAccount>,
        meta,
    }
}

impl Notice for AuthStatusUpdateNotification {
    const NAME: &'static str = "auth/status_update";
}

open_enum! {
    /// Whether an agent can begin sessions without a login. Words of one's own begin with `_`; take a word that you do not
    /// know as [`Unknown`](Self::Unknown).
    AuthState {
        /// There are credentials, which may turn out to be no good.
        Authenticated = "authenticated",
        /// The person has to log in.
        Unauthenticated = "unauthenticated",
        /// Nobody has to log in, for instance because the model runs here.
        NotRequired = "not_required",
        /// The agent says that it cannot tell.
        Unknown = "unknown",
    } else Other
}

object! {
    /// An account or a key that an agent knows: to show, not to tell accounts apart by, and better not logged.
    AuthAccount {
        /// What to call it in front of people.
        required label: String,
        /// Whether the agent uses it; several may be in use, such as one for each provider.
        lenient_number active: Option<bool>,
        /// The person's name.
        lenient name: Option<String>,
        /// The person's e-mail address.
        lenient email: Option<String>,
        /// The organization, team or workspace.
        lenient organization: Option<String>,
        meta,
    }
}

marker_capability! {
    /// That an agent answers `auth/status` and may send `auth/status_update`.
    AuthStatusCapabilities,
}
