// The tools of our npm servers, the same on both SDKs: `hands` turns what an SDK gives a handler into what the tools need.

import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

let cancelled = 0;
const said = (text) => ({ content: [{ type: "text", text: String(text) }] });

/** Registers the tools; `hands(context)` has `signal`, `report`, `ask`, `questions`, `hangUp` and `revision`. */
export function addTools(server, hands) {
  const tool = (name, description, fields, work, more = {}) =>
    server.registerTool(name, { description, inputSchema: z.object(fields), ...more }, (args, context) =>
      work(args, hands(context)),
    );
  tool("echo", "Say it back", { message: z.string() }, ({ message }) => said(message));
  tool(
    "add",
    "Add two numbers",
    { a: z.number(), b: z.number() },
    ({ a, b }) => ({ ...said(a + b), structuredContent: { sum: a + b } }),
    { outputSchema: z.object({ sum: z.number() }) },
  );
  tool("fail", "Always fail", {}, () => {
    throw new Error("as asked");
  });
  tool(
    "slow",
    "Take a while, and report each step",
    { seconds: z.number(), steps: z.number() },
    async ({ seconds, steps }, { signal, report }) => {
      try {
        for (let step = 1; step <= steps; step += 1) {
          await sleep((seconds * 1000) / steps, undefined, { signal });
          await report(step, steps);
        }
      } catch (error) {
        cancelled += 1;
        console.error("cancelled");
        throw error;
      }
      return said("done");
    },
  );
  tool("cancelled-count", "How many calls were cancelled", {}, () => said(cancelled));
  tool("burst", "Report progress so many times", { n: z.number() }, async ({ n }, { report }) => {
    for (let step = 1; step <= n; step += 1) await report(step, n);
    return said(`reported ${n} times`);
  });
  tool("ask", "Ask the client something, and say what it answered", {}, async (_, { ask }) => ask());
  tool("ask-all", "Ask for the client's folders, its model and its user", {}, async (_, { questions }) => {
    const { roots } = await questions.roots();
    const messages = [{ role: "user", content: { type: "text", text: "What does a parrot say?" } }];
    const { content } = await questions.sample({ messages, maxTokens: 10 });
    const properties = { name: { type: "string", title: "Name" } };
    const requestedSchema = { type: "object", properties, required: ["name"] };
    const form = await questions.elicit({ message: "Who are you?", requestedSchema });
    const answers = { roots: roots.map(({ uri }) => uri), model: content.text, action: form.action, form: form.content };
    return said(JSON.stringify(answers));
  });
  tool("revision", "The revision of this very request", {}, (_, { revision }) => said(revision()));
  tool("hang-up", "End the stream of this call, and answer all the same", {}, async (_, { report, hangUp }) => {
    await report(1, 2);
    hangUp();
    await sleep(300);
    await report(2, 2);
    return said("found again");
  });
  server.registerResource("greeting", "memo://greeting", { description: "A short text" }, ({ href }) => ({
    contents: [{ uri: href, text: "Hello." }],
  }));
  const argsSchema = { name: z.string() };
  server.registerPrompt("greet", { description: "Greet somebody", argsSchema }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Please greet ${name}.` } }],
  }));
}

/** The progress of a call, unless it wants none. */
export function reporter(token, notify) {
  return async (progress, total) => {
    if (token === undefined) return;
    await notify({ method: "notifications/progress", params: { progressToken: token, progress, total } });
  };
}

/** Serves with a handler of Node's on a port of the system's choice, and says where. */
export function listen(http, path) {
  http.listen(0, "127.0.0.1", () => console.error(`listening on http://127.0.0.1:${http.address().port}${path}`));
}

export { said };
