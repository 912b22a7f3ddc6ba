// The official TypeScript client of the 2026 revision, which also speaks the one of 2025: with `legacy` as its argument.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { play, server } from "./round.mjs";

const mode = process.argv[2] === "legacy" ? "legacy" : "auto";
const client = new Client({ name: "round", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(
  server.url
    ? new StreamableHTTPClientTransport(server.url, { requestInit: { headers: server.headers } })
    : new StdioClientTransport(server),
);
assert.equal(client.getNegotiatedProtocolVersion(), mode === "legacy" ? "2025-11-25" : "2026-07-28");
await play({
  tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  call: (name, args) => client.callTool({ name, arguments: args }),
});
await client.close();
