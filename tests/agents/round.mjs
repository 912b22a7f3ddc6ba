// The round that each agent does with Emend, led by a model that plays it as a script. What is asserted: what the agent
// shows the model of each answer, and the bytes on disk after each call. An agent is an adapter:
//
//   client      what `emend init` calls it
//   command     what runs it, in the workspace, with the address of the model and whether it may edit
//   variables   its environment beside PATH and HOME
//   own         its own edit tools, which are gone once it prefers Emend
//   prelude     the calls that it needs before others
//   reading     the text that it shows of a reading
//   outcome     the structured content that it shows of an edit
//   refusal     the code that it shows of a refusal
//   unpermitted what stands for a call that it may not make
//   unapproved  the code where a person must approve, and none is there
//   atOnce      where it shows only some of Emend's tools at once: the names of some that it shows and of some that it does
//               not, and the environments in which that holds
//   watched     where it shows a person the diff of an edit on a terminal: what runs it there
//   others      what differs where another model leads it; a call may look otherwise then (called)
//   dialect     its own tools, which Emend lists to it by a setting: the calls that it needs before others, those that
//               read, edit, and edit at a place that is not unique, and what it shows of each

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { serve } from "./model.mjs";

const { EMEND, EMEND_WORKSPACE, HOME, PATH } = process.env;

