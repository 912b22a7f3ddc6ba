// opencode, without a terminal. It shows the text of an answer, and ends where a person would have to allow a call. It
// runs models of all families, so its dialect is chosen by a setting.

import { ofText, play } from "./round.mjs";

// The build for any x64 processor; npm has one for each kind of machine.
const PROGRAM = new URL("node_modules/opencode-linux-x64-baseline/bin/opencode", import.meta.url).pathname;

const edit = (oldString, newString) => ({
  tool: "edit",
  arguments: { filePath: "notes.md", oldString, newString },
});

await play({
  client: "opencode",
  command: () => [PROGRAM, "run", "Play the script."],
  variables: (model, mayEdit) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: "script/script",
      provider: {
        script: {
          npm: "@ai-sdk/openai-compatible",
          name: "script",
          options: { baseURL: `${model}/v1`, apiKey: "none" },
          models: { script: { name: "script" } },
        },
      },
      autoupdate: false,
      ...(mayEdit ? {} : { permission: { "emend_*": "ask" } }),
    }),
  }),
  own: ["edit", "write"],
  prelude: [],
  reading: ({ text }) => text,
  outcome: ({ text }) => ofText(text),
  refusal: ({ text }) => text.match(/\[([a-z-]+)\]$/m)?.[1],
  unpermitted: (call) => ({ ...call, mayBeLast: true }),
  unapproved: "approval-needed",
  dialect: {
    setting: 'dialect_for = { opencode = "opencode" }',
    prelude: [],
    read: { tool: "read", arguments: { filePath: "notes.md" } },
    edit: edit("- cake", "- two cakes"),
    ambiguous: edit("- tea", "- coffee"),
    shown: {
      reading: /^4: - cake$/m,
      edit: /^Edit applied successfully/m,
      refusal: /^oldString found multiple times/,
    },
  },
});
