import type { LoadedLanguageModel } from "./given-model.ts";

/** Base URLs of servers that support only chat completions. */
const CHAT_ONLY = new Set<string>();
const MAX_SERVERS = 64;

/**
 * Returns a model that uses the Responses API of a server, or chat completions if the server supports only those, like
 * most servers with OpenAI's interface. The first request to a server determines which one is used, once per process.
 */
export function eitherApi<Model extends LoadedLanguageModel>(responses: Model, chat: Model, baseUrl: string): Model {
  const current = (): Model => (CHAT_ONLY.has(baseUrl) ? chat : responses);
  const call =
    (method: "doGenerate" | "doStream") =>
    async (options: never): Promise<unknown> => {
      if (CHAT_ONLY.has(baseUrl)) return chat[method](options);
      try {
        return await responses[method](options);
      } catch (error) {
        if (!lacksApi(error)) throw error;
        const answer = await chat[method](options).then(undefined, (second: unknown) => {
          throw lacksApi(second) ? error : second;
        });
        if (CHAT_ONLY.size >= MAX_SERVERS) CHAT_ONLY.clear();
        CHAT_ONLY.add(baseUrl);
        return answer;
      }
    };
  const methods: Readonly<Record<string, unknown>> = { doGenerate: call("doGenerate"), doStream: call("doStream") };
  return new Proxy(responses, {
    get: (_target, key) =>
      typeof key === "string" && Object.hasOwn(methods, key) ? methods[key] : Reflect.get(current(), key),
  });
}

/**
 * HTTP statuses of a server without the Responses API. 200 is included, because some servers answer with another body.
 */
const UNKNOWN_PATH = new Set([404, 405, 501, 200]);

// Errors of the SDK are recognised by their members, so that the SDK's classes need not be loaded.
function lacksApi(error: unknown): boolean {
  return error instanceof Error && "statusCode" in error && UNKNOWN_PATH.has(error.statusCode as number);
}
