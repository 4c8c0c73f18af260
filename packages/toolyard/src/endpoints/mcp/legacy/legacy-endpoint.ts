import type { Principal } from "../../../core/calls/call.ts";
import type { SessionlessConversation, ReplyOutlet } from "../../endpoint.ts";
import { LegacyHttp } from "./http.ts";
import { LegacySession, type SessionDeps } from "./session.ts";
import { createSessionDeps, type SessionDepsParts } from "./session-deps.ts";
import { LegacySse } from "./sse.ts";

/** Legacy era on HTTP: sessions at `/mcp`, HTTP+SSE, and callers without a session. */
export class LegacyEndpoint {
  readonly http: LegacyHttp;
  readonly sse: LegacySse;
  readonly #deps: SessionDeps;

  constructor(parts: SessionDepsParts) {
    this.#deps = createSessionDeps(parts);
    this.http = new LegacyHttp(this.#deps);
    this.sse = new LegacySse(this.#deps);
  }

  converse(principal: Principal): SessionlessConversation {
    return new LegacySession(this.#deps, { endpoint: "jsonrpc", principal, outlet: NOBODY });
  }

  /** Ends the HTTP sessions and answers running requests with an error. */
  giveUp(): void {
    this.http.close();
  }

  close(): void {
    this.http.close();
    this.sse.close();
    this.#deps.board.close();
  }
}

/** Outlet of a caller without a session, which receives nothing between its requests. */
const NOBODY: ReplyOutlet = Object.freeze({ reply: () => {}, note: () => {}, reachable: false, isShared: false });
