// An MCP client on the npm SDK that logs in, and then puts a server through its paces: `mcp_client_auth.mjs URL`. The
// login is the SDK's own; `person.mjs` agrees to it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { roots, steps } from "./mcp_steps.mjs";

const server = new URL(process.argv[2]);
const person = fileURLToPath(new URL("person.mjs", import.meta.url));

const redirects = createServer();
redirects.listen(0, "127.0.0.1");
await once(redirects, "listening");
const redirectUrl = `http://127.0.0.1:${redirects.address().port}/callback`;
const redirected = once(redirects, "request").then(([request, response]) => {
  response.end();
  redirects.close();
  return new URL(request.url, redirectUrl).searchParams;
});

const kept = {};
const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: "interop",
    redirect_uris: [redirectUrl],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
  redirectToAuthorization: (url) => {
    console.log(`resource ${url.searchParams.get("resource")}, scope ${url.searchParams.get("scope")}`);
    spawn(process.execPath, [person, url.href], { stdio: ["ignore", "inherit", "inherit"] });
  },
};

function begin() {
  const client = new Client(
    { name: "interop", version: "1.0.0" },
    { capabilities: { roots: {} }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("roots/list", () => ({ roots }));
  return { client, transport: new StreamableHTTPClientTransport(server, { authProvider }) };
}

const first = begin();
try {
  await first.client.connect(first.transport);
  throw new Error("the server asked for no login");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
await first.transport.finishAuth(await redirected);
console.log("ok login");
const { client, transport } = begin();
await client.connect(transport);
console.log(`ok connect (${client.getNegotiatedProtocolVersion()})`);
await steps(client, (name, args, options) => client.callTool({ name, arguments: args }, options));
await transport.terminateSession?.();
await client.close();
