// Runs an HTTP server that does not say its URL, and says it: `listen.mjs PATH PROGRAM…`. The program gets a free port in `PORT`;
// if it chooses another one, it has to print the address.

import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";

const [path, program, ...args] = process.argv.slice(2);
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const child = spawn(program, args, { env: { ...process.env, PORT: port }, stdio: "pipe" });
child.on("exit", (code) => process.exit(code ?? 1));
process.stdin.on("end", () => child.stdin.end()).resume();

/** Says the URL as soon as a port of this machine accepts connections. */
let said = false;
function watch(port) {
  const socket = connect(port, "127.0.0.1", () => {
    socket.destroy();
    if (!said) console.log(`listening on http://127.0.0.1:${port}${path}`);
    said = true;
  });
  socket.on("error", () => said || setTimeout(watch, 50, port));
}

for (const output of [child.stdout, child.stderr]) {
  output.on("data", (data) => {
    const address = /127\.0\.0\.1:(\d+)/.exec(data);
    if (address && Number(address[1]) !== port) watch(Number(address[1]));
    process.stderr.write(String(data).replaceAll("http://", ""));
  });
}
watch(port);
