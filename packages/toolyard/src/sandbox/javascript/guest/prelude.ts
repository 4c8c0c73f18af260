/* oxlint-disable max-lines-per-function -- Runs inside the sandbox by its own text, so all of it is one function. */
import { guestClone } from "./clone.ts";
import { guestConsole } from "./console.ts";
import { guestExact } from "./exact.ts";
import { guestFiles } from "./files.ts";
import { GUEST_MARK } from "../guest-mark.ts";
import type { GuestHost } from "./host.ts";
import { guestInspect, type GuestValues } from "./inspect.ts";
import { guestJson } from "./json.ts";
import { guestTimers } from "./timers.ts";
import { guestTools } from "./tools.ts";
import { guestUrl } from "./url.ts";
import { guestWeb } from "./web.ts";

/** Functions inside the sandbox that the worker may call. */
export interface Guest {
  /** Called before the code of a job, with its inputs as JSON text and whether tools can be called. */
  begin(inputsJson: string, hasTools: boolean): void;
  /** Waits for the promise of the code, then calls `done` or `failed`. */
  watch(promise: Promise<unknown>, isWrapped: boolean, code: string): void;
  settle(id: string, ok: boolean, json: string): void;
  fire(id: string): void;
  describe(thrown: unknown): string;
}

interface PreludeParts {
  readonly guestInspect: typeof guestInspect;
  readonly guestExact: typeof guestExact;
  readonly guestJson: typeof guestJson;
  readonly guestClone: typeof guestClone;
  readonly guestConsole: typeof guestConsole;
  readonly guestFiles: typeof guestFiles;
  readonly guestTimers: typeof guestTimers;
  readonly guestTools: typeof guestTools;
  readonly guestUrl: typeof guestUrl;
  readonly guestWeb: typeof guestWeb;
}

function prepare(ask: GuestHost, parts: PreludeParts, mark: string): Guest {
  // An answer from the worker begins with `=`, and a refusal with `!`. The exception is created here, so that its stack
  // shows the lines of the code.
  const host: GuestHost = (operation, first = "", second = "") => {
    const answer = ask(operation, first, second);
    if (typeof answer !== "string") return answer;
    if (answer[0] === "!") throw new Error(answer.slice(1));
    return answer.slice(1);
  };
  const { defineProperty } = Object;
  const { apply } = Reflect;
  const { toString: toText } = Function.prototype;
  const { trim: trimText } = String.prototype;
  const trim = (code: string): string => {
    const text = apply(trimText, code, []) as string;
    return text[text.length - 1] === ";" ? text.slice(0, -1) : text;
  };
  const inspect = parts.guestInspect();
  const exact = parts.guestExact(mark);
  const values: GuestValues = {
    ...inspect,
    toJson: parts.guestJson(inspect.labelOf, exact),
    parseJson: exact.parse,
  };
  const { tools, search, ToolError, settle } = parts.guestTools(host, values);
  const timers = parts.guestTimers(host);
  const define = (name: string, value: unknown): void =>
    void defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const require = (name: unknown): never => {
    throw new Error(
      `"${String(name)}" cannot be loaded: there are no modules here. ` +
        "There is the language itself, files, inputs, URL, TextEncoder, crypto.randomUUID and timers.",
    );
  };
  const globals = {
    console: parts.guestConsole(host, values),
    require,
    ...timers.globals,
    structuredClone: parts.guestClone(),
    ...parts.guestWeb(host),
    ...parts.guestUrl(host),
  };
  for (const [name, value] of Object.entries(globals)) define(name, value);

  // If the code is only a function, it is called: models often write `async () => { … }`.
  const callWhole = (value: unknown, code: string): unknown => {
    if (typeof value !== "function") return value;
    const text = `${apply(toText, value, [])}`;
    return trim(code) === text ? (value as () => unknown)() : value;
  };

  async function follow(promise: Promise<unknown>, isWrapped: boolean, code: string): Promise<void> {
    try {
      const settled = await promise;
      const value = await callWhole(isWrapped ? settled : await (settled as { readonly value: unknown }).value, code);
      const json = values.toJson(value);
      host("done", json === undefined ? "" : json);
    } catch (error) {
      host("failed", values.describe(error));
    }
  }

  return {
    begin: (inputsJson, hasTools) => {
      define("inputs", exact.parse(inputsJson));
      define("files", parts.guestFiles(host, values));
      if (!hasTools) return;
      define("tools", tools);
      define("search", search);
      define("ToolError", ToolError);
    },
    watch: (promise, isWrapped, code) => void follow(promise, isWrapped, code),
    settle,
    fire: timers.fire,
    describe: values.describe,
  };
}

/**
 * Returns the source that initializes a new interpreter: a function that receives the host's functions and returns the
 * `Guest`.
 */
export function preludeSource(): string {
  const parts: PreludeParts = {
    guestInspect,
    guestExact,
    guestJson,
    guestClone,
    guestConsole,
    guestFiles,
    guestTimers,
    guestTools,
    guestUrl,
    guestWeb,
  };
  const members = Object.entries(parts).map(([name, part]) => `${name}: (${part.toString()})`);
  const given = `host, { ${members.join(",\n")} }, "${GUEST_MARK}"`;
  return `(function (host) { "use strict"; return (${prepare.toString()})(${given}); })`;
}
