//! Converts a configured server into a server of the session, which the agent starts.

use std::ffi::OsStr;
use std::path::Path;

use agentwire_acp_schema::v1::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use agentwire_mcp_hub::{HttpKind, HttpTarget, Target};
use agentwire_transport_stdio::Command;
use anyhow::Result;

use crate::failure::{Exit, Failure, Usage};
use crate::programs;

/// Makes a server of the session, whose directory is `cwd`. `place` names the server in errors.
pub(in crate::chat) fn session_server(
    name: &str,
    target: &Target,
    cwd: &Path,
    place: &str,
) -> Result<McpServer> {
    match target {
        Target::Http(target) => Ok(remote(name, target, place)?),
        Target::Stdio(command) => local(name, command, cwd, place),
        _ => Err(Usage(format!("{place}: an agent cannot reach such a server")).into()),
    }
}

fn remote(name: &str, target: &HttpTarget, place: &str) -> Result<McpServer, Usage> {
    let headers = target.headers().iter().map(|(header, value)| {
        let value =
            value.to_str().map_err(|_| Usage(format!("{place}: the value of `{header}` is not ASCII")))?;
        Ok(HttpHeader::new(header.as_str(), value))
    });
    let headers = headers.collect::<Result<Vec<_>, Usage>>()?;
    Ok(match target.transport() {
        HttpKind::Sse => {
            let mut server = McpServerSse::new(name, target.url());
            server.headers = headers;
            server.into()
        }
        _ => {
            let mut server = McpServerHttp::new(name, target.url());
            server.headers = headers;
            server.into()
        }
    })
}

/// A program. The protocol has no member for its folder, so a shell changes to it if it is not that of the session.
fn local(name: &str, command: &Command, cwd: &Path, place: &str) -> Result<McpServer> {
    let text = |text: &OsStr| {
        text.to_str().map(str::to_owned).ok_or_else(|| Usage(format!("{place}: what it starts is not UTF-8")))
    };
    let program = text(command.program())?;
    let found = programs::find(&program).and_then(|path| std::path::absolute(path).ok());
    let found = found
        .ok_or_else(|| Failure::new(Exit::Unreachable, format!("{place}: {program}: no such program")))?;
    let mut words = vec![text(found.as_os_str())?];
    for argument in command.arguments() {
        words.push(text(argument)?);
    }
    if let Some(folder) = command.directory().filter(|folder| *folder != cwd) {
        if cfg!(not(unix)) {
            let why = format!("{place}: `cwd`: an agent starts its servers in the session's directory");
            return Err(Usage(why).into());
        }
        let folder = text(folder.as_os_str())?;
        let shell = ["/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", &folder].map(str::to_owned);
        words.splice(0..0, shell);
    }
    let mut environment = Vec::new();
    for (variable, value) in command.environment() {
        let (variable, value) = (text(variable)?, value.map(text).transpose()?);
        let value = value
            .ok_or_else(|| Usage(format!("{place}: an agent cannot leave out the variable `{variable}`")))?;
        environment.push(EnvVariable::new(variable, value));
    }
    let program = words.remove(0);
    let mut server = McpServerStdio::new(name, program).args(words);
    server.env = environment;
    Ok(server.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn stdio(target: Command) -> Result<McpServerStdio, String> {
        match session_server("s", &target.into(), Path::new("/work"), "f.json") {
            Ok(McpServer::Stdio(server)) => Ok(server),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_program_starts_in_its_own_folder_with_its_variables() {
        let sh = programs::find("sh").unwrap();
        let sh = sh.to_str().unwrap();
        let server = stdio(Command::new("sh").arg("a b").current_dir("/work").env("KEY", "x")).unwrap();
        assert_eq!((server.command.as_str(), server.args.as_slice()), (sh, &["a b".to_owned()][..]));
        assert_eq!(server.env, [EnvVariable::new("KEY", "x")]);
        let server = stdio(Command::new("sh").arg("a b").current_dir("/other")).unwrap();
        let expected = ["-c", "cd -- \"$0\" && exec \"$@\"", "/other", sh, "a b"];
        assert_eq!((server.command.as_str(), server.args), ("/bin/sh", expected.map(str::to_owned).to_vec()));
        assert_eq!(stdio(Command::new("no-such-x")), Err("f.json: no-such-x: no such program".into()));
        let left_out = stdio(Command::new("sh").env_remove("KEY"));
        assert_eq!(left_out, Err("f.json: an agent cannot leave out the variable `KEY`".into()));
    }

    #[test]
    fn a_url_keeps_its_headers_and_its_transport() {
        let target = HttpTarget::new("http://me:pw@127.0.0.1:1/mcp").unwrap().header("X-Team", "7").unwrap();
        let server = session_server("s", &target.clone().into(), Path::new("/"), "f.json").ok().unwrap();
        let McpServer::Http(server) = server else { panic!("{server:?}") };
        let names: Vec<_> = server.headers.iter().map(|header| &*header.name).collect();
        assert_eq!((server.url.as_str(), names), ("http://127.0.0.1:1/mcp", vec!["authorization", "x-team"]));
        let server =
            session_server("s", &target.kind(HttpKind::Sse).into(), Path::new("/"), "f.json").ok().unwrap();
        assert!(matches!(server, McpServer::Sse(_)));
    }
}
