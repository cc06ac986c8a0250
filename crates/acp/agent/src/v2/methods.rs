//! The table of the methods of version 2.

use agentwire_acp_schema::v2::{
    CancelTerminalRequest, CancelToolCallRequest, CloseSessionRequest, DeleteSessionRequest,
    InitializeRequest, ListSessionsRequest, LoginAuthRequest, LogoutAuthRequest, NewSessionRequest,
    PromptRequest, ResumeSessionRequest, SessionCapabilities, SetSessionConfigOptionRequest,
};

use super::connection_state::Handshake;
use super::sessions::Sessions;
use super::{outgoing, rules};
use crate::method::methods;
use crate::rules::check_absolute;

/// A connection that is initialized.
pub(crate) struct Connection<'a> {
    pub(crate) handshake: &'a Handshake,
    pub(crate) sessions: &'a Sessions,
}

impl Connection<'_> {
    fn session(&self) -> Option<&SessionCapabilities> {
        self.handshake.agent.capabilities.session.as_ref()
    }

    fn has_auth(&self) -> bool {
        !self.handshake.agent.auth_methods.is_empty()
    }
}

methods! { Connection<'_>:
    InitializeRequest,
    LoginAuthRequest {
        if |at| at.has_auth();
        check |login, at| rules::check_auth_method(&login.method_id, &at.handshake.agent.auth_methods);
    },
    LogoutAuthRequest { if |at| at.has_auth(); },
    NewSessionRequest {
        if |at| at.session().is_some();
        check |new, at| {
            rules::check_session_setup(&new.cwd, &new.additional_directories, &new.mcp_servers, at.session())
        };
        answer |new, at| {
            outgoing::check_config_options(&new.config_options)?;
            at.sessions.note_options(&new.session_id, &new.config_options);
            Ok(())
        };
    },
    ResumeSessionRequest {
        if |at| at.session().is_some();
        check |resume, at| {
            let directories = &resume.additional_directories;
            rules::check_session_setup(&resume.cwd, directories, &resume.mcp_servers, at.session())?;
            rules::check_replay(resume.replay_from.as_ref())
        };
        answer |resumed, _| outgoing::check_config_options(&resumed.config_options);
    },
    CloseSessionRequest { if |at| at.session().is_some(); },
    DeleteSessionRequest { if |at| at.session().is_some_and(|session| session.delete.is_some()); },
    ListSessionsRequest {
        if |at| at.session().is_some();
        check |list, _| check_absolute("cwd", list.cwd.as_ref());
        answer |list, _| outgoing::check_sessions(&list.sessions);
    },
    PromptRequest {
        if |at| at.session().is_some();
        check |prompt, at| {
            rules::check_prompt(&prompt.prompt, at.session())?;
            rules::check_takes_work(&prompt.session_id, at.sessions)
        };
    },
    SetSessionConfigOptionRequest {
        if |at| at.session().is_some();
        check |set, at| rules::check_option(set, at.sessions);
    },
    CancelToolCallRequest {
        if |at| at.session().is_some();
        check |cancel, at| {
            let can = at.sessions.can_cancel_call(&cancel.session_id, &cancel.tool_call_id);
            rules::check_can_cancel("call", &cancel.tool_call_id, can)
        };
    },
    CancelTerminalRequest {
        if |at| at.session().is_some();
        check |cancel, at| {
            let can = at.sessions.can_cancel_terminal(&cancel.session_id, &cancel.terminal_id);
            rules::check_can_cancel("terminal", &cancel.terminal_id, can)
        };
    },
}
