//! Generic code that spawns a connection.

use agentwire_mcp_client::{BoxError, Client, ConnectionError, RemoteServer, connect};
use agentwire_transport::{Transport, duplex};
use tokio::task::JoinHandle;

use crate::mock::Mock;

/// Spawns what is generic in everything, the future of `main` included.
fn spawn<T, F>(
    transport: T,
    main: impl FnOnce(RemoteServer) -> F + Send + 'static,
) -> JoinHandle<Result<(), ConnectionError>>
where
    T: Transport + Send + 'static,
    F: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    tokio::spawn(connect(transport, main))
}

/// The same with a client of the caller's.
fn spawn_client<T, F>(
    client: Client,
    transport: T,
    main: impl FnOnce(RemoteServer) -> F + Send + 'static,
) -> JoinHandle<Result<(), ConnectionError>>
where
    T: Transport + Send + 'static,
    F: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    tokio::spawn(client.connect(transport, main))
}

/// The same for the two futures of `start`.
fn spawn_both(transport: impl Transport + Send + 'static) -> JoinHandle<String> {
    let (connecting, connection) = Client::default().start(transport);
    tokio::spawn(connection);
    tokio::spawn(async { connecting.await.map(|server| server.info().name.clone()).unwrap_or_default() })
}

#[tokio::test]
async fn generic_code_spawns_a_connection() {
    let main = async |server: RemoteServer| -> Result<(), BoxError> {
        assert_eq!(server.info().name, "mock");
        Ok(())
    };
    let (near, far) = duplex(8);
    let connected = spawn(near, main);
    Mock::new(far).describe().await;
    connected.await.unwrap().unwrap();

    let (near, far) = duplex(8);
    let connected = spawn_client(Client::new("tester", "1.0.0"), near, main);
    Mock::new(far).describe().await;
    connected.await.unwrap().unwrap();

    let (near, far) = duplex(8);
    let name = spawn_both(near);
    Mock::new(far).describe().await;
    assert_eq!(name.await.unwrap(), "mock");
}
