// Renews the lock files of npm/ and agents/ after a version in their package.json changed: `node lock.mjs`.
//
// A lock must work with any registry and on any machine, so it names no host, and it also has the optional
// packages of platforms that this registry happens not to carry (`npm ci` refuses a lock without them).

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const systems = { darwin: "darwin", linux: "linux", win32: "win32", windows: "win32" };

/** What a package for one platform says of itself, read from its name. */
function platform(name, version) {
  const words = name.split(/[/-]/);
  const cpu = words.find((word) => word === "x64" || word === "arm64");
  const os = systems[words.find((word) => word in systems)];
  if (!cpu || !os) throw new Error(`${name} is missing and names no platform`);
  return { version, cpu: [cpu], optional: true, os: [os] };
}

for (const folder of ["npm", "agents"]) {
  const cwd = new URL(folder, import.meta.url);
  execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd, stdio: "inherit" });
  const path = new URL(`${folder}/package-lock.json`, import.meta.url);
  const lock = JSON.parse(readFileSync(path, "utf8"));
  for (const entry of Object.values(lock.packages)) {
    delete entry.funding;
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      lock.packages[`node_modules/${name}`] ??= platform(name, version);
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path, JSON.stringify(lock, null, 2) + "\n");
}
