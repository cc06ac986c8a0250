// An MCP server on the npm SDK of the newest revision: `mcp_server.mjs stdio|http`. It serves 2026-07-28, and older
// revisions without a session.

import { createServer } from "node:http";
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler, fromJsonSchema, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { addTools, listen, reporter, said } from "./mcp_tools.mjs";

const version = "io.modelcontextprotocol/protocolVersion";

function interop() {
  const server = new McpServer({ name: "interop", version: "1.0.0" });
  addTools(server, ({ mcpReq, http }) => {
    const stateless = mcpReq.envelope?.[version];
    return {
      signal: mcpReq.signal,
      report: reporter(mcpReq._meta?.progressToken, (notification) => mcpReq.notify(notification)),
      revision: () => stateless ?? server.server.getNegotiatedProtocolVersion() ?? "unknown",
      hangUp: () => http?.closeSSE?.(),
      async ask() {
        if (stateless) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
        await mcpReq.send({ method: "ping" });
        return said("pong");
      },
      questions: {
        roots: () => mcpReq.send({ method: "roots/list" }),
        sample: (params) => mcpReq.requestSampling(params),
        elicit: (params) => mcpReq.elicitInput(params),
      },
    };
  });
  // The client must repeat this argument in a header, and the SDK compares both.
  const region = { type: "string", "x-mcp-header": "Region" };
  const inputSchema = fromJsonSchema({ type: "object", properties: { region }, required: ["region"] });
  server.registerTool("weather", { description: "The weather of a region", inputSchema }, ({ region }) =>
    said(`${region}: sunny`),
  );
  return server;
}

if (process.argv[2] === "stdio") {
  serveStdio(interop);
} else {
  const handle = toNodeHandler(createMcpHandler(interop));
  const guards = [localhostHostValidation(), localhostOriginValidation()];
  const http = createServer((request, response) => {
    if (guards.every((guard) => guard(request, response))) void handle(request, response);
  });
  listen(http, "/mcp");
}
