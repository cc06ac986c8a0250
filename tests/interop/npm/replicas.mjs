// Clients on the npm SDK for `cargo xtask replicas`: `replicas.mjs URL TOKEN PREFIX MODE COUNT`. MODE is `auto` or `legacy`. Each
// calls a tool until standard input ends, and prints a line for each call: its key, and `done`, `refused`, `gone` or `unknown`
// with the reason.

import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, prefix, mode, count] = process.argv.slice(2);
const reconnectionOptions = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 20,
};
let goesOn = true;
process.stdin.on("end", () => (goesOn = false)).resume();
process.on("unhandledRejection", (error) => console.error(`unhandled: ${error}`));

async function connect() {
  while (goesOn) {
    const client = new Client({ name: "replicas", version: "1.0.0" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit, reconnectionOptions }));
      return client;
    } catch (error) {
      console.error(`connect: ${error}`);
      await client.close().catch(() => {});
      await sleep(100);
    }
  }
}

function outcome(error) {
  const text = `${error?.code ?? ""} ${error?.data?.status ?? ""} ${error}`;
  if (/\b(503|429)\b/.test(text)) return "refused";
  if (/\b404\b/.test(text)) return "gone";
  return "unknown";
}

async function run(number) {
  let client = await connect();
  for (let call = 1; goesOn; call += 1) {
    const key = `${prefix}${number}-${call}`;
    const slow = call % 3 === 0;
    const request = slow
      ? { name: "slow", arguments: { key, steps: 5, pause: 20 } }
      : { name: "count", arguments: { key } };
    const seen = [];
    const options = { timeout: 30_000, ...(slow && { onprogress: ({ progress }) => seen.push(progress) }) };
    try {
      const result = await client.callTool(request, options);
      const said = result.content?.[0]?.text;
      // The SDK drops a report that it reads together with the answer.
      const inOrder = seen.every((step, index) => step === index + 1);
      console.log(said === `done ${key}` && inOrder ? `${key} done` : `${key} wrong ${said} ${seen}`);
    } catch (error) {
      console.log(`${key} ${outcome(error)} ${String(error).split("\n")[0]}`);
      await sleep(50);
      if (outcome(error) !== "refused") {
        await client.close().catch(() => {});
        client = await connect();
      }
    }
    await sleep(20);
  }
  await client?.close();
}

await Promise.all(Array.from({ length: Number(count) }, (_, number) => run(number)));
process.exit(0);
