// An MCP server on the npm SDK of the revisions with sessions: `mcp_server_1.mjs stdio|http|sse`. Over `http` it keeps
// events, so that a client can take up a stream again.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { addTools, listen, reporter, said } from "./mcp_tools.mjs";

function interop() {
  const server = new McpServer({ name: "interop", version: "1.0.0" });
  addTools(server, (extra) => ({
    signal: extra.signal,
    report: reporter(extra._meta?.progressToken, extra.sendNotification),
    revision: () => extra.requestInfo?.headers["mcp-protocol-version"] ?? "unknown",
    hangUp: () => extra.closeSSEStream?.(),
    async ask() {
      // Related to the call, so that it goes out on the call's own stream.
      await server.server.request({ method: "ping" }, anything, { relatedRequestId: extra.requestId });
      return said("pong");
    },
    questions: {
      roots: () => server.server.listRoots({}, { relatedRequestId: extra.requestId }),
      sample: (params) => server.server.createMessage(params, { relatedRequestId: extra.requestId }),
      elicit: (params) => server.server.elicitInput(params, { relatedRequestId: extra.requestId }),
    },
  }));
  return server;
}

/** What the SDK needs to read an answer that may be any object. */
const { EmptyResultSchema: anything } = await import("@modelcontextprotocol/sdk/types.js");

/** The events of one session, in memory. */
class Events {
  #all = [];

  async storeEvent(stream, message) {
    this.#all.push({ stream, message });
    return String(this.#all.length);
  }

  async getStreamIdForEventId(id) {
    return this.#all[id - 1]?.stream;
  }

  async replayEventsAfter(id, { send }) {
    const stream = await this.getStreamIdForEventId(id);
    console.error(`resumed after ${id}`);
    for (let index = Number(id); index < this.#all.length; index += 1) {
      const event = this.#all[index];
      // A priming event holds an empty message, which is nothing to repeat.
      if (event.stream === stream && event.message.jsonrpc) await send(String(index + 1), event.message);
    }
    return stream;
  }
}

const sessions = new Map();

/** A session begins without an id, and a session that is gone is gone. */
async function streamable(request, response) {
  const id = request.headers["mcp-session-id"];
  if (id !== undefined && !sessions.has(id)) return void response.writeHead(404).end();
  const transport = sessions.get(id) ?? (await begin());
  await transport.handleRequest(request, response);
}

async function begin() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new Events(),
    retryInterval: 100,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => {
      sessions.delete(id);
      console.error("session closed");
    },
  });
  await interop().connect(transport);
  return transport;
}

async function sse(request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  if (request.method === "GET" && pathname === "/sse") {
    const transport = new SSEServerTransport("/messages", response);
    sessions.set(transport.sessionId, transport);
    response.on("close", () => {
      sessions.delete(transport.sessionId);
      console.error("session closed");
    });
    await interop().connect(transport);
  } else if (request.method === "POST" && pathname === "/messages") {
    const transport = sessions.get(searchParams.get("sessionId"));
    await (transport?.handlePostMessage(request, response) ?? response.writeHead(404).end());
  } else {
    response.writeHead(pathname === "/sse" ? 405 : 404).end();
  }
}

const [kind] = process.argv.slice(2);
if (kind === "stdio") await interop().connect(new StdioServerTransport());
else if (kind === "sse") listen(createServer(sse), "/sse");
else listen(createServer(streamable), "/mcp");
