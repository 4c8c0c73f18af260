import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { tooLargeResult } from "../bound-messages.ts";
import type { SandboxEnd, SandboxError, SandboxLimits } from "../engine.ts";
import type { WorkerDone } from "../worker-messages.ts";
import { firstChars } from "../../core/text/truncate.ts";

const MAX_TYPE_CHARACTERS = 200;
const MAX_MESSAGE_CHARACTERS = 10_000;
const MAX_TRACEBACK_CHARACTERS = 20_000;
const SAID_BY_GUEST = ["finished", "error", "memory", "limit"] as const satisfies readonly SandboxEnd[];

/** Validates the guest's end message. A result that is not JSON, or an unknown end, counts as a crash. */
export function toDone(frame: JsonObject, limits: SandboxLimits): Omit<WorkerDone, "artifacts" | "truncated"> {
  const end = SAID_BY_GUEST.find((one) => one === frame["end"]);
  const resultJson = stringMember(frame, "result");
  if (end === undefined || (resultJson !== undefined && !isJson(resultJson))) {
    return {
      end: "crashed",
      error: {
        type: "InterpreterError",
        message: "The interpreter gave an answer that cannot be read. Run the code again.",
        traceback: "",
      },
    };
  }
  if (resultJson !== undefined && Buffer.byteLength(resultJson) > limits.resultBytes) {
    return {
      end: "limit",
      error: {
        type: "ResultTooLarge",
        message: tooLargeResult(limits.resultBytes, Buffer.byteLength(resultJson)),
        traceback: "",
      },
    };
  }
  const error = toError(frame["error"]);
  return {
    end,
    ...(resultJson === undefined || end !== "finished" ? {} : { resultJson }),
    ...(error === undefined ? {} : { error }),
  };
}

function toError(value: unknown): SandboxError | undefined {
  if (!isJsonObject(value)) return undefined;
  const text = (key: string, longest: number) => firstChars(stringMember(value, key) ?? "", longest);
  return {
    type: text("type", MAX_TYPE_CHARACTERS),
    message: text("message", MAX_MESSAGE_CHARACTERS),
    traceback: text("traceback", MAX_TRACEBACK_CHARACTERS),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