const NOTES = "# Notes\n\n- tea\n- cake\n- tea\n";
const NOTES_EDITED = "# Notes\n\n- tea\n- two cakes\n- tea\n";
const DIFF = `@@ -3,3 +3,3 @@
 - tea
-- cake
+- two cakes
 - tea
`;
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
*** Add File: new.py
+print('new')
*** End Patch
`;

const REPLACEMENT = { path: "notes.md", old_string: "- cake", new_string: "- two cakes" };

const at = (name) => join(EMEND_WORKSPACE, name);
const holds = (name, content) => assert.deepEqual(readFileSync(at(name)), Buffer.from(content));

/** The outcome of an edit, for agents that show its text alone. */
export function ofText(text) {
  const edit = text.match(/^Success\. Edit (\w+):$/m)?.[1];
  assert(edit, text);
  const files = [...text.matchAll(/^[AMD] (\S+) (\w+)$/gm)].map(([, path, version_after]) => ({ path, version_after }));
  const diff = text.slice(text.indexOf("@@"));
  return { edit, files, changed_files: files.map(({ path }) => path), diff };
}

/** Plays the round, then what an agent does that may not edit, and then what one does that prefers Emend. */
export async function play(agent) {
  writeFileSync(at(".emend.toml"), 'approve = ["guarded/**"]\n');
  const told = ["--workspace", EMEND_WORKSPACE, "--yes"];
  const init = (...flags) => execFileSync(EMEND, ["init", agent.client, ...flags, ...told], { stdio: "pipe" });
  init();
  await lead(agent, round(agent), true);
  await lead(agent, withoutPermission(agent), false);
  holds("notes.md", NOTES);
  for (const variables of agent.atOnce?.variables ?? []) await lead(agent, showingAtOnce(agent), true, variables);
  if (agent.watched) await watch(agent);
  for (const other of agent.others ?? []) await lead({ ...agent, ...other }, preferring({ ...agent, ...other }), true);
  init("--prefer");
  await lead(agent, preferring(agent), true);
  mkdirSync(join(HOME, ".config", "emend"), { recursive: true });
  writeFileSync(join(HOME, ".config", "emend", "config.toml"), `${agent.dialect.setting}\n`);
  await lead(agent, inItsDialect(agent), true);
}

function* round(agent) {
  writeFileSync(at("notes.md"), NOTES);
  writeFileSync(at("menu.txt"), MENU);
  for (const call of agent.prelude) yield call;

  const reading = agent.reading(yield { tool: "read_file", arguments: { path: "notes.md" }, offers: agent.own });
  assert.match(reading, /^ {5}4\t- cake$/m);
  const version = reading.match(/version (\w+)$/m)[1];

  const replaced = agent.outcome(yield { tool: "str_replace", arguments: { ...REPLACEMENT, version } });
  holds("notes.md", NOTES_EDITED);
  assert.deepEqual(replaced.changed_files, ["notes.md"]);
  assert.equal(replaced.diff, DIFF);
  const [file] = replaced.files;
  assert.notEqual(file.version_after, version);

  const ambiguous = { path: "notes.md", old_string: "- tea", new_string: "- coffee" };
  assert.equal(agent.refusal(yield { tool: "str_replace", arguments: ambiguous }), "ambiguous-match");
  holds("notes.md", NOTES_EDITED);

  const patched = agent.outcome(yield { tool: "apply_patch", arguments: { patch: PATCH } });
  holds("menu.txt", MENU_EDITED);
  holds("new.py", NEW);
  assert.deepEqual(patched.changed_files, ["menu.txt", "new.py"]);
  for (const change of ["\n-soup\r\n+hot soup\r\n", "\n+print('new')\n"]) {
    assert(patched.diff.includes(change), patched.diff);
  }

  const guarded = { path: "guarded/new.py", content: NEW };
  assert.equal(agent.refusal(yield { tool: "write_file", arguments: guarded }), agent.unapproved);
  assert(!existsSync(at("guarded")));

  // The ids and the version that were shown are those that count.
  agent.outcome(yield { tool: "undo_edit", arguments: { edit: patched.edit } });
  holds("menu.txt", MENU);
  assert(!existsSync(at("new.py")));
  const lines = { path: "notes.md", version: file.version_after, start_line: 4, end_line: 4, new_text: "- cake" };
  agent.outcome(yield { tool: "replace_lines", arguments: lines });
  holds("notes.md", NOTES);
}

function* withoutPermission(agent) {
  writeFileSync(at("notes.md"), NOTES);
  for (const call of agent.prelude) yield call;
  const { text } = yield agent.unpermitted({ tool: "str_replace", arguments: REPLACEMENT });
  assert(!text.includes("changed_files"), `Emend was asked: ${text}`);
}

function* showingAtOnce({ atOnce: { offers, lacks } }) {
  yield { tool: "read_file", arguments: { path: "notes.md" }, offers, lacks };
}

/** Runs an agent on a terminal and looks for the changed lines of an edit there. */
async function watch(agent) {
  writeFileSync(at("notes.md"), NOTES);
  const model = await serve(watched(agent));
  const diff = /notes\.md[^]*-- cake[^]*\+- two cakes/;
  const shown = await onTerminal(agent.watched(), surroundings(agent, model.url, true), (text) => diff.test(text));
  try {
    model.close();
    assert.match(shown, diff);
  } catch (error) {
    console.error(shown);
    throw error;
  }
  holds("notes.md", NOTES_EDITED);
}

function* watched(agent) {
  // The servers start while the model is asked already.
  const own = { tool: "Read", arguments: { file_path: at("notes.md") } };
  for (let answer = yield own; !answer.offered.some(({ name }) => name.endsWith("__str_replace")); ) answer = yield own;
  yield { tool: "str_replace", arguments: REPLACEMENT };
}

function* preferring(agent) {
  writeFileSync(at("notes.md"), NOTES);
  const { called = (call) => call } = agent;
  const [first, ...others] = [...agent.prelude, called({ tool: "str_replace", arguments: REPLACEMENT })];
  let answer = yield { ...first, lacks: agent.own };
  for (const call of others) answer = yield call;
  agent.outcome(answer);
  holds("notes.md", NOTES_EDITED);
}

function* inItsDialect(agent) {
  writeFileSync(at("notes.md"), NOTES);
  const { prelude, read, edit, ambiguous, shown } = agent.dialect;
  for (const call of prelude) yield call;
  assert.match(agent.reading(yield read), shown.reading);
  assert.match(agent.reading(yield edit), shown.edit);
  holds("notes.md", NOTES_EDITED);
  const refused = yield ambiguous;
  assert.equal(agent.refusal(refused), "ambiguous-match");
  assert.match(refused.text, shown.refusal);
  holds("notes.md", NOTES_EDITED);
}

/** Runs an agent, led by a script. */
async function lead(agent, script, mayEdit, variables) {
  const model = await serve(script);
  const [program, ...told] = agent.command(model.url, mayEdit);
  const env = { ...surroundings(agent, model.url, mayEdit), ...variables };
  const child = spawn(program, told, { cwd: EMEND_WORKSPACE, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  const code = await new Promise((resolve) => child.on("close", resolve));
  try {
    model.close();
    assert.equal(code, 0);
  } catch (error) {
    console.error(said);
    throw error;
  }
}

/** The environment of an agent. Whatever it looks for beside the model, it does not get. */
function surroundings(agent, model, mayEdit) {
  const env = { PATH, HOME, TMPDIR: HOME, HTTP_PROXY: model, HTTPS_PROXY: model, NO_PROXY: "127.0.0.1" };
  return { ...env, ...agent.variables(model, mayEdit) };
}

/** Runs a program on a terminal until it has shown something, and returns all that it has shown, without colours. */
async function onTerminal(command, env, isEnough) {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const line = `stty cols 100 rows 50; exec ${quoted}`;
  const told = ["--quiet", "--flush", "--return", "--command", line, "/dev/null"];
  const child = spawn("script", told, { cwd: EMEND_WORKSPACE, env: { ...env, TERM: "xterm-256color" } });
  let shown = "";
  const text = () => shown.replace(/\x1b\[(\d*)C/g, (_, count) => " ".repeat(count || 1)).replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, "");
  child.stdout.on("data", (data) => {
    shown += data;
    if (isEnough(text())) child.kill("SIGKILL");
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  return text();
}
