//! A client with two layers: one repeats what is safe, the other prints each request that is made.
//!
//! ```text
//! cargo run -p agentwire-mcp-client --example retry -- my-server --its-argument
//! ```

use std::io::{self, Write};
use std::time::{Duration, Instant};

use agentwire_mcp_client::{BoxError, Client, Next, RawCall, Retry, from_fn};
use agentwire_transport_stdio::{Child, Command};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("which server? Give its program and its arguments")?;
    let client = Client::new("retry-example", "1.0.0")
        // The first layer is the outermost: it sees a call once, and the next one sees each try.
        .layer(Retry::idempotent(3).pauses(Duration::from_millis(200), Duration::from_secs(5)))
        .layer(from_fn(async |call: RawCall, next: Next| {
            let (method, begun) = (call.method().to_owned(), Instant::now());
            let answer = next.call(call).await;
            let outcome = if answer.is_ok() { "answered" } else { "failed" };
            eprintln!("{method} {outcome} after {:?}", begun.elapsed());
            answer
        }));
    let server = Child::spawn(Command::new(program).args(arguments))?;
    client
        .connect(server, async |server| {
            // A tool's annotations are known once it is listed, and say whether its calls may be repeated.
            for tool in server.tools().collect().await? {
                writeln!(io::stdout(), "{}", tool.name)?;
            }
            Ok(())
        })
        .await?;
    Ok(())
}
