// Codex, without a terminal. Of whatever has structured content it shows that alone. It asks before it calls a tool
// that does more than read, and where nobody can be asked it takes that for a no, also if the server asks.

import { play } from "./round.mjs";

const PACKAGE = new URL("node_modules/@openai/codex/bin/codex.js", import.meta.url).pathname;

const settings = (model, mayEdit) => [
  'model="script"',
  'model_provider="script"',
  `model_providers.script={name="script", base_url="${model}/v1", wire_api="responses"}`,
  "analytics.enabled=false",
  "check_for_update_on_startup=false",
  ...(mayEdit ? ['mcp_servers.emend.default_tools_approval_mode="approve"'] : []),
];

const shown = ({ text }) => text.slice(text.indexOf("\nOutput:") + "\nOutput:".length).trimStart();

await play({
  client: "codex",
  command: (model, mayEdit) => [
    process.execPath, PACKAGE, "exec", "--skip-git-repo-check",
    ...settings(model, mayEdit).flatMap((setting) => ["-c", setting]), "Play the script.",
  ],
  variables: () => ({}),
  prelude: [],
  reading: shown,
  outcome: (answer) => JSON.parse(shown(answer)),
  refusal: (answer) => JSON.parse(shown(answer)).error.code,
  unapproved: "approval-denied",
});
