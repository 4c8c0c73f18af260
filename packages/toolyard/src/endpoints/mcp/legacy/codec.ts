import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { CallMethod } from "../../../core/calls/call.ts";
import type { ListKind, RenderedList } from "../../../core/ports/hub-port.ts";
import { isJsonObject, type JsonObject, listMember, objectMember, stringMember } from "../../../core/json/json.ts";
import type { Tasks, TaskSupportRules } from "../../../core/ports/tasks.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import type { LegacyRevision } from "../../../wire/legacy/revisions.ts";
import { RPC } from "../../../wire/messages.ts";
import type { MethodCodec } from "../methods.ts";
import { hasObjectRoot, withObjectProperties, wrapOutputSchema } from "./tool-schemas.ts";

/** Maximum number of remembered tools with wrapped output. Several sources may list such tools. */
const MAX_WRAPPED = 100_000;

/** Codecs of the legacy revisions of one hub. They share the set of tools with wrapped output. */
export class LegacyCodecs {
  readonly #byDate = new Map<string, MethodCodec>();
  readonly #tasks: Pick<Tasks, "supportRules"> | undefined;
  #projected = new WeakMap<RenderedList, RenderedList>();
  #projectedWithTasks = new WeakMap<RenderedList, RenderedList>();
  /** Rules with which lists were projected. Lists are projected again when the configuration changes. */
  #rules: TaskSupportRules | undefined;
  /** Rendered names of tools whose output schema was wrapped when they were last listed, the most recent last. */
  readonly #wrapped = new Set<string>();

  /** `tasks` is absent if no call becomes a task. */
  constructor(tasks?: Pick<Tasks, "supportRules">) {
    this.#tasks = tasks;
  }

  for(revision: LegacyRevision): MethodCodec {
    const held = this.#byDate.get(revision.date);
    if (held) return held;
    const codec: MethodCodec = {
      invalidArguments: revision.argumentErrorsAreResults ? "isError" : "error",
      resourceNotFoundCode: RPC.resourceNotFound,
      upstreamError: legacyError,
      list: (kind, list) => this.#list(kind, list, revision.tasks),
      result: (method, target, result) => this.#result(method, target, result),
    };
    this.#byDate.set(revision.date, codec);
    return codec;
  }

  #list(kind: ListKind, list: RenderedList, hasTasks: boolean): RenderedList {
    if (kind !== "tools") return list;
    const rules = hasTasks ? this.#tasks?.supportRules : undefined;
    if (hasTasks && rules !== this.#rules) {
      this.#rules = rules;
      this.#projectedWithTasks = new WeakMap();
    }
    const lists = hasTasks ? this.#projectedWithTasks : this.#projected;
    const held = lists.get(list);
    if (held) return held;
    const projected = this.#project(list, rules);
    lists.set(list, projected);
    return projected;
  }

  #project(list: RenderedList, rules: TaskSupportRules | undefined): RenderedList {
    const entries = list.entries.map((entry) => withTaskSupport(this.#projectTool(entry), rules));
    const isSame = entries.every((entry, at) => entry === list.entries[at]);
    return isSame ? list : { entries, json: stringifyExact(entries), version: list.version };
  }

  #projectTool(given: JsonObject): JsonObject {
    const entry = withObjectProperties(given);
    const schema = objectMember(entry, "outputSchema");
    const name = stringMember(entry, "name") ?? "";
    this.#wrapped.delete(name);
    if (!schema || hasObjectRoot(schema)) return entry;
    // The number of recorded names is limited, because a source may list new names each time.
    if (this.#wrapped.size >= MAX_WRAPPED) this.#wrapped.delete(this.#wrapped.values().next().value!);
    this.#wrapped.add(name);
    return { ...entry, outputSchema: wrapOutputSchema(schema) };
  }

  #result(method: CallMethod, target: string, result: JsonObject): JsonObject {
    const plain = result["resultType"] === "complete" ? withoutResultType(result) : result;
    if (method !== "tools/call" || !("structuredContent" in plain)) return plain;
    const structured = plain["structuredContent"];
    const isObject = isJsonObject(structured);
    if (isObject && !this.#wrapped.has(target)) return plain;
    const wrapped = { ...plain, structuredContent: { result: structured } };
    return isObject ? wrapped : withText(wrapped, structured);
  }
}

/**
 * Returns the tool with the `execution.taskSupport` that holds at the hub. A tool that requires a task at its server
 * does not require one at the hub, because the hub can follow that task for a caller without tasks.
 */
function withTaskSupport(entry: JsonObject, rules: TaskSupportRules | undefined): JsonObject {
  const execution = objectMember(entry, "execution");
  const own = execution?.["taskSupport"];
  if (!rules) return own === "required" ? { ...entry, execution: { ...execution, taskSupport: "optional" } } : entry;
  const isAllowed = rules.supports(stringMember(entry, "name") ?? "", own === "required" || own === "optional");
  if (!isAllowed && own === undefined) return entry;
  return { ...entry, execution: { ...execution, taskSupport: isAllowed ? "optional" : "forbidden" } };
}

function withoutResultType(result: JsonObject): JsonObject {
  const { resultType: _, ...rest } = result;
  return rest;
}

/** Adds the value as text, because a client without support for structured content reads only `content`. */
function withText(result: JsonObject, structured: unknown): JsonObject {
  const content = listMember(result, "content");
  if (content.some((block) => isJsonObject(block) && block["type"] === "text")) return result;
  return { ...result, content: [...content, { type: "text", text: stringifyExact(structured) }] };
}

/** Replaces error codes of the modern handshake, which a legacy client does not know. */
function legacyError(error: RpcErrorObject): RpcErrorObject {
  return MODERN_CODES.has(error.code) ? { ...error, code: RPC.internal } : error;
}

const MODERN_CODES: ReadonlySet<number> = new Set([
  RPC.headerMismatch,
  RPC.missingClientCapability,
  RPC.unsupportedProtocolVersion,
]);
