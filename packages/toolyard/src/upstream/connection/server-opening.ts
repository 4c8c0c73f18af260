import { formatBytes } from "../../core/text/bytes.ts";
import { jsonSize } from "../../core/json/json-size.ts";
import { firstChars } from "../../core/text/truncate.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { CAPABILITIES, isUnclear, LIST_CAPABILITIES, SERVER_INFO } from "../../wire/shapes/server.ts";
import { Faults, readPart, TEXT, UNFIT, type Shape } from "../../wire/shapes/shape.ts";

/**
 * Approximate maximum size of the JSON text of a server's info. The limit is needed because statuses contain the info
 * and its icons may be large images.
 */
const MAX_INFO_BYTES = 256 * 1024;
/** Maximum number of characters that are kept of each text in a larger server info. */
const MAX_BRIEF_CHARS = 256;
const BRIEF_MEMBERS = ["name", "title", "version"];
const LARGE_INFO = `The server info is over ${formatBytes(MAX_INFO_BYTES)}; only name, title and version are shown.`;

/** Information that the server sends about itself at the start of a connection, in either era. */
export interface ServerOpening {
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** Lists that the server may offer: its capability for them is neither an object nor clearly absent. */
  readonly unclear: ReadonlySet<string>;
  /**
   * Members that the protocol does not allow, described in sentences and grouped by the member of the result that holds
   * them.
   */
  readonly faults: readonly OpeningFault[];
}

export interface OpeningFault {
  readonly subject: string;
  readonly message: string;
}

/**
 * Reads the result of `initialize` or `server/discover`. Removes invalid parts, because the hub's clients would reject
 * the hub's whole answer because of them.
 */
export function readOpening(result: JsonObject, serverInfo: unknown): ServerOpening {
  const faults: OpeningFault[] = [];
  const read = (subject: string, shape: Shape, value: unknown): unknown => {
    if (value === undefined) return undefined;
    const found = new Faults();
    const part = readPart(shape, value, { at: { step: subject, above: undefined }, faults: found });
    const named = found.list.map(({ reason, remedy }) => `${reason}: ${remedy}`);
    if (named.length > 0) faults.push({ subject, message: `Clients would refuse it. ${named.join("; ")}.` });
    return part === UNFIT ? undefined : part;
  };
  const declared = result["capabilities"];
  const capabilities = read("capabilities", CAPABILITIES, declared);
  const instructions = read("instructions", TEXT, result["instructions"]);
  const info = (read("serverInfo", SERVER_INFO, serverInfo) as JsonObject | undefined) ?? {};
  const isLarge = jsonSize(info, MAX_INFO_BYTES) > MAX_INFO_BYTES;
  if (isLarge) faults.push({ subject: "serverInfo", message: LARGE_INFO });
  return {
    serverInfo: isLarge ? briefInfo(info) : info,
    capabilities: (capabilities as JsonObject | undefined) ?? {},
    ...(instructions !== undefined && { instructions: instructions as string }),
    unclear: new Set(LIST_CAPABILITIES.filter((name) => isJsonObject(declared) && isUnclear(declared[name]))),
    faults,
  };
}

/** Returns only the texts that name the server, truncated. */
function briefInfo(info: JsonObject): JsonObject {
  const texts = BRIEF_MEMBERS.map((name) => [name, stringMember(info, name)] as const);
  return Object.fromEntries(
    texts.flatMap(([name, text]) => (text === undefined ? [] : [[name, firstChars(text, MAX_BRIEF_CHARS)]])),
  );
}
