//! Connections to an engine that lead nowhere from some moment on.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes connections on to an engine.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// Connections that were opened under an earlier number carry nothing more, and stay open.
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
                    // As if every packet were lost, without a word to either side.
                    _ = changed.wait_for(|number| *number == u64::MAX).await;
                });
            }
        });
        Self { port, number }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// From now on nothing passes on the connections that there are, and neither side learns it. Later ones work.
    pub(crate) fn lose_connections(&self) {
        self.number.send_modify(|number| *number += 1);
    }
}
