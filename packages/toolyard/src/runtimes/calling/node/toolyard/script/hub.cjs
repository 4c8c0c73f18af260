// The hub's functions for a tool, with the rights of its caller and within its time.
"use strict";
const { stringify } = require("./exact-json.cjs");

/**
 * Creates the functions. `line()` returns the channel. All functions except `logger` and `progress` return a promise
 * and reject with a `ToolError`.
 */
function createHub(line) {
  const ask = async (method, params) => line().request(method, params);
  const callTool = async (name, args = {}) => (await ask("tools/call", { name, arguments: args, as: "value" })).value;
  return {
    /** Calls another tool and returns its plain value. */
    callTool,
    /** Returns the unchanged MCP result: content blocks and structured content. */
    callToolResult: (name, args = {}) => ask("tools/call", { name, arguments: args }),
    /** Returns the tools that match a query best: `[{name, description, score, inputSchema}]`. */
    searchTools: async (query = "", { limit = 5 } = {}) => (await ask("tools/search", { query, limit })).tools,
    /** Returns every tool that the caller may use. */
    listTools: async () => (await ask("tools/list", {})).tools,
    /**
     * Returns the text of the configured language model: `{prompt, system?, maxTokens?, temperature?, model?}`, or only
     * the prompt.
     */
    generateText: async (request) => {
      const {
        prompt,
        system,
        maxTokens: max_tokens,
        temperature,
        model,
      } = typeof request === "string" ? { prompt: request } : request;
      return (await ask("models/generate_text", { prompt, system, max_tokens, temperature, model })).text;
    },
    /**
     * Returns `{data: Uint8Array, mimeType}` of the configured image model: `{prompt, negativePrompt?, width?, height?,
     * model?}`, or only the prompt.
     */
    generateImage: async (request) => {
      const { prompt, negativePrompt, width, height, model } =
        typeof request === "string" ? { prompt: request } : request;
      const { data, mimeType } = await ask("models/generate_image", {
        prompt,
        negative_prompt: negativePrompt || undefined,
        width,
        height,
        model,
      });
      return { data: new Uint8Array(Buffer.from(data, "base64")), mimeType };
    },
    /** `tools.weather.get({city})` calls the tool `weather.get`; `tools["weather.get"]` is the same. */
    tools: toolsOf(callTool, ""),
    /** Reports progress. It also resets the inactivity time limit. */
    progress: (progress, total, message) => line().send({ progress, total, message }),
    logger: createLogger(line),
    /**
     * Returns a signal that aborts when the caller cancels or the time has expired. The process is ended soon after.
     */
    getSignal: cancellation,
  };
}

function toolsOf(callTool, name) {
  return new Proxy(function call() {}, {
    // `then` is no tool, because `await` reads this member.
    get: (_target, step) =>
      typeof step === "symbol" || step === "then"
        ? undefined
        : toolsOf(callTool, name === "" ? step : `${name}.${step}`),
    apply: (_target, _self, [args]) => callTool(name, args),
  });
}

function createLogger(line) {
  const at =
    (level) =>
    (...words) =>
      line().send({
        log: words.map((word) => (typeof word === "string" ? word : stringify(word))).join(" "),
        level,
      });
  return { debug: at("debug"), info: at("info"), warn: at("warning"), warning: at("warning"), error: at("error") };
}

let controller;

// A listener for SIGTERM prevents the default exit, so it is added only when the signal is read.
function cancellation() {
  if (!controller) {
    controller = new AbortController();
    process.once("SIGTERM", () => controller.abort(new Error("The caller cancelled, or the time limit was reached.")));
  }
  return controller.signal;
}

module.exports = { createHub };
