// The authorization server `oidc-provider`, and an MCP server on the npm SDK that takes its tokens:
// `auth_server.mjs jwt|opaque|dpop SECONDS [sse]`. Access tokens are signed, or looked up at the authorization server, or
// signed and bound to a key of the client; they last so many seconds. Prints what both servers do, but no token.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { McpServer as SessionServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import express from "express";
import * as oauth from "oauth4webapi";
import Provider from "oidc-provider";
import { addTools } from "./mcp_tools.mjs";

const [format, lifetime, transport = "mcp"] = process.argv.slice(2);
const say = (text) => console.error(text);

/** Opens a port, and returns the server with its origin. */
async function open() {
  const http = createServer();
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { http, origin: `http://127.0.0.1:${http.address().port}` };
}

const [authorization, resource] = [await open(), await open()];
const issuer = authorization.origin;
const mcp = new URL(`/${transport}`, resource.origin);
const metadataUrl = getOAuthProtectedResourceMetadataUrl(mcp);

/** Enough of a token to tell it from others. */
const short = (token) => createHash("sha256").update(token).digest("hex").slice(0, 8);

/** The client that looks tokens up. */
const checker = { client_id: "resource", client_secret: "secret" };
/** A client that is registered before it logs in, with a secret that has to be encoded. */
const editor = { client_id: "editor", client_secret: "secret: 100 % of+it" };
const grants = ["authorization_code", "refresh_token"];

const provider = new Provider(issuer, {
  clients: [
    { ...checker, redirect_uris: [], response_types: [], grant_types: [] },
    { ...editor, redirect_uris: ["http://127.0.0.1/callback"], application_type: "native", grant_types: grants },
  ],
  scopes: ["offline_access", "mcp:tools", "mcp:add"],
  cookies: { keys: ["for tests"] },
  pkce: { required: () => true },
  features: {
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
    introspection: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      getResourceServerInfo: (_, indicator) => {
        return {
          scope: "mcp:tools mcp:add",
          audience: indicator,
          accessTokenTTL: Number(lifetime),
          accessTokenFormat: format === "opaque" ? "opaque" : "jwt",
          jwt: { sign: { alg: "RS256" } },
        };
      },
    },
    revocation: { enabled: true },
  },
});
provider.on("registration_create.success", (_, { applicationType, tokenEndpointAuthMethod }) =>
  say(`registered a client: ${applicationType}, ${tokenEndpointAuthMethod}`),
);
provider.on("grant.success", ({ oidc }) => say(`granted ${oidc.params.grant_type}, resource ${oidc.params.resource}`));
provider.on("refresh_token.saved", (token) => say(`refresh token ${short(token.jti)} issued`));
provider.on("refresh_token.consumed", (token) => say(`refresh token ${short(token.jti)} used`));
provider.on("grant.revoked", () => say("revoked a login"));
for (const name of ["authorization", "grant", "registration_create", "revocation", "introspection"]) {
  provider.on(`${name}.error`, (_, { error, error_detail, error_description }) =>
    say(`error: ${name}: ${error}: ${error_detail ?? error_description}`),
  );
}
provider.on("server_error", (_, error) => say(error.stack));

const as = { issuer, jwks_uri: `${issuer}/jwks`, introspection_endpoint: `${issuer}/token/introspection` };
const insecure = { [oauth.allowInsecureRequests]: true };

/** The claims of an access token that is in a request. */
async function claims(request, options) {
  if (format !== "opaque") return oauth.validateJwtAccessToken(as, request, mcp.href, { ...insecure, ...options });
  const token = request.headers.get("authorization").split(" ")[1];
  const secret = oauth.ClientSecretBasic(checker.client_secret);
  const response = await oauth.introspectionRequest(as, checker, secret, token, insecure);
  const found = await oauth.processIntrospectionResponse(as, checker, response);
  if (!found.active) throw new Error("the token is not active");
  return found;
}

const verifier = {
  async verifyAccessToken(token) {
    try {
      const found = await claims(new Request(mcp, { headers: { authorization: `Bearer ${token}` } }));
      const [scopes, audience] = [found.scope.split(" "), new URL(found.aud)];
      return { token, clientId: found.client_id, scopes, expiresAt: found.exp, resource: audience };
    } catch (error) {
      throw new InvalidTokenError(error.message);
    }
  },
};
const bearer = (...requiredScopes) =>
  requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl: metadataUrl, expectedResource: mcp });

const proofs = new Set();
const ourNonce = "a-nonce-of-the-resource";

/** Takes tokens with a proof alone, which has our nonce and is used once. The SDK has nothing for that. */
async function dpop(request, response, next) {
  const refuse = (error) => {
    say(`proof refused: ${error}`);
    const where = `scope="mcp:tools", resource_metadata="${metadataUrl}"`;
    response.set("WWW-Authenticate", `DPoP error="${error}", algs="ES256", ${where}`);
    response.set("DPoP-Nonce", ourNonce).status(401).end();
  };
  if (!request.headers.authorization) return refuse("invalid_token");
  try {
    await claims(new Request(mcp, { method: request.method, headers: request.headers }), { requireDPoP: true });
  } catch (error) {
    say(error.message);
    return refuse("invalid_token");
  }
  const { nonce, jti } = JSON.parse(Buffer.from(request.headers.dpop.split(".")[1], "base64url"));
  if (nonce !== ourNonce) return refuse("use_dpop_nonce");
  if (proofs.has(jti)) return refuse("invalid_dpop_proof");
  proofs.add(jti);
  say("proof accepted");
  next();
}

const guards = format === "dpop" ? [dpop, dpop] : [bearer("mcp:tools"), bearer("mcp:tools", "mcp:add")];

/** A server of either SDK with our tools. */
function interop(McpServer) {
  const server = new McpServer({ name: "interop", version: "1.0.0" });
  addTools(server, ({ mcpReq, signal }) => ({ signal: mcpReq?.signal ?? signal, report: async () => {} }));
  return server;
}

const app = express();
app.get(new URL(metadataUrl).pathname, (_, response) =>
  response.json({
    resource: mcp.href,
    authorization_servers: [issuer],
    scopes_supported: ["mcp:tools", "mcp:add"],
    ...(format === "dpop" && { dpop_bound_access_tokens_required: true }),
  }),
);
app.use(["/mcp", "/sse", "/messages"], express.json(), (request, response, next) => {
  const { method, params } = request.body ?? {};
  response.on("close", () => {
    say([request.method, method, params?.name, response.statusCode].filter(Boolean).join(" "));
  });
  // One tool needs a scope of its own.
  return guards[Number(method === "tools/call" && params?.name === "add")](request, response, next);
});
if (transport === "sse") {
  const sessions = new Map();
  app.get("/sse", (_, response) => {
    const session = new SSEServerTransport("/messages", response);
    sessions.set(session.sessionId, session);
    void interop(SessionServer).connect(session);
  });
  app.post("/messages", (request, response) =>
    sessions.get(request.query.sessionId).handlePostMessage(request, response, request.body),
  );
  app.all("/sse", (_, response) => void response.status(405).end());
} else {
  const handle = toNodeHandler(createMcpHandler(() => interop(McpServer)));
  app.post("/mcp", (request, response) => handle(request, response, request.body));
  app.all("/mcp", (_, response) => void response.status(405).end());
}

authorization.http.on("request", provider.callback());
resource.http.on("request", app);
say(`listening on ${mcp.href}`);
say(`issuer ${issuer}`);
