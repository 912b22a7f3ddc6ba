// The inspector's command line: a process for each request, and so over standard input and output a server for each.
// With --strict it exits with an error if it would warn of a schema.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { play, server } from "./round.mjs";

const program = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));
/** What it exits with when a tool says that the call is refused. */
const REFUSED = 5;

function inspect(...words) {
  const header = Object.entries(server.headers).map(([name, value]) => `${name}: ${value}`);
  const target = server.url
    ? ["--server-url", server.url.href, "--transport", "http", "--header", ...header]
    : ["--", server.command, ...server.args];
  const call = [program, "--cli", "--protocol-era", "modern", "--format", "json", ...words, ...target];
  const { status, stdout, stderr } = spawnSync(process.execPath, call, { encoding: "utf8" });
  assert(status === 0 || status === REFUSED, `it exits with ${status}\n${stdout}\n${stderr}`);
  if (status === 0) assert.equal(stderr, "", "a warning");
  return JSON.parse(stdout).result;
}

await play({
  tools: async () => inspect("--method", "tools/list", "--strict").tools.map((tool) => tool.name),
  call: async (name, args) =>
    inspect("--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)),
});
