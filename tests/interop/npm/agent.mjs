// An ACP agent on the npm SDK, small enough to read in a minute. It uses everything that an agent may ask of
// a client: permission, files, a terminal, a plan and cancellation. `/odd` says what no specification knows.

import { Readable, Writable } from "node:stream";
import { randomUUID } from "node:crypto";
import path from "node:path";
import * as acp from "@agentclientprotocol/sdk";

const sessions = new Map();

/** One turn: the session it runs in, and short words for what it says and asks. */
class Turn {
  constructor(sessionId, client) {
    this.sessionId = sessionId;
    this.client = client;
    this.session = sessions.get(sessionId);
    this.cancelled = new AbortController();
  }

  update(update) {
    return this.client.notify("session/update", { sessionId: this.sessionId, update });
  }

  say(text) {
    return this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  ask(method, params) {
    return this.client.request(method, { sessionId: this.sessionId, ...params });
  }

  /** Shows a tool call, asks whether it may run, runs it, and shows how it ended. */
  async tool(kind, title, work, ask = true) {
    const toolCall = { toolCallId: randomUUID(), title, kind, status: "pending" };
    await this.update({ sessionUpdate: "tool_call", ...toolCall });
    const end = (status, content) =>
      this.update({ sessionUpdate: "tool_call_update", toolCallId: toolCall.toolCallId, status, content });
    if (ask) {
      const options = [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ];
      const { outcome } = await this.ask("session/request_permission", { toolCall, options });
      await this.say(`permission: ${outcome.optionId ?? outcome.outcome}\n`);
      if (outcome.optionId !== "yes") return end("failed");
    }
    const content = await work(toolCall.toolCallId);
    return end("completed", content);
  }
}

const commands = {
  async read(turn, [name]) {
    await turn.tool("read", `Read ${name}`, async () => {
      const { content } = await turn.ask("fs/read_text_file", { path: path.resolve(turn.session.cwd, name) });
      await turn.say(`read: ${content}`);
    }, false);
  },

  async write(turn, [name, ...words]) {
    const file = path.resolve(turn.session.cwd, name);
    await turn.tool("edit", `Write ${name}`, async () => {
      await turn.ask("fs/write_text_file", { path: file, content: words.join(" ") });
      await turn.say(`wrote ${name}`);
      return [{ type: "diff", path: file, oldText: null, newText: words.join(" ") }];
    });
  },

  async run(turn, words) {
    await turn.tool("execute", words.join(" "), async (toolCallId) => {
      const request = { sessionId: turn.sessionId, command: words[0], args: words.slice(1), cwd: turn.session.cwd };
      const terminal = await turn.client.createTerminal(request);
      const content = [{ type: "terminal", terminalId: terminal.id }];
      await turn.update({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content });
      const { exitCode } = await terminal.waitForExit();
      const { output } = await terminal.currentOutput();
      await terminal.release();
      await turn.say(`exit ${exitCode}, output: ${output}`);
      return content;
    });
  },

  async plan(turn) {
    for (const status of ["pending", "in_progress", "completed"]) {
      await turn.update({ sessionUpdate: "plan", entries: [{ content: "The only step", priority: "high", status }] });
    }
    await turn.say("planned");
  },

  async slow(turn, [seconds]) {
    await turn.say("working");
    await new Promise((resolve) => {
      setTimeout(resolve, Number(seconds) * 1000).unref();
      turn.cancelled.signal.addEventListener("abort", resolve);
    });
  },

  async odd(turn) {
    await turn.update({ sessionUpdate: "weather_update", sky: ["clear", null, 1.5] });
    await turn.update({ sessionUpdate: "agent_message_chunk", content: { type: "hologram", beams: 3 } });
    await turn.update({
      sessionUpdate: "tool_call", toolCallId: "odd", title: "Odd", kind: "juggle", status: "pondering",
      locations: [{ path: "/odd", line: null, extra: true }], content: [{ type: "smell" }], extra: {},
    });
    await turn.update({
      sessionUpdate: "agent_message_chunk", extra: 1, _meta: { "example.test/a": [1] },
      content: { type: "text", text: "still here", annotations: null, extra: "ignored" },
    });
    await turn.client.notify("_example.test/notice", { anything: [] });
    const answer = await turn.client.request("_example.test/ask", {}).catch((error) => error);
    await turn.say(`, refused with ${answer.code}`);
  },
};

async function prompt({ params, client }) {
  const turn = new Turn(params.sessionId, client);
  if (!turn.session) throw acp.RequestError.invalidParams({ sessionId: params.sessionId });
  turn.session.turn = turn;
  const text = params.prompt.map((block) => block.text ?? `[${block.type}]`).join("");
  const [, name, rest] = /^\/(\w+) ?([^]*)$/.exec(text) ?? [];
  if (commands[name]) {
    await commands[name](turn, rest.split(" "));
  } else {
    for (const word of `you said: ${text}`.split(/(?<= )/)) await turn.say(word);
  }
  return { stopReason: turn.cancelled.signal.aborted ? "cancelled" : "end_turn" };
}

acp
  .agent({ name: "interop" })
  .onRequest("initialize", ({ params }) => ({
    protocolVersion: Math.min(params.protocolVersion, acp.PROTOCOL_VERSION),
    agentInfo: { name: "interop", version: "1.0.0", extra: true },
    agentCapabilities: { promptCapabilities: { image: true, smell: true }, telepathy: {}, _meta: { a: 1 } },
    authMethods: [{ id: "mind", name: "Mind reading", type: "telepathy", waves: 3 }],
    extra: { nested: [null] },
  }))
  .onRequest("session/new", ({ params }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { cwd: params.cwd });
    return { sessionId, extra: "ignored", modes: { currentModeId: "only", availableModes: [{ id: "only", name: "Only" }] } };
  })
  .onRequest("session/prompt", prompt)
  .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.turn?.cancelled.abort())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
