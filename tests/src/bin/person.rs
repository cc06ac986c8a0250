//! A person at an authorization server that asks nothing, in the place of a browser: opens the URL, and the one that it redirects to.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("person URL")?;
    let answer = get(&url)?;
    let location = answer.lines().find_map(|line| line.strip_prefix("location: ")).ok_or("no redirect")?;
    let page = get(location)?;
    if page.starts_with("HTTP/1.1 200") { Ok(()) } else { Err("the listener refuses".into()) }
}

fn get(url: &str) -> Result<String, Box<dyn Error>> {
    let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).ok_or("no URL")?;
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
