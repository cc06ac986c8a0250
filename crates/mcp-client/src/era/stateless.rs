//! Since 2026-07-28: every request says in its `_meta` who asks, in which revision and with which capabilities,
//! and every result says what kind of result it is.

use std::borrow::Cow;
use std::sync::Arc;

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::{
    CallToolRequest, ClientCapabilities, HasMeta, ListToolsRequest, Meta, Narrow, ProgressToken, RequestMeta,
    ResultType, Revision, code,
};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use bytestring::ByteString;
use futures::FutureExt;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::Server;
use crate::call::{Hook, Options, Waits};
use crate::era::discovery::{best, named};
use crate::era::input::{Round, Wanted, too_often};
use crate::handshake::Handshake;
use crate::result::{DEFAULT_VALUE_LIMIT, as_text, check, malformed};
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
    pub(crate) fn new(handshake: &Handshake, revision: Revision) -> Self {
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
        let Some(meta) = request.meta_slot() else {
            *request.meta_slot() = Some(self.about.clone());
            return;
        };
        let own_level = meta.get(LOG_LEVEL).map(|level| (Cow::Borrowed(LOG_LEVEL), level));
        meta.extend(self.about.iter().chain(own_level));
    }
}

/// What we can do, in the terms of the revision.
pub(crate) fn capabilities(handshake: &Handshake, revision: Revision) -> ClientCapabilities {
    let mut capabilities = handshake.capabilities.clone();
    capabilities.narrow(revision);
    capabilities
}

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

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
    let limit = server.limit_of(&options);
    let hook = options.on_progress.map(|hook| Arc::new(Mutex::new(hook)));
    if hook.is_some() {
        server.stamp(&mut request);
    }
    let attempt = async |request: &mut M, round: Option<&Round>| {
        attempt(server, request, round, options.waits, hook.clone(), limit).await
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
    limit: usize,
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
                    hook.lock()(report);
                }
            };
            send(server, request, round).reserved(id).on_progress(hook)
        }
        None => send(server, request, round),
    };
    let result = waits.apply(call.decode_by(as_text)).await?;
    read(&result, limit).map_err(|why| malformed(M::NAME, &why))
}

/// Sends a request, with what it brings this time.
fn send<M: Method + HasMeta>(
    server: &Server,
    request: &M,
    round: Option<&Round>,
) -> agentwire_peer::Call<RawJson> {
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
            let version = Value::from(revision.as_str());
            request.meta_slot().get_or_insert_default().insert(PROTOCOL_VERSION, version);
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
        read_by_default(&RawJson::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Reads what the server answered, of which the usual kind may be large: it is not copied before it is read.
pub(crate) fn read<T: DeserializeOwned>(
    result: &RawJson,
    limit: usize,
) -> Result<Answered<T>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind {
        result_type: Option<ResultType>,
    }

    // Servers that have nothing to say write null where the protocol wants an empty object.
    let result = if result.is_null() { &RawJson::EMPTY_OBJECT } else { result };
    check(result, limit)?;
    let Kind { result_type } = result.decode()?;
    Ok(match result_type {
        None | Some(ResultType::Complete) => Answered::Complete(result.decode()?),
        Some(ResultType::InputRequired) => Answered::Wanted(result.decode()?),
        Some(ResultType::Task) => Answered::Task(result.clone()),
        _ => Answered::Other("the server answers with a kind of result that this client does not know"),
    })
}

/// The same with the default limit.
pub(crate) fn read_by_default<T: DeserializeOwned>(
    result: &RawJson,
) -> Result<Answered<T>, serde_json::Error> {
    read(result, DEFAULT_VALUE_LIMIT)
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
