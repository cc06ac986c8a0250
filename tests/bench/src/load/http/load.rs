//! Many connections on one thread. Each has one request in flight, and sends the next one after the response.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use super::form::{Call, Client, Form};
use super::response::{Connection, Response};
use crate::load::process::Process;
use crate::load::stdio::wire::{Rate, Window};

/// Connections to one server.
pub(crate) struct Connections {
    all: Vec<Connection>,
    poll: OwnedFd,
    ready: Vec<epoll::Event>,
}

impl Connections {
    pub(crate) fn open(address: SocketAddr, count: usize) -> Result<Self> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut all = Vec::with_capacity(count);
        for index in 0..count {
            let connection = Connection::open(address)?;
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&poll, connection.stream(), data, epoll::EventFlags::IN)?;
            all.push(connection);
        }
        Ok(Self { all, poll, ready: Vec::with_capacity(count) })
    }

    /// Calls `next` for each connection at the beginning and after each response, with the connection's index, the response
    /// and an empty buffer. `next` returns true to send the request that it wrote there. Ends when nothing is in flight.
    pub(crate) fn drive(
        &mut self,
        mut next: impl FnMut(usize, Option<&Response>, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<()> {
        let mut request = Vec::new();
        let mut in_flight = 0;
        for (index, connection) in self.all.iter_mut().enumerate() {
            request.clear();
            if next(index, None, &mut request)? {
                connection.send(&request)?;
                in_flight += 1;
            }
        }
        while in_flight > 0 {
            self.ready.clear();
            epoll::wait(&self.poll, spare_capacity(&mut self.ready), None)?;
            for event in &self.ready {
                let index = event.data.u64() as usize;
                let connection = &mut self.all[index];
                let Some(response) = connection.receive()? else { continue };
                request.clear();
                if next(index, Some(response), &mut request)? {
                    connection.send(&request)?;
                } else {
                    in_flight -= 1;
                }
            }
        }
        Ok(())
    }
}

/// Makes calls over this many connections, each with a session of its own if the form has sessions, and counts those of
/// the window.
pub(crate) fn pump(
    server: &Process,
    address: SocketAddr,
    connections: usize,
    form: Form,
    window: Window,
    call: impl Fn(&Client) -> Call,
    check: impl Fn(&Response) -> Result<()>,
) -> Result<Rate> {
    let mut pool = Connections::open(address, connections)?;
    let mut calls = Vec::with_capacity(connections);
    for connection in &mut pool.all {
        let mut client = Client::new(address, form);
        client.open_session(connection)?;
        calls.push(call(&client));
    }
    let mut run = |time: Duration| -> Result<(u64, Duration)> {
        let (begun, mut answered) = (Instant::now(), 0);
        pool.drive(|index, response, request| {
            if let Some(response) = response {
                calls[index].check(response)?;
                check(response)?;
                if begun.elapsed() >= time {
                    return Ok(false);
                }
                answered += 1;
            }
            request.extend_from_slice(calls[index].next());
            Ok(true)
        })?;
        // The few calls in flight at the end of the time are not counted.
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
