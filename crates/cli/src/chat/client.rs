//! What the agent may do through us.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use agentwire_acp_client::{Client, Context, Error};
use agentwire_acp_schema::v1::{
    ClientCapabilities, CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest,
    KillTerminalResponse, NewSessionRequest, ReadTextFileRequest, ReadTextFileResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionRequest, RequestPermissionResponse,
    SessionId, SessionNotification, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_acp_toolkit::{Choices, PermissionPolicy, Permissions, Workspaces};
use agentwire_jsonrpc::RawJson;
use serde_json::json;
use tokio::sync::{Mutex, Notify};

use super::keyboard::{Key, key};
use super::view::View;

/// The client: files and terminals within the session's roots, and a person or a policy that permits.
#[derive(Clone)]
pub(super) struct Hands {
    view: Rc<View>,
    workspaces: Workspaces,
    permissions: Rc<Permissions>,
    /// One question at a time: there is one keyboard.
    keyboard: Rc<Mutex<()>>,
    interrupt: Rc<Notify>,
    unheard: Rc<Unheard>,
}

/// That nobody reads what we print any more.
#[derive(Default)]
struct Unheard {
    error: Cell<Option<io::Error>>,
    news: Notify,
}

impl Hands {
    pub(super) fn new(view: Rc<View>, policy: PermissionPolicy, interrupt: Rc<Notify>) -> Self {
        Self {
            view,
            workspaces: Workspaces::new(),
            permissions: Rc::new(Permissions::new(policy)),
            keyboard: Rc::default(),
            interrupt,
            unheard: Rc::default(),
        }
    }

    pub(super) fn capabilities(&self) -> ClientCapabilities {
        self.workspaces.capabilities()
    }

    /// The agent may work in the session from now on.
    pub(super) fn open(&self, session: SessionId, request: &NewSessionRequest) {
        self.workspaces.open(session, request);
    }

    /// Ends what runs in the session.
    pub(super) async fn close(&self, session: &SessionId) {
        self.workspaces.close(session).await;
    }

    /// Waits until something could not be shown, because nobody reads what we print any more.
    pub(super) async fn unheard(&self) -> io::Error {
        loop {
            self.unheard.news.notified().await;
            if let Some(error) = self.unheard.error.take() {
                return error;
            }
        }
    }

    fn shown(&self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.unheard.error.set(Some(error));
            self.unheard.news.notify_one();
        }
    }

    /// Asks the person at the keyboard.
    async fn ask(&self, request: &RequestPermissionRequest) -> Result<RequestPermissionResponse, Error> {
        let _keyboard = self.keyboard.lock().await;
        let choices = Choices::new(request);
        let question = format!("{choices}> ");
        if let Some(screen) = self.view.screen() {
            screen.borrow_mut().ask(&question).map_err(Error::internal_error)?;
        }
        loop {
            match key().await.map_err(Error::internal_error)? {
                Key::Interrupt => {
                    // The turn is cancelled, and this question with it.
                    self.interrupt.notify_one();
                    return Ok(RequestPermissionResponse::cancelled());
                }
                Key::Character(character) => {
                    if let Some(response) = choices.select(&character.to_string()) {
                        self.view.remark(&character.to_string()).map_err(Error::internal_error)?;
                        return Ok(response);
                    }
                }
                Key::Confirm => {}
            }
        }
    }
}

impl Client for Hands {
    fn session_update(&self, notification: SessionNotification) {
        self.shown(self.view.update(&notification));
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        self.shown(self.view.fact("unreadable", &json!({ "params": params, "why": why.message })));
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let response = self.permissions.answer(&request, async |request| self.ask(request).await).await?;
        let fact = json!({ "request": request, "outcome": response.outcome });
        self.view.fact("permission", &fact).map_err(Error::internal_error)?;
        Ok(response)
    }

    async fn read_text_file(
        &self,
        request: ReadTextFileRequest,
        _: Context,
    ) -> Result<ReadTextFileResponse, Error> {
        self.workspaces.read_text_file(request).await
    }

    async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
        _: Context,
    ) -> Result<WriteTextFileResponse, Error> {
        self.workspaces.write_text_file(request).await
    }

    async fn create_terminal(
        &self,
        request: CreateTerminalRequest,
        _: Context,
    ) -> Result<CreateTerminalResponse, Error> {
        self.workspaces.create_terminal(request).await
    }

    async fn terminal_output(
        &self,
        request: TerminalOutputRequest,
        _: Context,
    ) -> Result<TerminalOutputResponse, Error> {
        self.workspaces.terminal_output(request).await
    }

    async fn wait_for_terminal_exit(
        &self,
        request: WaitForTerminalExitRequest,
        _: Context,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        self.workspaces.wait_for_terminal_exit(request).await
    }

    async fn kill_terminal(
        &self,
        request: KillTerminalRequest,
        _: Context,
    ) -> Result<KillTerminalResponse, Error> {
        self.workspaces.kill_terminal(request).await
    }

    async fn release_terminal(
        &self,
        request: ReleaseTerminalRequest,
        _: Context,
    ) -> Result<ReleaseTerminalResponse, Error> {
        self.workspaces.release_terminal(request).await
    }
}
