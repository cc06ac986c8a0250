// An MCP client on the npm SDK that puts a server through its paces: `mcp_client.mjs MODE URL` or
// `mcp_client.mjs MODE COMMAND…`. It does what pypi/mcp_client.py does; MODE is `auto` or `legacy`, as there, or
// `resume` for one call whose stream is cut.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { resume, roots, steps } from "./mcp_steps.mjs";

const [mode, command, ...args] = process.argv.slice(2);
const versionNegotiation = { mode: mode === "resume" ? "legacy" : mode };
const capabilities = { roots: {} };
const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities, versionNegotiation });
client.setRequestHandler("roots/list", () => ({ roots }));
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const transport = command.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: "inherit" });

await client.connect(transport);
console.log(`ok connect (${client.getNegotiatedProtocolVersion()})`);
await (mode === "resume" ? resume(call) : steps(client, call));
await transport.terminateSession?.();
await client.close();
