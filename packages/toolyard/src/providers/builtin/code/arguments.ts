import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { fail, type Fail } from "../../../core/calls/outcome.ts";
import { withoutFence } from "../../../sandbox/code-fence.ts";
import type { SandboxFile, SandboxLanguage } from "../../../sandbox/engine.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** The arguments of `execute_code`. */
export interface CodeArguments {
  readonly language: SandboxLanguage;
  readonly code: string;
  readonly inputs: JsonObject;
  readonly files: readonly SandboxFile[];
  readonly timeoutMs?: number;
  readonly session?: string;
}

/** Other names of the languages, as models write them. */
const LANGUAGES: Readonly<Record<string, SandboxLanguage>> = {
  python: "python",
  py: "python",
  python3: "python",
  javascript: "javascript",
  js: "javascript",
  typescript: "typescript",
  ts: "typescript",
};

export function readArguments({
  language,
  code,
  inputs = {},
  files = {},
  timeout_ms: timeoutMs,
  session,
}: JsonObject): CodeArguments | Fail {
  const name = String(language).trim().toLowerCase();
  const known = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (!known)
    return fail(
      "invalid_params",
      `\`language\` must be python, javascript or typescript, got "${firstChars(name, 50)}".`,
    );
  const read = readFiles(files as JsonObject);
  if ("ok" in read) return read;
  return {
    language: known,
    code: withoutFence(String(code)),
    inputs: inputs as JsonObject,
    files: read.files,
    ...(typeof timeoutMs === "number" && { timeoutMs }),
    ...(typeof session === "string" && { session }),
  };
}

function readFiles(files: JsonObject): { readonly files: readonly SandboxFile[] } | Fail {
  const read: SandboxFile[] = [];
  for (const [path, content] of Object.entries(files)) {
    const base64 = isJsonObject(content) ? content["base64"] : undefined;
    if (typeof content === "string") read.push({ path, bytes: Buffer.from(content) });
    else if (typeof base64 === "string") read.push({ path, bytes: Buffer.from(base64, "base64") });
    else return fail("invalid_params", `The file "${firstChars(path, 100)}" must be a text or {"base64": "…"}.`);
  }
  return { files: read };
}
