import type { HubContent } from "../../../core/ports/hub-port.ts";
import type { Tasks } from "../../../core/ports/tasks.ts";
import type { HubState } from "../../../state/ports/store.ts";
import { CallCoordinator } from "./call-coordinator.ts";
import type { ParkingOptions } from "./parked-calls.ts";
import { ToolHeaders } from "./tool-headers.ts";

/** Parts of the modern era that only calls need. */
export interface ModernCalls {
  readonly coordinator: CallCoordinator;
  readonly headers: ToolHeaders;
}

interface ModernCallsDeps {
  readonly hub: HubContent;
  readonly options: ParkingOptions;
  readonly state: HubState;
  readonly tasks?: Tasks | undefined;
}

export function createCalls({ hub, options, state, tasks }: ModernCallsDeps): ModernCalls {
  return { coordinator: new CallCoordinator(options, state, tasks), headers: new ToolHeaders(hub) };
}
