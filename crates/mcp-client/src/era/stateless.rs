//! Since 2026-07-28: every request says in its `_meta` who asks, in which revision and with which capabilities,
//! and every result says what kind of result it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Method, RawJson};
use agentwire_mcp_schema::code::{self, MissingCapabilities, UnsupportedVersion};
use agentwire_mcp_schema::{
    CallToolRequest, ClientCapabilities, DiscoverRequest, DiscoverResult, HasMeta, Implementation,
    ListToolsRequest, Meta, Narrow, ProgressToken, ProtocolVersion, RequestMeta, ResultMeta, ResultType,
    Revision,
};
use agentwire_peer::{CallError, Peer};
use bytestring::ByteString;
use futures::FutureExt;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::Server;
use crate::call::{Hook, Options, Waits};
use crate::era::input::{Round, Wanted, too_often};
use crate::handshake::{Handshake, HandshakeError};
use crate::server::Terms;
use crate::tasks::patience::Patience;
use crate::tasks::{self, Report, decode, extension};

/// What every request repeats.
#[derive(Debug)]
pub(crate) struct Stateless {
    about: Meta,
    /// The same as text, for the many requests that have nothing else to say.
    text: Box<RawValue>,
}

/// A request that has no `_meta` of its own.
#[derive(Serialize)]
struct Stamped<'a, M> {
    #[serde(flatten)]
    request: &'a M,
    #[serde(rename = "_meta")]
    about: &'a RawValue,
}

impl Stateless {
    fn new(handshake: &Handshake, revision: Revision) -> Self {
        let mut info = handshake.info.clone();
        info.narrow(revision);
        let mut about = RequestMeta::new(revision, capabilities(handshake, revision)).client_info(info);
        about.log_level = handshake.log_level.clone();
        let about = about.to_meta();
        let text = to_raw_value(&about).expect("the keys of a map of JSON are strings");
        Self { about, text }
    }

    pub(crate) fn text(&self) -> &RawValue {
        &self.text
    }

    /// Writes it into a request, beside what else is there. A level for the log that the request has already
    /// stays.
    pub(crate) fn stamp(&self, request: &mut impl HasMeta) {
        let meta = request.meta_slot().get_or_insert_default();
        let own_level = meta.get(LOG_LEVEL).cloned();
        meta.extend(self.about.clone());
        meta.extend(own_level.map(|level| (LOG_LEVEL.to_owned(), level)));
    }
}

/// What we can do, in the terms of the revision.
fn capabilities(handshake: &Handshake, revision: Revision) -> ClientCapabilities {
    let mut capabilities = handshake.capabilities.clone();
    capabilities.narrow(revision);
    capabilities
}

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What came of `server/discover`.
pub(crate) enum Discovery {
    /// The server speaks a revision of this era that we speak.
    Stateless(Box<Terms>),
    /// The best revision that both speak has sessions.
    Session(Revision, UnsupportedVersion),
    /// It may be that the server has never heard of this era.
    Unknown(CallError),
}

/// Asks the server what it speaks and what it offers.
pub(crate) async fn discover(
    handshake: &Handshake,
    peer: &Peer,
    timeout: Option<Duration>,
) -> Result<Discovery, HandshakeError> {
    let mut revision = handshake.newest(Revision::is_stateless).ok_or(HandshakeError::NoRevision)?;
    let mut named_before = false;
    loop {
        let mut request = DiscoverRequest::default();
        Stateless::new(handshake, revision).stamp(&mut request);
        let mut call =
            peer.call_method(DiscoverRequest::NAME, Some(&request)).decode_by(read::<DiscoverResult>);
        if let Some(timeout) = timeout {
            call = call.timeout(timeout);
        }
        let error = match call.await.and_then(|outcome| complete(DiscoverRequest::NAME, outcome)) {
            Ok(found) => return settle(handshake, found, revision),
            Err(error @ (CallError::Closed(_) | CallError::Failed { .. })) => return Err(error.into()),
            Err(error) => error,
        };
        let Some(versions) = error.refusal().and_then(|error| named(error, revision)) else {
            return if error.refusal().is_some_and(is_of_this_era) {
                Err(error.into())
            } else {
                Ok(Discovery::Unknown(error))
            };
        };
        // A server that refuses what it has named itself is believed once.
        let will_do =
            |revision: Revision| handshake.speaks(revision) && (revision.has_sessions() || !named_before);
        match best(&versions.supported, will_do) {
            Some(best) if best.has_sessions() => return Ok(Discovery::Session(best, versions)),
            Some(best) => revision = best,
            // Whatever the list is, it is no list of what this server speaks.
            None if error.refusal().is_some_and(|error| error.code != code::UNSUPPORTED_PROTOCOL_VERSION) => {
                return Ok(Discovery::Unknown(error));
            }
            _ => return Err(HandshakeError::VersionRefused(versions)),
        }
        named_before = true;
    }
}

