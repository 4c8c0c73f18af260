/* oxlint-disable max-lines-per-function -- Runs inside the sandbox by its own text, so all of it is one function. */
import type { GuestHost } from "./host.ts";
import type { GuestValues } from "./inspect.ts";

export interface GuestTools {
  readonly tools: object;
  readonly search: (query: unknown, limit?: unknown) => Promise<unknown>;
  readonly ToolError: new (message: string) => Error;
  /** Delivers the answer to the call or search with this number. */
  settle(id: string, ok: boolean, json: string): void;
}

/**
 * Runs inside the sandbox. Returns `tools.<source>.<name>(args)` and `search(query)`, and a function that delivers
 * answers.
 */
export function guestTools(host: GuestHost, { toJson, parseJson, brand }: GuestValues): GuestTools {
  const { parse } = JSON;
  const { isArray } = Array;
  const MAX_PATH_CHARS = 512;
  const pending = new Map<
    string,
    {
      readonly resolve: (value: unknown) => void;
      readonly reject: (error: unknown) => void;
      readonly error: GuestToolError;
    }
  >();
  let last = 0;

  class GuestToolError extends Error {
    override name = "ToolError";
    kind = "internal";
    retryable = false;
    tool = "";
  }

  function ask(operation: "call" | "search", path: string, json: string): Promise<unknown> {
    last += 1;
    const id = `${last}`;
    // The error is created here, while the calling code is on the stack, so that its stack trace shows that line.
    const error = new GuestToolError("");
    error.tool = operation === "call" ? path : "search";
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject, error });
      host(operation, id, `${path}\n${json}`);
    });
  }

  function call(path: string, given: readonly unknown[]): Promise<unknown> {
    const [first = {}] = given;
    if (given.length > 1 || typeof first !== "object" || first === null || isArray(first)) {
      const got =
        given.length > 1
          ? `${given.length} arguments`
          : isArray(first)
            ? "an array"
            : first === null
              ? "null"
              : `a ${typeof first}`;
      return Promise.reject(
        new TypeError(`A tool takes one object, as in tools.${path}({ name: value }); got ${got}.`),
      );
    }
    return ask("call", path, toJson(first) ?? "{}");
  }

  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

  /**
   * Creates the object for a path. `isAwaited`: the object is the value of an `await`, so it must not be a promise
   * itself.
   */
  function node(path: string, isAwaited = false): object {
    const label = path === "" ? "[tools]" : `[tool ${path}]`;
    const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
    // JavaScript calls these methods without arguments to convert an object to text. With arguments, the call is for a
    // tool of that name.
    const textOr = (key: string): unknown => {
      return (...given: readonly unknown[]) => (isObject(given[0]) ? call(below(key), given) : label);
    };
    const jsonOr = (...given: readonly unknown[]): unknown =>
      typeof given[0] === "string" ? undefined : call(below("toJSON"), given);
    const proxy = new Proxy(function () {}, {
      get: (_target, key) => {
        if (typeof key === "symbol" || (key === "then" && isAwaited)) return undefined;
        if (key === "toString" || key === "valueOf") return textOr(key);
        if (key === "toJSON") return jsonOr;
        if (key === "then") return thenOf(path);
        const longer = below(key);
        if (longer.length > MAX_PATH_CHARS)
          throw new RangeError(`The name of a tool has at most ${MAX_PATH_CHARS} characters.`);
        return node(longer);
      },
      // Handles `tools("a name", args)` and `tools.source.tool(args)`.
      apply: (_target, _self, given: readonly unknown[]) => {
        if (path !== "") return call(path, given);
        return typeof given[0] === "string"
          ? call(given[0], given.slice(1))
          : Promise.reject(new TypeError("Name a tool, as in tools.source.name({ … })."));
      },
      set: (_target, key) => {
        throw new TypeError(`tools.${path === "" ? "" : `${path}.`}${String(key)} cannot be set.`);
      },
      ownKeys: () => ["prototype"],
    });
    brand(proxy, label);
    return proxy;
  }

  /**
   * Returns the member `then`. A tool may have that name, and `await tools.source` calls `then` with two functions.
   * Such an `await` resolves to the same path.
   */
  function thenOf(path: string): unknown {
    const tool = path === "" ? "then" : `${path}.then`;
    return (...given: readonly unknown[]) => {
      const [resolve, reject] = given;
      if (typeof resolve !== "function" || typeof reject !== "function") return call(tool, given);
      resolve(node(path, true));
      return undefined;
    };
  }

  return {
    tools: node(""),
    ToolError: GuestToolError,
    search: (query, limit = 10) => {
      const most = Math.min(100, Math.max(1, Math.trunc(Number(limit)) || 10));
      return ask("search", `${most}`, String(query));
    },
    settle: (id, ok, json) => {
      const asked = pending.get(id);
      if (!asked) return;
      pending.delete(id);
      if (ok) return asked.resolve(parseJson(json));
      const { kind, message, retryable } = parse(json) as {
        readonly kind?: unknown;
        readonly message?: unknown;
        readonly retryable?: unknown;
      };
      Object.defineProperty(asked.error, "message", {
        value: String(message),
        configurable: true,
        writable: true,
        enumerable: false,
      });
      asked.error.kind = String(kind);
      asked.error.retryable = retryable === true;
      asked.reject(asked.error);
    },
  };
}
