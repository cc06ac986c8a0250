// An MCP client on the npm SDK that puts a server through its paces: `mcp_client.mjs MODE SERVER…`.
// It does what pypi/mcp_client.py does; MODE is `auto` or `legacy`, as there.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode } });
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const text = (result) => result.content.map((block) => block.text ?? "").join("");

const steps = {
  async listing() {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    for (const name of ["echo", "add", "fail", "slow", "cancelled-count", "burst"]) assert(names.includes(name), name);
  },
  async echo() {
    assert(text(await call("echo", { message: "grüß dich 👋\n" })).includes("grüß dich 👋\n"));
  },
  async add() {
    assert.equal((await call("add", { a: 2, b: 40 })).structuredContent?.sum, 42);
  },
  async fail() {
    assert.equal((await call("fail", {})).isError, true);
  },
  async burst() {
    assert(text(await call("burst", { n: 3 })) !== "");
  },
  async progress() {
    const seen = [];
    await call("slow", { seconds: 0.4, steps: 4 }, { onprogress: ({ progress }) => seen.push(progress) });
    // This SDK drops a notification that it reads together with the answer, so the last step may be missing.
    assert(seen.length >= 3, `progress for each step, saw ${seen}`);
    assert.deepEqual(seen, seen.toSorted((a, b) => a - b), "progress only grows");
  },
  async cancel() {
    const count = async () => text(await call("cancelled-count", {}));
    const before = await count();
    const signal = AbortSignal.timeout(500);
    await assert.rejects(call("slow", { seconds: 30, steps: 30 }, { signal }));
    for (let tries = 0; (await count()) === before; tries += 1) {
      assert(tries < 60, "the server hears of the cancellation");
      await sleep(50);
    }
  },
  async resource() {
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0].uri });
    assert(contents[0].text, "a resource has text");
  },
  async prompt() {
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    assert(messages[0].content.text.includes("Ada"), "the prompt greets by name");
  },
};

await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
console.log(`ok connect (${client.getNegotiatedProtocolVersion()})`);
for (const [name, step] of Object.entries(steps)) {
  await step();
  console.log(`ok ${name}`);
}
await client.close();
