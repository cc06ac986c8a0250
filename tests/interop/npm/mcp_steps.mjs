// What our npm clients ask of a server, the same on both SDKs; one line is printed for each step.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const text = (result) => result.content.map((block) => block.text ?? "").join("");

/** The folders that our clients work in. */
export const roots = [{ uri: "file:///projects/here", name: "Here" }, { uri: "file:///projects/there" }];

/** Puts a server with the tools of `agentwire server` through its paces. It may ask us something. */
export async function steps(client, call) {
  const all = {
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
      // These SDKs drop a notification that they read together with the answer, so the last step may be missing.
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
    async roots() {
      const { structuredContent } = await call("roots", {});
      assert.deepEqual(structuredContent, { roots }, "the server hears of our folders");
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
  for (const [name, step] of Object.entries(all)) {
    await step();
    console.log(`ok ${name}`);
  }
}

/** One call whose stream is cut. Its result must arrive whole. */
export async function resume(call) {
  const seen = [];
  const options = { onprogress: ({ progress }) => seen.push(progress), timeout: 20_000 };
  const result = await call("slow", { seconds: 2, steps: 10 }, options);
  assert(!result.isError, text(result));
  const expected = Array.from({ length: 10 }, (_, index) => index + 1);
  // The last one may be read together with the answer, and dropped.
  if (seen.length === 9) expected.pop();
  assert.deepEqual(seen, expected, "each step once, and in order");
  console.log("ok resume");
}
