import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** How one server's options differ from another's of the same name; nothing where they run the same. */
export function differenceOf(here: JsonObject, there: JsonObject): string | undefined {
  if (!isDeepStrictEqual(wordsOf(here), wordsOf(there))) return differenceInWords(here, there);
  const isSame = SETTINGS.every((key) => isDeepStrictEqual(tableOf(here[key]), tableOf(there[key])));
  return isSame ? undefined : "other variables or headers of the same command";
}

function differenceInWords(here: JsonObject, there: JsonObject): string {
  const [own, other] = [serverLabel(here), serverLabel(there)];
  const isRemote = "url" in here;
  // What else stands in them may be secret.
  if (own === other) return `other ${isRemote ? "parameters" : "arguments"} of \`${own}\``;
  return `another ${isRemote ? "address" : "command"}: \`${other}\` there, \`${own}\` here`;
}

/** The name of a server among `others` that runs the same. */
export function twinOf(options: JsonObject, others: ReadonlyMap<string, JsonObject>): string | undefined {
  for (const [name, other] of others) if (differenceOf(options, other) === undefined) return name;
  return undefined;
}

const SETTINGS = ["env", "headers"] as const;

/** A server in a few words that hold no secret: its program with the package or script, or its host. */
export function serverLabel(options: JsonObject): string {
  const [program = "?", ...words] = wordsOf(options);
  if ("url" in options) return URL.canParse(program) ? new URL(program).origin + new URL(program).pathname : program;
  const named = words.find((word) => !word.startsWith("-") && !PASSED_ON.has(word));
  const label = named === undefined ? program : `${program} ${named}`;
  return label.length > MAX_LABEL ? `${firstChars(label, MAX_LABEL - 1)}…` : label;
}

/** Of `pipx run a` and `pnpm dlx a` the third word says more. */
const PASSED_ON = new Set(["run", "exec", "dlx", "tool"]);
const MAX_LABEL = 80;

/** The address, or the program with its arguments, however they were divided. */
function wordsOf({ url, command, args }: JsonObject): readonly string[] {
  if (url !== undefined) return [String(url)];
  const first = Array.isArray(command)
    ? command.map(String)
    : args === undefined
      ? splitPlain(command)
      : [String(command)];
  return [...first, ...(Array.isArray(args) ? args.map(String) : [])];
}

/** A command on one line; quotes make it one of a kind, which is safe here. */
function splitPlain(command: unknown): readonly string[] {
  const text = String(command);
  return /["'\\]/.test(text) ? [text] : text.split(/\s+/);
}

/** Readers of TOML make tables without a prototype, which would never be equal to others. */
function tableOf(value: unknown): JsonObject {
  return isJsonObject(value) ? { ...value } : {};
}
