// Gemini CLI, without a terminal. It shows the text of an answer, and of a refusal the whole result, as JSON.
// Where a person would have to allow a call, it does not offer the tool.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ofText, play } from "./round.mjs";

const PACKAGE = new URL("node_modules/@google/gemini-cli/bundle/gemini.js", import.meta.url).pathname;

mkdirSync(join(process.env.HOME, ".gemini"));
const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
writeFileSync(join(process.env.HOME, ".gemini", "settings.json"), JSON.stringify(settings));

const replace = (old_string, new_string) => ({
  tool: "replace",
  arguments: { file_path: "notes.md", instruction: "Change the notes.", old_string, new_string },
});
const shown = ({ text, isError }) => {
  if (!isError) return text.replace(/^<untrusted_context>\n([^]*)\n<\/untrusted_context>$/, "$1");
  const results = JSON.parse(text.slice(text.indexOf(" with response: ") + " with response: ".length));
  return results[0].functionResponse.response.content.map(({ text }) => text).join("");
};

await play({
  client: "gemini-cli",
  command: (_, mayEdit) => [
    process.execPath, PACKAGE, "-m", "gemini-2.5-pro", "-p", "Play the script.", "--approval-mode", mayEdit ? "yolo" : "default",
  ],
  variables: (model) => ({
    GEMINI_API_KEY: "none",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GOOGLE_GEMINI_BASE_URL: model,
  }),
  own: ["replace", "write_file"],
  prelude: [],
  reading: shown,
  outcome: (answer) => ofText(shown(answer)),
  refusal: (answer) => shown(answer).match(/\[([a-z-]+)\]$/m)?.[1],
  unpermitted: () => ({
    tool: "list_directory",
    arguments: { dir_path: "." },
    lacks: ["mcp_emend_str_replace", "mcp_emend_write_file"],
  }),
  unapproved: "approval-needed",
  dialect: {
    setting: 'dialect = "auto"',
    prelude: [],
    read: { tool: "read_file", arguments: { file_path: "notes.md" } },
    edit: replace("- cake", "- two cakes"),
    ambiguous: replace("- tea", "- coffee"),
    shown: {
      reading: /^- cake$/m,
      edit: /^Successfully modified file: notes\.md/m,
      refusal: /Failed to edit, expected 1 occurrence but found 2/,
    },
  },
});
