// Claude Code, without a terminal. It loads the tools of servers only when its model has looked for them, except those
// that the server wants to be loaded always. `emend init` has it show the text of each answer.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ofText, play } from "./round.mjs";

const PACKAGE = new URL("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs", import.meta.url).pathname;
const SETTINGS = ["--settings", '{"enableAllProjectMcpServers": true}'];
const ALLOWED = ["--allowedTools", "mcp__emend"];
const KEY = "none";
const NEEDED = ["read_file", "str_replace", "replace_lines", "apply_patch", "write_file", "undo_edit"];

const OWN = ["Read", "Edit"];
const select = (names) => ({
  tool: "ToolSearch",
  arguments: { query: `select:${names.map((name) => `mcp__emend__${name}`)}`, max_results: names.length },
});
// Its own tools have the same names without the server's.
const edit = (old_string, new_string) => ({
  tool: "mcp__emend__Edit",
  arguments: { file_path: "notes.md", old_string, new_string },
});

const emends = (names) => names.map((name) => `mcp__emend__${name}`);

/** Answers what it asks a person who starts it for the first time. */
function settle(workspace) {
  const file = join(process.env.HOME, ".claude.json");
  const own = JSON.parse(readFileSync(file, "utf8"));
  own.hasCompletedOnboarding = true;
  own.customApiKeyResponses = { approved: [KEY] };
  own.projects ??= {};
  own.projects[workspace] = { ...own.projects[workspace], hasTrustDialogAccepted: true };
  writeFileSync(file, JSON.stringify(own));
}

await play({
  client: "claude-code",
  command: (_, mayEdit) => [
    process.execPath, PACKAGE, "-p", "Play the script.", ...SETTINGS, ...(mayEdit ? ALLOWED : []),
  ],
  variables: (model) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_TMPDIR: process.env.HOME,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  atOnce: {
    offers: emends(["read_file", "str_replace", "apply_patch", "edit_preview", "write_file", "undo_edit"]),
    lacks: emends(["replace_lines", "search_text", "delete_file"]),
    variables: [{}, { ENABLE_TOOL_SEARCH: "true" }],
  },
  watched: () => {
    settle(process.env.EMEND_WORKSPACE);
    return [process.execPath, PACKAGE, "Play the script.", ...SETTINGS, ...ALLOWED];
  },
  own: ["Edit", "Write"],
  prelude: [select(NEEDED)],
  reading: ({ text, isError }) => {
    assert(!isError, text);
    return text;
  },
  outcome: ({ text, isError }) => {
    assert(!isError, text);
    return ofText(text);
  },
  refusal: ({ text, isError }) => {
    assert(isError, text);
    return text.match(/\[([a-z-]+)\]$/)?.[1];
  },
  unpermitted: (call) => call,
  unapproved: "approval-needed",
  dialect: {
    setting: 'dialect = "auto"',
    prelude: [select(OWN)],
    read: { tool: "mcp__emend__Read", arguments: { file_path: "notes.md" } },
    edit: edit("- cake", "- two cakes"),
    ambiguous: edit("- tea", "- coffee"),
    shown: {
      reading: /^ {5}4\t- cake$/m,
      edit: /^The file notes\.md has been updated\.[^]*^ {5}4\t- two cakes$/m,
      refusal: /^Found several matches of the string to replace/,
    },
  },
});
