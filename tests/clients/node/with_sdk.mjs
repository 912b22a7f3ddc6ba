// The TypeScript SDK of the first line, which speaks the revision of 2025.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { play, server } from "./round.mjs";

const client = new Client({ name: "round", version: "1.0.0" });
await client.connect(
  server.url
    ? new StreamableHTTPClientTransport(server.url, { requestInit: { headers: server.headers } })
    : new StdioClientTransport(server),
);
await play({
  tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  call: (name, args) => client.callTool({ name, arguments: args }),
});
await client.close();
