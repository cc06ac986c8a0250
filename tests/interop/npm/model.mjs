// A model for the agents of others, so that they take whole turns without a key and without a network. It listens on
// loopback and speaks what model providers speak: OpenAI's chat completions and responses, Anthropic's messages and
// Google's contents, streamed where the agent asks for a stream.
//
// It does what the prompt says:
//   [say]               says a sentence that only this model knows
//   [call NAME JSON]    calls that tool, and then says what came back
//   [wait]              says that it dawdles, and says no more until the agent hangs up
//
// It is also the proxy of the agents: a request for any other host is refused. Each line that it prints is one event.

import { createServer } from "node:http";

const sentence = "a voice from loopback, grüß dich 👋";

/** How many answers were begun. An answer is written at once, so its ids are those of the last one. */
let answers = 0;
const id = (kind) => `${kind}_${answers}`;

/** The texts inside anything that a provider allows as content. */
function texts(content) {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(texts).join("\n");
  return content?.text ?? "";
}

/** What to say or call, from the last thing that the agent tells: a prompt, or what a tool gave back. */
function decide(tools, prompt, toolResult) {
  // Agents also ask for titles and summaries. What has no tools is not a turn.
  if (!tools) return { text: "a title" };
  if (toolResult !== undefined) return { text: `the tool said: ${toolResult.slice(0, 500)}` };
  const call = /\[call (\S+) (\{.*\})\]/s.exec(prompt);
  if (call) return { name: call[1], input: JSON.parse(call[2]) };
  if (prompt.includes("[wait]")) return { text: "dawdles", wait: true };
  return { text: prompt.includes("[say]") ? sentence : "nobody told the model what to do" };
}

/** How each provider is read, and answered. `begin`, `text`, `call` and `end` give events of its stream. */
const dialects = {
  "/chat/completions": {
    read({ messages, tools }) {
      const last = messages.findLast((message) => message.role === "user" || message.role === "tool");
      return decide(tools?.length, texts(last?.content), last?.role === "tool" ? texts(last.content) : undefined);
    },
    chunk: (delta, finish_reason = null, more = {}) => ({
      id: id("chat"), object: "chat.completion.chunk", created: 0, model: "loopback",
      choices: [{ index: 0, delta, finish_reason }], ...more,
    }),
    begin() { return [this.chunk({ role: "assistant", content: "" })]; },
    text(text) { return [this.chunk({ content: text })]; },
    call(id, name, input) {
      const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } };
      return [this.chunk({ tool_calls: [call] })];
    },
    end(said) {
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      return [this.chunk({}, said.name ? "tool_calls" : "stop", { usage }), "[DONE]"];
    },
    whole: (said) => ({
      id: id("chat"), object: "chat.completion", created: 0, model: "loopback",
      choices: [{ index: 0, message: { role: "assistant", content: said.text }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  },

  "/messages": {
    read({ messages, tools }) {
      const last = messages.findLast((message) => message.role === "user");
      const result = Array.isArray(last.content) && last.content.find((block) => block.type === "tool_result");
      return decide(tools?.length, texts(last.content), result ? texts(result.content) : undefined);
    },
    message: (content, stop_reason) => ({
      id: id("msg"), type: "message", role: "assistant", model: "loopback", content, stop_reason,
      stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5 },
    }),
    begin() { return [{ type: "message_start", message: this.message([], null) }]; },
    block: (start, delta) => [
      { type: "content_block_start", index: 0, content_block: start },
      { type: "content_block_delta", index: 0, delta },
    ],
    text(text, first) {
      const delta = { type: "text_delta", text };
      return first ? this.block({ type: "text", text: "" }, delta) : [{ type: "content_block_delta", index: 0, delta }];
    },
    call(id, name, input) {
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      return this.block({ type: "tool_use", id, name, input: {} }, delta);
    },
    end: (said) => [
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta", usage: { output_tokens: 5 },
        delta: { stop_reason: said.name ? "tool_use" : "end_turn", stop_sequence: null },
      },
      { type: "message_stop" },
    ],
    whole(said) { return this.message([{ type: "text", text: said.text }], "end_turn"); },
  },

  "/responses": {
    read({ input, tools }) {
      const last = input.findLast((item) => item.role === "user" || item.type.endsWith("_output"));
      return decide(tools?.length, texts(last.content), last.role ? undefined : texts(last.output));
    },
    response: (status, output = []) => ({
      id: id("resp"), object: "response", created_at: 0, model: "loopback", status, output,
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    }),
    message: (text) => ({
      type: "message", id: id("item"), role: "assistant", status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    }),
    begin() { return [{ type: "response.created", response: this.response("in_progress") }]; },
    text(text, first) {
      const item = { ...this.message(""), status: "in_progress", content: [] };
      const delta = { type: "response.output_text.delta", item_id: item.id, output_index: 0, content_index: 0, delta: text };
      return first ? [{ type: "response.output_item.added", output_index: 0, item }, delta] : [delta];
    },
    call(call_id, name, input) {
      const item = { type: "function_call", id: id("item"), call_id, name, arguments: JSON.stringify(input), status: "completed" };
      return [{ type: "response.output_item.done", output_index: 0, item }];
    },
    end(said) {
      const item = said.name ? [] : [{ type: "response.output_item.done", output_index: 0, item: this.message(said.text) }];
      return [...item, { type: "response.completed", response: this.response("completed") }];
    },
    whole(said) { return this.response("completed", [this.message(said.text)]); },
  },

  ":streamGenerateContent": {
    read({ contents, tools }) {
      const { parts } = contents.findLast((content) => content.role === "user");
      const result = parts.find((part) => part.functionResponse)?.functionResponse.response;
      return decide(tools?.length, texts(parts), result && JSON.stringify(result));
    },
    chunk: (parts, finishReason) => ({
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    }),
    begin: () => [],
    text(text) { return [this.chunk([{ text }])]; },
    call(_id, name, args) { return [this.chunk([{ functionCall: { name, args } }])]; },
    end() { return [this.chunk([], "STOP")]; },
  },
};
dialects[":generateContent"] = {
  ...dialects[":streamGenerateContent"],
  whole(said) { return this.chunk([{ text: said.text }], "STOP"); },
};