/// Takes what the server says of itself.
fn settle(
    handshake: &Handshake,
    found: DiscoverResult,
    requested: Revision,
) -> Result<Discovery, HandshakeError> {
    let versions = UnsupportedVersion::new(found.supported_versions, requested);
    let revision = match best(&versions.supported, |revision| handshake.speaks(revision)) {
        Some(revision) if revision.has_sessions() => return Ok(Discovery::Session(revision, versions)),
        Some(revision) => revision,
        None => return Err(HandshakeError::VersionRefused(versions)),
    };
    let about = ResultMeta::read(found.meta.as_ref()).unwrap_or_default();
    Ok(Discovery::Stateless(Box::new(Terms {
        // It need not say who it is, and nothing may hang on it.
        info: about.server_info.unwrap_or_else(|| Implementation::new("", "")),
        capabilities: found.capabilities,
        instructions: found.instructions,
        revision,
        client_capabilities: capabilities(handshake, revision),
        waits: handshake.waits,
        revisions: handshake.revisions.clone(),
        stateless: Some(Stateless::new(handshake, revision)),
    })))
}

/// Makes a call, as often as that is needed.
pub(crate) async fn ask<M, R>(server: Server, request: M, options: Options) -> Result<R, CallError>
where
    M: Method + HasMeta,
    R: DeserializeOwned,
{
    ask_counting(server, request, options).await.map(|(result, _)| result)
}

/// The same, and gives how many rounds of answers it took.
pub(crate) async fn ask_counting<M, R>(
    server: Server,
    request: M,
    mut options: Options,
) -> Result<(R, usize), CallError>
where
    M: Method + HasMeta,
    R: DeserializeOwned,
{
    let (waits, on_task) = (options.waits, options.on_task.take());
    let (report, rounds) = {
        let (reached, rounds) = reach(&server, request, options).await?;
        match reached {
            Reached::Complete(result) => return Ok((result, rounds)),
            Reached::Task(report) => (report, rounds),
        }
    };
    // Few are tasks: how these are followed is no part of the future that every call has.
    let result = tasks::follow(server, *report, Patience::new(waits), on_task).boxed().await?;
    decode(&result).map(|result| (result, rounds))
}

/// Where a call has come to.
pub(crate) enum Reached<R> {
    Complete(R),
    /// The server works on it, which the client has said it can wait for.
    Task(Box<Report>),
}

/// Makes a call: again with the answers as often as the server asks back, and once more if the server says what was
/// wrong with it and that can be mended. Each time is a request of its own, with a time of its own. Also gives how many
/// rounds of answers it took.
pub(crate) async fn reach<M, R>(
    server: &Server,
    mut request: M,
    options: Options,
) -> Result<(Reached<R>, usize), CallError>
where
    M: Method + HasMeta,
    R: DeserializeOwned,
{
    let hook = options.on_progress.map(|hook| Arc::new(Mutex::new(hook)));
    if hook.is_some() {
        server.stamp(&mut request);
    }
    let attempt = async |request: &mut M, round: Option<&Round>| {
        attempt(server, request, round, options.waits, hook.clone()).await
    };
    let limit = server.answers().round_limit;
    let (mut rounds, mut round, mut mended) = (0, None, false);
    loop {
        let next = match attempt(&mut request, round.as_ref()).await {
            Ok(Answered::Wanted(wanted)) => Ok(wanted),
            Ok(Answered::Task(task)) => {
                return extension::begun::<M, R>(server, &task).map(|reached| (reached, rounds));
            }
            Ok(answered) => {
                return complete(M::NAME, answered).map(|result| (Reached::Complete(result), rounds));
            }
            Err(error) => Err(error),
        };
        match next {
            Ok(_) if rounds == limit => return Err(too_often(M::NAME, limit)),
            Ok(wanted) => {
                round = Some(wanted.answer(server, M::NAME).await?);
                rounds += 1;
            }
            Err(error) if !mended && mend(server, &mut request, &error).await => mended = true,
            Err(error) => return Err(error),
        }
    }
}

async fn attempt<M, R>(
    server: &Server,
    request: &mut M,
    round: Option<&Round>,
    waits: Waits,
    hook: Option<Arc<Mutex<Hook>>>,
) -> Result<Answered<R>, CallError>
where
    M: Method + HasMeta,
    R: DeserializeOwned,
{
    let peer = &server.peer;
    let call = match hook {
        Some(hook) => {
            let id = peer.reserve_call();
            request.set_progress_token(&ProgressToken::from(id.request_id()));
            let hook = move |params: RawJson| {
                if let Ok(report) = params.decode() {
                    hook.lock().unwrap_or_else(PoisonError::into_inner)(report);
                }
            };
            send(server, request, round).reserved(id).on_progress(hook)
        }
        None => send(server, request, round),
    };
    waits.apply(call.decode_by(read)).await
}

/// Sends a request, with what it brings this time.
fn send<M: Method + HasMeta, R>(
    server: &Server,
    request: &M,
    round: Option<&Round>,
) -> agentwire_peer::Call<R>
where
    R: DeserializeOwned,
{
    let (method, peer) = (ByteString::from_static(M::NAME), &server.peer);
    let about = server.about().filter(|_| request.meta_ref().is_none());
    match (round.map(|round| round.with(request)), about) {
        (None, None) => peer.call_method(method, Some(request)),
        (None, Some(about)) => peer.call_method(method, Some(&Stamped { request, about })),
        (Some(Ok(params)), None) => peer.call_method(method, Some(&params)),
        (Some(Ok(params)), Some(about)) => {
            peer.call_method(method, Some(&Stamped { request: &params, about }))
        }
        (Some(Err(error)), _) => peer.refuse_call(CallError::not_allowed(method, error.to_string())),
    }
}

