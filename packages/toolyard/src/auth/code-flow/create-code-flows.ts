import type { CodeFlow, CodeFlowClient } from "../../core/ports/code-flow.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { AuthServerHandle } from "../builtin/auth-server-handle.ts";
import type { AuthOptions } from "../options.ts";
import { builtinFlow } from "./builtin-flow.ts";
import { issuerFlow } from "./issuer-flow.ts";

export interface CodeFlowParts {
  readonly options: AuthOptions;
  readonly server: AuthServerHandle | undefined;
  readonly environment: ProxyEnvironment;
  /** Canonical address of the hub. */
  readonly baseUrl: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Creates the sign-ins of browsers: at the hub's own server, and at the external issuer if it has a client id. */
export function createCodeFlows(parts: CodeFlowParts, client: CodeFlowClient): readonly CodeFlow[] {
  const { options, server, environment, baseUrl, now } = parts;
  const { clientId } = client;
  const own = server && builtinFlow({ server, scopes: options.scopes, baseUrl, now });
  const { issuer } = options;
  const foreign =
    issuer && clientId !== undefined
      ? issuerFlow({ issuer, client: { ...client, clientId }, needed: options.scopes, environment, baseUrl, now })
      : undefined;
  return [own, foreign].filter((flow) => flow !== undefined);
}
