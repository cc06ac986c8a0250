//! A proxy whose connections to an engine are slow, or become dead without being closed.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes connections on to an engine.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// The number of calls of [`lose_connections`](Self::lose_connections). Connections from before the last call carry no bytes.
    number: watch::Sender<u64>,
}

impl Proxy {
    pub(crate) async fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (number, _) = watch::channel(0);
        let numbers = number.clone();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut changed = numbers.subscribe();
                tokio::spawn(async move {
                    let Ok(mut engine) = TcpStream::connect(("127.0.0.1", target)).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut engine) => return,
                        _ = changed.changed() => (),
                    }
                    // As if every packet were lost: neither side is notified.
                    _ = changed.wait_for(|number| *number == u64::MAX).await;
                });
            }
        });
        Self { port, number }
    }

    /// Makes a proxy that passes at most `bytes` to the engine every 10 ms, on each connection.
    pub(crate) async fn slow(target: u16, bytes: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(mut engine) = TcpStream::connect(("127.0.0.1", target)).await else { return };
                    let (mut requests, mut replies) = client.split();
                    let (mut from_engine, mut to_engine) = engine.split();
                    let pass = async {
                        let mut buffer = vec![0; bytes];
                        while let Ok(length @ 1..) = requests.read(&mut buffer).await {
                            if to_engine.write_all(&buffer[..length]).await.is_err() {
                                return;
                            }
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                    };
                    tokio::select! {
                        () = pass => (),
                        _ = copy(&mut from_engine, &mut replies) => (),
                    }
                });
            }
        });
        Self { port, number: watch::channel(0).0 }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Stops all open connections without closing them. Later ones work.
    pub(crate) fn lose_connections(&self) {
        self.number.send_modify(|number| *number += 1);
    }
}