/// Whether a refused request is worth another try, and now ready for it.
async fn mend<M: Method + HasMeta>(server: &Server, request: &mut M, error: &CallError) -> bool {
    match Remedy::of(error, request, server) {
        Some(Remedy::Version(revision)) => {
            server.stamp(request);
            let version = revision.as_str().into();
            request.meta_slot().get_or_insert_default().insert(PROTOCOL_VERSION.to_owned(), version);
            true
        }
        Some(Remedy::List(tool)) => is_listed(server, &tool).await,
        None => false,
    }
}

/// What makes a request that was refused worth another try.
enum Remedy {
    /// That it is made in this revision.
    Version(Revision),
    /// That this tool is listed anew: the transport takes the headers of a call from the list, which is no longer
    /// what it was.
    List(String),
}

impl Remedy {
    fn of<M: Method>(error: &CallError, request: &M, server: &Server) -> Option<Self> {
        #[derive(Deserialize)]
        struct Call {
            name: String,
        }

        let error = error.refusal()?;
        match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                let versions = named(error, server.revision())?;
                let speaks = |revision: Revision| revision.is_stateless() && server.speaks(revision);
                best(&versions.supported, speaks).map(Self::Version)
            }
            code::HEADER_MISMATCH if M::NAME == CallToolRequest::NAME => {
                let call: Call = RawJson::encode(request).ok()?.decode().ok()?;
                Some(Self::List(call.name))
            }
            _ => None,
        }
    }
}

/// Lists tools until that one comes by. False if it does not.
pub(crate) async fn is_listed(server: &Server, name: &str) -> bool {
    server.forget(&[ListToolsRequest::NAME]);
    let mut tools = server.tools();
    while let Ok(Some(tool)) = tools.try_next().await {
        if tool.name == name {
            return true;
        }
    }
    false
}

/// What the server answers.
#[derive(Debug)]
pub(crate) enum Answered<T> {
    /// What was asked for.
    Complete(T),
    /// What it must know first.
    Wanted(Wanted),
    /// That it works on it, as a task.
    Task(RawJson),
    /// Something that we cannot go on from, and what.
    Other(&'static str),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Answered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(&RawJson::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Reads what the server answered, of which the usual kind may be large: it is not copied before it is read.
pub(crate) fn read<T: DeserializeOwned>(result: &RawJson) -> Result<Answered<T>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind {
        result_type: Option<ResultType>,
    }

    // Servers that have nothing to say write null where the protocol wants an empty object.
    let result = if result.is_null() { &RawJson::EMPTY_OBJECT } else { result };
    let Kind { result_type } = result.decode()?;
    Ok(match result_type {
        None | Some(ResultType::Complete) => Answered::Complete(result.decode()?),
        Some(ResultType::InputRequired) => Answered::Wanted(result.decode()?),
        Some(ResultType::Task) => Answered::Task(result.clone()),
        _ => Answered::Other("the server answers with a kind of result that this client does not know"),
    })
}

/// Takes the result out of what the server answered, where that must be there at once.
pub(crate) fn complete<T>(method: &'static str, answered: Answered<T>) -> Result<T, CallError> {
    let why = match answered {
        Answered::Complete(result) => return Ok(result),
        Answered::Wanted(_) => "the server asks back where the protocol does not let it",
        Answered::Task(_) => "the server answers with a task where the protocol does not let it",
        Answered::Other(why) => why,
    };
    Err(CallError::unusable(ByteString::from_static(method), why))
}

/// The versions that an error names, whatever its code is.
fn named(error: &ErrorObject, requested: Revision) -> Option<UnsupportedVersion> {
    #[derive(Deserialize)]
    struct Versions {
        supported: Vec<ProtocolVersion>,
        requested: Option<ProtocolVersion>,
    }

    let versions = error.data.as_ref()?.decode::<Versions>().ok()?;
    let requested = versions.requested.unwrap_or_else(|| requested.into());
    Some(UnsupportedVersion::new(versions.supported, requested))
}

/// The newest of these that we know and that will do.
fn best(versions: &[ProtocolVersion], will_do: impl Fn(Revision) -> bool) -> Option<Revision> {
    versions.iter().filter_map(ProtocolVersion::revision).filter(|revision| will_do(*revision)).max()
}

/// Whether only a server of this era says this.
fn is_of_this_era(error: &ErrorObject) -> bool {
    let has_capabilities = || error.data.as_ref()?.decode::<MissingCapabilities>().ok();
    match error.code {
        code::HEADER_MISMATCH => true,
        code::MISSING_REQUIRED_CLIENT_CAPABILITY => has_capabilities().is_some(),
        _ => false,
    }
}
