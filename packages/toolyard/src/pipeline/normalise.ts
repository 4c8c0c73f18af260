import { formatBytes } from "../core/text/bytes.ts";
import type { JsonObject } from "../core/json/json.ts";
import { withoutTags } from "../core/text/hidden-text.ts";
import { jsonSize } from "../core/json/json-size.ts";
import { fail, type Fail, type Ok, type Outcome } from "../core/calls/outcome.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import { failureText, kindDetails } from "../core/calls/tool-value.ts";
import { OutputCheck } from "./output-check.ts";
import type { PipelineDeps } from "./ports.ts";
import { plainResultSize } from "./plain-result.ts";
import { ResultRepair } from "./result-repair.ts";
import { shapeResult } from "./result-shape.ts";
import { withoutTagsIn } from "./result-texts.ts";
import { ANSWER_TIME } from "./stage-place.ts";
import type { CallState, Stage } from "./state.ts";
import type { UriTranslation } from "./uri-translation.ts";
import { orAborted } from "../core/timing/wait.ts";
import { firstChars } from "../core/text/truncate.ts";

/**
 * Checks that a result is a valid answer to the request and within its size limit. A valid result stays the same
 * object.
 */
export function normaliseStage(deps: PipelineDeps, uris: UriTranslation): Stage {
  const check = new ResultCheck(deps, uris);
  return async (state, next) => {
    const outcome = await next(state);
    if (state.times) state.times[ANSWER_TIME] = performance.now();
    if (outcome.ok) return check.normalised(state, outcome);
    if (outcome.result === undefined) return withPlainWords(outcome);
    return check.sizeFailure(state, outcome.result) ?? withPlainWords(check.repaired(state, outcome));
  };
}

class ResultCheck {
  readonly #options: PipelineDeps["options"];
  readonly #outputs: OutputCheck;
  readonly #uris: UriTranslation;
  readonly #repair: ResultRepair;

  constructor(deps: PipelineDeps, uris: UriTranslation) {
    this.#uris = uris;
    this.#options = deps.options;
    this.#outputs = new OutputCheck(deps);
    this.#repair = new ResultRepair(deps);
  }

  /** Repairs the tool result in a failure, because clients may refuse an invalid result. */
  repaired(state: CallState, failure: Fail): Fail {
    const result = this.#repair.repaired(state, failure.result!);
    return result === failure.result ? failure : { ...failure, result };
  }

  normalised(state: CallState, outcome: Ok): Outcome | Promise<Outcome> {
    const { call, found } = state;
    const { target } = found;
    const plainSize = target.type === "tool" ? plainResultSize(outcome.result) : undefined;
    if (target.type === "tool" && plainSize !== undefined && plainSize <= this.#maxBytes(state)) {
      state.resultBytes = plainSize;
      return this.#fitted(state, target.tool, outcome);
    }
    const shape = shapeResult(call.method, outcome.result, call.relaysInput);
    if ("wrong" in shape) return malformedFailure(found.name, shape.wrong);
    const tooLarge = this.sizeFailure(state, shape.result);
    if (tooLarge) return tooLarge;
    const result = this.#uris.toCaller(state, this.#repair.repaired(state, withoutTagsIn(shape.result)));
    if (target.type !== "tool") return result === outcome.result ? outcome : { ...outcome, result };
    if (result["isError"] === true) return toolFailure(found.name, result);
    const shaped = result === outcome.result ? outcome : { ...outcome, result };
    if (result["resultType"] === "input_required") return shaped;
    return this.#fitted(state, target.tool, shaped);
  }

  /** Compares the result with the output schema of its tool. */
  #fitted(state: CallState, tool: ToolRecord, outcome: Ok): Outcome | Promise<Outcome> {
    if (!tool.outputSchema) return outcome;
    const wrong = this.#outputs.misfit(tool, outcome.result);
    if (typeof wrong !== "object") return fitted(state, outcome, wrong);
    return orAborted(wrong, state.deadline.cancellation).then((later) => fitted(state, outcome, later));
  }

  #maxBytes({ found: { target, limits } }: CallState): number {
    const own = target.type === "tool" ? target.tool.limits?.maxResultBytes : undefined;
    return own ?? limits?.maxResultBytes ?? this.#options.maxResultBytes;
  }

  sizeFailure(state: CallState, result: JsonObject): Fail | undefined {
    const { name } = state.found;
    const maxBytes = this.#maxBytes(state);
    state.resultBytes = jsonSize(result, maxBytes);
    if (state.resultBytes <= maxBytes) return undefined;
    if (state.resultBytes === Infinity) {
      state.resultBytes = -1;
      return malformedFailure(name, "a result that is nested too deeply");
    }
    const message =
      `${name} answered with more than ${formatBytes(maxBytes)}. ` +
      "Request less at a time, or raise `max_result_bytes`.";
    return fail("too_large", message, { details: { maxBytes } });
  }
}

function fitted({ found }: CallState, outcome: Ok, wrong: string | undefined): Outcome {
  if (wrong === undefined) return outcome;
  return malformedFailure(found.name, `a result that does not fit its own output schema: ${wrong}`);
}

/** Removes invisible characters from error text of another program. */
function withPlainWords(failure: Fail): Fail {
  const { message, result, rpcError } = failure;
  const plain = {
    message: withoutTags(message),
    ...(result && { result: withoutTagsIn(result) }),
    ...(rpcError && { rpcError: withoutTagsIn(rpcError) }),
  };
  const isSame = plain.message === message && plain.result === result && plain.rpcError === rpcError;
  return isSame ? failure : { ...failure, ...plain };
}

function malformedFailure(name: string, what: string): Fail {
  return fail("malformed", `${name} answered with ${what}. Report it to the provider of the tool.`);
}

const MAX_MESSAGE_CHARS = 2000;

function toolFailure(name: string, result: JsonObject): Fail {
  const blocks = result["content"] as readonly JsonObject[];
  const text = blocks.find((block) => block["type"] === "text" && typeof block["text"] === "string")?.["text"];
  const message =
    typeof text === "string" && text !== "" ? failureText(text) : `${name} reported a failure without a reason.`;
  return fail("tool_error", firstChars(message, MAX_MESSAGE_CHARS), { result, ...kindDetails(result) });
}
