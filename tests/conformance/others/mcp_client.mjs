// One step of an MCP client on an npm SDK: `mcp_client.mjs 1|2 TARGET STEP [ARGUMENTS]`. It prints the result as JSON.
// `1` is the SDK of the revisions with sessions. TARGET is a URL or a command line; a URL that ends with `/sse` means that transport.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(`${process.env.PACKAGES}/package.json`);
const load = (name) => import(pathToFileURL(resolve(name).replace(/\/cjs\/|\.cjs$/, (part) => (part === ".cjs" ? ".mjs" : "/esm/"))));

const [version, target, step, ...given] = process.argv.slice(2);
const info = { name: "conformance-steps", version: "1.0.0" };
const capabilities = { roots: {}, sampling: {}, elicitation: {} };
const roots = () => ({ roots: [{ uri: "file:///projects/here", name: "Here" }] });
const model = () => ({ role: "assistant", model: "none", content: { type: "text", text: "hello" } });
const user = () => ({ action: "decline" });

/** A client on the SDK of the newest revision, which also speaks the older ones. */
async function newer() {
  const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const client = new Client(info, { capabilities, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("roots/list", roots);
  client.setRequestHandler("sampling/createMessage", model);
  client.setRequestHandler("elicitation/create", user);
  return { client, StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport };
}

/** A client on the SDK of the revisions with sessions. */
async function older() {
  const sdk = "@modelcontextprotocol/sdk";
  const { Client } = await load(`${sdk}/client/index.js`);
  const { StdioClientTransport } = await load(`${sdk}/client/stdio.js`);
  const { StreamableHTTPClientTransport } = await load(`${sdk}/client/streamableHttp.js`);
  const { SSEClientTransport } = await load(`${sdk}/client/sse.js`);
  const types = await load(`${sdk}/types.js`);
  const client = new Client(info, { capabilities });
  client.setRequestHandler(types.ListRootsRequestSchema, roots);
  client.setRequestHandler(types.CreateMessageRequestSchema, model);
  client.setRequestHandler(types.ElicitRequestSchema, user);
  return { client, StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport };
}

const { client, StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport } = await (version === "1" ? older() : newer());

function transportOf() {
  if (target.startsWith("http")) {
    const Transport = target.endsWith("/sse") ? SSEClientTransport : StreamableHTTPClientTransport;
    return new Transport(new URL(target));
  }
  const words = target.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'|'$/g, ""));
  return new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: "inherit" });
}

/** All items of all pages. */
async function all(list, member) {
  const items = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? undefined : { cursor });
    items.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

const steps = {
  list_tools: () => all((page) => client.listTools(page), "tools"),
  list_resources: () => all((page) => client.listResources(page), "resources"),
  list_templates: () => all((page) => client.listResourceTemplates(page), "resourceTemplates"),
  list_prompts: () => all((page) => client.listPrompts(page), "prompts"),
  call_tool: (name, args) => client.callTool({ name, arguments: JSON.parse(args) }),
  read_resource: (uri) => client.readResource({ uri }),
  get_prompt: (name) => client.getPrompt({ name }),
};

const transport = transportOf();
await client.connect(transport);
console.log(JSON.stringify(await steps[step](...given)));
await transport.terminateSession?.();
await client.close();
