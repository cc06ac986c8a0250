// Prints the MCP schemas that a JavaScript bundle carries as object literals, in their order, as a JSON array:
// `node extract.mjs bundle.js`. The bundle itself is not run.

import { readFileSync } from "node:fs";
import vm from "node:vm";

const bundle = readFileSync(process.argv[2], "utf8");
const begins = /\{\$schema:`[^`]*json-schema\.org[^`]*`,(?:definitions|\$defs):\{/g;

/** Where the literal that begins at `start` ends. */
function end(start) {
  let depth = 0;
  for (let at = start; at < bundle.length; at++) {
    const character = bundle[at];
    if ("`'\"".includes(character)) {
      for (at++; bundle[at] !== character; at++) if (bundle[at] === "\\") at++;
    } else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  throw new Error("a literal does not end");
}

const schemas = [...bundle.matchAll(begins)]
  // Data alone: nothing of the bundle or of this machine is in reach of the literal.
  .map(({ index }) => vm.runInNewContext(`(${bundle.slice(index, end(index))})`, Object.create(null)))
  .filter((schema) => "JSONRPCMessage" in (schema.definitions ?? schema.$defs));
console.log(JSON.stringify(schemas));
