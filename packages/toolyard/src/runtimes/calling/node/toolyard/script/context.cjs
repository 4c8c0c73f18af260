// Creates the second argument of a function `execute`.
"use strict";
const { createHub } = require("./hub.cjs");

const CONTEXT_NAME = "lollms_client_instance";

/** Returns the second argument of `execute`. If this hub lacks a service, only the use of that service throws. */
function createContext(line) {
  const hub = createHub(line);
  const { getSignal, ...offered } = hub;
  Object.assign(offered, {
    call_tool: hub.callTool,
    search_tools: hub.searchTools,
    list_tools: hub.listTools,
    generate_text: async (prompt, { system_prompt: system, n_predict: maxTokens, temperature } = {}) =>
      hub.generateText({ prompt, system, maxTokens, temperature }),
    generate_image: hub.generateImage,
    ...((process.env.TOOLYARD_MODELS ?? "").split(",").includes("image") ? { tti: createImageService(hub) } : {}),
  });
  Object.defineProperty(offered, "signal", { get: getSignal, enumerable: true });
  Object.defineProperty(offered, "cancelled", { get: () => getSignal().aborted, enumerable: true });
  return new Proxy(offered, {
    get(target, name) {
      // These names are not refused, because `await` reads `then`, and printing the object reads symbols.
      if (typeof name === "symbol" || name in target || name === "then" || name === "toJSON") return target[name];
      throw new TypeError(
        `${CONTEXT_NAME}.${name} is not available here. It offers ${Object.keys(target)
          .map((key) => `\`${key}\``)
          .join(", ")}.`,
      );
    },
  });
}

/**
 * Calls `generate_image(prompt, {negative_prompt, width, height})`, or with one object; resolves with the bytes of an
 * image.
 */
function createImageService(hub) {
  const generate = async (prompt, options = {}) => {
    const { negative_prompt, ...rest } = typeof prompt === "string" ? { ...options, prompt } : prompt;
    return (await hub.generateImage({ negativePrompt: negative_prompt, ...rest })).data;
  };
  return { generate_image: generate, generateImage: generate };
}

module.exports = { CONTEXT_NAME, createContext };
