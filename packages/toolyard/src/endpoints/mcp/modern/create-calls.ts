import { CallCoordinator } from "./call-coordinator.ts";
import type { ModernDeps } from "./endpoint.ts";
import { ToolHeaders } from "./tool-headers.ts";

/** Creates the parts of the modern era that only calls need. */
export function createCalls({ hub, options, state, tasks }: ModernDeps): {
  readonly desk: CallCoordinator;
  readonly headers: ToolHeaders;
} {
  return { desk: new CallCoordinator(options, state, tasks), headers: new ToolHeaders(hub) };
}
