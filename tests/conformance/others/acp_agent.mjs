// An ACP agent on the npm SDK that says nothing but what the specification knows.

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.PACKAGES}/package.json`);
const acp = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk")));
const sessions = new Map();
let canWrite = false;

/** One turn: `plan`, `write`, `wait`, or an echo. */
async function prompt({ params, client }) {
  const { sessionId } = params;
  const session = sessions.get(sessionId);
  if (!session) throw acp.RequestError.invalidParams({ sessionId });
  const cancelled = (session.turn = new AbortController()).signal;
  const update = (update) => client.notify("session/update", { sessionId, update });
  const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const text = params.prompt.map((block) => block.text ?? "").join("");
  if (text === "plan") {
    for (const status of ["pending", "completed"]) {
      await update({ sessionUpdate: "plan", entries: [{ content: "The only step", priority: "high", status }] });
    }
  } else if (text === "write") {
    const toolCall = { toolCallId: randomUUID(), title: "Write a file", kind: "edit", status: "pending" };
    await update({ sessionUpdate: "tool_call", ...toolCall });
    const options = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const { outcome } = await client.request("session/request_permission", { sessionId, toolCall, options });
    const status = outcome.optionId === "yes" ? "completed" : "failed";
    if (status === "completed") {
      await update({ sessionUpdate: "tool_call_update", toolCallId: toolCall.toolCallId, status: "in_progress" });
    }
    if (status === "completed" && canWrite) {
      await client.request("fs/write_text_file", { sessionId, path: "/tmp/conformance.txt", content: "text" });
    }
    await update({ sessionUpdate: "tool_call_update", toolCallId: toolCall.toolCallId, status });
  } else if (text === "wait") {
    await say("working");
    await new Promise((resolve) => {
      setTimeout(resolve, 20_000).unref();
      cancelled.addEventListener("abort", resolve);
    });
  } else {
    for (const word of `you said: ${text}`.split(/(?<= )/)) await say(word);
  }
  return { stopReason: cancelled.aborted ? "cancelled" : "end_turn" };
}

acp
  .agent({ name: "conformance" })
  .onRequest("initialize", ({ params }) => {
    canWrite = params.clientCapabilities?.fs?.writeTextFile === true;
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "conformance", version: "1.0.0" },
      agentCapabilities: {},
    };
  })
  .onRequest("session/new", () => {
    const sessionId = randomUUID();
    sessions.set(sessionId, {});
    return { sessionId };
  })
  .onRequest("session/prompt", prompt)
  .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.turn?.abort())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