/** Streams a text in pieces that also cut words. */
function stream(dialect, said, response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (events) => {
    for (const event of events) {
      const name = event.type ? `event: ${event.type}\n` : "";
      response.write(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    }
  };
  send(dialect.begin());
  if (said.name) {
    send(dialect.call(id("call"), said.name, said.input));
  } else {
    const pieces = said.text.match(/.{1,7}/gsu) ?? [];
    pieces.forEach((piece, place) => send(dialect.text(piece, place === 0)));
  }
  if (said.wait) return response.on("close", () => console.log("hung up"));
  send(dialect.end(said));
  response.end();
}

async function answer(request, response) {
  const path = new URL(request.url, "http://loopback").pathname;
  const kind = Object.keys(dialects).find((end) => path.endsWith(end));
  const chunks = await request.toArray();
  if (request.method !== "POST" || !kind || /^http/.test(request.url)) {
    console.log(`not here: ${request.method} ${request.url}`);
    return response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not here"}}');
  }
  const body = JSON.parse(Buffer.concat(chunks));
  const said = dialects[kind].read(body);
  answers += 1;
  const tools = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? tool);
  const names = tools.map((tool) => tool.function?.name ?? tool.name ?? tool.type);
  console.log(`asked at ${path}: ${JSON.stringify(said)}; tools: ${names.join(" ") || "none"}`);
  if (body.stream || kind === ":streamGenerateContent") return stream(dialects[kind], said, response);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(dialects[kind].whole(said)));
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.log(`failed: ${error.stack}`);
    response.destroy();
  });
});
server.on("connect", (request, socket) => {
  console.log(`refused: ${request.url}`);
  socket.on("error", () => {});
  socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
});
server.listen(0, "127.0.0.1", () => console.log(`listening at http://127.0.0.1:${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
