//! The table of the methods of version 1.

use agentwire_acp_schema::v1::{
    AgentCapabilities, AuthenticateRequest, ClientCapabilities, CloseSessionRequest, DeleteSessionRequest,
    InitializeRequest, ListSessionsRequest, LoadSessionRequest, LogoutRequest, NewSessionRequest,
    PromptRequest, ResumeSessionRequest, SetSessionConfigOptionRequest, SetSessionModeRequest,
};

use crate::connection_state::Handshake;
use crate::method::methods;
use crate::turns::Turns;
use crate::{outgoing, rules};

/// A connection that is initialized.
pub(crate) struct Connection<'a> {
    pub(crate) handshake: &'a Handshake,
    pub(crate) turns: &'a Turns,
}

impl Connection<'_> {
    pub(crate) fn agent(&self) -> &AgentCapabilities {
        &self.handshake.agent.agent_capabilities
    }

    pub(crate) fn client(&self) -> &ClientCapabilities {
        self.handshake.client_capabilities()
    }
}

methods! { Connection<'_>:
    InitializeRequest,
    AuthenticateRequest {
        check |request, at| rules::check_auth_method(&request.method_id, &at.handshake.agent.auth_methods);
    },
    LogoutRequest { if |at| at.agent().auth.logout.is_some(); },
    NewSessionRequest {
        check |new, at| {
            rules::check_session_setup(&new.cwd, &new.additional_directories, &new.mcp_servers, at.agent())
        };
        answer |new, at| outgoing::check_session(new.modes.as_ref(), &mut new.config_options, at.client());
    },
    LoadSessionRequest {
        if |at| at.agent().load_session;
        check |load, at| {
            rules::check_session_setup(&load.cwd, &load.additional_directories, &load.mcp_servers, at.agent())
        };
        answer |loaded, at| {
            outgoing::check_session(loaded.modes.as_ref(), &mut loaded.config_options, at.client())
        };
    },
    ResumeSessionRequest {
        if |at| at.agent().session_capabilities.resume.is_some();
        check |resume, at| {
            rules::check_session_setup(&resume.cwd, &resume.additional_directories, &resume.mcp_servers, at.agent())
        };
        answer |resumed, at| {
            outgoing::check_session(resumed.modes.as_ref(), &mut resumed.config_options, at.client())
        };
    },
    ListSessionsRequest {
        if |at| at.agent().session_capabilities.list.is_some();
        check |list, _| rules::check_absolute("cwd", list.cwd.as_deref());
        answer |list, _| outgoing::check_sessions(&list.sessions);
    },
    CloseSessionRequest {
        if |at| at.agent().session_capabilities.close.is_some();
        check |close, at| { at.turns.cancel(&close.session_id); Ok(()) };
    },
    DeleteSessionRequest { if |at| at.agent().session_capabilities.delete.is_some(); },
    PromptRequest {
        check |prompt, at| rules::check_prompt(&prompt.prompt, at.agent());
        answer |prompted, _| outgoing::check_stop_reason(&prompted.stop_reason);
    },
    SetSessionModeRequest,
    SetSessionConfigOptionRequest {
        check |set, at| rules::check_option_value(&set.value, at.client());
        answer |options, at| outgoing::check_config_options(&mut options.config_options, at.client());
    },
}
