// Claude Code, without a terminal. It loads the tools of servers only when its model has looked for them, except those
// that the server wants to be loaded always. `emend init` has it show the text of each answer.

import assert from "node:assert/strict";

import { ofText, play } from "./round.mjs";

const PACKAGE = new URL("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs", import.meta.url).pathname;
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

await play({
  client: "claude-code",
  command: (_, mayEdit) => [
    process.execPath, PACKAGE, "-p", "Play the script.", "--settings", '{"enableAllProjectMcpServers": true}',
    ...(mayEdit ? ["--allowedTools", "mcp__emend"] : []),
  ],
  variables: (model) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_TMPDIR: process.env.HOME,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ENABLE_TOOL_SEARCH: "true",
  }),
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
