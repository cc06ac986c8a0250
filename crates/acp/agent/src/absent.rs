//! The placeholder agent for a protocol version that a router does not serve.

use agentwire_acp_schema::{v1, v2 as schema};

use crate::{Context, Error, v2};

/// The agent type for a version that a [`Router`](crate::Router) does not serve. The type has no values, so its methods are
/// never called.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "it has no variant, and never will")]
pub enum Absent {}

impl crate::Agent for Absent {
    async fn initialize(
        &self,
        _: v1::InitializeRequest,
        _: Context,
    ) -> Result<v1::InitializeResponse, Error> {
        match *self {}
    }

    async fn new_session(
        &self,
        _: v1::NewSessionRequest,
        _: Context,
    ) -> Result<v1::NewSessionResponse, Error> {
        match *self {}
    }

    async fn prompt(&self, _: v1::PromptRequest, _: Context) -> Result<v1::PromptResponse, Error> {
        match *self {}
    }
}

impl v2::Agent for Absent {
    async fn initialize(
        &self,
        _: schema::InitializeRequest,
        _: v2::Context,
    ) -> Result<schema::InitializeResponse, Error> {
        match *self {}
    }

    async fn new_session(
        &self,
        _: schema::NewSessionRequest,
        _: v2::Context,
    ) -> Result<schema::NewSessionResponse, Error> {
        match *self {}
    }

    async fn prompt(&self, _: schema::PromptRequest, _: v2::Turn) -> Result<schema::IdleStopReason, Error> {
        match *self {}
    }
}
