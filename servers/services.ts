import { datetime } from "./datetime/service.ts";
import { geocoding } from "./geocoding/service.ts";
import { gnn } from "./gnn/service.ts";
import { library } from "./library/service.ts";
import type { Service } from "./shared/service.ts";
import { weather } from "./weather/service.ts";
import { webSearch } from "./web-search/service.ts";

export { openService, startService, type RunningService, type Service, type ServiceOptions } from "./shared/service.ts";

/** The services that are started together, in the order of their ports. */
export const SERVICES: readonly Service[] = [datetime, webSearch, weather, geocoding];

/** Those that are started only when they are named. */
export const SERVICES_ON_REQUEST: readonly Service[] = [gnn, library];
