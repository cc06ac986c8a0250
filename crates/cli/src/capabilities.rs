//! What the commands that list say of this client: the same as `call`, because servers leave out of their lists what a client
//! could not use.

use agentwire_mcp_client::schema::ElicitResult;
use agentwire_mcp_client::{Client, Tasks};

/// The client with the capabilities that it has in `call`. A question that comes while a list is read is declined.
pub(crate) fn as_in_call(client: Client) -> Client {
    client
        .elicitation(async |_form| Ok(ElicitResult::decline()))
        .elicitation_url(async |_url| Ok(ElicitResult::decline()))
        .tasks(Tasks::new())
}
