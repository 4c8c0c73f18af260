import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { CAPABILITIES, isUnclear, LIST_CAPABILITIES, SERVER_INFO } from "../../wire/shapes/server.ts";
import { Faults, readPart, TEXT, UNFIT, type Shape } from "../../wire/shapes/shape.ts";

/** A server's description in its opening, in either era. */
export interface ServerOpening {
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** Lists that the server may have: its capability for them is neither an object nor clearly absent. */
  readonly unclear: ReadonlySet<string>;
  /** Members that the protocol does not allow, in whole sentences, by the result member that holds them. */
  readonly faults: readonly OpeningFault[];
}

export interface OpeningFault {
  readonly subject: string;
  readonly message: string;
}

/**
 * Reads the result of `initialize` or `server/discover`. Invalid parts are removed, because the hub's own clients would
 * refuse its whole answer because of them.
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
  return {
    serverInfo: (read("serverInfo", SERVER_INFO, serverInfo) as JsonObject | undefined) ?? {},
    capabilities: (capabilities as JsonObject | undefined) ?? {},
    ...(instructions !== undefined && { instructions: instructions as string }),
    unclear: new Set(LIST_CAPABILITIES.filter((name) => isJsonObject(declared) && isUnclear(declared[name]))),
    faults,
  };
}
