import type { Strategy } from "./reply.ts";
import { describeModelError } from "./model-error.ts";

/**
 * Creates a strategy that uses tool calling. After the provider reports that the model does not support it, the
 * strategy uses decisions in JSON.
 */
export function createAutoStrategy(native: Strategy, json: Strategy): Strategy {
  let current = native;
  return {
    ask: async (question) => {
      try {
        return await current.ask(question);
      } catch (error) {
        if (current === json || question.tools.length === 0 || !lacksToolCalling(error)) throw error;
        current = json;
        return json.ask(question);
      }
    },
    toMessages: (answered) => current.toMessages(answered),
  };
}

const NO_TOOLS =
  /(?:tools?|function[ -]?call\w*|tool[ -_]?(?:use|choice|calling))\b.{0,60}\b(?:not supported|unsupported|not available|not enabled)|(?:does not|doesn't|not) support.{0,40}\b(?:tool|function)/i;

function lacksToolCalling(error: unknown): boolean {
  const { status, message } = describeModelError(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 429 && NO_TOOLS.test(message);
}
