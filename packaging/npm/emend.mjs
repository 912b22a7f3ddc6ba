#!/usr/bin/env node
// Starts the emend of this system's package, as if it had been started itself: same arguments, input, output and end.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const name = `emend-mcp-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "emend.exe" : "emend";
let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/${file}`);
} catch {
  console.error(
    `emend-mcp has no program for this system: the package ${name} is not installed.\n` +
      "If npm was told to leave out optional dependencies, install again without that.",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`emend-mcp: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const other of signals) process.removeAllListeners(other);
  process.kill(process.pid, signal);
});
