//! A method of an agent has a wrong name.
//~ method `new_sesion` is not a member of trait `Agent`
//~ new_session

use agentwire::acp::agent::{Agent, Context, Error};
use agentwire::acp::schema::v1::*;

struct Echo;

impl Agent for Echo {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_sesion(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(&self, _: PromptRequest, _: Context) -> Result<PromptResponse, Error> {
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

fn main() {}
