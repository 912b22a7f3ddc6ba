// A small MCP client: it starts Emend, reads a file, looks at an edit before it is made, and makes it.
//
//     npm install && node client.ts     (Node 22.18 or newer; emend must be in the PATH, or EMEND name it)

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const command = process.env.EMEND ?? "emend";
const project = mkdtempSync(join(tmpdir(), "project-"));
const notes = join(project, "notes.md");
writeFileSync(notes, "# Notes\n\n- tea\n- cake\n");

/** What Emend answers to an edit; here only what this program uses of it. */
interface Outcome {
  changed_files: string[];
  diff: string;
  preview?: string;
  error?: { code: string; message: string };
}

const client = new Client({ name: "example", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command, args: ["serve", "--workspace", project] }));

const reading = await client.callTool({ name: "read_file", arguments: { path: "notes.md" } });
for (const block of reading.content) if (block.type === "text") console.log(block.text);

const change = { path: "notes.md", old_string: "- cake", new_string: "- two cakes" };
const preview = await edit("edit_preview", { tool: "str_replace", ...change });
console.log(preview.diff);

// Exactly what was shown, or nothing.
const applied = await edit("apply_preview", { preview: preview.preview });
console.log("changed:", applied.changed_files.join(", "));
await client.close();

assert.equal(readFileSync(notes, "utf8"), "# Notes\n\n- tea\n- two cakes\n");
rmSync(project, { recursive: true });

async function edit(name: string, args: Record<string, unknown>): Promise<Outcome> {
  const { structuredContent } = await client.callTool({ name, arguments: args });
  const outcome = structuredContent as unknown as Outcome;
  if (outcome.error) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome;
}
