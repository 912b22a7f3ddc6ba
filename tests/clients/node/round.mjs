// The round that each Node client does with Emend, and what it is asserted of: the bytes on disk after every step,
// and the answers. A client is an adapter of two functions, `tools()`, which yields names, and `call(tool,
// arguments)`, which yields a result of `tools/call`. It is the round of ../python/round.py.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NEEDED = [
  "read_file", "list_files", "search_text", "str_replace", "replace_in_files", "replace_lines",
  "apply_patch", "apply_sketch", "write_file", "move_file", "delete_file", "edit_files", "edit_preview", "apply_preview", "undo_edit", "edit_history",
];

const NOTES = "# Notes\n\n- tea\n- cake\n";
const NOTES_EDITED = "# Notes\n\n- tea\n- two cakes\n";
// Other line endings, and none after the last line: both stay as they are.
const MENU = "Menu\r\n\r\nsoup\r\nbread";
const MENU_EDITED = "Menu\r\n\r\nhot soup\r\nbread";
const NEW = "print('new')\n";

const PATCH = `*** Begin Patch
*** Update File: menu.txt
@@
-soup
+hot soup
 bread
*** Add File: src/new.py
+print('new')
*** End Patch
`;

const { EMEND, EMEND_WORKSPACE, EMEND_STATE, EMEND_URL, EMEND_TOKEN } = process.env;

/** Where the server is: a command to start it, or an address and the token that it wants. */
export const server = {
  command: EMEND,
  args: ["serve", "--no-config", "--workspace", EMEND_WORKSPACE, "--state-dir", EMEND_STATE],
  url: EMEND_URL && new URL(EMEND_URL),
  headers: { Authorization: `Bearer ${EMEND_TOKEN}` },
};

// What a library warns of would worry a person, and so it fails the round.
const warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));

/** The whole round. A client may start a server for each call. */
export async function play(client) {
  const names = ["notes.md", "menu.txt", "src/new.py", "kept/notes.md"];
  const [notes, menu, added, kept] = names.map((name) => join(EMEND_WORKSPACE, name));
  const holds = (file, content) => assert.deepEqual(readFileSync(file), Buffer.from(content));
  writeFileSync(notes, NOTES);
  writeFileSync(menu, MENU);

  const listed = await client.tools();
  for (const name of NEEDED) assert(listed.includes(name), `${name} is not listed`);

  const reading = done(await client.call("read_file", { path: "notes.md" }));
  assert.match(text(reading), /^ {5}4\t- cake$/m);
  assert.equal(reading.structuredContent, undefined, "a reading is text alone");

  const replacement = { path: "notes.md", old_string: "- cake", new_string: "- two cakes" };
  const preview = done(await client.call("edit_preview", { tool: "str_replace", ...replacement }));
  holds(notes, NOTES);
  says(preview, "+- two cakes");
  const handle = preview.structuredContent.preview;
  says(preview, handle);

  const applied = done(await client.call("apply_preview", { preview: handle }));
  const again = done(await client.call("apply_preview", { preview: handle }));
  assert.equal(again.structuredContent.edit, applied.structuredContent.edit, "a handle edits once");
  changed(applied, ["notes.md"]);
  holds(notes, NOTES_EDITED);

  refused(await client.call("str_replace", { ...replacement, new_string: "- pie" }), "search-not-found");
  holds(notes, NOTES_EDITED);

  const patched = done(await client.call("apply_patch", { patch: PATCH }));
  changed(patched, ["menu.txt", "src/new.py"]);
  holds(menu, MENU_EDITED);
  holds(added, NEW);

  const moved = done(await client.call("move_file", { from: "notes.md", to: "kept/notes.md" }));
  holds(kept, NOTES_EDITED);
  assert(!existsSync(notes));
  const version = text(done(await client.call("read_file", { path: "kept/notes.md" }))).match(/version (\w+)$/m)[1];
  const deleted = done(await client.call("delete_file", { path: "kept/notes.md", version }));
  assert(!existsSync(kept));

  for (const { structuredContent } of [deleted, moved, patched, applied]) {
    done(await client.call("undo_edit", { edit: structuredContent.edit }));
  }
  holds(notes, NOTES);
  holds(menu, MENU);
  assert(!existsSync(added) && !existsSync(kept));
  assert.deepEqual(warnings, []);
}

const text = (result) => result.content.map((block) => block.text).join("");

function done(result) {
  assert(!result.isError, text(result));
  return result;
}

function refused(result, code) {
  assert(result.isError, text(result));
  assert(text(result).trimEnd().endsWith(`[${code}]`), text(result));
  assert.equal(result.structuredContent.error.code, code);
}

function changed(result, files) {
  assert.deepEqual(result.structuredContent.changed_files.toSorted(), files);
  for (const file of files) says(result, file);
}

// Some clients show a model only the text, others only the structured content.
function says(result, words) {
  assert(text(result).includes(words), text(result));
  assert(JSON.stringify(result.structuredContent).includes(words), JSON.stringify(result.structuredContent));
}
