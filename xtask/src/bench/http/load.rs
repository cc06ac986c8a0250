//! Many connections driven by one thread: each has one request on its way, and gets the next when that is answered.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use super::super::process::Process;
use super::super::wire::{Rate, Window};
use super::form::{Call, Client, Form};
use super::response::{Connection, Response};

/// Connections to one server.
pub(crate) struct Crowd {
    connections: Vec<Connection>,
    poll: OwnedFd,
    ready: Vec<epoll::Event>,
}

impl Crowd {
    pub(crate) fn open(address: SocketAddr, count: usize) -> Result<Self> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut connections = Vec::with_capacity(count);
        for index in 0..count {
            let connection = Connection::open(address)?;
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&poll, connection.stream(), data, epoll::EventFlags::IN)?;
            connections.push(connection);
        }
        Ok(Self { connections, poll, ready: Vec::with_capacity(count) })
    }

    /// Lets `next` say what each connection sends: it gets the connection's number and the response to what was sent last,
    /// and sends by returning true with the request in the buffer, which is empty. It ends when nothing is on its way.
    pub(crate) fn drive(
        &mut self,
        mut next: impl FnMut(usize, Option<&Response>, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<()> {
        let mut request = Vec::new();
        let mut on_their_way = 0;
        for (index, connection) in self.connections.iter_mut().enumerate() {
            request.clear();
            if next(index, None, &mut request)? {
                connection.send(&request)?;
                on_their_way += 1;
            }
        }
        while on_their_way > 0 {
            self.ready.clear();
            epoll::wait(&self.poll, spare_capacity(&mut self.ready), None)?;
            for event in &self.ready {
                let index = event.data.u64() as usize;
                let connection = &mut self.connections[index];
                let Some(response) = connection.receive()? else { continue };
                request.clear();
                if next(index, Some(response), &mut request)? {
                    connection.send(&request)?;
                } else {
                    on_their_way -= 1;
                }
            }
        }
        Ok(())
    }
}

/// Makes calls over so many connections, each with a session of its own where there are sessions, and counts those of the
/// window.
pub(crate) fn pump(
    server: &Process,
    address: SocketAddr,
    connections: usize,
    form: Form,
    window: Window,
    call: impl Fn(&Client) -> Call,
    check: impl Fn(&Response) -> Result<()>,
) -> Result<Rate> {
    let mut crowd = Crowd::open(address, connections)?;
    let mut calls = Vec::with_capacity(connections);
    for connection in &mut crowd.connections {
        let mut client = Client::new(address, form);
        client.greet(connection)?;
        calls.push(call(&client));
    }
    let mut run = |time: Duration| -> Result<(u64, Duration)> {
        let (begun, mut answered) = (Instant::now(), 0);
        crowd.drive(|index, response, request| {
            if let Some(response) = response {
                calls[index].is_answered_by(response)?;
                check(response)?;
                if begun.elapsed() >= time {
                    return Ok(false);
                }
                answered += 1;
            }
            request.extend_from_slice(calls[index].next());
            Ok(true)
        })?;
        // What was on its way when the time was up is small and not counted.
        Ok((answered, time))
    };
    run(window.warm_up)?;
    let processor_time = server.processor_time()?;
    let (answered, wall) = run(window.measured)?;
    let processor_time = server.processor_time()? - processor_time;
    Ok(Rate {
        per_second: answered as f64 / wall.as_secs_f64(),
        microseconds: processor_time.as_secs_f64() * 1e6 / answered as f64,
    })
}
