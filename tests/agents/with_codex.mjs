// Codex, without a terminal. `emend init` has it show the text of each answer. It asks before it calls a tool
// that does more than read, and where nobody can be asked it takes that for a no, also if the server asks.

import assert from "node:assert/strict";

import { ofText, play } from "./round.mjs";

const PACKAGE = new URL("node_modules/@openai/codex/bin/codex.js", import.meta.url).pathname;

const settings = (model, mayEdit, name = "script") => [
  `model="${name}"`,
  'model_provider="script"',
  `model_providers.script={name="script", base_url="${model}/v1", wire_api="responses"}`,
  "analytics.enabled=false",
  "check_for_update_on_startup=false",
  ...(mayEdit ? ['mcp_servers.emend.default_tools_approval_mode="approve"'] : []),
];

const shown = ({ text }) => text.slice(text.indexOf("\nOutput:") + "\nOutput:".length).trimStart();

const patch = (removed, added) => ({
  tool: "apply_patch",
  arguments: {
    input: `*** Begin Patch\n*** Update File: notes.md\n@@\n-${removed}\n+${added}\n*** End Patch`,
  },
});

const ledBy = (name) => (model, mayEdit) => [
  process.execPath, PACKAGE, "exec", "--skip-git-repo-check",
  ...settings(model, mayEdit, name).flatMap((setting) => ["-c", setting]), "Play the script.",
];

// It knows this model, and shows it the tools of servers after a search only.
const searching = {
  command: ledBy("gpt-5.5"),
  prelude: [{ tool: "tool_search", arguments: { query: "edit file replace text", limit: 8 } }],
};
// This model writes programs that call the tools and print results as they are. Nothing may be in them twice.
const inCode = {
  command: ledBy("gpt-6-sol"),
  called: ({ tool, arguments: given }) => ({
    tool: "exec",
    arguments: { input: `text(await tools.mcp__emend__${tool}(${JSON.stringify(given)}))` },
  }),
  outcome: (answer) => {
    const { content, ...others } = JSON.parse(shown(answer));
    assert.deepEqual(others, { isError: false });
    return ofText(content[0].text);
  },
};

await play({
  client: "codex",
  command: ledBy("script"),
  others: [searching, inCode],
  variables: () => ({}),
  own: [],
  prelude: [],
  reading: shown,
  outcome: (answer) => ofText(shown(answer)),
  refusal: ({ text }) => text.match(/\[([a-z-]+)\]\s*$/)?.[1],
  unpermitted: (call) => call,
  unapproved: "approval-denied",
  dialect: {
    setting: 'dialect = "auto"',
    prelude: [],
    read: { tool: "read_file", arguments: { file_path: "notes.md" } },
    edit: patch("- cake", "- two cakes"),
    ambiguous: patch("- tea", "- coffee"),
    shown: {
      reading: /^L4: - cake$/m,
      edit: /^Success\. Updated the following files:\nM notes\.md$/m,
      refusal: /apply_patch verification failed/,
    },
  },
});
