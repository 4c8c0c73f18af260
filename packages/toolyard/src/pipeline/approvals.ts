import type { ServerRequest } from "../core/calls/call.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { HubEvent } from "../core/ports/audit.ts";
import { messageOf } from "../core/errors.ts";
import { isHubItself } from "../core/sources/provider-kinds.ts";
import { firstChars } from "../core/text/truncate.ts";
import type { PipelineDeps } from "./ports.ts";
import type { CallState } from "./state.ts";

const MAX_NAME_CHARS = 100;
/** Maximum number of answers of one repeated call that are recorded. */
const MAX_ANSWERS = 64;

/** Outcome code of each action with which a user answers an elicitation (MCP 2025-11-25, "Response Actions"). */
const OUTCOMES: ReadonlyMap<unknown, FailKind | "ok"> = new Map([
  ["accept", "ok"],
  ["decline", "denied"],
  ["cancel", "cancelled"],
] as const);

/** Records the decisions of users about calls in the audit. It never throws. */
export interface ApprovalWriter {
  /** Records that the user consented to a destructive call. */
  consented(state: CallState): void;
  /** Records the answers to an elicitation that the caller sent by repeating the call. */
  repeated(state: CallState): void;
  /** Records the answer to a server request of a running call, if it is an elicitation. `send` sends the request. */
  awaited(state: CallState, ask: ServerRequest, send: () => Promise<JsonObject>): Promise<JsonObject>;
}

/** Returns the writer of approvals, or `undefined` if there is no audit. */
export function approvalWriter({ audit, logger }: Pick<PipelineDeps, "audit" | "logger">): ApprovalWriter | undefined {
  if (audit.isSilent === true) return undefined;
  const record = (state: CallState, action: string, kind: FailKind | "ok"): void => {
    try {
      audit.record(eventOf(state, action, kind));
    } catch (error) {
      logger.error("The audit line of an approval could not be written.", {
        call: state.call.id,
        error: messageOf(error),
      });
    }
  };
  const answer = (state: CallState, response: unknown): void => {
    const kind = isJsonObject(response) ? OUTCOMES.get(response["action"]) : undefined;
    if (kind !== undefined) record(state, "answer", kind);
  };
  /** Open elicitations. An inner call sends its request through the calls around it, and only the inner one counts. */
  const open = new WeakSet<ServerRequest>();
  return {
    consented: (state) => record(state, "call", "ok"),
    repeated: (state) => {
      const { inputResponses } = state.call.params;
      // The hub's own tools repeat the call of the tool that they execute with the same answers.
      if (!isJsonObject(inputResponses) || isHubItself(state.found.provider.source)) return;
      for (const response of Object.values(inputResponses).slice(0, MAX_ANSWERS)) answer(state, response);
    },
    awaited: (state, ask, send) => {
      if (ask.method !== "elicitation/create" || open.has(ask)) return send();
      open.add(ask);
      return send()
        .then((response) => {
          answer(state, response);
          return response;
        })
        .finally(() => open.delete(ask));
    },
  };
}

function eventOf({ call, found }: CallState, action: string, kind: FailKind | "ok"): HubEvent {
  const { principal } = call;
  const client = call.client.name ?? principal.identity?.clientId;
  return {
    event: "approval",
    action,
    decision: kind === "ok" ? "approved" : "refused",
    call: call.id,
    endpoint: call.endpoint,
    profile: principal.profile?.name,
    principal: principal.id,
    client: client === undefined ? undefined : firstChars(client, MAX_NAME_CHARS),
    issuer: principal.identity?.issuer,
    target: found.name,
    source: found.provider.source.id,
    kind,
  };
}
