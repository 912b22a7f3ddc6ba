// A model that plays a script, on loopback, behind the APIs that the agents speak: Anthropic's messages, OpenAI's
// responses and chat completions, and Gemini's. A script is a generator: it yields calls of tools and is given what the
// agent shows of each answer.

import { createServer } from "node:http";

/** Serves a script. Whatever else an agent looks for is refused, if it takes this address for a proxy. */
export async function serve(script) {
  const play = new Play(script);
  const server = createServer((request, response) => answer(play, request, response));
  server.on("connect", (_, socket) => socket.on("error", () => {}).end("HTTP/1.1 403 Forbidden\r\n\r\n"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
    play.finish();
  };
  return { url, close };
}

/** How far a script is. An agent sends the whole conversation each time, and may send it twice. */
class Play {
  constructor(script) {
    this.script = script;
    this.calls = [];
    this.isOver = false;
  }

  /** The call that follows these answers; none at the end of the script, or where it fails. */
  next(answers) {
    while (this.calls.length <= answers.length && !this.isOver) {
      try {
        const { value, done } = this.script.next(answers[this.calls.length - 1]);
        this.isOver = done;
        if (!done) this.calls.push(value);
      } catch (error) {
        this.fail(error);
      }
    }
    return this.calls[answers.length];
  }

  /** The tool that is meant, among those that the agent offers. A call may say which others it `offers` or `lacks`,
   *  and that the agent may end there (`mayBeLast`). */
  pick(call, offered) {
    const isOffered = (tool) => offered.some(({ name }) => name === tool);
    const wrong = [...(call.offers ?? []).filter((tool) => !isOffered(tool)), ...(call.lacks ?? []).filter(isOffered)];
    if (wrong.length) this.fail(new Error(`${wrong} should or should not be among ${JSON.stringify(offered)}`));
    // An agent puts the server's name before the names of its tools, or the tools into a namespace.
    const names = ["mcp__emend__", "mcp_emend_", "emend_", ""].map((before) => before + call.tool);
    const [found] = names.flatMap((wanted) => offered.filter(({ name }) => name === wanted));
    if (!found) this.fail(new Error(`${call.tool} is not among the tools ${JSON.stringify(offered)}`));
    return found;
  }

  fail(error) {
    this.error ??= error;
    this.isOver = true;
  }

  /** Throws what went wrong. */
  finish() {
    const last = this.calls.at(-1);
    if (!this.isOver && !last?.mayBeLast) this.fail(new Error(`the agent ended after the call ${JSON.stringify(last)}`));
    if (this.error) throw this.error;
  }
}

async function answer(play, request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url.split("?")[0];
  const [, speak] = APIS.find(([end]) => path.endsWith(end)) ?? [];
  if (request.method !== "POST" || !speak) return response.writeHead(404).end();
  const events = speak(play, JSON.parse(Buffer.concat(chunks)));
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    if (event.type) response.write(`event: ${event.type}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** Anthropic's API. An agent also asks for a title and the like; then it offers no tools. */
function messages(play, { model, messages, tools = [] }) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const answers = blocks
    .filter(({ type }) => type === "tool_result")
    .map(({ content, is_error }) => ({ text: plain(content), isError: is_error === true, offered: tools }));
  const call = tools.length ? play.next(answers) : undefined;
  const tool = call && play.pick(call, tools);
  const [block, delta, stop_reason] = tool
    ? [
        { type: "tool_use", id: `toolu_${answers.length}`, name: tool.name, input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) },
        "tool_use",
      ]
    : [{ type: "text", text: "" }, { type: "text_delta", text: "The script is over." }, "end_turn"];
  const usage = { input_tokens: 1, output_tokens: 1 };
  return [
    { type: "message_start", message: { id: "msg", type: "message", role: "assistant", model, content: [], usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage },
    { type: "message_stop" },
  ];
}

/** OpenAI's API. The tools of a server stand in a namespace. Some are offered in a message, or once a search found them. */
function responses(play, { input, tools = [] }) {
  const answers = input
    .filter(({ type }) => /^(function_call|custom_tool_call|tool_search)_output$/.test(type))
    .map(({ output, tools }) => ({ text: tools ? JSON.stringify(tools) : plain(output) }));
  const all = [...tools, ...input.flatMap(({ tools }) => tools ?? [])];
  const offered = all.flatMap(({ type, name, tools }) =>
    type === "namespace" ? tools.map((tool) => ({ namespace: name, ...tool })) : [{ type, name: name ?? type }],
  );
  const call = play.next(answers);
  const tool = call && play.pick(call, offered);
  const item = tool
    ? { call_id: `call_${answers.length}`, ...openAiCall(tool, call.arguments) }
    : { type: "message", role: "assistant", content: [{ type: "output_text", text: "The script is over." }] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: "response.created", response: { id: "response" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "response", output: [item], usage } },
  ];
}

function openAiCall({ type, name, namespace }, given) {
  if (type === "tool_search") return { type: "tool_search_call", execution: "client", arguments: given };
  if (type === "custom") return { type: "custom_tool_call", name, namespace, input: given.input };
  return { type: "function_call", name, namespace, arguments: JSON.stringify(given) };
}

/** OpenAI's older API. An agent also asks for a title; then it offers no tools. */
function completions(play, { model, messages, tools = [] }) {
  const answers = messages.filter(({ role }) => role === "tool").map(({ content }) => ({ text: plain(content) }));
  const call = tools.length ? play.next(answers) : undefined;
  const tool = call && play.pick(call, tools.map((tool) => tool.function));
  const called = tool && { name: tool.name, arguments: JSON.stringify(call.arguments) };
  const delta = tool
    ? { tool_calls: [{ index: 0, id: `call_${answers.length}`, type: "function", function: called }] }
    : { content: "The script is over." };
  const chunk = (delta, finish_reason) => ({
    id: "chat", object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta, finish_reason }],
  });
  return [chunk({ role: "assistant", ...delta }, null), chunk({}, tool ? "tool_calls" : "stop")];
}

/** Gemini's API. An agent also asks it which model is to answer; then it offers no tools. */
function contents(play, { contents, tools = [] }) {
  const answers = contents
    .flatMap(({ parts }) => parts)
    .filter(({ functionResponse }) => functionResponse)
    .map(({ functionResponse: { response } }) => ({ text: response.output ?? response.error, isError: !response.output }));
  const offered = tools.flatMap(({ functionDeclarations }) => functionDeclarations ?? []);
  const call = offered.length ? play.next(answers) : undefined;
  const tool = call && play.pick(call, offered);
  const part = tool ? { functionCall: { name: tool.name, args: call.arguments } } : { text: "The script is over." };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [{ candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }], usageMetadata }];
}

/** By the ends of their paths. */
const APIS = [
  ["/v1/messages", messages],
  ["/v1/responses", responses],
  ["/v1/chat/completions", completions],
  [":streamGenerateContent", contents],
];

const plain = (content) => (typeof content === "string" ? content : content.map(({ text }) => text).join(""));
