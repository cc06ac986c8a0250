//! The tables of methods: how each request and its answer are checked.

use std::future::Future;

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_peer::Peer;

use crate::Error;

/// The result of a check of an answer or an update. The error names the rule that the agent broke.
pub(crate) type CheckResult = Result<(), String>;

/// A request type of one protocol version. `S` is the state of an initialized connection of that version.
///
/// Each version's table implements this trait for its request types. `decode` and `encode` are not generic there, so
/// their code is compiled once, with this crate. Compiling it for each agent takes seconds.
pub(crate) trait Method<S>: RequestMethod {
    /// Returns whether the agent has advertised the method.
    fn is_offered(connection: &S) -> bool;

    /// Checks the params.
    fn check(&self, connection: &S) -> Result<(), Error>;

    /// Checks the answer, and removes the parts that the client does not support.
    fn check_answer(answer: &mut Self::Response, connection: &S) -> CheckResult;

    fn decode(params: Option<RawJson>) -> Result<Self, Error>;

    fn encode(peer: &Peer, answer: &Self::Response) -> Result<RawJson, Error>;

    /// Fails unless the agent has advertised the method.
    fn check_offered(connection: &S) -> Result<(), Error> {
        if Self::is_offered(connection) { Ok(()) } else { Err(Error::method_not_found(Self::NAME)) }
    }

    /// Decodes and checks the params of a method that the agent has advertised.
    fn read(params: Option<RawJson>, connection: &S) -> Result<Self, Error> {
        Self::check_offered(connection)?;
        let request = Self::decode(params)?;
        request.check(connection)?;
        Ok(request)
    }

    /// Checks and encodes the answer.
    fn write(peer: &Peer, mut answer: Self::Response, connection: &S) -> Result<RawJson, Error> {
        Self::check_answer(&mut answer, connection).map_err(|why| broken_answer(Self::NAME, &why))?;
        Self::encode(peer, &answer)
    }
}

/// Returns the internal error that replaces an answer that breaks the protocol.
pub(crate) fn broken_answer(method: &str, why: &str) -> Error {
    Error::internal_error(format_args!("the agent's answer to {method} breaks the protocol: {why}"))
}

/// Reads the params, calls the agent's method, and writes its answer.
pub(crate) async fn answer<S, M, F>(
    connection: &S,
    params: Option<RawJson>,
    peer: &Peer,
    method: impl FnOnce(M) -> F,
) -> Result<RawJson, Error>
where
    M: Method<S>,
    F: Future<Output = Result<M::Response, Error>>,
{
    let answer = method(M::read(params, connection)?).await?;
    M::write(peer, answer, connection)
}

/// Defines the table of a version's methods. A row has a request type and up to three functions: `if` returns whether
/// the agent has advertised the method, `check` checks the params, and `answer` checks the answer. Both also update the
/// state of the connection: the `check` of `session/close` cancels the session's turns.
macro_rules! methods {
    ($Connection:ty: $($Request:ty
        $({ $(if $is_offered:expr;)? $(check $check:expr;)? $(answer $check_answer:expr;)? })?,)*
    ) => {$(
        impl $crate::method::Method<$Connection> for $Request {
            fn is_offered(_connection: &$Connection) -> bool {
                true $($(&& $crate::method::run_offered($is_offered, _connection))?)?
            }

            fn check(&self, _connection: &$Connection) -> Result<(), $crate::Error> {
                $($($crate::method::run_check($check, self, _connection)?;)?)?
                Ok(())
            }

            fn check_answer(
                _answer: &mut Self::Response,
                _connection: &$Connection,
            ) -> $crate::method::CheckResult {
                $($($crate::method::run_answer_check($check_answer, _answer, _connection)?;)?)?
                Ok(())
            }

            fn decode(params: Option<agentwire_jsonrpc::RawJson>) -> Result<Self, $crate::Error> {
                agentwire_jsonrpc::decode_params(params)
            }

            fn encode(
                peer: &agentwire_peer::Peer,
                answer: &Self::Response,
            ) -> Result<agentwire_jsonrpc::RawJson, $crate::Error> {
                peer.encode_result(answer).map_err($crate::Error::internal_error)
            }
        }
    )*};
}
pub(crate) use methods;

// These functions exist for type inference: they give the closures of a table their types.

pub(crate) fn run_offered<S>(is_offered: impl FnOnce(&S) -> bool, connection: &S) -> bool {
    is_offered(connection)
}

pub(crate) fn run_check<M, S>(
    check: impl FnOnce(&M, &S) -> Result<(), Error>,
    request: &M,
    connection: &S,
) -> Result<(), Error> {
    check(request, connection)
}

pub(crate) fn run_answer_check<A, S>(
    check: impl FnOnce(&mut A, &S) -> CheckResult,
    answer: &mut A,
    connection: &S,
) -> CheckResult {
    check(answer, connection)
}
