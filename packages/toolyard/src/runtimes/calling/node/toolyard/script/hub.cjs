// What a tool may ask of the hub, as the caller of this tool and inside its time.
"use strict";
const { stringify } = require("./exact-json.cjs");

/**
 * `line()` gives the channel. Everything but `logger` and `progress` returns a promise, and rejects with a `ToolError`.
 */
function createHub(line) {
  const ask = async (method, params) => line().request(method, params);
  const callTool = async (name, args = {}) => (await ask("tools/call", { name, arguments: args, as: "value" })).value;
  return {
    /** Calls another tool and gives its plain value. */
    callTool,
    /** The MCP result as it came: content blocks and structured content. */
    callToolResult: (name, args = {}) => ask("tools/call", { name, arguments: args }),
    /** The tools that fit a query best: `[{name, description, score, inputSchema}]`. */
    searchTools: async (query = "", { limit = 5 } = {}) => (await ask("tools/search", { query, limit })).tools,
    /** Every tool that the caller may use. */
    listTools: async () => (await ask("tools/list", {})).tools,
    /**
     * What the configured language model says: `{prompt, system?, maxTokens?, temperature?, model?}`, or the prompt
     * alone.
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
     * `{data: Uint8Array, mimeType}` by the configured image model: `{prompt, negativePrompt?, width?, height?,
     * model?}`, or the prompt alone.
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
    /** How far the work is; also a sign of life for the time limit. */
    progress: (progress, total, message) => line().send({ progress, total, message }),
    logger: createLogger(line),
    /** Gives a signal, aborted when the caller gives up or the time is over; the process is ended soon after. */
    getSignal: cancellation,
  };
}

function toolsOf(callTool, name) {
  return new Proxy(function call() {}, {
    // `then` is asked for by `await`.
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

// Listening turns the hub's SIGTERM from an end into a word, so it begins when somebody looks.
function cancellation() {
  if (!controller) {
    controller = new AbortController();
    process.once("SIGTERM", () => controller.abort(new Error("The caller gave up, or the time is over.")));
  }
  return controller.signal;
}

module.exports = { createHub };
