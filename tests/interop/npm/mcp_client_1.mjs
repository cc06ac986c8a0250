// An MCP client on the npm SDK of the revisions with sessions: `mcp_client_1.mjs http|sse|resume URL`.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { resume, roots, steps } from "./mcp_steps.mjs";

const [kind, url] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities: { roots: {} } });
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
const Transport = kind === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
const transport = new Transport(new URL(url));
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);

await client.connect(transport);
console.log(`ok connect (${transport.protocolVersion ?? "unknown"})`);
await (kind === "resume" ? resume(call) : steps(client, call));
await transport.terminateSession?.();
await client.close();
